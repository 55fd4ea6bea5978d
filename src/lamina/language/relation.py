"""What a sentence does to what is known: puts one statement right, asks that one be forgotten, or neither.

A small trained net over some fifty whole numbers for each statement that may be meant: what sort of sentence
it is, how like the two are, which words and values they share, and how lately the statement was made. Weights
are whole numbers, trained by `python -m tools.understanding relations`; the answer is the same everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lamina.language.amend import Correction, amended, corrections, telling, weight, words_of
from lamina.language.joined import in_place
from lamina.language.rulebook import Rulebook
from lamina.language.sorts import LEFT, Sort
from lamina.language.values import Clash, clash
from lamina.language.view import view_of
from lamina.late import files
from lamina.records import dataclass

#: Steps per unit of a feature, the most it counts, and steps per unit of a weight.
STEP, MOST, WEIGHT = 16, 128, 1024
_RATHER = (Sort.LASTING, Sort.REMEMBER, Sort.SET, Sort.TEMPORARY, Sort.REJECT, *LEFT)
_CUES = ("cue amends", "cue signals", "cue denies", "cue negates", "cue requests", "marked", "unsaid", "own")
_WORD = re.compile(r"[^\W\d_]{4,}")
#: What a person is told of why a statement is meant.
_TOLD = ("most shared", "differs", "both values", "in place", "near name", "newest")
#: So many statements of one session are few.
_FEW = (2, 3)
#: So many first letters make one name look like another.
_ALIKE = 3


class Does(StrEnum):
    """What a sentence does to a statement."""

    CORRECT = "correct"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class SaidNow:
    """A sentence that may be about something known."""

    text: str  #: as typed
    scores: Mapping[Sort, int]  #: what the model of sorts makes of it, in thousandths of a logit
    signs: frozenset[str]  #: and what it saw in it


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """Something that was said before, and stands somewhere."""

    text: str
    like: float = 0.0  #: how like the two are in meaning
    called: str = ""  #: what people call the entry of its key
    age: int = 0  #: how many were made after it
    here: bool = False  #: it was said in this session
    lasting: bool = True  #: it is kept; else it is only a turn
    setting: bool = False  #: it is the value of a key, and no sentence
    read: float = 0.0  #: how well the one answers the other, where an encoder reads both together


class _Sentence:
    """What all pairs have in common."""

    def __init__(self, said: SaidNow, book: Rulebook) -> None:
        self.said, self.book = said, book
        self.words = telling(said.text, book)
        self.readings = corrections(said.text, book, asked=True) or [Correction(said.text)]
        text = view_of(said.text).text
        self.names = frozenset(_WORD.findall(text))
        best = max(said.scores.values())
        self.common: dict[str, float] = {
            "bias": 1.0,
            **{f"is {one}": (said.scores[one] - best) / 1000 for one in Does._member_map_.values()},  # type: ignore[index]
            **{f"rather {one}": (said.scores[one] - best) / 2000 for one in _RATHER},
            **{name: float(name in said.signs) for name in _CUES},
            "words": min(weight(self.words), 8.0) / 2,
            "few words": float(weight(self.words) <= 1),
            "length": len(text).bit_length() / 2,
            "heads": float(book.any_of("cue", "heads").match(text) is not None),
            "names both": float(any(one.named for one in self.readings)),
            **{does: float(book.any_of("cue", does).search(text) is not None) for does in ("adds", "moves")},
        }


def features(said: SaidNow, known: Sequence[KnownStatement], book: Rulebook) -> Iterator[dict[str, float]]:
    """What is seen of a sentence beside each of the statements that it may be about."""
    sentence = _Sentence(said, book)
    shared = [sentence.words & (words_of(one.text, book) | words_of(one.called, book)) for one in known]
    often: dict[str, int] = {}
    for own in shared:
        for word in own:
            often[word] = often.get(word, 0) + 1
    rare = [sum(weight({word}) / often[word] for word in own) for own in shared]
    clashes = [clash(said.text, one.text, book) for one in known]
    count = sum(1 for one in clashes if one.differs)
    here = sum(one.here and one.lasting for one in known)
    for at, one in enumerate(known):
        others = [*known[:at], *known[at + 1 :]]
        next_like = max((each.like for each in others), default=0.0)
        next_read = max((each.read for each in others), default=one.read)
        next_rare = max((each for place, each in enumerate(rare) if place != at), default=0.0)
        yield {
            **sentence.common,
            **_pair(sentence, one, rare[at], clashes[at]),
            "only clash": float(clashes[at].differs and count == 1),
            "liker": (one.like - next_like) * 2,
            "read": one.read / 2,
            "reads better": (one.read - next_read) / 2,
            "most shared": float(rare[at] > next_rare),
            "shared more": min(2.0, max(-2.0, rare[at] - next_rare)),
            "alone": float(not others),
            "kept here": float(one.here and one.lasting),
            "only one kept here": float(one.here and one.lasting and here == 1),
            "few kept here": float(one.here and one.lasting and here in _FEW),
            "liker here": _liker_here(known, one),
            "many": len(known).bit_length() / 2,
        }


def _liker_here(known: Sequence[KnownStatement], one: KnownStatement) -> float:
    """How much liker a statement of this session is than the others that were kept in it."""
    if not (one.here and one.lasting):
        return 0.0
    others = [each.like for each in known if each.here and each.lasting and each is not one]
    return (one.like - max(others, default=0.0)) * 2


def _pair(sentence: _Sentence, one: KnownStatement, rare: float, values: Clash) -> dict[str, float]:
    book = sentence.book
    words = telling(one.text, book)
    fits = [
        (each.named, change.fit)
        for each in sentence.readings
        if not one.setting and (change := amended(each, one.text, book, asked=True))
    ]
    own = frozenset(_WORD.findall(view_of(one.text).text))
    near = any(
        mine not in own and mine[:_ALIKE] == theirs[:_ALIKE] and theirs not in sentence.names
        for mine in sentence.names
        for theirs in own
    )
    newest = one.age == 0
    few = weight(sentence.words) <= 1
    return {
        "like": one.like * 2,
        "shared": min(rare, 3.0),
        "any shared": float(rare > 0),
        "share of said": rare / max(1.0, weight(sentence.words)),
        "share of known": rare / max(1.0, weight(words)),
        "differs": float(values.differs),
        "differs in a number": float(values.differs and values.number),
        "beside the same": float(values.beside),
        "other unit": float(values.other_unit),
        "same thing": float(values.same_thing),
        "both values": float(values.both),
        "fits named": max((fit for named, fit in fits if named), default=0.0),
        "in place": float(not one.setting and in_place(sentence.said.text, one.text, book) != ""),
        "fits": max((fit for named, fit in fits if not named), default=0.0),
        "near name": float(near),
        "newest": float(newest),
        "next to newest": float(one.age == 1),
        "older": float(one.age > 1),
        "here": float(one.here),
        "a turn": float(not one.lasting),
        "setting": float(one.setting),
        "size": weight(words) / 4,
        "newest, few words": float(newest and few),
        "newest, nothing shared": float(newest and not rare),
        "nothing shared": float(not rare),
    }


Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Model:
    """The trained net: one hidden layer beside a linear one, and a score for each thing that may be done."""

    names: tuple[str, ...]
    hidden: Numbers  #: features by units
    out: Numbers  #: units and features, by what is done
    clear: Mapping[str, int]  #: how likely what is only heard has to be before it is done
    ahead: Mapping[str, int]  #: how far ahead of the next
    asks: Mapping[str, int]  #: and how likely before the person is asked
    sure: Mapping[str, int]  #: the same three where somebody gave a command
    apart: Mapping[str, int]
    certain: Mapping[str, int]

    def scores(self, rows: Sequence[Mapping[str, float]]) -> Numbers:
        """For each statement what speaks for each thing that may be done to it, in thousandths of a logit;
        what is below 0 is less likely than nothing."""
        seen = as_numbers(rows, self.names)
        inner = np.clip(seen @ self.hidden // WEIGHT, 0, None)
        return np.concatenate([inner, seen], axis=1) @ self.out * 1000 // (STEP * WEIGHT)

    def why(self, row: Mapping[str, float]) -> tuple[str, ...]:
        """What is seen of a pair that a person can be told: what the two have in common."""
        return tuple(name for name in _TOLD if row[name] > 0)


def as_numbers(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Numbers:
    """Features as whole numbers."""
    found = [[max(-MOST, min(MOST, round(row[name] * STEP))) for name in names] for row in rows]
    return np.array(found, dtype=np.int64).reshape(len(rows), len(names))


@cache
def model() -> Model:
    """The net in the package."""
    data = json.loads((files("lamina.language") / "data" / "relations.json").read_text("utf-8"))
    hidden, out = (np.array(data[name], dtype=np.int64) for name in ("hidden", "out"))
    limits = (data[name] for name in ("clear", "ahead", "asks", "sure", "apart", "certain"))
    return Model(tuple(data["features"]), hidden, out, *limits)
