"""Everything on some shelves, page by page, and how much there is of what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from lamina.model import Memory, Query, State, Trust
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import Memories, micros, narrowing_of
from lamina.storage.search_index import TextIndex

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


class Behind(NamedTuple):
    """Where a page begins: behind a place in the order and an id; None, at the beginning."""

    at: int | None = None
    id: str = ""


class Listing:
    """The memories of one tenant as a list inside one transaction."""

    def __init__(self, transaction: Transaction, listed: Listed, now: datetime) -> None:
        query = listed.query
        asked = ("now", "layers", "kinds", "categories", "since", "until", "trusted", "phases")
        narrowing = narrowing_of(query, now)
        self._tx, self._listed = transaction, listed
        self._states = [str(one) for one in listed.states]
        known = [(name, TextIndex(transaction).shelf(name)) for name in query.scope.shelves(query.spaces)]
        self._shelves = [(name.partition(":")[0], shelf[0]) for name, shelf in known if shelf is not None]
        self._asked: dict[str, Any] = {
            **{name: narrowing[name] for name in asked},
            "said_by": listed.said_by,
            "tags": list(listed.tags),
        }

    def page(self, behind: Behind, limit: int, order: Order = Order.NEWEST) -> list[Memory]:
        """So many in an order, of those that come behind a place in it and an id."""
        asked = {**self._asked, "states": self._states, "at": behind.at, "id": behind.id, "limit": limit}
        places = [
            (isinstance(place, int), place, one)  # what has no number for a place is damaged, and named below
            for _, shelf in self._shelves
            for place, one in self._tx.all(_QUERY[order], shelf=shelf, **asked)
        ]
        places.sort(reverse=order is not Order.OLDEST)
        ids = [one for *_, one in places[:limit]]
        found = Memories(self._tx).load(ids)
        return [found[one] for one in ids if one in found]

    def counts(self) -> dict[str, dict[str, int]]:
        """How many there are by space, layer, kind, category, speaker and tag; by state, of all states."""
        names = ("layer", "kind", "category", "by")
        found: dict[str, Counter[str]] = {name: Counter() for name in ("space", *names, "state", "tag")}
        for space, shelf in self._shelves:
            for state, *values, _, tags, count in self._counted(shelf):
                found["state"][state] += count
                if state in self._states:
                    found["space"][space] += count
                    for name, value in zip(names, values, strict=True):
                        found[name][value] += count
                    for tag in _tags(tags):
                        found["tag"][tag] += count
        return {name: _sorted(some, _TAGS if name == "tag" else None) for name, some in found.items()}

    def _counted(self, shelf: int) -> Iterable[Row]:
        """State, layer, kind, category, speaker, trust and tags of what is listed, each with how many.

        By times, phases and the agent that speaks nothing is kept count of: those are counted row by row.
        """
        query, listed = self._listed.query, self._listed
        if query.since or query.until or query.phases or listed.said_by is not None:
            return self._tx.all("count_listed", shelf=shelf, **self._asked)
        wanted = (query.layers, query.kinds, query.categories)
        return [
            row
            for row in self._tx.all("count_kept", shelf=shelf, now=self._asked["now"])
            if all(not some or value in some for some, value in zip(wanted, row[1:4], strict=True))
            and (not query.trusted_only or row[5] == Trust.TRUSTED)
            and (not listed.tags or not set(listed.tags).isdisjoint(_tags(row[6])))
        ]


def _tags(text: str) -> list[str]:
    """The tags of a row; none of one that is damaged."""
    with suppress(ValueError):
        return [one for one in json.loads(text) if isinstance(one, str)] if text != "[]" else []
    return []


def _sorted(counts: Counter[str], most: int | None) -> dict[str, int]:
    """The most frequent first, so many of them; equals by name."""
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: count for name, count in pairs[:most] if count > 0}
