"""Edges between memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from lamina.model import Relation
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import micros, moment

RELATED = "related_to"
#: Of the edges at one memory, so many of the strongest are looked at.
MOST = 64

Found = tuple[str, str, float]  #: from, to, strength


class Relations:
    """One tenant's edges inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def neighbours(self, shelf: int, slots: Sequence[int]) -> dict[int, tuple[str, str | None, str]]:
        """Slot to id, key and text of the lasting statements that the caller may read there."""
        if not slots:
            return {}
        return {row[0]: row[1:] for row in self._tx.all("neighbours_at", shelf=shelf, slots=list(slots))}

    def add(self, shelf: str, edges: Sequence[Found], at: datetime) -> None:
        """Keep what was found on a shelf; what is linked already stays as it is."""
        if edges:
            names = ("from_id", "to_id", "strength")
            rows = [{**dict(zip(names, edge, strict=True)), "at": micros(at)} for edge in edges]
            self._tx.many("add_relation", rows)
            self._tx.run("note_linked", name=shelf)

    def put(self, edge: Relation, shelves: Iterable[str]) -> None:
        """Keep what somebody said; the shelves of both ends are linked from now on."""
        self._tx.run(
            "put_relation", from_id=edge.from_id, to_id=edge.to_id, type=edge.type, strength=edge.strength,
            at=micros(edge.created_at),
        )  # fmt: skip
        for name in shelves:
            self._tx.run("note_linked", name=name)

    def remove(self, from_id: str, to_id: str, type_: str) -> bool:
        """Take one edge away; whether it was there."""
        return self._tx.one("drop_relation", from_id=from_id, to_id=to_id, type=type_) is not None

    def reworded(self, memory_id: str) -> None:
        """Forget what was found for a memory's earlier words."""
        self._tx.run("drop_found_relations", id=memory_id)

    def move(self, old: str, new: str) -> None:
        """Another memory took this one's place: what somebody said of it moves along, the rest goes."""
        self._tx.run("move_relations", old=old, new=new)
        self.drop([old])

    def drop(self, ids: Iterable[str]) -> None:
        """Every edge of memories that are no more."""
        self._tx.many("drop_relations", [{"id": one} for one in ids])

    def among(self, ids: Sequence[str]) -> list[Found]:
        """The edges between these."""
        return [(row[0], row[1], row[2]) for row in self._tx.all("relations_among", ids=list(ids))]

    def touching(self, ids: Sequence[str], most: int = MOST) -> list[tuple[str, Relation]]:
        """The strongest edges of each of these, each with the end that was asked for; the strongest first."""
        rows = self._tx.all("relations_touching", ids=list(ids), most=most)
        return [(row[0], _relation(row[1:])) for row in rows]

    def on(self, shelf: str) -> list[Relation]:
        """All edges that begin on a shelf, in the order of their ends."""
        return [
            _relation(row)
            for row in self._tx.all("relations_between", first=f"{shelf}:", beyond=f"{shelf};")
        ]


def _relation(row: Row) -> Relation:
    return Relation(
        from_id=row[0], to_id=row[1], type=row[2], strength=row[3], explicit=bool(row[4]),
        created_at=moment(row[5]),
    )  # fmt: skip
