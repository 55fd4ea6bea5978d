"""The rows that are under the seal, a page at a time: everybody's, or those of one lane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lamina.model import AuditRecord, plain
from lamina.storage.database import Row, Transaction
from lamina.storage.ledger import LAST, STORE, TABLES, Sums, lane_of, lane_of_row
from lamina.storage.logs import record_of
from lamina.storage.memories import Edges, shelf_of

_PAGE = 2000
_LEAST = -(2**62)
#: By table, where its key stands in its rows.
_KEYS = {
    "memory": (0,),
    "history": (0, 1),
    "relation": (0, 1, 2),
    "shelf": (1,),
    "event": (0, 1),
    "refusal": (0, 1),
    "refusal_mark": (0, 1, 2, 3),
    "token": (0,),
}
#: Of these keys the second part is a number.
_NUMBERED = ("history", "event", "refusal", "audit", "words")
_PLACES = ("one", "two", "three", "four")
#: Tables whose rows carry their seal.
MARKED = ("memory", "history")

Range = tuple[str, str]  #: behind the first, before the second
_ALL: tuple[Range, ...] = (("", LAST),)
#: The shelves that belong to no one person.
SHARED: tuple[Range, ...] = (("", "session:"), ("session;", "user:"), ("user;", LAST))


def _ids(lane: str) -> tuple[Range, ...]:
    """The ranges of the ids of a lane's memories."""
    space, _, owner = lane.partition(":")
    own = (f"{lane}:", f"{lane};")
    return (own, (f"session:{owner},", f"session:{owner}-")) if space == "user" else (own,)


def shelves_of(lane: str) -> tuple[Range, ...]:
    """The ranges of the names of a lane's shelves."""
    space, _, owner = lane.partition(":")
    own = (_before(lane), f"{lane}\x01")
    return (own, (f"session:{owner},", f"session:{owner}-")) if space == "user" else (own,)


def telling_of(ids: Iterable[str]) -> Sequence[Range]:
    """The ranges of the shelves whose events may name some memories: all of them where one is shared."""
    lanes = sorted({lane_of(one) for one in ids})
    if not all(lane.startswith("user:") for lane in lanes):
        return _ALL
    return [*SHARED, *(one for lane in lanes for one in shelves_of(lane))]


def _before(name: str) -> str:
    """What comes right before a name; none of ours is in between."""
    return name[:-1] + chr(ord(name[-1]) - 1) + LAST


class SealedRows:
    """What one transaction sees of the sealed tables; with a lane, of that one."""

    def __init__(self, transaction: Transaction, lane: str | None = None) -> None:
        self._tx, self._lane = transaction, lane

    def each(self) -> Iterator[tuple[str, str, Row, str]]:
        """Table, lane, row, and the seal that it carries, if its table's rows carry one."""
        linked: set[str] = set()
        for table in TABLES:
            if table in ("audit", "lane", "phase") or (table == "token" and self._lane not in (None, STORE)):
                continue
            for row in self._pages(f"sealed_{table}", table, self._ranges(table)):
                seal = row[-1] if table in MARKED else ""
                bare = row[:-1] if table in (*MARKED, "shelf") else row
                if (lane := lane_of_row(table, bare)) is None:
                    continue
                if table == "relation":
                    linked |= {shelf_of(str(bare[0])), shelf_of(str(bare[1]))}
                if table == "shelf" and row[-1] == 0 and row[1] in linked:
                    yield "linked", lane, bare, ""
                yield table, lane, bare, seal

    def phases(self, shelves: Mapping[int, str]) -> Iterator[tuple[str, Row]]:
        """Lane and row of the phases of some shelves, by their numbers."""
        numbers = sorted(shelves)
        for start in range(0, len(numbers), _PAGE):
            for row in self._tx.all("sealed_phase", shelves=numbers[start : start + _PAGE]):
                yield lane_of(shelves[row[0]]), row

    def records(self) -> Iterator[AuditRecord]:
        """The records of the lane; those about a memory first, in the order of their subjects."""
        lane = self._lane or STORE
        yield from map(record_of, self._pages("audit_steps_of", "audit", _ids(lane)))
        yield from map(record_of, self._pages("audit_acts_of", "audit", shelves_of(lane)))

    def acts(self) -> Iterator[AuditRecord]:
        """What the audit says of itself."""
        yield from map(record_of, self._pages("audit_acts_of", "audit", (("audit", "audit\x01"),)))

    def words(self) -> Iterator[Row]:
        """As `AuditLog.words`, of the lane."""
        return self._pages("words_of", "words", _ids(self._lane or STORE))

    def story(self, memory_id: str) -> dict[str, list[dict[str, Any]]]:
        """Every row with anything of one memory, by the names of its columns, and its records."""
        exact = ((_before(memory_id), f"{memory_id}\x01"),)
        found = {table: list(self._pages(f"sealed_{table}", table, exact)) for table in MARKED}
        words = {row[1]: row[7:9] for row in self._tx.all("history_of", memory_id=memory_id)}
        names = self._tx.ledger.named
        steps = [
            {**names("history", row), "seal": row[-1], "old_text": old, "new_text": new}
            for row in found["history"]
            for old, new in [words.get(row[1], (None, None))]
        ]
        return {
            "memory": [{**names("memory", row), "seal": row[-1]} for row in found["memory"]],
            "steps": steps,
            "links": [names("relation", row) for row in self._tx.all("relations_at", id=memory_id)],
            "records": [plain(record_of(row)) for row in self._pages("audit_steps_of", "audit", exact)],
        }

    def lanes(self) -> Iterator[tuple[str, bytes]]:
        """Every lane and its row."""
        after = ""
        while rows := self._tx.all("lanes", one=after, beyond=LAST, limit=_PAGE):
            yield from ((name, bytes(body)) for name, body in rows)
            after = rows[-1][0]

    def replace(self, sums: Mapping[str, Sums], seals: Sequence[tuple[str, Row, str]]) -> None:
        """Put these sums in the place of all, and seals beside rows."""
        for table in MARKED:
            rows = [
                {"id": row[0], "number": row[1], "seal": seal} for name, row, seal in seals if name == table
            ]
            self._tx.many(f"set_{table}_seal", rows)
        self._tx.run("drop_lanes")
        self._tx.ledger.replace(sums)

    def link(self, shelf: str) -> None:
        """Say of a shelf that something on it is linked."""
        Edges(self._tx).note_linked(shelf)

    def _ranges(self, table: str) -> tuple[Range, ...]:
        if self._lane is None or table == "token":
            return _ALL
        if table in ("refusal", "refusal_mark"):
            owner = self._lane.partition(":")[2]
            return ((owner, f"{owner}\x01"),) if self._lane.startswith("user:") else ()
        return shelves_of(self._lane) if table in ("shelf", "event") else _ids(self._lane)

    def _pages(self, query: str, table: str, ranges: Sequence[Range]) -> Iterator[Row]:
        keys = _KEYS.get(table) or _ABOUT[query]
        for first, beyond in ranges:
            rest: list[Any] = [_LEAST if table in _NUMBERED else "" for _ in keys[1:]]
            if table == "refusal_mark":
                rest = ["", _LEAST, _LEAST]
            place = [first, *rest]
            while True:
                asked = dict(zip(_PLACES, place, strict=False))
                rows = self._tx.all(query, beyond=beyond, limit=_PAGE, **asked)
                yield from rows
                if not rows:
                    break
                place = [rows[-1][at] for at in keys]


#: Where what a record is about, and its number, stand in it, by query.
_ABOUT = {"audit_steps_of": (5, 0), "audit_acts_of": (3, 0), "words_of": (1, 0)}
