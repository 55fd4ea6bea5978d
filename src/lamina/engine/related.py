"""What stands beside an answer because it is linked to something in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.model import Query, Related, Relation
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.relations import Relations
from lamina_text.tokens import count_tokens

#: So many that are linked to one of so many hits, of so many edges each.
_BESIDE, _HITS, _EDGES = 2, 6, 16


def related_to(
    transaction: Transaction, query: Query, ids: Sequence[str], now: datetime, budget: int | None
) -> tuple[Related, ...]:
    """What is linked to the best of an answer and not in it, the strongest first, within what is left of a
    budget; nothing that the query may not see."""
    others: dict[str, tuple[str, Relation]] = {}
    for here, edge in Relations(transaction).touching(ids[:_HITS], _EDGES) if ids else ():
        other = edge.to_id if here == edge.from_id else edge.from_id
        if other not in ids:
            others.setdefault(other, (here, edge))
    memories = Memories(transaction)
    seen = set(memories.readable_ids(query, list(others), now)) if others else set()
    known = memories.load([one for one in others if one in seen][: 2 * _BESIDE])
    told: list[Related] = []
    for one in (known[each] for each in others if each in known):
        here, edge = others[one.id]
        text = f"{one.key}: {one.text}" if one.key else one.text
        if len(told) < _BESIDE and (budget is None or (size := count_tokens(text)) <= budget):
            budget = None if budget is None else budget - size
            trust = one.provenance.trust
            told.append(
                Related(id=one.id, text=text, of=here, type=edge.type, strength=edge.strength, trust=trust)
            )
    return tuple(told)
