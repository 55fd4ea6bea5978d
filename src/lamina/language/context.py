"""What a clause is in its message: what is said around it weighs in, and neighbours of one sort are one part.

"Being coeliac" says little by itself, and behind "what do I thicken it with," it is what its speaker tells of
themselves. A small trained reading weighs the scores of a clause against those of its sentence and of what
stands before and behind it, and what was opened before: a quotation, a story, a text at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from lamina.language.features import Seen
from lamina.language.hearing import Sentence
from lamina.language.sorts import MIDWAY, UNIT, Second, Sort, Wholes

#: Signs of other clauses that say something about this one.
_TELLING = (
    "asked",
    "cue lasts",
    "cue reports",
    "cue requests",
    "cue supposes",
    "marked",
    "own",
    "sign cite",
    "sign deixis",
    "sign joke",
    "sign make",
    "sign others",
    "sign perhaps",
    "sign play",
    "sign tells",
    "sign unmeant",
    "unsaid",
)
#: How many score rows stand beside that of the clause: its sentence, the one before, the one behind, the
#: most of each sort in all before, and in all behind.
BESIDE = 5


class Clause(NamedTuple):
    """A clause, what is seen of it alone, and what its sentence is."""

    start: int
    end: int
    sentence: Sentence
    alone: Wholes  #: its scores, read without anything around it
    whole: Wholes  #: those of its sentence
    seen: Seen


def surroundings(clauses: Sequence[Clause]) -> tuple[list[frozenset[str]], Wholes]:
    """For each clause the signs in and around it, and the scores beside its own, a row each."""
    level = np.stack([_level(one.alone) for one in clauses])
    none = np.zeros((1, len(Sort)), dtype=np.int64)
    before = np.maximum.accumulate(level, axis=0)[:-1]
    behind = np.maximum.accumulate(level[::-1], axis=0)[::-1][1:]
    columns = [
        np.stack([_level(one.whole) for one in clauses]),
        np.concatenate([none, level[:-1]]),
        np.concatenate([level[1:], none]),
        np.concatenate([none, before]),
        np.concatenate([behind, none]),
    ]
    wide = np.concatenate(columns, axis=1) * MIDWAY // UNIT
    return list(_signs(clauses)), wide


def in_message(reading: Second, clauses: Sequence[Clause]) -> list[Wholes]:
    """The scores of each clause where it stands."""
    signs, wide = surroundings(clauses)
    return [
        reading.scores(one.alone, names, beside)
        for one, names, beside in zip(clauses, signs, wide, strict=True)
    ]


def _level(scores: Wholes) -> Wholes:
    return np.asarray(scores - scores.sum() // len(Sort), dtype=np.int64)


def _signs(clauses: Sequence[Clause]) -> Iterator[frozenset[str]]:
    """The signs in each clause, those before and behind it, and where it stands."""
    telling = [one.seen.signs.intersection(_TELLING) for one in clauses]
    before = list(accumulate(telling, frozenset.union, initial=frozenset[str]()))
    behind = list(accumulate(reversed(telling), frozenset.union, initial=frozenset[str]()))[::-1]
    last = len(clauses) - 1
    for at, one in enumerate(clauses):
        names = {f"before {name}" for name in before[at]} | {f"behind {name}" for name in behind[at + 1]}
        if at and clauses[at - 1].sentence == one.sentence:
            names |= {f"next to {name}" for name in telling[at - 1]}
        if one.start == one.sentence.start:
            names.add("opens its sentence")
        if one.sentence.marked:
            names.add("in a question")
        place = "only" if not last else "first" if not at else "last" if at == last else "amid"
        yield one.seen.signs | names | {f"of {min(last + 1, 12).bit_length()}", f"stands {place}"}
