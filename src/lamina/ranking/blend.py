"""Words, conversation and meaning on one scale: every text's score before its own qualities are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.ranking.confidence import Spread, said_elsewhere
from lamina.ranking.conversation import OTHER_VOICE, Places, Talk, spread
from lamina.ranking.lexical import Shelf, Words, inverse_frequency, offsets
from lamina.ranking.question import Manner, Question, parts_of
from lamina.text.normalise import language_of

Floats = NDArray[np.float64]

#: What meaning counts beside words that say all of the question, times the fourth root of the encoder's reach
#: of it.
MEANING, MEANING_SPOKEN = 0.6, 1.0
#: Words that say half of the question count half. Less is what any text has that names the same person or
#: thing, and counts next to nothing; more is what only a text has that was said in the same words.
HALF, STEEP = 0.5, 12.0
#: But what has a word of the question is never lost.
LEAST = 0.01
#: The same where texts have so many terms on the average, or a question several parts: there is more in a
#: long one than its vector says.
#: Thai and Chinese are cut into stretches of characters, and have more terms for the same.
LONG: Mapping[str, int] = {"en": 80, "th": 400, "zh": 200}
HALF_LONG = 0.35
#: A short question shares a word with many texts that have nothing to do with it. Where words say less of it
#: than this, they count by how like the question the best of them is beside the likest text.
WHOLE, AMONG_BEST, BY_CHANCE, BORNE_OUT = 0.8, 0.9, 0.4, 0.7
#: The same, by how the question is asked.
TRUST: Mapping[Manner, float] = {Manner.EXACT: 0.5, Manner.MIXED: 0.8}
#: What the likest turn of a session is worth to the others of it.
SESSION_MEANING = 2.0
#: So many of a question's terms, those that tell most, are what it is about; a long one is never said whole.
CONTENT = 8
#: What the likeness of the second encoder is worth beside the first's; among long texts, of which a table has
#: every word and a reader the drift, as much.
BESIDE, BESIDE_LONG = 0.3, 1.0
#: Of what meaning alone finds, this much takes part: a narrowed search may have to go through all of it.
_BY_MEANING = 5000


class Candidate(NamedTuple):
    """A text by its place, with what each way of looking gave it."""

    shelf: int
    slot: int
    score: float
    lexical: float
    meaning: float
    conversation: float
    share: float = 0.0  #: of what the question is about, so much its words say


class MeaningScores(NamedTuple):
    """How like a question the texts are, by shelf number and slot, and the encoder's reach of it."""

    first: Mapping[int, NDArray[Any]]  #: as the encoder sees it that answers
    second: Mapping[int, NDArray[Any]]  #: and another one beside it
    reach: float


class _Said(NamedTuple):
    """A question's words as the texts have them."""

    words: Words
    content: float  #: what the terms are worth together that it is about
    share: Floats  #: of each text
    most: float  #: the same of the best text, or conversation


