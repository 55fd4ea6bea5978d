"""One step of an agent's loop: memory before the work, proof before it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import TracebackType
from typing import Any

from lamina.errors import Conflict, NotFound, Unavailable
from lamina.hear.converse import answer, hear
from lamina.hear.guess import voice
from lamina.language.acknowledge import acknowledge
from lamina.language.hints import promotion_hint
from lamina.model import BUDGET, Heard, Outcome, Receipt, State
from lamina.read.context import context
from lamina.records import dataclass
from lamina.write.request import is_refused_move
from lamina.write.sessions import compact
from lamina.write.store import Caller
from lamina.write.verbs import get, may_use

#: How often a write that fails is tried before the user is told.
ATTEMPTS = 3


@dataclass(slots=True)
class AgentTurn:
    """Made by `ScopedMemory.turn`: what the user said is obeyed on entry, `summary` goes into the prompt,
    and `done` says whether everything that was asked of the memory is proven. What was refused or asked back
    is not, and `missing` has the words for the user.
    """

    caller: Caller
    message: str
    heard: Heard = field(default_factory=lambda: Heard(receipts=()))
    summary: str = ""
    problem: str = ""  #: what to tell the user when the memory could not be written
    reply: str | None = None  #: the agent's answer; kept with the turn when the step ends
    tools: list[Mapping[str, Any]] = field(default_factory=list)

    def __enter__(self) -> AgentTurn:
        compact(self.caller, "session")
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self.heard = hear(self.caller, self.message)
                break
            except (Unavailable, Conflict):
                if attempt == ATTEMPTS:
                    self.problem = acknowledge("write_failed", *voice(self.caller, self.message))
        self.summary = context(self.caller, self.message, BUDGET, "xml").text
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.reply and error is None:
            answer(self.caller, self.reply, self.tools)

    def may_use(self, tool: str) -> bool:
        """Whether the administrator's policy lets the agent use a tool."""
        return may_use(self.caller, tool)

    def missing(self) -> tuple[str, ...]:
        """What was asked of the memory and is not proven, a sentence each."""
        if self.problem:
            return (self.problem,)
        self.caller.store.sync()
        return tuple(said for one in self._asked() for said in self._unproven(one))

    def done(self) -> bool:
        """Whether the step may be called done; after a refusal or a question back, once that is settled."""
        return not self.missing()

    def settle(self, answer: str) -> Heard:
        """What the person says to a refusal or a question back: it is heard, and only what it asks is open.

        What the step was asked before and was done is still proven.
        """
        before = [one for one in self._asked() if one.decision is not Outcome.DENIED]
        heard = hear(self.caller, answer)
        self.message, self.problem = answer, ""
        self.heard = replace(heard, receipts=(*before, *heard.receipts), asked=len(before) + heard.asked)
        return heard

    def _asked(self) -> Sequence[Receipt]:
        """What became of the commands; or of what a phrase asked to be kept for a wider space."""
        if self.heard.asked or promotion_hint(self.message, book=self.caller.store.ruleset.rules) is None:
            return self.heard.receipts[: self.heard.asked]
        return [one for one in self.heard.receipts if one.code == "promoted" or is_refused_move(one)]

    def _unproven(self, receipt: Receipt) -> list[str]:
        if receipt.decision is Outcome.DENIED:
            return [receipt.acknowledgement]
        gone = receipt.code in ("forgotten", "rejected")
        found = []
        for one in receipt.ids:
            try:
                state = get(self.caller, one).state
            except NotFound:
                state = State.SOFT_DELETED
            in_file = self.caller.store.in_file(one)
            if gone and (state is State.ACTIVE or in_file):
                found.append(f"{one} is still there.")
            if not gone and receipt.code != "pending" and (state is not State.ACTIVE or in_file is False):
                found.append(f"{one} is not there.")
        return found
