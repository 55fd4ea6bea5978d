"""Sessions as rows, and the life of what is kept until one ends."""

from __future__ import annotations

from datetime import datetime

from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories, from_micros, micros, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one user."""

    name: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None


class Sessions:
    """The sessions of one tenant inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def get(self, user: str, name: str) -> Session | None:
        row = self._tx.one("session_by_name", user=user, name=name)
        if row is None:
            return None
        started, last, ended = row
        return Session(
            name=name, started_at=moment(started), last_at=moment(last), ended_at=from_micros(ended)
        )

    def touch(self, user: str, name: str, now: datetime) -> None:
        """The session is in use; one that had ended begins anew."""
        self._tx.run("touch_session", user=user, name=name, now=micros(now))

    def end(self, user: str, name: str, now: datetime) -> None:
        self._tx.run("end_session", user=user, name=name, now=micros(now))

    def keep(self, shelf: int, now: datetime, until: datetime) -> None:
        """What is kept until the session's end lives on, unless the session was over already."""
        rows = self._tx.all("sealed_lapsing", shelf=shelf, now=micros(now))
        if rows:
            Memories(self._tx).set_ends({row[0]: micros(until) for row in rows}, rows)

    def lapsing(self, shelf: int) -> list[str]:
        """Ids of what goes when the session of this shelf ends."""
        return [row[0] for row in self._tx.all("session_lapsing", shelf=shelf)]

    def lapsed(self, shelf: int, now: datetime) -> list[str]:
        """Ids of active memories on a shelf whose time is up."""
        return [row[0] for row in self._tx.all("lapsed_on", shelf=shelf, now=micros(now))]