class Blend:
    """Every text of the searched shelves with its score; put in order only as far as asked.

    `told` is what the words count, by how much of the question those of the best text, or conversation, say:
    from 0 to 1.
    """

    def __init__(
        self,
        shelves: Sequence[Shelf],
        parts: Mapping[str, Floats],
        told: float,
        talk: Talk | None,
        said: _Said,
    ) -> None:
        self.told = told
        self._talk = talk
        self._said = said
        self._shelves = [shelf.number for shelf in shelves]
        self._starts = np.array(offsets(shelves))
        self._parts = parts
        self._score = np.round(parts["score"], 6)
        self._found = np.flatnonzero(self._score > 0.0)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def talks(self) -> bool:
        """Whether anything of it was said in a conversation."""
        return self._talk is not None

    @property
    def spread(self) -> Spread:
        """How like the question all of them are."""
        like = self._parts["meaning"]
        return Spread.of(like[like > 0.0])

    def best(self, count: int) -> list[Candidate]:
        """At least the best so many, in order: where the cut would fall among equals, all of them are in."""
        chosen = self._found
        if count < len(chosen):
            scores = self._score[chosen]
            border = np.partition(scores, len(scores) - count)[len(scores) - count]
            chosen = chosen[scores >= border]
        order = chosen[np.lexsort((chosen, -self._score[chosen]))]
        return self._candidates(order)

    def among(self, slots: Mapping[int, Sequence[int]]) -> Blend:
        """The same texts with the same scores, as far as they are at these slots of their shelves."""
        starts = zip(self._shelves, self._starts.tolist(), strict=False)
        places = [start + slot for number, start in starts for slot in slots.get(number, ())]
        few = copy(self)
        few._found = np.intersect1d(self._found, np.array(places, dtype=np.int64))
        return few

    def best_at(self, slots: Mapping[int, Sequence[int]], count: int) -> list[Candidate]:
        """The best so many of the texts at these slots, in order, whatever their score."""
        starts = dict(zip(self._shelves, self._starts.tolist(), strict=False))
        found = [starts[number] + slot for number, some in slots.items() for slot in some]
        places = np.array(found, dtype=np.int64)
        best = places[np.lexsort((places, -self._score[places]))]
        return self._candidates(best[:count])

    def said_before(self, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, ...]]:
        """By shelf and slot of some turns, those of the turn right before each, where there is one."""
        if self._talk is None:
            return {}
        starts = dict(zip(self._shelves, self._starts.tolist(), strict=False))
        at = np.array([starts[shelf] + slot for shelf, slot in places], dtype=np.int64)
        other, has = self._talk.neighbours(at, -1)
        found = zip(places, (other - at).tolist(), has.tolist(), strict=True)
        return {(shelf, slot): (shelf, slot + step) for (shelf, slot), step, there in found if there}

    def elsewhere(self, places: Sequence[tuple[int, ...]]) -> list[float]:
        """For some texts by shelf and slot, how much of the question another of them says and they do not."""
        starts = dict(zip(self._shelves, self._starts.tolist(), strict=False))
        at = np.array([starts[shelf] + slot for shelf, slot in places], dtype=np.int64)
        words = self._said.words
        has, there = np.zeros((len(at), len(words.terms))), np.zeros(words.size, dtype=bool)
        for column, term in enumerate(words.terms):
            there[term.at] = True
            has[:, column] = there[at]
            there[term.at] = False
        return said_elsewhere(has, np.array([*words.rarity.values()]) / self._said.content)

    def at(self, shelf: int, slot: int) -> Candidate:
        """What was found of one text."""
        at = int(self._starts[self._shelves.index(shelf)]) + slot
        return self._candidates(np.array([at]))[0]

    def _candidates(self, at: NDArray[np.int64]) -> list[Candidate]:
        numbers = np.searchsorted(self._starts, at, side="right") - 1
        names = ("lexical", "meaning", "conversation", "share")
        parts = [np.round(self._parts[name][at], 6).tolist() for name in names]
        slots, scores = (at - self._starts[numbers]).tolist(), self._score[at].tolist()
        shelves = [self._shelves[number] for number in numbers.tolist()]
        return [Candidate(*each) for each in zip(shelves, slots, scores, *parts, strict=True)]


