"""Several ranked lists become one, and every hit keeps its ranks and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Found:
    """One retriever's candidate; a higher score is better within that retriever only."""

    id: str
    score: float


@dataclass(slots=True)
class Fused:
    """A candidate with what each retriever made of it."""

    id: str
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)


#: How much the best candidate of each retriever is worth: naming a key or an id beats any wording.
WEIGHTS: Mapping[str, float] = {"exact": 2.0, "lexical": 1.0}


def fused(lists: Mapping[str, Sequence[Found]], weights: Mapping[str, float] = WEIGHTS) -> list[Fused]:
    """One order over all lists: the weighted sum of scores, each scaled by its list's best; ties by id."""
    merged: dict[str, Fused] = {}
    for retriever, found in lists.items():
        best = max((candidate.score for candidate in found), default=0.0)
        for rank, candidate in enumerate(found, start=1):
            hit = merged.setdefault(candidate.id, Fused(candidate.id))
            hit.ranks[retriever] = rank
            hit.score += weights[retriever] * (candidate.score / best if best else 0.0)
    for hit in merged.values():
        hit.score = round(hit.score, 6)
    return sorted(merged.values(), key=lambda hit: (-hit.score, hit.id))
