"""What changed on shelves, numbered shelf by shelf."""

from __future__ import annotations

from datetime import datetime

from lamina.model import Memory
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import from_row, micros, moment

#: The ids of guesses, which wait in a list of their own.
_GUESSES = "%:%:pending:%"


@dataclass(frozen=True, slots=True)
class ShelfChange:
    """One change of a memory."""

    number: int
    at: datetime
    event: str
    memory_id: str


class Deltas:
    """The changes of a tenant's shelves, as far as the transaction may read them."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def after(self, shelf: str, number: int, limit: int) -> list[ShelfChange]:
        """The newest changes above a number, oldest of them first."""
        rows = self._tx.all("changes_on", shelf=shelf, after=number, limit=limit, guesses=_GUESSES)
        return [ShelfChange(one, moment(at), event, memory) for one, at, event, memory in reversed(rows)]

    def last(self, shelf: str) -> int:
        """The number of the newest change on a shelf, 0 before the first."""
        row = self._tx.one("last_change_on", shelf=shelf)
        return int(row[0] or 0) if row else 0

    def revision(self, thread: str) -> int:
        """How many changes were made in a thread."""
        row = self._tx.one("thread_revision", thread=thread)
        return int(row[0] or 0) if row else 0

    def known(self, thread: str, after: int) -> int:
        """How many changes above a revision of a thread the transaction's caller may know of."""
        row = self._tx.one("known_changes", thread=thread, after=after, guesses=_GUESSES)
        return int(row[0] or 0) if row else 0


def always_on(tx: Transaction, shelf: int, category: str, now: datetime, limit: int) -> list[Memory]:
    """What a context always has of a category, what matters most first."""
    return tx.each(from_row, "always_on", shelf=shelf, category=category, now=micros(now), limit=limit)
