"""What a team of agents asks of a memory: what changed, a few memories, and how much was done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from lamina.model import Delta, Query, Receipt, Scope
from lamina.read.changes import delta_of
from lamina.read.query import Asked, Queried, queried
from lamina.storage.database import Transaction
from lamina.text.normalise import well_formed
from lamina.write.commit import commit_pin
from lamina.write.merge import commit_merge, commit_unmerge
from lamina.write.tally import Stats, stats_of

if TYPE_CHECKING:
    from lamina.engine import Engine


class Team(ABC):
    """Part of `ScopedMemory`."""

    engine: Engine
    scope: Scope

    @property
    @abstractmethod
    def in_session(self) -> Scope:
        """The scope with the session it is in, named or not."""

    @abstractmethod
    def scope_of(self, memory_id: str) -> Scope:
        """The scope that reaches a memory: a session's is reached from that session, named or not."""

    @abstractmethod
    def allowed(self, query: Query) -> Query:
        """The query within what the policy lets this caller read."""

    def changes(self, since: str = "") -> Delta:
        """What changed in the caller's memory since a cursor, and the cursor to ask with next time.

        Without a cursor, everything since the beginning. A caller never hears of what it may not read.
        """
        self.engine.sync()
        return self.engine.database.read(
            lambda tx: delta_of(tx, self.scope, self.engine.ruleset.sealer, since)
        )

    def delta(self, transaction: Transaction, cursor: str | None) -> Delta | None:
        """The same within a reading; None where nobody asked for it."""
        if cursor is None:
            return None
        return delta_of(transaction, self.scope, self.engine.ruleset.sealer, cursor)

    def query(self, question: str, **asked: Unpack[Asked]) -> Queried:
        """`memory.query`: a few memories, narrowed by categories and filters, within a budget."""
        found = queried(self, question, **asked)
        best = max((one.score for one in found.bullets), default=None)
        self.engine.tally.note(self.in_session, self.engine.now(), "hotpath", "query", sim=best)
        return found

    def merge(self, ids: Sequence[str], *, reason: str = "") -> Receipt:
        """Make one memory of several that say the same: code `merged`, and the id of the one that stays.

        DENIED with `values_differ` where they give different values, with `not_alike` where they are about
        different things. Raises NotFound for what the caller does not see, InvalidInput `merge_unfit` for
        what has a key, a file or an end of its own.
        """
        why = well_formed(reason, "reason", 1000) if reason else None
        self.engine.sync()
        return self.engine.act(self.scope, lambda unit: commit_merge(unit, ids, why))

    def unmerge(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Undo a merge, or an update by a newer value: the ids of what is active again, as it was.

        A Conflict where the memory has changed since (`merge_changed`) or what it was made of is gone.
        """
        why = well_formed(reason, "reason", 1000) if reason else None
        self.engine.sync()
        return self.engine.act(self.scope, lambda unit: commit_unmerge(unit, memory_id, why))

    def stats(self, *, by: str = "day", days: int = 7) -> Stats:
        """What was done in the caller's memory lately, counted; and what there is, by category and state."""
        self.engine.count_now()
        now = self.engine.now()
        return self.engine.database.read(lambda tx: stats_of(tx, self.scope, now, by, days))

    def pin(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Keep a memory through every clean-up: it neither fades nor is put aside unused."""
        return self._pinned(memory_id, True, reason)

    def unpin(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Let a memory age again like any other."""
        return self._pinned(memory_id, False, reason)

    def _pinned(self, memory_id: str, pinned: bool, reason: str) -> Receipt:
        well_formed(memory_id, "memory id", 4000)
        why = well_formed(reason, "reason", 1000) if reason else None
        self.engine.sync()
        scope = self.scope_of(memory_id)
        return self.engine.act(scope, lambda unit: commit_pin(unit, memory_id, pinned, why))
