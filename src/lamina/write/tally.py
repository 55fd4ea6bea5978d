"""What was done lately, waiting to be counted: a write carries it into the store, a read never does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any

from lamina.model import HistoryOp, Layer, Memory, Scope, quoted
from lamina.ranking.decay import EPISODE_RENEWED
from lamina.records import dataclass
from lamina.storage.answers import keep_answers
from lamina.storage.database import Database, Transaction
from lamina.storage.layers import LayerRows
from lamina.storage.operational import Happening, Operational
from lamina.write.unit_of_work import UnitOfWork

#: So many things wait before a write takes them along.
ENOUGH = 64
#: Of so many memories at most it is known that they were found.
_MOST = 100_000
#: So many receipts wait at most, and for so long it is known what was shown.
_MOST_ANSWERS, _AGAIN = 10_000, timedelta(hours=1)
_OP = {
    HistoryOp.ADD: "create",
    HistoryOp.UPDATE: "update",
    HistoryOp.DELETE: "delete",
    HistoryOp.TTL: "delete",
    HistoryOp.MERGE: "merge",
    HistoryOp.LINK: "link",
    HistoryOp.RESTORE: "restore",
}


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


@dataclass(slots=True)
class Answered:
    """Receipts of answers that wait to be stored, and what agents were shown lately.

    A process that is killed loses the receipts that are in here.
    """

    _waiting: list[tuple[str, str, datetime, dict[str, Any]]] = field(default_factory=list)
    _shown: dict[tuple[str, str], datetime] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def add(self, answer_id: str, owner: str, at: datetime, data: dict[str, Any]) -> None:
        """One receipt; of very many that nobody stores the oldest go."""
        with self._mutex:
            self._waiting.append((answer_id, owner, at, data))
            del self._waiting[:-_MOST_ANSWERS]

    @property
    def full(self) -> bool:
        return len(self._waiting) >= ENOUGH

    def put(self, transaction: Transaction) -> None:
        """Put what waits into the store."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        keep_answers(transaction, waiting)

    def store(self, database: Database) -> None:
        """The same in a transaction of its own, if anything waits."""
        if self._waiting:
            database.write(self.put)

    def unseen(self, what: tuple[str, str], now: datetime) -> bool:
        """Whether it is not known that somebody was shown this in the last hour; from now on it is."""
        with self._mutex:
            last = self._shown.get(what)
            if last is not None and now - last < _AGAIN:
                return False
            if len(self._shown) >= _MOST:
                self._shown.clear()
            self._shown[what] = now
            return True


@dataclass(slots=True)
class Reads:
    """Which memories were found since the counts were last written, how often and when last.

    A reading adds to this and to nothing else; `Store.apply_reads` writes it: a server every few seconds, and
    everybody at the close of the store. Never with a write: then one person's order would depend on how much
    others read. A process that is killed loses what is in here.
    """

    _seen: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def note(self, ids: Sequence[str], at: datetime) -> None:
        with self._mutex:
            for one in ids:
                if one in self._seen or len(self._seen) < _MOST:
                    self._seen[one] = (self._seen.get(one, (0, at))[0] + 1, at)

    def put(self, transaction: Transaction) -> int:
        """Put what waits into the store; how many memories it was."""
        with self._mutex:
            seen, self._seen = self._seen, {}
        LayerRows(transaction).note(seen, EPISODE_RENEWED)
        return len(seen)

    def store(self, database: Database) -> int:
        """The same in a transaction of its own, if anything waits."""
        return database.write(self.put) if self._seen else 0
