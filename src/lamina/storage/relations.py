"""Edges between memories, and what stands beside an answer because of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.model import Query, Related
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import from_row, micros, moment, narrowing_of
from lamina.text.tokens import count_tokens

#: Beside an answer stand so many that are linked to one of so many of its hits, of so many edges each.
_BESIDE, _HITS, _EDGES = 2, 6, 16


def shelf_of(memory_id: str) -> str:
    """The name of the shelf that a memory's id says it is on."""
    return memory_id.rpartition(":")[0].rpartition(":")[0]


def _edge(row: Row) -> Row:
    """The row; raises where its strength is no number or its time no time."""
    moment(row[5] + int(0 * row[3]))
    return row


class Relations:
    """One tenant's edges inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def put(self, edge: tuple[str, str, str], strength: float, at: datetime) -> None:
        """An edge that somebody said: from, to and its type."""
        self._put((*edge, strength, 1, micros(at)))

    def _put(self, row: Row) -> None:
        named = dict(zip(("from_id", "to_id", "type"), row, strict=False))
        self._tx.ledger.take("relation", self._tx.all("relation_of", **named))
        self._add([row])

    def _add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._tx.ledger.put("relation", row)
        names = ("from_id", "to_id", "type", "strength", "explicit", "created_at")
        self._tx.many("add_relation", [dict(zip(names, row, strict=True)) for row in rows])

    def find(self, edges: Sequence[tuple[str, str, str, float]], at: datetime, *, anew: bool) -> None:
        """Edges that were found: from, to, what they say and how close. With `anew` one of them may be linked
        already, either way round, and that stays as it is."""
        known = self.among(sorted({one for edge in edges for one in edge[:2]})) if anew else []
        there = {frozenset(row[:2]) for row in known}
        self._add(
            [
                (from_id, to_id, kind, strength, 0, micros(at))
                for from_id, to_id, kind, strength in edges
                if frozenset((from_id, to_id)) not in there
            ]
        )

    def drop(self, edge: tuple[str, str, str]) -> bool:
        """Take an edge away, whichever way round it is; whether there was one."""
        from_id, to_id, kind = edge
        gone = self._tx.all("drop_relation", from_id=from_id, to_id=to_id, type=kind)
        self._tx.ledger.take("relation", gone)
        return bool(gone)

    def note_linked(self, shelf: str) -> None:
        """From now on something on this shelf may be linked."""
        self._tx.run("note_linked", name=shelf)

    def between(self, first: str, beyond: str) -> list[Row]:
        """The edges from the ids in a range."""
        return self._tx.each(_edge, "relations_between", first=first, beyond=beyond)

    def reworded(self, memory_id: str) -> None:
        """Forget what was found for a memory's earlier words."""
        self._tx.ledger.take("relation", self._tx.all("drop_found_relations", id=memory_id))

    def hand_on(self, old: str, new: str) -> None:
        """Another memory took this one's place: what somebody said of it holds for that one, too."""
        for from_id, to_id, kind, strength, _, at in self._tx.all("said_relations", id=old):
            edge = (new if from_id == old else from_id, new if to_id == old else to_id, kind)
            if new not in (from_id, to_id):
                known = self._tx.all("relation_of", from_id=edge[0], to_id=edge[1], type=kind)
                self._put((*edge, strength, 1, known[0][5] if known else at))
                self.note_linked(shelf_of(new))

    def among(self, ids: Sequence[str]) -> list[Row]:
        """The edges between these: from, to, strength."""
        return self._tx.all("relations_among", ids=list(ids))

    def bonds(self, some: Sequence[str], ids: Sequence[str]) -> list[Row]:
        """The edges between some of these and any other of them: from, to, strength."""
        return self._tx.all("relations_with", some=list(some), ids=list(ids)) if some else []

    def leaving(self, shelf: int, slots: Sequence[int], *, ahead: bool = False) -> list[Row]:
        """The edges from what stands in some slots: from, to, strength. `ahead`: they will be asked for."""
        asked = {"shelf": shelf, "slots": list(slots)}
        if ahead:
            self._tx.ahead("relations_from", **asked)
            return []
        return self._tx.all("relations_from", **asked)

    def touching(self, ids: Sequence[str], most: int) -> list[Row]:
        """The strongest edges of each of these: which of them, then the edge; the strongest first."""
        return self._tx.all("relations_touching", ids=list(ids), most=most)

    def beside(
        self, query: Query, ids: Sequence[str], now: datetime, budget: int | None
    ) -> tuple[Related, ...]:
        """What is linked to the best of an answer and not in it, the strongest first, within what is left of
        its budget; nothing that the query may not see."""
        if not ids:
            return ()
        best, told = list(ids[:_HITS]), list[Related]()
        names = list(query.scope.shelves(query.spaces))
        limits = {"ids": best, "outside": list(ids), "names": names, "most": _EDGES, "limit": 2 * _BESIDE}
        found = self._tx.each(
            lambda row: (*row[:3], from_row(row[3:])),
            "relations_beside",
            **limits,
            **narrowing_of(query, now),
        )
        for here, kind, strength, one in found:
            text = f"{one.key}: {one.text}" if one.key else one.text
            size = 0 if budget is None else count_tokens(text)
            if len(told) < _BESIDE and size <= (budget or 0):
                budget = None if budget is None else budget - size
                trust = one.provenance.trust
                told.append(Related(id=one.id, text=text, to=here, type=kind, strength=strength, trust=trust))
        return tuple(told)
