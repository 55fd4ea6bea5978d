"""What background work keeps between its runs, whom it works for, and what they have stated."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from lamina.engine import Engine
from lamina.model import Memory, Role, Scope, unquoted
from lamina.scoped import ScopedMemory
from lamina.storage.database import Transaction
from lamina.storage.memories import from_row, micros, moment
from lamina.storage.text_index import TextIndex


class Mark(NamedTuple):
    """When a job last dealt with something, and what it noted."""

    at: datetime
    note: str


class Marks:
    """The marks of one job about one user, '' for the tenant, inside one transaction."""

    def __init__(self, transaction: Transaction, job: str, owner: str = "") -> None:
        self._tx, self._job, self._owner = transaction, job, owner

    def since(self, at: datetime) -> dict[str, Mark]:
        """By subject, those made or renewed since then."""
        rows = self._tx.all("job_marks", job=self._job, owner=self._owner, since=micros(at))
        return {subject: Mark(moment(made), note) for subject, made, note in rows}

    def put(self, subject: str, at: datetime, note: str = "") -> None:
        self._tx.run(
            "put_job_mark", job=self._job, owner=self._owner, subject=subject, at=micros(at), note=note
        )

    def owners(self, subject: str) -> dict[str, datetime]:
        """When each user's mark on a subject was made."""
        rows = self._tx.all("owners_marked", job=self._job, subject=subject)
        return {owner: moment(at) for owner, at in rows}

    def drop(self, before: datetime) -> None:
        """Those of everybody that this job made before then go."""
        self._tx.run("drop_job_marks", job=self._job, before=micros(before))


def minds_of(engine: Engine) -> list[ScopedMemory]:
    """Everybody this tenant holds something of, in the order of names, as a job acts for them."""

    def work(transaction: Transaction) -> set[str]:
        shelves = {unquoted(str(name).partition(":")[2]) for (name,) in transaction.all("user_shelves")}
        return shelves | {str(name) for (name,) in transaction.all("session_users")}

    users, tenant = sorted(engine.database.read(work)), engine.config.tenant
    return [
        ScopedMemory(engine, Scope(tenant=tenant, user=user, role=Role.SYSTEM, via="job")) for user in users
    ]


def statements(transaction: Transaction, shelf: str, now: datetime, limit: int) -> list[Memory]:
    """What is stated on a shelf, last changed first; nothing of a tool or a file."""
    known = TextIndex(transaction).shelf(shelf)
    if known is None:
        return []
    return transaction.each(from_row, "statements_on", shelf=known[0], now=micros(now), limit=limit)
