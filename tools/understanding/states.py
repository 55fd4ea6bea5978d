"""What the encoder makes of the sentences halfway, piece by piece, read once and kept beside a training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from lamina_encoder import reading
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lamina.language.hearing import Hearing, clauses_in
from lamina.language.sorts import Finders, Wholes
from lamina.language.understanding import words

#: A row for each piece of a text.
Pieces = NDArray[np.float16]
#: How many pieces of a text are looked at, and how many are computed together.
_LONGEST, _TOGETHER = 64, 512
#: So many texts are read before it is said how far it is.
_TOLD = 8000


class States:
    """An encoder that remembers: a training hears every sentence several times."""

    def __init__(self, kept: Path | None = None) -> None:
        self._model, self._kept = reading.ReadingEncoder(), kept
        self._known: dict[str, Pieces] = {}
        self._found: tuple[Finders | None, dict[str, Wholes]] = None, {}
        if kept is not None and kept.exists():
            with np.load(kept) as file:
                if str(file["encoder"]) == self.embedder_id:
                    texts = file["texts"].tobytes().decode("utf-8").split("\0")
                    ends = np.cumsum(file["sizes"])[:-1]
                    self._known = dict(zip(texts, np.split(file["rows"], ends), strict=True))

    @property
    def embedder_id(self) -> str:
        return self._model.embedder_id

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        self.read(texts)
        return [self._known[text] for text in texts]

    def midway(self, texts: Sequence[str], finders: Finders) -> Wholes:
        """As the encoder says it when it is used."""
        self.read(texts)
        if self._found[0] is not finders:
            self._found = finders, {}
        known = self._found[1]
        matrix = finders.matrix.astype(np.float32)
        product = reading.Product(matrix, finders.worth, finders.bias, finders.largest)
        for text in texts:
            if text not in known:
                states = self._known[text].astype(np.float32)
                known[text] = reading.midway(states[None], product)[0] if len(states) else _nothing(product)
        return np.stack([known[text] for text in texts])

    def read(self, texts: Iterable[str]) -> None:
        """Read what was not read yet, texts of a length together."""
        cut = {text: self._model.pieces.rows(text, _LONGEST) for text in texts if text not in self._known}
        order = sorted(cut, key=lambda text: (len(cut[text]), text))
        with threadpool_limits(1):
            at = 0
            while at < len(order):
                length = len(cut[order[at]])
                part = [
                    text for text in order[at : at + max(1, _TOGETHER // length)] if len(cut[text]) == length
                ]
                self._known |= zip(part, self._halfway([cut[text] for text in part]), strict=True)
                if (at + len(part)) // _TOLD > at // _TOLD:
                    print(f"read {at + len(part)} of {len(order)}", flush=True)
                at += len(part)

    def _halfway(self, rows: Sequence[Sequence[int]]) -> list[Pieces]:
        """The states of texts of equal length after the layer in the middle."""
        if len(rows[0]) <= 2:  # no piece between the marks of start and end
            return [np.zeros((0, int(self._model.header["width"])), dtype=np.float16) for _ in rows]
        model, at = self._model._model, np.array(rows)
        first = self._model._rows[at].astype(np.float32) * model.row_worth[at][..., None]
        _, halfway = model.run(
            first + model.places[: at.shape[1]], model.layers[: len(model.layers) // 2 + 1]
        )
        return list(halfway.astype(np.float16))

    def keep(self) -> None:
        """Write down what was read, for the next training."""
        if self._kept is not None:
            texts = np.frombuffer("\0".join(self._known).encode("utf-8"), dtype=np.uint8)
            every = list(self._known.values())
            sizes = np.array([len(one) for one in every])
            named = np.array(self.embedder_id)
            np.savez(self._kept, encoder=named, texts=texts, sizes=sizes, rows=np.concatenate(every))


def _nothing(product: reading.Product) -> Wholes:
    """What a text without a piece is."""
    return np.zeros(len(product.matrix) // 3 + len(product.bias), dtype=np.int64)


def stretches(hearing: Hearing) -> list[str]:
    """The texts in a message that a listener may have read: sentences and clauses."""
    spans = [(one.start, one.end) for one in hearing.sentences]
    spans += [span for one in hearing.sentences for span in clauses_in(hearing, one)]
    return [words(hearing, *span) for span in spans]
