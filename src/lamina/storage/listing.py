"""Everything on some shelves, page by page, and how much there is of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.model import Memory, Query, State
from lamina.storage.database import Transaction
from lamina.storage.memories import from_row, micros, narrowing_of

#: The most frequent tags are counted, so many of them.
_TAGS = 50


class Order(StrEnum):
    """What comes first in a list."""

    NEWEST = "newest"
    OLDEST = "oldest"
    IMPORTANT = "important"  #: what matters most, and of that the newest


_QUERY = {
    Order.NEWEST: "list_memories",
    Order.OLDEST: "list_oldest",
    Order.IMPORTANT: "list_important",
}
_WEIGHT = 2**52  #: above every time in microseconds for a century to come


def place_of(memory: Memory, order: Order) -> int:
    """Where a memory stands in an order."""
    at = micros(memory.created_at)
    return memory.importance * _WEIGHT + at if order is Order.IMPORTANT else at


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a list is narrowed to: what the query says, without its words, and what only a list asks for."""

    query: Query
    states: tuple[State, ...]
    said_by: str | None = None  #: an actor such as `agent:planner`, or an agent's name
    tags: tuple[str, ...] = ()  #: those with any of these


class Listing:
    """The memories of one tenant as a list inside one transaction."""

    def __init__(self, transaction: Transaction, listed: Listed, now: datetime) -> None:
        query = listed.query
        asked = ("now", "layers", "kinds", "categories", "since", "until", "trusted", "phases")
        narrowing = narrowing_of(query, now)
        self._tx, self._states = transaction, [str(one) for one in listed.states]
        self._asked: dict[str, Any] = {
            **{name: narrowing[name] for name in asked},
            "names": list(query.scope.shelves(query.spaces)),
            "said_by": listed.said_by,
            "tags": list(listed.tags),
        }

    def page(self, behind: tuple[int, str] | None, limit: int, order: Order = Order.NEWEST) -> list[Memory]:
        """So many in an order, of those that come behind a place in it and an id."""
        at, memory_id = behind or (None, "")
        return self._tx.each(
            from_row, _QUERY[order], at=at, id=memory_id, limit=limit, states=self._states, **self._asked
        )

    def counts(self) -> dict[str, dict[str, int]]:
        """How many there are by space, layer, kind, category, speaker and tag; by state, of all states."""
        names = ("space", "layer", "kind", "category", "by")
        found: dict[str, Counter[str]] = {name: Counter() for name in (*names, "state")}
        for *values, state, count in self._tx.all("count_listed", **self._asked):
            found["state"][state] += count
            for name, value in zip(names, values, strict=True):
                if state in self._states:
                    found[name][value] += count
        tags = self._tx.all("count_tags", states=self._states, limit=_TAGS, **self._asked)
        return {**{name: _sorted(some) for name, some in found.items()}, "tag": dict(tags)}


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first; equals by name."""
    pairs: Sequence[tuple[str, int]] = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(pairs)
