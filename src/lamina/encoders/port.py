"""What the engine asks of an encoder, whoever made it: vectors, and how far to trust them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

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
