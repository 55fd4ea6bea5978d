"""Reads two texts together and says what the one does to the other, exact to the bit.

    reader = JointReader(ReadingEncoder())
    reader.scores("Which fruit is bad for me?", ["ฉันแพ้มะม่วง", "I sell mangoes."])   # above 0: it answers
    reader.beside("amends", "Mangoes are fine now.", ["ฉันแพ้มะม่วง"])  # puts it right; wants it forgotten
    reader.beside("changes", "We open at nine.", ["Doors open at eight."])  # the later decision changes it

The lower layers of the encoder read each text by itself; a few layers of its own read the states of both
together. Sums are of whole numbers, as the encoder's are: what it says of a pair depends neither on what else
is read nor on the machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lamina_encoder.reading import Floats, Layer, ModelError, ReadingEncoder, Weights, Wholes, one_thread

HEADER = "joint.json"

#: Goes up with every change of what a reader's numbers mean.
FORMAT = 2

_POOL = 2.0**12  # steps per unit where the states of a text are summed
_BITS = 20  # of such a sum, where two are multiplied


class JointReader:
    """A reader on disk, read when first used, over the encoder that it was trained on."""

    def __init__(self, encoder: ReadingEncoder, folder: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = folder or Path(__file__).parent / "joint"
        self._was_asked = False

    @cached_property
    def header(self) -> dict[str, Any]:
        """What the reader says of itself: its hash, sizes, and the hash of the encoder it belongs to."""
        path = self.folder / HEADER
        try:
            header: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be read.") from error
        if (header.get("format"), header.get("encoder")) != (FORMAT, self.encoder.header["hash"]):
            raise ModelError(f"{path} is for another encoder or another version of this package.")
        return header

    @property
    def reader_id(self) -> str:
        return f"lamina-joint-{self.header['hash'][:16]}"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A number per text: above 0 it rather answers the question."""
        return [one for (one,) in self.beside("answers", question, texts)]

    def beside(self, way: str, later: str, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """The numbers of a way per text, by the beginnings of both: above 0 rather so; 0 without a piece."""
        longest, reader = int(self.header["longest"]), self._reader
        asks, says, heads = reader.ways[way]
        said = [text for text in dict.fromkeys(texts) if self._is_read(text)]
        nothing = (0.0,) * len(heads)
        if not said or not self._is_read(later):
            return [nothing] * len(texts)
        asked, *states = self.encoder.halfway([later, *said], longest)
        sizes = [len(asked) + len(state) for state in states]
        both = [part for state in states for part in (asked + asks, state + says)]
        layers = reader.opened if self._was_asked else reader.layers  # a short command asks once
        self._was_asked = True
        with one_thread():
            state = self.encoder._model.through(np.concatenate(both), sizes, layers)
        pairs = np.split(state, np.cumsum(sizes)[:-1])
        known = {
            text: tuple(head.verdict(pair, len(asked)) for head in heads)
            for text, pair in zip(said, pairs, strict=True)
        }
        return [known.get(text, nothing) for text in texts]

    def _is_read(self, text: str) -> bool:
        return len(self.encoder.pieces.rows(text, 3)) > 2  # more than the marks of start and end

    @cached_property
    def _reader(self) -> _Reader:
        return _Reader(self.folder, self.header)


class _Head:
    """What makes one number of what the layers say."""

    def __init__(self, together: Floats, apart: Floats, worth: Floats) -> None:
        self.together, self.apart = together.astype(np.int64), apart.astype(np.int64)
        self.worth = [float(one) for one in worth]

    def verdict(self, state: Floats, asked: int) -> float:
        """From the states of a pair, of which the first so many are the question's."""
        whole: Wholes = np.rint(state.astype(np.float64) * _POOL).astype(np.int64)
        sums = np.stack([whole[:asked].sum(axis=0), whole[asked:].sum(axis=0)])
        mean = int((sums.sum(axis=0) * self.apart).sum()) / (len(state) * _POOL)
        _, bits = np.frexp(np.abs(sums).max(axis=1).astype(np.float64))
        one, other = sums >> np.maximum(bits.astype(np.int64) - _BITS, 0)[:, None]
        lengths = np.sqrt(float(max(1, (one * one).sum()))) * np.sqrt(float(max(1, (other * other).sum())))
        alike = int((one * other * self.together).sum()) / float(lengths)
        together, apart, base = self.worth
        return round(alike * together + mean * apart + base, 4)


class _Reader(Weights):
    """The layers that read both; for each way what marks the two texts, and heads for its numbers."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        super().__init__(folder, header["largest"])
        width = int(header["width"])
        with self.of_the_right_size():
            ways: dict[str, list[str]] = dict(header["ways"])
            marks = [(self.take(width), self.take(width)) for _ in ways]
            self.layers = [self.layer(width, int(header["wide"])) for _ in range(int(header["layers"]))]
            heads = [
                [_Head(self.take(width), self.take(width), self.take(3)) for _ in outputs]
                for outputs in ways.values()
            ]
        self.ways = {way: (*mark, own) for way, mark, own in zip(ways, marks, heads, strict=True)}

    @cached_property
    def opened(self) -> list[Layer]:
        """The layers, ready for many questions."""
        return [layer.opened() for layer in self.layers]
