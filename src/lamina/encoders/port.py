"""What the engine asks of an encoder, whoever made it: vectors, and how far to trust them.

One that may be slow or gone is tended: a question does not wait for it, and what failed rests for a while.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lamina.errors import LaminaError, Unavailable
from lamina.records import dataclass

Vectors = NDArray[np.float32]
Verdict = Literal["same", "related", "unrelated"]

#: Likeness from which two texts say the same, and from which they are about the same thing.
SAME = 0.8
RELATED = 0.45


class Embedder(Protocol):
    """Turns texts into vectors of one length; likeness is their dot product."""

    @property
    def embedder_id(self) -> str:
        """Names the encoder and its weights: vectors of two ids are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def calibration(self) -> Calibration:
        """What its scores mean."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length one per text; a row of zeros where the encoder knows nothing of the text."""
        ...

    def reach(self, text: str) -> float:
        """How much of the text it understands, from 0 (another language) to 1; its weight in a sum."""
        ...


@runtime_checkable
class JointReader(Protocol):
    """Reads a question and a statement together, which tells more than two vectors do."""

    def reader_id(self) -> str:
        """Names the reader and its weights."""
        ...

    def fits(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, on one scale for all questions: above 0 it rather does than not."""
        ...


@runtime_checkable
class LaterReader(Protocol):
    """Reads a later decision together with earlier ones."""

    def changes(self, decision: str, texts: Sequence[str]) -> list[float]:
        """For each earlier decision whether a later one changes it: above 0 rather."""
        ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """Puts the scores of different language pairs on one scale.

    `curves` has, for a pair of languages such as `en-th`, points (score, likeness) in rising order; what is
    between them is on a straight line. A pair without a curve keeps its score as it is.
    """

    curves: Mapping[str, tuple[tuple[float, float], ...]]

    def likeness(self, score: float, one: str, other: str) -> float:
        """The score of two texts in these languages (`en`, `th`, `zh`, `zh-Hant` …) on the common scale."""
        points = self.curves.get("-".join(sorted((one[:2], other[:2]))))
        if not points:
            return min(1.0, max(0.0, score))
        scores = [point[0] for point in points]
        at = bisect_right(scores, score)
        if at == 0:
            return points[0][1]
        if at == len(points):
            return points[-1][1]
        (low, start), (high, end) = points[at - 1], points[at]
        return start + (end - start) * (score - low) / (high - low)

    def least(self, likeness: float) -> float:
        """A score below which no two texts, whatever their languages, are so alike."""
        below = [[score for score, like in points if like < likeness] for points in self.curves.values()]
        return min([likeness, *(max(scores, default=-1.0) for scores in below)])

    def verdict(self, score: float, one: str, other: str) -> Verdict:
        """What the score says of two texts in these languages."""
        likeness = self.likeness(score, one, other)
        if likeness >= SAME:
            return "same"
        return "related" if likeness >= RELATED else "unrelated"


#: Of an encoder whose scores nobody has measured.
UNCALIBRATED = Calibration({})


def unit(vectors: NDArray[np.float64] | Vectors) -> Vectors:
    """The rows with length one; rows of zeros stay."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return np.asarray(wide / np.where(lengths == 0.0, 1.0, lengths), dtype=np.float32)


T = TypeVar("T")

_REST_S = 30.0


class Tended:
    """Asks `hasty`; after a failure it fails at once, until it has rested.

    `patient` is the same encoder for work in the background, which can wait and try again.
    """

    def __init__(self, hasty: Embedder, patient: Embedder, monotonic: Callable[[], float]) -> None:
        self.patient = patient
        self._hasty = hasty
        self._monotonic = monotonic
        self._until = 0.0

    @property
    def embedder_id(self) -> str:
        return self._tried(lambda: self._hasty.embedder_id)

    @property
    def dimension(self) -> int:
        return self._tried(lambda: self._hasty.dimension)

    @property
    def calibration(self) -> Calibration:
        return self._hasty.calibration

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._tried(lambda: self._hasty.embed(texts))

    def reach(self, text: str) -> float:
        return self._tried(lambda: self._hasty.reach(text))

    def _tried(self, ask: Callable[[], T]) -> T:
        if self._monotonic() < self._until:
            raise Unavailable(
                "The encoder failed a moment ago and is not asked again yet.",
                code="encoder_resting",
                hint="Search goes on by words. `lamina doctor` says what is wrong with it.",
                retryable=True,
            )
        try:
            return ask()
        except LaminaError:
            self._until = self._monotonic() + _REST_S
            raise


def patient(embedder: Embedder | None) -> Embedder | None:
    """The encoder as work in the background asks it."""
    return embedder.patient if isinstance(embedder, Tended) else embedder
