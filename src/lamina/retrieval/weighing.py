"""How sure each hit is, and what has changed since: the last word before an answer is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lamina.encoders.port import JointReader
from lamina.model import Layer, Memory, Role
from lamina.ranking.blend import TRUST, Blend
from lamina.ranking.confidence import (
    OF_THEN,
    Spread,
    confidence,
    evidence,
    is_measured,
    uncertainty,
)
from lamina.ranking.fusion import ONLY_ASKS, SUPERSEDED, Fused
from lamina.ranking.lexical import Shelf
from lamina.ranking.question import Question, parts_of, weighed
from lamina.ranking.timing import asks_before, fits, says_changed
from lamina.retrieval.meaning import Alike
from lamina.similarity.nearness import cosines, small
from lamina.similarity.renewal import renews
from lamina.storage.database import Transaction
from lamina.storage.search_index import Vectors
from lamina.text.tokens import count_tokens

#: Of the best so many, those that say that something has changed are looked at; what they step in front of is
#: one of the first.
_LOOKED_AT, _MOST, _FIRST = 24, 6, 3
#: From this likeness on, the nearest of what was said before is what a change is about, if it is so much
#: nearer than the next.
_ABOUT, _NEARER = 0.4, 0.05
#: A new value may be so much less like the question than the old one.
_AS_LIKE = 0.2
#: The best so many are read beside the question; what a unit of that is worth, and how many count.
READ, READ_WORTH, AT_MOST = 5, 0.03, 6.0
#: Tokens of a question that is no more than a word.
_A_WORD = 2
_LASTING = (Layer.SEMANTIC, Layer.USER_MODEL)
#: Tokens of a statement; what is longer tells of many things, and some of them change.
_LONGEST = 40
_STEP = 1e-6
#: How sure it is at most that a question answers one.
_NO_ANSWER = 0.01
#: Of an agent's words, so much may be new where they only repeat what somebody said.
_NEW = 1 / 3


def read_together(reader: JointReader, question: Question, found: list[Fused]) -> str:
    """Read the best short statements beside the question: what answers it rises among them.

    What is asked for by its name, in a word, or in several sentences, stays as it was found. Returns the
    reader's id, or nothing where it did not read. Raises what the reader raises.
    """
    best = [one for one in found[:READ] if one.place and _lasts(one.memory)]
    if not best or question.manner in TRUST or parts_of(question.text) or _only_names(question.text):
        return ""
    fits = reader.fits(question.text, [one.memory.text for one in best])
    bounded = [min(AT_MOST, max(-AT_MOST, fit)) for fit in fits]
    for one, fit in zip(best, bounded, strict=True):
        one.scores["read"] = fit
        if rise := round(READ_WORTH * (fit - min(bounded)), 6):
            one.adjustments["+read"] = rise
            one.score = round(one.score + rise, 6)
    found.sort(key=lambda one: (-one.score, one.id))
    return reader.reader_id()


def _only_names(question: str) -> bool:
    """Whether a word names a thing and nothing is asked about it."""
    return count_tokens(question) <= _A_WORD


def weigh(found: Sequence[Fused], meaning: Alike, blend: Blend, question: Question, reader: str = "") -> None:
    """Say of each how sure it is that it answers the question; what the question names does.

    `reader` is the id of the one that has read the best of them beside it.
    """
    told = evidence([one.scores.get("meaning") for one in found], [one.share for one in found])
    placed = [at for at, one in enumerate(found) if one.place]
    told.elsewhere[placed] = blend.elsewhere([found[at].place for at in placed])
    told.asked, timing = math.log(max(1, count_tokens(question.text))), question.timing
    if timing.period is not None:
        told.dated[:] = ["*period" in one.adjustments for one in found]
    if timing.when or timing.number:
        told.fits[:] = [fits(timing, one.memory.text) for one in found]
    spread = Spread.of(()) if is_measured(meaning.encoder) else blend.spread
    all_sure = confidence(told, meaning.encoder, spread)
    if is_measured(reader):
        told.read[:] = [one.scores.get("read", math.nan) for one in found]
        by_reader = zip(confidence(told, reader, spread), told.read.tolist(), all_sure, strict=True)
        all_sure = [alone if math.isnan(read) else both for both, read, alone in by_reader]
    for one, sure in zip(found, all_sure, strict=True):
        least = min(sure, _NO_ANSWER) if one.adjustments.get("*asking") == ONLY_ASKS else sure
        exact = 1.0 if "exact" in one.ranks else least
        one.confidence = max(exact, OF_THEN) if "+then" in one.adjustments else exact
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
) -> None:
    """Let every statement of a change step in front of what it changes, if that was found before it.

    That is the nearest in meaning of all that its shelf held before it. Both keep their words and their
    state; who asks how it was before asks for the old one.
    """
    if asks_before(question):
        return
    _put_newer_first(found)
    short = [one for one in found[:_LOOKED_AT] if one.place and _lasts(one.memory)]
    by_place = {one.place: one for one in found[:_FIRST]}
    after: dict[str, Fused] = {}
    telling = [one for one in short if says_changed(one.memory.text)][:_MOST] if meaning.encoder else []
    for one in sorted(telling, key=lambda each: each.place):
        shelf = next(each for each in shelves if each.number == one.place[0])
        first = [slot for number, slot in filter(None, by_place) if number == shelf.number]
        old = by_place.get((shelf.number, _nearest_before(transaction, meaning, shelf, one.place[1], first)))
        while old is not None and old.id in after:
            old = after[old.id]
        if old is None or old is one:
            continue
        after[old.id] = one
        _step_before(one, old, "+newer")
    _put_values_first(found[:_FIRST], short)
    found.sort(key=lambda one: (-one.score, one.id))


def _put_newer_first(found: Sequence[Fused]) -> None:
    """Let a memory that was put right step in front of what said it before, which answers no more."""
    replaced = [one for one in found[:_LOOKED_AT] if one.memory.superseded_by]
    by_id = {one.id: one for one in found} if replaced else {}
    for old in replaced:
        newer = by_id.get(old.memory.superseded_by or "")
        if newer is not None:
            _step_before(newer, old, "+newer")
            old.confidence = round(SUPERSEDED * old.confidence, 6)
            old.uncertainty = uncertainty(old.confidence)


def _put_values_first(first: Sequence[Fused], short: Sequence[Fused]) -> None:
    """The same for a new value of the same thing that no word announces, if it is about as like the question:
    what was taken for the same thing and is another is not."""
    lasting = {one.id for one in short}
    by_age = sorted(short, key=lambda each: each.place)
    for old in [one for one in first if one.id in lasting]:
        for one in by_age:
            if one.place[0] != old.place[0] or one.place[1] <= old.place[1]:
                continue
            behind = old.scores.get("meaning", 0.0) - one.scores.get("meaning", 0.0)
            if behind <= _AS_LIKE and renews(one.memory.text, old.memory.text):
                _step_before(one, old, "+newer")


def put_words_first(found: list[Fused]) -> None:
    """Let what a person said, or a file, step in front of an agent's words that only repeat it."""
    best = found[:_LOOKED_AT]
    echoes = [one for one in best if one.memory.provenance.role is Role.AGENT]
    if not echoes or len(echoes) == len(best):
        return
    repeated = {one.id for one in echoes}
    own = [(one, weighed(one.memory.text)) for one in best if one.id not in repeated]
    for echo in echoes:
        said = weighed(echo.memory.text)
        for one, words in own:
            wrapped = _liker(one, echo) and _adds_little(words, said)  # it stands in the echo, in courtesies
            if one.score <= echo.score and (wrapped or _adds_little(said, words)):
                _step_before(one, echo, "+own")
                break
    found.sort(key=lambda one: (-one.score, one.id))


