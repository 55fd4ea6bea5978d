"""What is guessed about a person, or wanted of them by an agent, and how the person decides about it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from lamina.engine.commit import commit_denial
from lamina.engine.details import Details, draft_of
from lamina.engine.ledger import Ledger
from lamina.engine.pending import Guess, check_person, conclude, stage
from lamina.engine.shelves import guesses_on
from lamina.engine.team import Team
from lamina.errors import Denied, NotFound
from lamina.model import Deny, Layer, Memory, Outcome, Receipt, Space
from lamina_text.entries import canonical_key

if TYPE_CHECKING:
    from lamina.engine.layers import Layers


class Consent(Team):
    """Part of `Mind`."""

    @property
    @abstractmethod
    def layers(self) -> Layers:
        """The five layers."""

    def propose(
        self, value: str, key: str, confidence: float, reason: str = "", *, importance: int = 0
    ) -> Receipt:
        """Put a guess about the person before them.

        It counts for nothing until they confirm it; but a benign one (`response.tone`, `goal.…`) holds by
        itself once a second turn says the same, or as an insight of importance 3 that is 0.8 sure.
        """
        details: Details = {"key": key, "confidence": confidence, "reason": reason or None}  # type: ignore[typeddict-item]
        now, limit = self.engine.now(), self.engine.config.max_text_chars
        draft = draft_of(self.scope, value, details, now, limit, self.engine.book.rules)
        decision = self.engine.judge(draft)
        guess = Guess(
            key=draft.key or "", value=draft.text, confidence=draft.confidence,
            reason=draft.reason or "proposed", importance=importance,
        )  # fmt: skip

        def work(ledger: Ledger) -> Receipt:
            if isinstance(decision, Deny):
                return commit_denial(ledger, draft, decision)
            return stage(ledger, guess)

        return self.engine.act(self.scope, work)

    def pending(self, *, decided: bool = False) -> list[Memory]:
        """The guesses that wait for the person's word, oldest first; with `decided`, the others too."""
        now, name = self.engine.now(), self.scope.shelf(Space.USER) or ""
        return self.engine.database.read(lambda tx: guesses_on(tx, name, None if decided else now))

    def confirm(self, key: str | None = None, *, reason: str = "", channel: str = "") -> list[Receipt]:
        """Keep what was guessed, under its key; without a key, the newest guess. Only the person can.

        `channel` is by what way they said so, this caller's door unless given. In a chat, what is sensitive
        needs its key: a bare yes raises Denied.
        """
        memory, by = self._guess(key), channel or self.scope.via
        if not self.engine.book.fields.may_agree(memory.key, by, named=key is not None):
            raise unnamed(memory)
        if memory.layer is not Layer.USER_MODEL:
            receipt = self.layers.settle(memory)
            self.engine.act(self.scope, lambda ledger: conclude(ledger, memory, receipt.ids[0], by))
            return [receipt]
        details: Details = {
            "key": memory.key or "", "kind": memory.kind, "priority": max(70, memory.priority),
            "reason": reason or "confirmed",
        }  # fmt: skip
        receipt = self.layers.user_model.agreed(memory.text, details)
        if receipt.decision is not Outcome.DENIED:
            self.engine.act(self.scope, lambda ledger: conclude(ledger, memory, receipt.ids[0], by))
            told = receipt.acknowledgement
            receipt = Receipt(
                decision=Outcome.ADMITTED, code="confirmed", ids=receipt.ids, acknowledgement=told
            )
        return [receipt]

    def reject(self, key: str | None = None, *, channel: str = "") -> list[Receipt]:
        """Drop what was guessed; without a key, the newest guess. Only the person can."""
        memory, by = self._guess(key), channel or self.scope.via
        self.engine.act(self.scope, lambda ledger: conclude(ledger, memory, None, by))
        return [Receipt(decision=Outcome.ADMITTED, code="rejected", ids=(memory.id,))]

    def _guess(self, key: str | None) -> Memory:
        check_person(self.scope)
        wanted = None if key is None else canonical_key(key)
        found = [one for one in self.pending() if wanted in (None, one.key)]
        if not found:
            raise NotFound("Nothing like that waits for a word.", hint="`lamina pending` lists what does.")
        return found[-1]


def unnamed(memory: Memory) -> Denied:
    """Why a bare yes does not do."""
    return Denied(
        f"`{memory.key}` is personal: only a yes that names it is consent.",
        code="consent_unnamed",
        hint=f"Say `confirm memory {memory.key}`, or use `lamina pending confirm {memory.key}`.",
    )
