"""Edges that are found: what a new statement is close to, by its meaning, or without one by its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lamina.model import Memory
from lamina.ranking.lexical import Weighed, summed, weighed
from lamina.records import dataclass
from lamina.retrieval.meaning import meant, meant_by
from lamina.similarity.compare import least_shared, text_similarity
from lamina.similarity.renewal import renews
from lamina.storage.memories import Edges
from lamina.storage.search_index import TextIndex, Vectors
from lamina.text.normalise import language_of
from lamina.text.terms import query_terms
from lamina.write.unit_of_work import UnitOfWork

#: What an edge says that was found: about the same thing, or another value of it.
RELATED, RENEWS = "related_to", "renews"
#: Of the nearest, so many times as many as may be linked are looked at: another language has another scale.
_POOL = 4
#: How many words of a text find others that are like it.
_TERMS = 32

Vector = NDArray[np.float32]
Near = dict[int, list[tuple[int, float]]]  #: slot to slots before it, each with its cosine or its BM25
Close = Callable[[str, str, float], float]


@dataclass(frozen=True, slots=True)
class Linking:
    """How close two statements are that are linked, and to how many others one is linked at most."""

    least: float
    most: int

    def __call__(
        self, unit: UnitOfWork, shelf: int, new: Mapping[int, Memory], vectors: Mapping[int, Vector]
    ) -> None:
        """Link statements, by slot, to the closest of what stood on their shelf before them.

        It is the same for many in one transaction and for each in its own. A caller with an allowlist links
        within it.
        """
        name, seen = next(iter(new.values())).shelf, unit.seen
        near, close = (
            self._by_meaning(unit, shelf, new, vectors) if vectors else self._by_words(unit, name, new)
        )
        slots = sorted({slot for found in near.values() for slot, _ in found})
        rows = seen.all("neighbours_at", shelf=shelf, slots=slots) if slots else []
        beside = {slot: (memory_id, meant(key, text)) for slot, memory_id, key, text in rows}
        edges: list[tuple[str, str, str, float]] = []
        for slot, memory in sorted(new.items()):
            text = meant_by(memory)
            scored = [
                (close(text, beside[at][1], score), *beside[at])
                for at, score in near.get(slot, ())
                if at in beside
            ]
            kept = sorted((one for one in scored if one[0] >= self.least), key=lambda one: (-one[0], one[1]))
            edges += [
                (memory.id, other, RENEWS if renews(text, said) else RELATED, strength)
                for strength, other, said in kept[: self.most]
            ]
        if edges:
            relations, anew = Edges(seen), any(one.revision > 1 for one in new.values())
            relations.find(edges, unit.now, anew=anew)
            relations.note_linked(name)

    def _by_meaning(
        self, unit: UnitOfWork, shelf: int, new: Mapping[int, Memory], vectors: Mapping[int, Vector]
    ) -> tuple[Near, Close]:
        encoder = unit.ruleset.encoder
        if encoder is None:
            raise AssertionError("vectors come from an encoder")
        calibration, language = encoder.calibration, cache(language_of)
        asked = {slot: vectors[slot] for slot in new}
        near = Vectors(unit.transaction).near(
            encoder.embedder_id, shelf, asked, calibration.least(self.least), _POOL * self.most
        )

        def close(one: str, other: str, cosine: float) -> float:
            return round(calibration.likeness(cosine, language(one), language(other)), 6)

        return near, close

    def _by_words(self, unit: UnitOfWork, name: str, new: Mapping[int, Memory]) -> tuple[Near, Close]:
        text_index = TextIndex(unit.transaction)
        shelves, near = text_index.shelves([name]), Near()
        if not shelves:
            return near, _by_terms
        texts = {slot: meant_by(memory) for slot, memory in new.items()}
        said = {slot: query_terms(text)[:_TERMS] for slot, text in texts.items()}
        every = dict.fromkeys((term for some in said.values() for term in some), 1.0)
        known = weighed(text_index.blocks(shelves, list(every)), shelves, every)
        for slot, some_terms in said.items():
            mine = {term: known[term] for term in sorted(some_terms) if term in known}
            if len(some_terms) < _TERMS and not _meets(mine, slot, least_shared(texts[slot], self.least)):
                continue
            scores = summed(mine, shelves, {}).score[:slot]
            some = np.flatnonzero(scores)
            best = some[np.lexsort((some, -scores[some]))[: _POOL * self.most]]
            near[slot] = [(int(at), float(scores[at])) for at in best]

        return near, _by_terms


def _meets(known: Weighed, slot: int, least: int) -> bool:
    """Whether any text before a slot has at least so many of some terms."""
    at = np.concatenate([np.empty(0, np.int64), *(term.at for _, term in known.values())])
    return int(np.bincount(at[at < slot]).max(initial=0)) >= least


def _by_terms(one: str, other: str, _: float) -> float:
    return text_similarity(one, other)
