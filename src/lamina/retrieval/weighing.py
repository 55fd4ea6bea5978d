"""How sure each hit is, and what has changed since: the last word before an answer is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lamina.model import Layer, Memory
from lamina.ranking.blend import Blend
from lamina.ranking.confidence import DATED, confidence, evidence, uncertainty
from lamina.ranking.fusion import Fused
from lamina.ranking.lexical import Shelf
from lamina.ranking.timing import asks_before, says_changed
from lamina.retrieval.meaning import Alike
from lamina.storage.database import Transaction
from lamina.storage.vectors import Vectors
from lamina.text.tokens import count_tokens

#: Of the best so many, those that say that something has changed are looked at; what they step in front of is
#: one of the first.
_LOOKED_AT, _MOST, _FIRST = 24, 6, 3
#: From this likeness on, the nearest of what was said before is what a change is about, if it is so much
#: nearer than the next.
_ABOUT, _NEARER = 0.4, 0.05
_LASTING = (Layer.SEMANTIC, Layer.USER_MODEL)
#: Tokens of a statement; what is longer tells of many things, and some of them change.
_LONGEST = 40
_STEP = 1e-6


def weigh(found: Sequence[Fused], meaning: Alike, blend: Blend) -> None:
    """Say of each how sure it is that it answers the question; what the question names does."""
    shares = [min(1.0, one.share + (DATED if "*period" in one.adjustments else 0.0)) for one in found]
    told, spread = evidence([one.scores.get("meaning") for one in found], shares), blend.spread
    for one, speaks in zip(found, told, strict=True):
        one.confidence = 1.0 if "exact" in one.ranks else confidence(speaks, meaning.encoder, spread)
        one.uncertainty = uncertainty(one.confidence)


def put_on_scale(found: Sequence[Fused]) -> None:
    """Scores say how they stand to each other; by how sure the surest is, they say what they are worth."""
    surest = max((one.confidence for one in found), default=1.0)
    for one in found:
        one.adjustments["*sure"] = surest
        one.score = round(one.score * surest, 6)


def put_changes_first(
    transaction: Transaction,
    question: str,
    meaning: Alike,
    shelves: Sequence[Shelf],
    found: list[Fused],
    memories: Mapping[str, Memory],
) -> None:
    """Let every statement of a change step in front of what it changes, if that was found before it.

    That is the nearest in meaning of all that its shelf held before it. Both keep their words and their
    state; who asks how it was before asks for the old one.
    """
    if not meaning.encoder or asks_before(question):
        return
    by_place = {one.place: one for one in found[:_FIRST]}
    after: dict[str, Fused] = {}
    telling = [one for one in found[:_LOOKED_AT] if one.place and _tells(memories[one.id])][:_MOST]
    for one in sorted(telling, key=lambda each: each.place):
        shelf = next(each for each in shelves if each.number == one.place[0])
        old = by_place.get((shelf.number, _nearest_before(transaction, meaning, shelf, one.place[1])))
        while old is not None and old.id in after:
            old = after[old.id]
        if old is None or old is one:
            continue
        after[old.id] = one
        if old.score >= one.score:
            one.adjustments["+newer"] = round(old.score + _STEP - one.score, 6)
            one.score = round(old.score + _STEP, 6)
            one.confidence = max(one.confidence, old.confidence)
            one.uncertainty = uncertainty(one.confidence)
    found.sort(key=lambda one: (-one.score, one.id))


def _tells(memory: Memory) -> bool:
    short = memory.layer in _LASTING and count_tokens(memory.text) <= _LONGEST
    return short and memory.superseded_by is None and says_changed(memory.text)


def _nearest_before(transaction: Transaction, meaning: Alike, shelf: Shelf, slot: int) -> int:
    """The slot of what is likest among all that stood on a shelf before; -1 where nothing is like it."""
    vectors = Vectors(transaction)
    read = meaning.read.get(shelf.number, {})
    asked = read[slot] if slot in read else vectors.at(meaning.encoder, shelf.number, slot)
    if asked is None or not slot:
        return -1
    found = vectors.likeness(meaning.encoder, asked, [shelf], meaning.read).get(shelf.number)
    if found is None:
        return -1
    alike = found[:slot]
    nearest = int(alike.argmax())
    best = float(alike[nearest])
    next_best = float(np.partition(alike, -2)[-2]) if len(alike) > 1 else 0.0
    return nearest if best >= _ABOUT and best - next_best >= _NEARER else -1
