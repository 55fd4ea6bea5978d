"""What is on a caller's shelves, by where it stands rather than by what it says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.model import Memory, Role
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.phases import Phases
from lamina.storage.sessions import Sessions
from lamina.storage.text_index import TextIndex


def _numbers(transaction: Transaction, names: Sequence[str]) -> list[int]:
    found = (TextIndex(transaction).shelf(name) for name in names)
    return [known[0] for known in found if known is not None]


def keyed_on(transaction: Transaction, names: Sequence[str], now: datetime) -> list[Memory]:
    """The memories of these shelves that hold a key, those that were only heard too."""
    memories = Memories(transaction)
    return [
        memory
        for number in _numbers(transaction, names)
        for memory in (*memories.keyed(number, now), *memories.heard(number))
    ]


def latest_on(transaction: Transaction, names: Sequence[str]) -> list[Memory]:
    """The newest lasting memory of these shelves, as a list of none or one."""
    found = [Memories(transaction).newest(number) for number in _numbers(transaction, names)]
    known = sorted((one for one in found if one is not None), key=lambda one: (one.created_at, one.id))
    return known[-1:]


def turns_on(transaction: Transaction, name: str) -> list[Memory]:
    """The turns of a user in the window of a session, latest last."""
    known = TextIndex(transaction).shelf(name)
    phase = Phases(transaction).get(*known) if known else None
    if known is None or phase is None:
        return []
    turns = Memories(transaction).turns(known[0], phase.id)
    return [turn for turn in turns if turn.provenance.role is Role.USER]


def pending_on(transaction: Transaction, name: str, now: datetime) -> list[Memory]:
    """The guesses on a shelf that wait for their person's word, oldest first."""
    memories = Memories(transaction)
    return [memory for number in _numbers(transaction, [name]) for memory in memories.pending(number, now)]


def lapsed_on(transaction: Transaction, name: str, now: datetime) -> list[str]:
    """Ids of the active memories of a shelf whose time is up."""
    return [one for n in _numbers(transaction, [name]) for one in Sessions(transaction).lapsed(n, now)]


def lapsing_on(transaction: Transaction, name: str) -> list[str]:
    """Ids of what goes when the session of a shelf ends."""
    return [one for n in _numbers(transaction, [name]) for one in Sessions(transaction).lapsing(n)]
