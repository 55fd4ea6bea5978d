"""What was done, for counting: never its words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import micros, moment

_HOUR = timedelta(hours=1) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that was done (IS-14)."""

    at: datetime
    user: str
    thread: str
    node: str  #: hotpath, context, episodic, worker or writing
    op: str  #: classify, search, query, extract, create, update, merge, link, delete, restore; or a kind
    status: str = "ok"  #: ok, error or skipped; pass, repaired, held or rejected for writing
    memory_id: str | None = None
    category: str | None = None
    sim: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often a thing was done within a stretch of time."""

    since: datetime
    node: str
    op: str
    status: str
    count: int


class Operational:
    """The counts of one tenant inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def add(self, happenings: Sequence[Happening]) -> None:
        rows = [
            {
                "at": micros(one.at),
                "user": one.user,
                "thread": one.thread,
                "node": one.node,
                "op": one.op,
                "status": one.status,
                "memory_id": one.memory_id,
                "category": one.category,
                "sim": one.sim,
            }
            for one in happenings
        ]
        self._tx.many("add_operational", rows)

    def counts(self, user: str, since: datetime, width: timedelta) -> list[Count]:
        """What a user's callers did, by stretches of time, oldest first."""
        step = width // timedelta(microseconds=1)
        first = micros(since)
        whole = first + -first % _HOUR
        rows = self._tx.all("count_operational", user=user, since=first, whole=whole, width=step)
        return [
            Count(since=moment(at), node=node, op=op, status=status, count=count)
            for at, node, op, status, count in rows
        ]

    def asked(self, user: str, since: datetime) -> int:
        """In how many turns memory was asked on demand."""
        row = self._tx.one("count_asked", user=user, since=micros(since))
        return int(row[0]) if row else 0

    def forget(self, before: datetime) -> None:
        self._tx.run("forget_operational", before=micros(before))
