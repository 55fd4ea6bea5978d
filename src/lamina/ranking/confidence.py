"""How sure it is that a text answers a question: one probability of what meaning and words say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lamina.late import read_rules
from lamina.records import dataclass

#: Of what a question is about, so much may be said by any text that names the same person or thing.
NAMED = 0.6
#: Below the first as many questions without an answer lie as questions with one above it; from the second on
#: a hit is told without a word of doubt.
DOUBTFUL, SURE = 0.35, 0.45


#: The logarithm of the tokens that a question usually has.
USUALLY_ASKED = 2.4
#: What is usual: of so many texts, the average likeness to a question and how far they differ.
_USUAL, _MEAN, _DEVIATION = 8, 0.12, 0.12
#: A text of the very time that is asked about says that much of the question by its date.
DATED = 0.3
#: Where nothing but a time is asked about, what is of that time answers.
OF_THEN = 0.8


@dataclass(frozen=True, slots=True)
class Spread:
    """How like a question the texts are that were looked at: on the average, and how far they differ."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, likenesses: Sequence[float] | NDArray[np.float64]) -> Spread:
        """That of some likenesses; a few are read as if they stood among others as they usually are."""
        known = np.asarray(likenesses, dtype=np.float64)
        count = len(known)
        mean = (float(known.sum()) + _USUAL * _MEAN) / (count + _USUAL)
        squares = float(((known - mean) ** 2).sum()) + _USUAL * _DEVIATION**2
        return cls(round(mean, 6), round(math.sqrt(squares / (count + _USUAL)), 6))

    def standard(self, likeness: float) -> float:
        """So many deviations above the average: the same scale for every encoder."""
        return (likeness - self.mean) / self.deviation


@dataclass(slots=True)
class Evidence:
    """What speaks for a text."""

    likeness: float | None  #: to the question; None where it has no vector
    behind: float  #: by how much it is less like it than the likest
    share: float  #: how much of what the question is about its words say
    dated: bool = False  #: whether it is of the very time that is asked about
    fits: bool = True  #: whether it says a thing of the sort that is asked for
    elsewhere: float = 0.0  #: how much of what the question is about another text says, and this one does not
    asked: float = USUALLY_ASKED  #: how long the question is: the logarithm of its tokens
    read: float | None = None  #: what a reader of both says of it, where one has looked


def evidence(likenesses: Sequence[float | None], shares: Sequence[float]) -> list[Evidence]:
    """What speaks for each of some texts beside the others."""
    best = max((one for one in likenesses if one is not None), default=0.0)
    return [
        Evidence(likeness, 0.0 if likeness is None else best - likeness, share)
        for likeness, share in zip(likenesses, shares, strict=True)
    ]


def said_elsewhere(has: NDArray[np.float64], worth: NDArray[np.float64]) -> list[float]:
    """For each of some texts, the most that another says of the terms which it does not have.

    `has` tells which texts (rows) have which of a question's terms, `worth` what these are of the question.
    """
    if not has.size:
        return [0.0] * len(has)
    most = ((has * worth) @ (1.0 - has).T).max(axis=0)
    return [round(min(one, 1.0), 6) for one in most.tolist()]


def is_measured(encoder: str) -> bool:
    """Whether what a likeness of this encoder means is known, whatever else is on a shelf."""
    return encoder in _tables()


def confidence(found: Evidence, encoder: str, spread: Spread) -> float:
    """The probability that a text answers its question, as encoders of this id see it.

    An encoder that nobody has measured is read by how far a likeness stands out on these very shelves.
    """
    like, behind, tables = found.likeness, found.behind, _tables()
    if like is None or not encoder:
        weights, total = tables["words"], 0.0
    elif (known := tables.get(encoder)) is not None:
        weights, total = known, known["likeness"] * like + known["behind"] * behind
    else:
        weights, standard = tables["other"], spread.standard(like)
        away = spread.standard(like + behind) - standard
        total = weights["likeness"] * standard + weights["behind"] * away
    said = min(1.0, found.share + (DATED if found.dated else 0.0))
    total += weights["base"] + weights["words"] * max(0.0, (said - NAMED) / (1.0 - NAMED))
    if "named" in weights:  # who repeats a name asks of what is known; who asks in other words knows less
        total += weights["named"] * min(found.share, NAMED) + weights["elsewhere"] * found.elsewhere
        total += weights["asked"] * (found.asked - USUALLY_ASKED)
    total += 0.0 if found.fits else weights["unfit"]
    total += weights.get("read", 0.0) * (found.read or 0.0)
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total)))), 4)


def uncertainty(sure: float) -> str:
    """The same in a word: low, medium or high."""
    return "low" if sure >= SURE else "medium" if sure >= DOUBTFUL else "high"


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, float]]:
    return read_rules("lamina.ranking", "confidence.toml")
