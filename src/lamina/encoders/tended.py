"""An encoder that may be slow or gone: a question does not wait for it, and what failed rests for a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lamina.encoders.port import Calibration, Embedder, Vectors
from lamina.errors import LaminaError, Unavailable

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
