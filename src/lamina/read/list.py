"""Everything of a caller's, page by page, and how much there is of what."""

from __future__ import annotations

import base64
from binascii import Error as NotBase64
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypedDict, Unpack

from lamina.errors import Denied, InvalidInput
from lamina.model import Memory, Query, State
from lamina.read.recall import OWN_PAST, allowed_query
from lamina.read.snapshot import Snapshot, look
from lamina.records import dataclass
from lamina.storage.listing import Behind, Listed, Listing, Order, place_of
from lamina.storage.search_index import TextIndex
from lamina.text.normalise import well_formed
from lamina.write.details import MAX_TAGS, check_details, chosen, query_of, whole_number
from lamina.write.store import Caller

PAGE, LARGEST = 50, 500


class ListOptions(TypedDict, total=False):
    """Everything `list` takes; what is left out narrows nothing, but for the state: `active`."""

    spaces: Iterable[str]
    layers: Iterable[str]
    kinds: Iterable[str]
    categories: Iterable[str]
    states: Iterable[str]
    by: str
    since: datetime
    until: datetime
    tags: Iterable[str]
    trusted_only: bool
    order: str
    count: bool
    limit: int
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some memories in their order; with the first page, how many there are in all, and of what."""

    items: tuple[Memory, ...]
    cursor: str | None  #: for the next page; None on the last
    total: int | None = None  #: counted for the first page only, where it was not left out
    #: Space, layer, kind, category, by, state and tag to how many of each; `state` counts every state.
    facets: dict[str, dict[str, int]] | None = None


def list_memories(caller: Caller, **wanted: Unpack[ListOptions]) -> Page:
    """One page of everything the caller may read; what a recall hides from them is in no page either."""
    check_details(wanted, ListOptions.__annotations__)
    limit = whole_number(wanted.get("limit") or PAGE, "limit", 1, LARGEST)
    order = chosen(Order, wanted.get("order") or Order.NEWEST, "order")
    cursor = wanted.get("cursor")
    behind = _opened(cursor, order) if cursor else Behind()
    listed = _listed(caller, wanted)

    def work(snapshot: Snapshot) -> Page:
        within = replace(listed, query=_in_phase(snapshot, listed.query))
        listing = Listing(snapshot.transaction, within, snapshot.now)
        found = listing.page(behind, limit + 1, order)
        rest = _closed(found[limit - 1], order) if len(found) > limit else None
        page = Page(items=tuple(found[:limit]), cursor=rest)
        if cursor or not wanted.get("count", True):
            return page
        facets = listing.counts()
        return replace(page, total=sum(facets["space"].values()), facets=facets)

    return look(caller, work)


def _states(caller: Caller, wanted: Iterable[str]) -> tuple[State, ...]:
    """The states asked for, `active` if none; to an agent what is not active does not exist."""
    asked = tuple(chosen(State, one, "state") for one in wanted) or (State.ACTIVE,)
    if hidden := [one for one in asked if one not in caller.states]:
        hint = "Ask for active memories; a person sees the others."
        raise Denied(f"An agent does not see what is {hidden[0]}.", code="state_disallowed", hint=hint)
    return asked


def _listed(caller: Caller, wanted: ListOptions) -> Listed:
    names = ("spaces", "layers", "kinds", "categories", "since", "until", "trusted_only")
    narrowing = {name: wanted[name] for name in names if name in wanted}  # type: ignore[literal-required]
    query = query_of(caller.scope, "", narrowing, 1)  # type: ignore[arg-type]
    caller.store.ruleset.categories.checked(query.categories, caller.scope)
    own = caller.scope.role in OWN_PAST
    by, tags = wanted.get("by"), tuple(wanted.get("tags") or ())
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"A list is narrowed to at most {MAX_TAGS} tags.", code="tags_invalid")
    return Listed(
        query=allowed_query(caller, replace(query, across_phases=own)),
        states=_states(caller, wanted.get("states") or ()),
        said_by=None if by is None else well_formed(by, "by", 256),
        tags=tuple(well_formed(one, "tag", 128) for one in tags),
    )


def _in_phase(snapshot: Snapshot, query: Query) -> Query:
    """The query within the current phases, where its caller may not see the earlier ones."""
    if query.across_phases:
        return query
    text_index, names = TextIndex(snapshot.transaction), query.scope.shelves(query.spaces)
    known = [(name, shelf[1]) for name in names if (shelf := text_index.shelf(name))]
    return replace(query, phases=tuple(f"{name} phase-{number}" for name, number in known))


def _closed(last: Memory, order: Order) -> str:
    """A cursor: what the next page comes behind, and in which order where that is not the usual one."""
    mark = "" if order is Order.NEWEST else f"{order} "
    text = f"{mark}{place_of(last, order)} {last.id}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _opened(cursor: str, order: Order) -> Behind:
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        *mark, at, memory_id = text.split(" ", 1 if order is Order.NEWEST else 2)
        place = int(at)
        if mark != ([] if order is Order.NEWEST else [order]) or not -(2**63) <= place < 2**63:
            raise ValueError
        return Behind(place, memory_id)
    except (ValueError, OverflowError, AttributeError, NotBase64):
        hint = "Use the cursor of the page before, or none."
        raise InvalidInput("This is not a cursor of a list.", code="cursor_invalid", hint=hint) from None
