"""What was done in a user's memory lately, counted, and what there is."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from lamina.model import Scope, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.shelf_contents import topics_on
from lamina.storage.small_tables import Count, Operational
from lamina.write.details import chosen, whole_number
from lamina.write.store import Caller

#: For so many days what was done is counted.
KEPT_DAYS = 90


class StatsBy(StrEnum):
    """By what time is counted."""

    HOUR = "hour"
    DAY = "day"


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
    stretch = chosen(StatsBy, by, "stretch")
    since = now - timedelta(days=whole_number(days, "days", 1, KEPT_DAYS))
    user, operational = quoted(scope.user), Operational(transaction)
    counts = operational.counts(user, since, timedelta(hours=1 if stretch is StatsBy.HOUR else 24))
    return Stats(
        since=since,
        by=stretch.value,
        counts=tuple(counts),
        turns=sum(one.count for one in counts if one.op == "classify"),
        turns_with_query=operational.asked(user, since),
        memories=topics_on(transaction, scope.shelves()),
    )


def stats(caller: Caller, by: str, days: int) -> Stats:
    """What was done in the caller's memory lately, counted; and what there is, by category and state."""
    store = caller.store
    store.count_now()
    now = store.now()
    return store.database.read(lambda tx: stats_of(tx, caller.scope, now, by, days))
