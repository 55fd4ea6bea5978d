"""Everything of a caller's, page by page, and how much there is of what."""

from __future__ import annotations

import base64
from binascii import Error as NotBase64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypedDict, Unpack

from lamina.errors import InvalidInput
from lamina.model import Memory, Query, State
from lamina.read.coverage import OWN_PAST, allowed_query
from lamina.read.snapshot import Snapshot, look
from lamina.storage.listing import Listed, Listing
from lamina.storage.memories import micros, moment
from lamina.storage.text_index import TextIndex
from lamina.text.normalise import well_formed
from lamina.write.caller import Caller
from lamina.write.details import MAX_TAGS, chosen, query_of, whole_number

PAGE, LARGEST = 50, 500


class Wanted(TypedDict, total=False):
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
    limit: int
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some memories, newest first; with the first page, how many there are in all, and of what."""

    items: tuple[Memory, ...]
    cursor: str | None  #: for the next page; None on the last
    total: int | None = None  #: counted for the first page only
    #: Space, layer, kind, category, by, state and tag to how many of each; `state` counts every state.
    facets: dict[str, dict[str, int]] | None = None


def list_memories(caller: Caller, **wanted: Unpack[Wanted]) -> Page:
    """One page of everything the caller may read; what a recall hides from them is in no page either."""
    if unknown := wanted.keys() - Wanted.__annotations__.keys():
        raise InvalidInput(f"Unknown detail: {', '.join(sorted(unknown))}.", code="detail_unknown")
    limit = whole_number(wanted.get("limit") or PAGE, "limit", 1, LARGEST)
    cursor = wanted.get("cursor")
    behind = _opened(cursor) if cursor else None
    listed = _listed(caller, wanted)

    def work(snapshot: Snapshot) -> Page:
        within = replace(listed, query=_in_phase(snapshot, listed.query))
        listing = Listing(snapshot.transaction, within, snapshot.now)
        found = listing.page(behind, limit + 1)
        rest = _closed(found[limit - 1]) if len(found) > limit else None
        page = Page(items=tuple(found[:limit]), cursor=rest)
        if behind is not None:
            return page
        facets = listing.counts()
        return replace(page, total=sum(facets["space"].values()), facets=facets)

    return look(caller, work)


def _listed(caller: Caller, wanted: Wanted) -> Listed:
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
        states=tuple(chosen(State, one, "state") for one in wanted.get("states") or ()) or (State.ACTIVE,),
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


def _closed(last: Memory) -> str:
    """A cursor: what the next page comes behind."""
    return base64.urlsafe_b64encode(f"{micros(last.created_at)} {last.id}".encode()).decode().rstrip("=")


def _opened(cursor: str) -> tuple[datetime, str]:
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        at, _, memory_id = text.partition(" ")
        return moment(int(at)), memory_id
    except (ValueError, OverflowError, AttributeError, NotBase64):
        hint = "Use the cursor of the page before, or none."
        raise InvalidInput("This is no cursor of a list.", code="cursor_invalid", hint=hint) from None