def blended(
    question: Question,
    words: Words,
    shelves: Sequence[Shelf],
    places: Mapping[int, Places],
    meaning: MeaningScores,
) -> Blend:
    """The sum of what words and meaning say; sessions lend to their turns.

    Words are scaled by their best, and by whether that says enough of the question: where only a word of it
    is anywhere, meaning decides. Meaning is scaled by its best and has no least, because the same likeness is
    much for one question and little for another.
    """
    talk = Talk(shelves, places) if places else None
    alone = words.score / max(float(words.score.max(initial=0.0)), 1e-9)
    lexical, lent = (alone, np.zeros(words.size)) if talk is None else spread(words, talk, question.own)
    likeness = _in_a_row(shelves, meaning.first)
    said = _told(question, words, shelves, talk)
    told = said.most
    average = sum(shelf.length for shelf in shelves) / max(1, sum(shelf.members for shelf in shelves))
    is_short = average < LONG[language_of(question.text)[:2]] and not parts_of(question.text)
    half = HALF if is_short else HALF_LONG
    steep = told**STEEP / (told**STEEP + half**STEEP)
    meant = likeness.max(initial=0.0) > 0.0
    trusted = max(steep, LEAST) if meant else 1.0  # without meaning words are all there is
    if talk is None and is_short and told < WHOLE and question.manner not in TRUST:
        trusted = max(trusted * _agreement(alone, likeness), LEAST)
    most = MEANING if talk is None else MEANING_SPOKEN
    weight = most * float(np.sqrt(np.sqrt(meaning.reach))) * TRUST.get(question.manner, 1.0)
    both = likeness
    if meaning.second:
        beside = BESIDE if average < min(LONG.values()) else BESIDE_LONG
        both = likeness + beside * _in_a_row(shelves, meaning.second)
    near = _nearness(both, talk, question.own) * weight
    score = np.where((lexical > 0.0) | _likest(both), lexical * trusted + near, 0.0)
    parts = {
        "lexical": alone,
        "meaning": np.maximum(likeness, 0.0),
        "conversation": lent,
        "share": said.share,
    }
    return Blend(shelves, {"score": score, **parts}, trusted, talk, said)


def _in_a_row(shelves: Sequence[Shelf], likeness: Mapping[int, NDArray[Any]]) -> Floats:
    row = np.zeros(sum(shelf.next_slot for shelf in shelves))
    for shelf, start in zip(shelves, offsets(shelves), strict=False):
        if shelf.number in likeness:
            row[start : start + shelf.next_slot] = likeness[shelf.number]
    return row


def _agreement(words: Floats, likeness: Floats) -> float:
    """How far meaning bears out what words find: from 0, where the best by words is like the question by
    chance alone, to 1, where it is nearly as like it as any."""
    likest, best = float(likeness.max(initial=0.0)), float(words.max(initial=0.0))
    if likest <= 0.0 or best <= 0.0:
        return 1.0
    share = float(likeness[words >= AMONG_BEST * best].max()) / likest
    return min(1.0, max(0.0, (share - BY_CHANCE) / (BORNE_OUT - BY_CHANCE)))


def _told(question: Question, words: Words, shelves: Sequence[Shelf], talk: Talk | None) -> _Said:
    """How much of the question the words of each text say, and those of the best text or conversation.

    A term that no text has is part of the question all the same.
    """
    unknown = inverse_frequency(sum(shelf.members for shelf in shelves), 0)
    guessed = [rarity for term, rarity in words.rarity.items() if term not in question.weights]
    most = max(guessed, default=unknown)  # of a word with a letter wrong, what was found instead
    worth = [words.rarity.get(term, min(most, weight * unknown)) for term, weight in question.weights.items()]
    content = max(sum(sorted(worth, reverse=True)[:CONTENT]), 1e-9)
    covered = words.covered
    spoken = np.zeros(1 if talk is None else talk.sessions)
    if talk is not None:
        for rarity, term in zip(words.rarity.values(), words.terms, strict=True):
            spoken[np.unique(talk.session[term.at])] += rarity
    spoken[0] = 0.0  # where nothing is part of a conversation
    best = max(float(covered.max(initial=0.0)), float(spoken.max()))
    return _Said(words, content, np.minimum(covered / content, 1.0), min(best / content, 1.0))


def _likest(likeness: Floats) -> NDArray[np.bool_]:
    """Whatever is at all like the question; on a vast shelf the likest."""
    found = likeness > 0.0
    if (border := np.count_nonzero(found) - _BY_MEANING) > 0:
        found &= likeness >= np.partition(likeness[found].astype(np.float32), border)[border]
    return np.asarray(found)


def _nearness(likeness: Floats, talk: Talk | None, own: bool) -> Floats:
    near = np.maximum(likeness, 0.0)
    if talk is not None:
        voiced = near * np.where(talk.voice > 0, OTHER_VOICE, 1.0) if own else near
        near = voiced + SESSION_MEANING * talk.best_of_session(voiced)
    return np.asarray(near / max(float(near.max(initial=0.0)), 1e-9))