def _liker(one: Fused, other: Fused) -> bool:
    return one.scores.get("meaning", 0.0) > other.scores.get("meaning", 0.0)


def _adds_little(said: Mapping[str, float], known: Mapping[str, float]) -> bool:
    """Whether most of what a text says is in another's words: the rest is assent, or the seam of a phrase."""
    new = sum(weight for word, weight in said.items() if word not in known)
    return bool(said) and new <= _NEW * sum(said.values())


def _step_before(one: Fused, other: Fused, why: str) -> None:
    """Give the first what the second has, and a little more, as far as it has less."""
    if other.score >= one.score:
        one.adjustments[why] = round(other.score + _STEP - one.score, 6)
        one.score = round(other.score + _STEP, 6)
        one.confidence = max(one.confidence, other.confidence)
        one.uncertainty = uncertainty(one.confidence)


def _lasts(memory: Memory) -> bool:
    """Whether it is a short statement that is in force."""
    short = memory.layer in _LASTING and count_tokens(memory.text) <= _LONGEST
    return short and memory.superseded_by is None


def _nearest_before(
    transaction: Transaction, meaning: Alike, shelf: Shelf, slot: int, first: Sequence[int]
) -> int:
    """The slot of what is likest among all that stood on a shelf before; -1 where nothing is like it, or
    nothing of what was found first: then the others are not looked at."""
    vectors, read = Vectors(transaction), meaning.read.get(shelf.number, {})
    wanted = [one for one in (slot, *first) if one <= slot and one not in read]
    known = {**vectors.some(meaning.encoder, shelf.number, wanted), **read}
    earlier = [known[one] for one in first if one < slot and one in known]
    if slot not in known or not earlier:
        return -1
    asked = known[slot]
    near = cosines(small(np.stack(earlier)), small(asked[None, :])[0])
    if float(near.max()) < _ABOUT:
        return -1
    found = vectors.likeness(meaning.encoder, asked, [shelf], meaning.read).get(shelf.number)
    if found is None:
        return -1
    alike = found[:slot]
    nearest = int(alike.argmax())
    best = float(alike[nearest])
    next_best = float(np.partition(alike, -2)[-2]) if len(alike) > 1 else 0.0
    return nearest if best >= _ABOUT and best - next_best >= _NEARER else -1
