"""What was done lately, waiting to be counted: a write carries it into the store, a read never does."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from lamina.model import HistoryOp, Layer, Memory, Scope, quoted
from lamina.storage.database import Transaction
from lamina.storage.operational import Count, Happening, Operational
from lamina.storage.text_index import TextIndex
from lamina.write.details import chosen, whole_number
from lamina.write.unit_of_work import UnitOfWork

#: So many things wait before a write takes them along.
ENOUGH = 64
#: For so many days what was done is counted.
KEPT_DAYS = 90
_OP = {
    HistoryOp.ADD: "create",
    HistoryOp.UPDATE: "update",
    HistoryOp.DELETE: "delete",
    HistoryOp.TTL: "delete",
    HistoryOp.MERGE: "merge",
    HistoryOp.LINK: "link",
    HistoryOp.RESTORE: "restore",
}


class Stretch(StrEnum):
    """By what time is counted."""

    HOUR = "hour"
    DAY = "day"


@dataclass(slots=True)
class Tally:
    """Shared by every view of an engine and by all its threads."""

    written: bool = False  #: whether this process has changed anything, so that its counts may be stored
    _waiting: list[Happening] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def full(self) -> bool:
        return len(self._waiting) >= ENOUGH

    def note(self, scope: Scope, at: datetime, node: str, op: str, **more: str | float | None) -> None:
        """One thing that was done."""
        one = Happening(at=at, user=quoted(scope.user), thread=scope.thread, node=node, op=op)
        with self._mutex:
            self._waiting.append(replace(one, **more))  # type: ignore[arg-type]

    def follow(self, unit: UnitOfWork) -> None:
        """After a commit: what became of each memory."""
        self.written = self.written or bool(unit.done)
        for op, memory in unit.done:
            node = "worker" if unit.scope.via == "job" else _node(memory)
            sim = unit.closeness.get(memory.id)
            told = {"memory_id": memory.id, "category": memory.topic, "sim": sim}
            self.note(unit.scope, unit.clock, node, _OP[op], **told)

    def store(self, transaction: Transaction) -> None:
        """Put what waits into the store."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        Operational(transaction).add(waiting)


def _node(memory: Memory) -> str:
    return "episodic" if memory.layer is Layer.EPISODIC else "hotpath"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Figures about one user's memory (IS-11, IS-14)."""

    since: datetime
    by: str
    counts: tuple[Count, ...]
    turns: int
    turns_with_query: int
    memories: dict[str, dict[str, int]]  #: category to state to how many

    @property
    def query_share(self) -> float:
        """The share of turns in which memory was asked on demand."""
        return self.turns_with_query / self.turns if self.turns else 0.0


def stats_of(transaction: Transaction, scope: Scope, now: datetime, by: str, days: int) -> Stats:
    """What was done in a user's memory within so many days, by hour or by day."""
    stretch = chosen(Stretch, by, "stretch")
    since = now - timedelta(days=whole_number(days, "days", 1, KEPT_DAYS))
    user, operational = quoted(scope.user), Operational(transaction)
    turns, asked = operational.turns(user, since)
    memories: dict[str, dict[str, int]] = {}
    for name in scope.shelves():
        known = TextIndex(transaction).shelf(name)
        for topic, state, count in transaction.all("count_topics", shelf=known[0]) if known else ():
            states = memories.setdefault(topic, {})
            states[state] = states.get(state, 0) + count
    counts = operational.counts(user, since, timedelta(hours=1 if stretch is Stretch.HOUR else 24))
    return Stats(
        since=since,
        by=stretch.value,
        counts=tuple(counts),
        turns=turns,
        turns_with_query=asked,
        memories=dict(sorted(memories.items())),
    )
