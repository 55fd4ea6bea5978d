"""One moment of the store for one caller: whatever an answer is made of is read from the same snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from lamina.model import Memory, Scope
from lamina.ranking.question import asked_terms
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import micros
from lamina.storage.small_tables import Properties
from lamina.write.entry_files import DEFAULT_SESSION
from lamina.write.store import Caller

T = TypeVar("T")


@dataclass(frozen=True)
class Snapshot:
    """One read transaction, who reads, and when."""

    transaction: Transaction
    caller: Caller
    now: datetime
    #: What a reading leaves behind (counts, its trace); done once the transaction is over.
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    #: What was found on the way to the answer, shown or not.
    considered: list[Memory] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        return self.caller.scope

    @cached_property
    def in_session(self) -> Scope:
        """The scope with the session it is in, named or not."""
        if self.scope.session:
            return self.scope
        return replace(self.scope, session=self.caller.default_session(self._current_session))

    def _current_session(self) -> str:
        return Properties(self.transaction).get("session") or DEFAULT_SESSION


def look(caller: Caller, work: Callable[[Snapshot], T], *, synced: bool = True, question: str = "") -> T:
    """What `work` finds on one snapshot, after the files were taken in where `synced` says so.

    A question that it will ask is looked up at once, where asking takes time.
    """
    store = caller.store
    if synced:
        store.sync()
    now = store.now()
    afterwards: list[Callable[[], None]] = []

    def whole(transaction: Transaction) -> T:
        afterwards.clear()
        transaction.told(now=micros(now), terms=asked_terms(question))
        return work(Snapshot(transaction, caller, now, afterwards))

    found = store.database.read(whole, elsewhere=store.since)
    for one in afterwards:
        one()
    return found
