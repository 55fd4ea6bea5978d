"""Models that a program has loaded itself with sentence-transformers or fastembed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from lamina.encoders.port import UNCALIBRATED, Calibration, Vectors, unit
from lamina.text.normalise import language_of

#: How much each language counts in a sum, of a model that knows all of ours.
MULTILINGUAL: Mapping[str, float] = {"en": 1.0, "th": 1.0, "zh": 1.0}


class SentenceTransformer(Protocol):
    """What we use of `sentence_transformers.SentenceTransformer`."""

    def encode(self, sentences: list[str]) -> ArrayLike: ...


class FastEmbedding(Protocol):
    """What we use of `fastembed.TextEmbedding`."""

    def embed(self, documents: list[str]) -> Iterable[ArrayLike]: ...


class LibraryEncoder:
    """A loaded model under the name and version its owner gives it; another name means other vectors."""

    def __init__(
        self,
        model: SentenceTransformer | FastEmbedding,
        name: str,
        weights: Mapping[str, float] = MULTILINGUAL,
    ) -> None:
        self._model = model
        self._name = name
        self._languages = weights

    @property
    def embedder_id(self) -> str:
        return f"library-{self._name}-{self.dimension}"

    @cached_property
    def dimension(self) -> int:
        return int(self._vectors(["a"]).shape[1])

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(list(texts)) if texts else np.zeros((0, self.dimension), dtype=np.float32)

    def reach(self, text: str) -> float:
        return self._languages.get(language_of(text)[:2], 0.0) if text.strip() else 0.0

    def _vectors(self, texts: list[str]) -> Vectors:
        if hasattr(self._model, "encode"):
            return unit(np.asarray(self._model.encode(texts), dtype=np.float64))
        return unit(np.asarray(list(self._model.embed(texts)), dtype=np.float64))
