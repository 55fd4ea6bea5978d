"""The default encoder: a small transformer for English, Thai and Chinese, which sees the order of words."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from lamina_encoder import joint, reading
from numpy.typing import NDArray

from lamina.encoders.port import Calibration, Vectors
from lamina.encoders.static import REINSTALL
from lamina.errors import Damaged

if TYPE_CHECKING:
    from lamina.language.sorts import Finders

T = TypeVar("T")
Wholes = NDArray[np.int64]
#: The vector of a text, and what it is halfway, where that was asked for.
_Read = tuple[NDArray[np.float32], Wholes | None]

#: Texts whose vectors stay in memory: a question is asked again, and what it caught up with is stored next.
_KEPT = 1024


class ReadingEncoder:
    """The model of the package `lamina-encoder`, loaded when it is first asked.

    The same text has the same vector on every machine, to the last bit; some milliseconds a text.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._model = reading.ReadingEncoder(folder)
        self._joint = joint.JointReader(self._model)
        self._kept: OrderedDict[str, _Read] = OrderedDict()
        self._finders: tuple[Finders | None, reading.Product | None] = None, None
        self._lock = threading.Lock()

    @property
    def embedder_id(self) -> str:
        return self._asked(lambda: self._model.embedder_id)

    @property
    def dimension(self) -> int:
        return self._asked(lambda: self._model.dimension)

    @cached_property
    def calibration(self) -> Calibration:
        curves = self._asked(lambda: self._model.header["calibration"])
        return Calibration({pair: tuple((x, y) for x, y in points) for pair, points in curves.items()})

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [vector for vector, _ in self._read(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)

    def midway(self, texts: Sequence[str], finders: Finders) -> Wholes:
        """What the model makes of each text halfway, which tells how something is said; a row each."""
        rows = [half for _, half in self._read(texts, self._opened(finders)) if half is not None]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.int64)

    def _opened(self, finders: Finders) -> reading.Product:
        """Finders as the model uses them; there is one set of them in a process."""
        with self._lock:
            known, product = self._finders
            if product is None or known is not finders:
                matrix = finders.matrix.astype(np.float32)
                product = reading.Product(matrix, finders.worth, finders.bias, finders.largest)
                self._finders = finders, product
                self._kept.clear()  # what others found
        return product

    def _read(self, texts: Sequence[str], finders: reading.Product | None = None) -> list[_Read]:
        """Vectors, and with finders what each text is halfway, in one pass."""
        with self._lock:
            kept = {text: self._kept[text] for text in texts if text in self._kept}
        known = {text: one for text, one in kept.items() if finders is None or one[1] is not None}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            vectors, halves = self._asked(lambda: self._model.read(new, finders))
            rows = [None] * len(new) if finders is None else halves
            known |= zip(new, zip(vectors, rows, strict=True), strict=True)
        with self._lock:
            self._kept.update((text, known[text]) for text in known)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return [known[text] for text in texts]

    def reader_id(self) -> str:
        return self._asked(lambda: self._joint.reader_id)

    def fits(self, question: str, texts: Sequence[str]) -> list[float]:
        return self._asked(lambda: self._joint.scores(question, texts))

    def changes(self, decision: str, texts: Sequence[str]) -> list[float]:
        return [one for (one,) in self._asked(lambda: self._joint.beside("changes", decision, texts))]

    def reach(self, text: str) -> float:
        return round(self._asked(lambda: self._model.known_share(text)), 6)

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except (reading.ModelError, LookupError) as error:
            raise Damaged(
                f"The encoder's model cannot be used: {error}", code="encoder_damaged", hint=REINSTALL
            ) from error
