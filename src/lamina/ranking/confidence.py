"""How sure it is that a text answers a question: one probability of what meaning and words say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lamina.late import read_rules
from lamina.records import dataclass

Floats = NDArray[np.float64]

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
    def of(cls, likenesses: Sequence[float] | Floats) -> Spread:
        """That of some likenesses; a few are read as if they stood among others as they usually are."""
        known = np.asarray(likenesses, dtype=np.float64)
        count = len(known)
        mean = (float(known.sum()) + _USUAL * _MEAN) / (count + _USUAL)
        squares = float(((known - mean) ** 2).sum()) + _USUAL * _DEVIATION**2
        return cls(round(mean, 6), round(math.sqrt(squares / (count + _USUAL)), 6))

    def standard(self, likeness: Floats) -> Floats:
        """So many deviations above the average: the same scale for every encoder."""
        return (likeness - self.mean) / self.deviation


@dataclass(slots=True)
class Evidence:
    """What speaks for some texts, each at its place in every row."""

    likeness: Floats  #: to the question; not a number where there is no vector
    share: Floats  #: how much of what the question is about their words say
    dated: Floats  #: 1 for what is of the very time that is asked about
    fits: Floats  #: 1 for what says a thing of the sort that is asked for
    elsewhere: Floats  #: how much of what the question is about another text says, and this one does not
    read: Floats  #: what a reader of both says of them; not a number where none has looked
    asked: float = USUALLY_ASKED  #: how long the question is: the logarithm of its tokens

    @property
    def behind(self) -> Floats:
        """By how much they are less like the question than the likest."""
        return np.asarray(np.fmax.reduce(self.likeness, initial=-1.0) - self.likeness)


def evidence(likenesses: Sequence[float | None], shares: Sequence[float]) -> Evidence:
    """What likeness and words say of some texts, and nothing else does."""
    like, share = np.array(likenesses, dtype=np.float64), np.array(shares, dtype=np.float64)
    return Evidence(like, share, 0.0 * share, 0.0 * share + 1.0, 0.0 * share, np.full(len(shares), np.nan))


def said_elsewhere(has: Floats, worth: Floats) -> list[float]:
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


def confidence(found: Evidence, encoder: str, spread: Spread) -> list[float]:
    """The probability that each of some texts answers its question, as encoders of this id see it.

    An encoder that nobody has measured is read by how far a likeness stands out on these very shelves.
    """
    like, behind, tables = found.likeness, found.behind, _tables()
    if not encoder:
        return _sure(found, tables["words"], 0.0)
    if (known := tables.get(encoder)) is not None:
        sure = _sure(found, known, known["likeness"] * like + known["behind"] * behind)
    else:
        weights, standard = tables["other"], spread.standard(like)
        away = spread.standard(like + behind) - standard
        sure = _sure(found, weights, weights["likeness"] * standard + weights["behind"] * away)
    if not np.isnan(like).any():
        return sure
    by_words = _sure(found, tables["words"], 0.0)
    return [words if math.isnan(one) else one for one, words in zip(sure, by_words, strict=True)]


def _sure(found: Evidence, weights: Mapping[str, float], meant: Floats | float) -> list[float]:
    """The probabilities, from what their meaning is worth and the rest of what speaks for each."""
    said = np.minimum(1.0, found.share + DATED * found.dated)
    total = meant + (weights["base"] + weights["words"] * np.maximum(0.0, (said - NAMED) / (1.0 - NAMED)))
    if "named" in weights:  # who repeats a name asks of what is known; who asks in other words knows less
        total += weights["named"] * np.minimum(found.share, NAMED) + weights["elsewhere"] * found.elsewhere
        total += weights["asked"] * (found.asked - USUALLY_ASKED)
    total += weights["unfit"] * (1.0 - found.fits)
    if "read" in weights:
        total += weights["read"] * np.nan_to_num(found.read)
    # The exponential is not the same in every maths library, so it is rounded.
    return [round(1.0 / (1.0 + math.exp(-one)), 4) for one in np.clip(total, -30.0, 30.0).tolist()]


def uncertainty(sure: float) -> str:
    """The same in a word: low, medium or high."""
    return "low" if sure >= SURE else "medium" if sure >= DOUBTFUL else "high"


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, float]]:
    return read_rules("lamina.ranking", "confidence.toml")
