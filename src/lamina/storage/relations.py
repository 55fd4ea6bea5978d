"""Edges between memories, and what stands beside an answer because of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.model import Query, Related
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import Memories, micros
from lamina.text.tokens import count_tokens

#: Beside an answer stand so many that are linked to one of so many of its hits, of so many edges each.
_BESIDE, _HITS, _EDGES = 2, 6, 16


class Relations:
    """One tenant's edges inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def put(self, edge: tuple[str, str, str], strength: float, at: datetime) -> None:
        """An edge that somebody said: from, to and its type."""
        from_id, to_id, kind = edge
        self._tx.run(
            "put_relation", from_id=from_id, to_id=to_id, type=kind, strength=strength, at=micros(at)
        )

    def drop(self, edge: tuple[str, str, str]) -> bool:
        """Take an edge away, whichever way round it is; whether there was one."""
        from_id, to_id, kind = edge
        return self._tx.one("drop_relation", from_id=from_id, to_id=to_id, type=kind) is not None

    def note_linked(self, shelf: str) -> None:
        """From now on something on this shelf may be linked."""
        self._tx.run("note_linked", name=shelf)

    def between(self, first: str, beyond: str) -> list[Row]:
        """The edges from the ids in a range."""
        return self._tx.all("relations_between", first=first, beyond=beyond)

    def reworded(self, memory_id: str) -> None:
        """Forget what was found for a memory's earlier words."""
        self._tx.run("drop_found_relations", id=memory_id)

    def hand_on(self, old: str, new: str) -> None:
        """Another memory took this one's place: what somebody said of it holds for that one, too."""
        self._tx.run("hand_on_relations", old=old, new=new)

    def among(self, ids: Sequence[str]) -> list[Row]:
        """The edges between these: from, to, strength."""
        return self._tx.all("relations_among", ids=list(ids))

    def touching(self, ids: Sequence[str], most: int) -> list[Row]:
        """The strongest edges of each of these: which of them, then the edge; the strongest first."""
        return self._tx.all("relations_touching", ids=list(ids), most=most)

    def beside(
        self, query: Query, ids: Sequence[str], now: datetime, budget: int | None
    ) -> tuple[Related, ...]:
        """What is linked to the best of an answer and not in it, the strongest first, within what is left of
        its budget; nothing that the query may not see."""
        edges: dict[str, Row] = {}
        for row in self.touching(ids[:_HITS], _EDGES) if ids else ():
            other = row[2] if row[0] == row[1] else row[1]
            if other not in ids:
                edges.setdefault(other, row)
        memories, told = Memories(self._tx), list[Related]()
        seen = set(memories.readable_ids(query, list(edges), now)) if edges else set()
        known = memories.load([one for one in edges if one in seen][: 2 * _BESIDE])
        for one in (known[each] for each in edges if each in known):
            here, _, _, kind, strength, *_ = edges[one.id]
            text = f"{one.key}: {one.text}" if one.key else one.text
            size = 0 if budget is None else count_tokens(text)
            if len(told) < _BESIDE and size <= (budget or 0):
                budget = None if budget is None else budget - size
                trust = one.provenance.trust
                told.append(Related(id=one.id, text=text, to=here, type=kind, strength=strength, trust=trust))
        return tuple(told)
