"""What is different between two dates: what came, what went, and what says something else."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lamina.errors import InvalidInput
from lamina.model import Memory
from lamina.read.snapshot import Snapshot, look
from lamina.records import dataclass
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows
from lamina.write.store import Caller

#: Of each sort so many are told, the newest.
SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A memory at the two dates; empty where it was not there."""

    id: str
    before: str
    after: str
    by: str
    at: datetime
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of a memory between two dates."""

    before: datetime
    after: datetime
    came: tuple[Differing, ...]
    went: tuple[Differing, ...]
    changed: tuple[Differing, ...]
    held_before: int  #: how many memories there were at the first date
    held_after: int


def difference(caller: Caller, before: datetime, after: datetime) -> Difference:
    """What the caller's shelves hold at one date and not at another, in the words of then."""
    if before > after:
        raise InvalidInput("The first date comes after the second.", code="time_invalid", hint="Swap them.")

    def work(snapshot: Snapshot) -> Difference:
        then, later = _held(snapshot, before), _held(snapshot, after)
        return Difference(
            before=before,
            after=after,
            came=_told((None, one) for name, one in later.items() if name not in then),
            went=_told((one, None) for name, one in then.items() if name not in later),
            changed=_told(
                (one, later[name])
                for name, one in then.items()
                if name in later and later[name].text != one.text
            ),
            held_before=len(then),
            held_after=len(later),
        )

    return look(caller, work)


def _held(snapshot: Snapshot, at: datetime) -> dict[str, Memory]:
    text_index, rows = TextIndex(snapshot.transaction), LayerRows(snapshot.transaction)
    numbers = [known[0] for name in snapshot.scope.shelves() if (known := text_index.shelf(name))]
    return {one.id: one for number in numbers for one in rows.known_at(number, at)}


def _told(pairs: Iterable[tuple[Memory | None, Memory | None]]) -> tuple[Differing, ...]:
    found = []
    for old, new in pairs:
        one = new or old
        if one is not None:
            found.append(
                Differing(
                    id=one.id,
                    before="" if old is None else old.text,
                    after="" if new is None else new.text,
                    by=one.provenance.actor,
                    at=one.updated_at,
                    key=one.key,
                )
            )
    return tuple(sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:SHOWN])
