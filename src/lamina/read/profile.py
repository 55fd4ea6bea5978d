"""What is known about a person, in words, grouped as they would ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lamina.language.user_model import PREFERENCES
from lamina.model import Kind, Layer, Memory, Space, State, Trust
from lamina.read.list import list_memories
from lamina.records import dataclass
from lamina.storage.shelf_contents import pending_on, topics_on
from lamina.text.normalise import is_note
from lamina.write.store import Caller

#: Of each group so many are told; how many there are is told beside.
SHOWN = 8
_PAGE = 500
_GROUPS = ("person", "answers", "limits", "likes", "decided", "ways", "facts", "lately")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOfPerson:
    """One thing that is known about somebody, and who said it."""

    id: str
    text: str
    key: str | None
    by: str
    since: datetime
    importance: int
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownGroup:
    """Some of what is known, of one sort."""

    name: str  #: person, answers, limits, likes, decided, ways, facts or lately
    items: tuple[KnownOfPerson, ...]
    more: int = 0  #: how many of this sort are not told here


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known about a person, what waits for their answer, and how much there is."""

    user: str
    groups: tuple[KnownGroup, ...]
    waiting: int
    total: int


def profile(caller: Caller) -> Profile:
    """What is known about the caller's user: what matters most first, nothing that a tool or a page said."""
    page = list_memories(
        caller, spaces=[Space.USER], trusted_only=True, order="important", limit=_PAGE, count=False
    )
    sorted_out: dict[str, list[Memory]] = {name: [] for name in _GROUPS}
    for memory in page.items:
        if memory.state is State.ACTIVE and memory.provenance.trust is Trust.TRUSTED:
            sorted_out[_group_of(memory)].append(memory)
    store, shelf = caller.store, caller.scope.shelf(Space.USER) or ""
    now = store.now()
    waiting, there = store.database.read(lambda tx: (pending_on(tx, shelf, now), topics_on(tx, (shelf,))))
    return Profile(
        user=caller.scope.user,
        groups=tuple(_told(name, some) for name, some in sorted_out.items() if some),
        waiting=len(waiting),
        total=sum(states.get(State.ACTIVE, 0) for states in there.values()),
    )


def _group_of(memory: Memory) -> str:
    key = memory.key or ""
    if key in PREFERENCES.values() or key.startswith("response."):
        return "answers"
    if memory.kind is Kind.CONSTRAINT:
        return "limits"
    if memory.layer is Layer.EPISODIC:
        return "lately"
    if memory.layer is Layer.PROCEDURAL or memory.kind in (Kind.INSTRUCTION, Kind.PROCEDURE):
        return "ways"
    if memory.kind is Kind.DECISION:
        return "decided"
    if memory.layer is Layer.USER_MODEL and key and not is_note(key):
        return "person"
    return "likes" if memory.kind is Kind.PREFERENCE else "facts"


def _told(name: str, some: Iterable[Memory]) -> KnownGroup:
    best = sorted(
        some, key=lambda one: (not one.pinned, -one.importance, -one.updated_at.timestamp(), one.id)
    )
    items = tuple(
        KnownOfPerson(
            id=one.id,
            text=one.text,
            key=one.key,
            by=one.provenance.actor,
            since=one.said_at,
            importance=one.importance,
            pinned=one.pinned,
        )
        for one in best[:SHOWN]
    )
    return KnownGroup(name=name, items=items, more=max(0, len(best) - SHOWN))
