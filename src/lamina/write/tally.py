"""What was done lately, waiting to be counted: a write carries it into the store, a read never does."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from lamina.model import HistoryOp, Layer, Memory, Scope, quoted
from lamina.ranking.decay import EPISODE_RENEWED
from lamina.records import dataclass
from lamina.storage.answers import keep_answers
from lamina.storage.database import Database, Transaction
from lamina.storage.layers import LayerRows
from lamina.storage.ledger import Order, lane_of
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
        told: dict[str, Any] = {"user": quoted(scope.user), "thread": scope.thread, **more}
        with self._mutex:
            self._waiting.append(Happening(at=at, node=node, op=op, **told))
            del self._waiting[:-_MOST]  # of a process that never writes

    def follow(self, unit: UnitOfWork) -> None:
        """After a commit: what became of each memory."""
        self.written = self.written or bool(unit.done)
        for op, memory in unit.done:
            node = "worker" if unit.scope.via == "job" else _node(memory)
            sim = unit.closeness.get(memory.id)
            told = {"memory_id": memory.id, "category": memory.topic, "sim": sim}
            self.note(unit.scope, unit.clock, node, _OP[op], **told)

    def store(self, database: Database) -> None:
        """Put what waits into the store, in the order of people, so that two who do it pass each other."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        waiting.sort(key=lambda one: one.user)
        database.write(lambda tx: Operational(tx).add(waiting), lanes=())


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

    def store(self, database: Database) -> None:
        """Put what waits into the store."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        if waiting:
            database.write(lambda tx: keep_answers(tx, waiting), lanes=())

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

    def store(self, database: Database) -> int:
        """Put what waits into the store, chain by chain; how many memories it was."""
        with self._mutex:
            seen, self._seen = self._seen, {}
        chains: dict[int, dict[str, tuple[int, datetime]]] = defaultdict(dict)
        for one, found in seen.items():
            chains[Order(database.chains).chain(lane_of(one))][one] = found
        for some in chains.values():
            work = partial(_noted, some)
            database.write(work, lanes=sorted(set(map(lane_of, some))))
        return len(seen)


def _noted(seen: Mapping[str, tuple[int, datetime]], transaction: Transaction) -> None:
    LayerRows(transaction).note(seen, EPISODE_RENEWED)
