"""One user's memory as one caller sees it: the verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from lamina.engine.commit import readable
from lamina.engine.details import Details, Narrowing, draft_of, query_of, whole_number
from lamina.engine.explain import explained
from lamina.engine.ledger import Ledger
from lamina.engine.recall import checked_query, recall
from lamina.engine.request import Request, Verb
from lamina.errors import InvalidInput, NotFound
from lamina.model import (
    Draft,
    Explanation,
    HistoryEntry,
    Memory,
    Receipt,
    Recollection,
    Scope,
    Space,
    State,
)
from lamina.model.audit import TraceEvent
from lamina.policy.gates import decide
from lamina.storage.lexicon import Lexicon
from lamina.storage.logs import Events, History
from lamina.storage.memories import Memories
from lamina.text.entries import canonical_key
from lamina.text.normal import well_formed

if TYPE_CHECKING:
    from lamina.engine.engine import Engine

_KNOWN = (State.ACTIVE, State.PENDING, State.SUPERSEDED, State.ARCHIVED, State.SOFT_DELETED, State.EXPIRED)


class Mind:
    """What a caller may do. Everything happens within its scope; nothing outside it exists here."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self.scope = scope

    def remember(self, text: str, **details: Unpack[Details]) -> Receipt:
        """Remember one thing, exactly as it is said.

        The receipt says whether it was admitted, known already, or denied and why. Raises InvalidInput
        when the text or a detail cannot be used; then nothing happened.
        """
        now = self._engine.now()
        repeat = details.pop("idempotency_key", None)
        draft = draft_of(self.scope, text, details, now, self._engine.config.max_text_chars)
        return self._engine.carry_out(
            Request(
                verb=Verb.REMEMBER,
                scope=self.scope,
                at=now,
                draft=draft,
                decision=decide(draft, self._engine.book.policy),
                idempotency_key=None if repeat is None else well_formed(repeat, "idempotency key", 200),
            )
        )

    def recall(self, question: str, **narrowing: Unpack[Narrowing]) -> Recollection:
        """What is known about a question, best first, with reasons. Writes nothing."""
        config = self._engine.config
        query = checked_query(query_of(self.scope, question, narrowing, config.recall_k))
        self._engine.sync()
        now = self._engine.now()
        return self._engine.database.read(lambda tx: recall(tx, query, now, config.recall_pool))

    def revise(self, memory_id: str, text: str, *, expect: int | None = None, reason: str = "") -> Receipt:
        """Say a memory in new words; when it is no longer at the revision `expect`, that is a Conflict."""
        self._engine.sync()
        if expect is not None:
            whole_number(expect, "expect", 1, 2**53)
        old = self.get(memory_id)
        draft = Draft(
            scope=self.scope,
            text=well_formed(text, "text", self._engine.config.max_text_chars),
            space=old.space,
            layer=old.layer,
            kind=old.kind,
            key=old.key,
            reason=_reason(reason),
        )
        return self._engine.carry_out(
            Request(
                verb=Verb.REVISE,
                scope=self.scope,
                at=self._engine.now(),
                draft=draft,
                decision=decide(draft, self._engine.book.policy),
                memory_id=old.id,
                expect=expect,
            )
        )

    def forget(self, id_or_key: str, *, reason: str = "") -> Receipt:
        """Take a memory out of every answer; `restore` brings it back within the undo window."""
        self._engine.sync()
        memory_id = self._found(id_or_key)
        return self._engine.carry_out(
            Request(
                verb=Verb.FORGET,
                scope=self.scope,
                at=self._engine.now(),
                memory_id=memory_id,
                undo_days=self._engine.config.undo_days,
                reason=_reason(reason),
            )
        )

    def restore(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Bring a forgotten memory back as it was."""
        well_formed(memory_id, "memory id", 4000)
        self._engine.sync()
        return self._engine.carry_out(
            Request(
                verb=Verb.RESTORE,
                scope=self.scope,
                at=self._engine.now(),
                memory_id=memory_id,
                reason=_reason(reason),
            )
        )

    def get(self, memory_id: str) -> Memory:
        """One memory of the caller's own, in whatever state it is; NotFound otherwise."""
        well_formed(memory_id, "memory id", 4000)
        self._engine.sync()
        return self._engine.database.read(
            lambda tx: readable(
                Ledger(tx, self._engine.book, self.scope, self._engine.now()), memory_id, *_KNOWN
            )
        )

    def history(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """Every step in the life of a memory, oldest first."""
        self.get(memory_id)
        return tuple(self._engine.database.read(lambda tx: History(tx).of(memory_id)))

    def explain(self, memory_id: str) -> Explanation:
        """Why a memory is there, told from what was recorded when it was decided."""
        return explained(self.get(memory_id), self.history(memory_id))

    def trace(self, last: int = 20) -> tuple[TraceEvent, ...]:
        """The newest trace events of the caller's shelves, oldest of them first."""
        whole_number(last, "last", 1, 10_000)
        self._engine.sync()
        shelves = self.scope.shelves()
        return tuple(self._engine.database.read(lambda tx: Events(tx).last(shelves, last)))

    def _found(self, id_or_key: str) -> str:
        """The id of an active memory named by its id or its key, the nearest shelf first."""
        well_formed(id_or_key, "id or key", 4000)
        if id_or_key.partition(":")[0] in set(Space):
            return id_or_key
        try:
            key = canonical_key(id_or_key)
        except InvalidInput:
            raise NotFound(f"There is no memory {id_or_key!r:.80} here.") from None
        shelves = self.scope.shelves()

        def work(memories: Memories, lexicon: Lexicon) -> Memory | None:
            numbers = [number for name in shelves if (number := lexicon.shelf(name)) is not None]
            return next((m for n in numbers if (m := memories.active(n, f"key:{key}"))), None)

        found = self._engine.database.read(lambda tx: work(Memories(tx), Lexicon(tx)))
        if found is None:
            raise NotFound(
                f"There is no memory with the key {key!r:.80} here.",
                hint="`lamina recall` shows the ids and keys of what is known.",
            )
        return found.id


def _reason(given: str) -> str | None:
    return well_formed(given, "reason", 1000) if given else None
