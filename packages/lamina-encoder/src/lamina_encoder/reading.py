"""The encoder that reads: a small transformer for English, Thai and Chinese, in numpy, exact to the bit.

    encoder = ReadingEncoder()
    vectors = encoder.embed(["Which fruit is bad for me?", "ฉันแพ้มะม่วง"])   # float32, a row of length one each

Every sum is over whole numbers that are small enough to be exact in whatever order they are added: weights
have eight bits, and what they are multiplied with is rounded to as many steps as the largest sum allows.
What follows a sum are single multiplications, divisions and square roots, which IEEE 754 defines to the
last bit; exponentials and the like are looked up in tables that come with the weights. So a text has the
same vector on every machine and in every batch.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina_encoder import quick
from lamina_encoder.pieces import PIECES_VERSION, Pieces, Unspaced

#: Files of a model.
HEADER, PIECES, SIMPLIFIED, ROWS, MATRICES, NUMBERS = (
    "reading.json", "pieces.txt", "simplified.txt", "rows.npy", "matrices.npy", "numbers.npy",
)  # fmt: skip

#: Goes up with every change of what a model's numbers mean.
FORMAT = 1

#: Pieces of a batch that are computed together; more would need more memory and is not faster.
_TOGETHER = 256

_NORM = 2.0**14  # steps per unit where a layer is brought to even size
_NORM_LARGEST = 2.0**21
_HEAD = 2.0**8  # steps per unit of what attention compares
_HEAD_LARGEST = 2.0**15
_VALUE = 2.0**10  # steps per unit of what attention mixes
_VALUE_LARGEST = 2.0**17
_POOL = 2.0**12
SHARE_STEPS = 256  #: entries of the table of exponentials per unit
BEND_STEPS = 256  #: entries of the table of the bend (GELU) per unit
BEND_REACH = 8  #: beyond which the bend is straight
_SUM_BITS = 26

#: Steps per unit of what a text is halfway through the model.
MIDWAY_STEPS = 64

Vectors = NDArray[np.float32]
Wholes = NDArray[np.int64]
Floats = NDArray[np.float32]
Wide = NDArray[np.float64]


class ModelError(Exception):
    """The model's files are missing, damaged or of another version."""


def one_thread() -> AbstractContextManager[Any]:
    """Inside, numpy multiplies on one thread. On matrices this small, threads that spin while they wait cost
    up to twenty times the work where the processor is shared; one thread is as quick where it is not."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":  # it was told so before it was loaded
        return nullcontext()
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """What numpy multiplies with; to look for it takes as long as to read a sentence."""
    return import_module("threadpoolctl").ThreadpoolController()


@dataclass(frozen=True)
class Product:
    """A matrix of whole numbers, the worth of each column's step, and how large its input may be."""

    matrix: NDArray[np.int8] | Floats  #: (in, out), whole numbers
    worth: Floats
    bias: Floats
    largest: float

    def __call__(self, state: Floats) -> Floats:
        top = np.maximum(np.abs(state).max(axis=-1, keepdims=True), np.float32(1e-12))
        whole = np.rint(state * (np.float32(self.largest) / top))
        matrix = self.matrix.astype(np.float32, copy=False)
        return np.asarray((whole @ matrix) * ((top / np.float32(self.largest)) * self.worth) + self.bias)


@dataclass(frozen=True)
class Norm:
    """Brings each row to mean zero and even size, then scales it."""

    weight: Floats
    bias: Floats

    def __call__(self, state: Floats) -> Floats:
        whole: Wide = np.clip(np.rint(state.astype(np.float64) * _NORM), -_NORM_LARGEST, _NORM_LARGEST)
        count = state.shape[-1]
        mean = whole.sum(axis=-1, keepdims=True) / count
        spread = (whole * whole).sum(axis=-1, keepdims=True) / count - mean * mean
        even = (whole - mean) / np.sqrt(np.maximum(spread, 1.0))
        return np.asarray(even * self.weight + self.bias, dtype=np.float32)


@dataclass(frozen=True)
class Layer:
    """What one layer is made of, in the order of the file."""

    mix: Product
    out: Product
    out_norm: Norm
    up: Product
    down: Product
    down_norm: Norm

    def __call__(self, state: Floats, attended: Callable[[Floats], Floats], bend: Floats) -> Floats:
        state = self.out_norm(self.out(attended(self.mix(state))) + state)
        return self.down_norm(self.down(_bent(self.up(state), bend)) + state)

    def opened(self) -> Layer:
        """The same with matrices as they are multiplied, four times as large."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        products = {name: part for name, part in parts.items() if isinstance(part, Product)}
        floats = {name: part.matrix.astype(np.float32) for name, part in products.items()}
        return replace(self, **{name: replace(part, matrix=floats[name]) for name, part in products.items()})


class ReadingEncoder:
    """A model on disk, read when first used; without a folder the one that comes with this package."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(__file__).parent / "reading"
        self._read = 0  #: texts so far

    @cached_property
    def header(self) -> dict[str, Any]:
        """What the model says of itself: its hash, sizes, calibration, how far each language reaches."""
        path = self.folder / HEADER
        try:
            header: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be read.") from error
        if (header.get("format"), header.get("pieces_version")) != (FORMAT, PIECES_VERSION):
            raise ModelError(f"{path} is for another version of this package.")
        return header

    @property
    def embedder_id(self) -> str:
        return f"lamina-reading-{self.dimension}-{self.header['hash'][:16]}"

    @property
    def dimension(self) -> int:
        return int(self.header["dimension"])

    @property
    def narrow(self) -> int:
        """How many of the first numbers of a vector rank by themselves, roughly, for a first choice."""
        return int(self.header["narrow"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector of length one for each text (its beginning, if it is long); zeros without any piece."""
        return self.read(texts)[0]

    def read(self, texts: Sequence[str], finders: Product | None = None) -> tuple[Vectors, Wholes]:
        """The vectors, and what the model makes of each text halfway, as `midway` says."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        width = int(self.header["width"]) + (0 if finders is None else len(finders.bias))
        halves = np.zeros((len(texts), width), dtype=np.int64)
        alike: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        longest = int(self.header["longest"])
        for number, text in enumerate(texts):
            rows = self.pieces.rows(text, longest)
            if len(rows) > 2:  # more than the marks of start and end
                alike[len(rows)].append((number, rows))
        with one_thread():
            for length, group in sorted(alike.items()):
                size = max(1, _TOGETHER // length)
                for at in range(0, len(group), size):
                    part = group[at : at + size]
                    halfway, states = self._states(np.array([rows for _, rows in part]))
                    places = [number for number, _ in part]
                    out[places] = self._directions(states)
                    halves[places] = midway(halfway, finders)
        return out, halves

    def known_share(self, text: str) -> float:
        """How many of the text's pieces the model knows, of all: what its vector can be trusted by."""
        return self.pieces.known_share(text)

    @cached_property
    def pieces(self) -> Pieces:
        with self._pieces_are_read():
            content = (self.folder / PIECES).read_bytes()
            tab = content.find(b"\t")
            end = len(content) if tab < 0 else content.rfind(b"\n", 0, tab)
            words = content[: max(end, 0)].decode().split("\n")
        return Pieces(words, lambda: self._unspaced(content[end + 1 :]))

    def _unspaced(self, content: bytes) -> Unspaced:
        """The pieces that have a cost: a line each, behind all that have none."""
        with self._pieces_are_read():
            lines = content.decode()
            one, other = (self.folder / SIMPLIFIED).read_text("utf-8").split("\n")
            both = lines.replace("\n", "\t").split("\t") if lines else []
            costs = dict(zip(both[::2], map(int, both[1::2]), strict=True))
            return costs, dict(zip(map(ord, one), other, strict=True))

    @contextmanager
    def _pieces_are_read(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            raise ModelError(f"The pieces in {self.folder} cannot be read.") from error

    @cached_property
    def _rows(self) -> NDArray[np.int8]:
        try:
            rows: NDArray[np.int8] = np.load(self.folder / ROWS, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise ModelError(f"The rows in {self.folder} cannot be read.") from error
        if rows.shape != (self.header["pieces"], self.header["width"]):
            raise ModelError(f"The rows in {self.folder} have the wrong size.")
        return rows

    @cached_property
    def _model(self) -> _Model:
        return _Model(self.folder, self.header)

    def _states(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """What the layer in the middle and the last one say of each piece of texts of equal length."""
        model = self._model
        first = self._first(rows)
        self._read += len(rows)
        # Of a thread that is not done with them when another opens the quick way. A short command reads one
        # text, for which to open each matrix when its turn comes is half the work.
        layers = model.layers if self._read == 1 else model.opened
        if self._read > quick.AFTER and self._quick is not None:
            return self._quick(first)
        return model.run(first, layers)

    def halfway(self, texts: Sequence[str], longest: int) -> list[Floats]:
        """What the layer in the middle says of each piece of each text; of a long one, of its beginning."""
        rows = [np.array(self.pieces.rows(text, longest)) for text in texts]
        layers = self._model.layers if self._read <= 1 else self._model.opened
        with one_thread():
            if self._read > quick.AFTER and self._quick is not None:
                return [self._states(one[None])[0][0] for one in rows]
            first = np.concatenate([self._first(one) for one in rows])
            sizes = [len(one) for one in rows]
            lower = layers[: len(layers) // 2 + 1]
            state = self._model.through(self._model.first_norm(first), sizes, lower)
        return np.split(state, np.cumsum(sizes)[:-1])

    def _first(self, rows: NDArray[np.int64]) -> Floats:
        """What the first layer begins with, for rows of one text or of texts of equal length."""
        first = self._rows[rows].astype(np.float32) * self._model.row_worth[rows][..., None]
        return np.asarray(first + self._model.places[: rows.shape[-1]])

    @cached_property
    def _quick(self) -> quick.Run | None:
        found = quick.opened(self.folder, self._model.run, int(self.header["width"]))
        if found is not None:
            self._model.opened = []  # 35 MB that nobody needs any more
        return found

    def _directions(self, states: Floats) -> Vectors:
        """The mean of the states, in the order of what tells most, with length one."""
        sums = np.rint(states.astype(np.float64) * _POOL).sum(axis=1)
        whole = (sums @ self._model.axes).astype(np.int64)
        _, bits = np.frexp(np.abs(whole).max(axis=1, initial=0).astype(np.float64))
        small = whole >> np.maximum(bits.astype(np.int64) - _SUM_BITS, 0)[:, None]
        lengths = np.sqrt(np.maximum((small * small).sum(axis=1), 1).astype(np.float64))
        return np.asarray(small / lengths[:, None], dtype=np.float32)


class Weights:
    """What a model is made of, taken from its files in the order in which it was written."""

    def __init__(self, folder: Path, largest: Sequence[float]) -> None:
        self._folder = folder
        try:
            self._matrices: NDArray[np.int8] = np.load(folder / MATRICES, mmap_mode="r")
            self._numbers: Floats = np.load(folder / NUMBERS)
        except (OSError, ValueError) as error:
            raise ModelError(f"The weights in {folder} cannot be read.") from error
        self._at_matrix, self._at_number = 0, 0
        self._largest = iter(largest)

    @contextmanager
    def of_the_right_size(self) -> Iterator[None]:
        """Within it everything is taken, and nothing else is there."""
        try:
            yield
        except (ValueError, StopIteration) as error:
            raise ModelError(f"The weights in {self._folder} have the wrong size.") from error
        if (self._at_matrix, self._at_number) != (len(self._matrices), len(self._numbers)):
            raise ModelError(f"The weights in {self._folder} have the wrong size.")

    def take(self, *shape: int) -> Floats:
        count = int(np.prod(shape))
        self._at_number += count
        return self._numbers[self._at_number - count : self._at_number].reshape(shape)

    def norm(self, width: int) -> Norm:
        return Norm(self.take(width), self.take(width))

    def product(self, inner: int, outer: int) -> Product:
        count = inner * outer
        self._at_matrix += count
        whole = self._matrices[self._at_matrix - count : self._at_matrix].reshape(inner, outer)
        return Product(whole, self.take(outer), self.take(outer), float(next(self._largest)))

    def layer(self, width: int, wide: int) -> Layer:
        return Layer(
            self.product(width, 3 * width), self.product(width, width), self.norm(width),
            self.product(width, wide), self.product(wide, width), self.norm(width),
        )  # fmt: skip


class _Model(Weights):
    """The weights, taken from the files in the order in which they were written."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        super().__init__(folder, header["largest"])
        self.heads = int(header["heads"])
        width, wide, pieces = int(header["width"]), int(header["wide"]), int(header["pieces"])
        with self.of_the_right_size():
            self.row_worth = self.take(pieces)
            self.places = self.take(int(header["longest"]), width)
            self.first_norm = self.norm(width)
            self.layers = [self.layer(width, wide) for _ in range(int(header["layers"]))]
            self.axes: Wide = self.take(width, int(header["dimension"])).astype(np.float64)
            self.shares: Wide = self.take(int(header["shares"])).astype(np.float64)
            self.bend = self.take(2 * BEND_REACH * BEND_STEPS + 1)

    def run(self, first: Floats, layers: Sequence[Layer] | None = None) -> tuple[Floats, Floats]:
        """What the middle layer and the last one say, over rows and places of texts of equal length."""
        count, length, _ = first.shape
        layers = self.opened if layers is None else layers
        halfway = state = self.first_norm(first.reshape(count * length, -1))

        def attended(mix: Floats) -> Floats:
            mixed = _attended(mix.reshape(count, length, -1), self.heads, self.shares)
            return mixed.reshape(count * length, -1)

        for number, layer in enumerate(layers):
            state = layer(state, attended, self.bend)
            halfway = state if number == len(layers) // 2 else halfway
        return halfway.reshape(count, length, -1), state.reshape(count, length, -1)

    @cached_property
    def opened(self) -> list[Layer]:
        """The layers, ready for many texts."""
        return [layer.opened() for layer in self.layers]

    def through(self, state: Floats, sizes: Sequence[int], layers: Sequence[Layer]) -> Floats:
        """What layers make of texts of any length, one behind the other, each of which sees itself alone."""
        ends = np.cumsum(sizes).tolist()

        def attended(mix: Floats) -> Floats:
            parts = [mix[end - size : end] for end, size in zip(ends, sizes, strict=True)]
            return np.concatenate([_attended(part[None], self.heads, self.shares)[0] for part in parts])

        for layer in layers:
            state = layer(state, attended, self.bend)
        return state


def midway(states: Floats, finders: Product | None = None) -> Wholes:
    """What texts of equal length are halfway through the model: there it still says how something is said,
    which the last layer gives up for what it is about. Whole numbers, `MIDWAY_STEPS` to a unit.

    First the mean of the pieces; then for each of the finders, which see every piece between its neighbours,
    how strongly it finds what it looks for where it finds it most.
    """
    sums = np.rint(states.astype(np.float64) * _POOL).sum(axis=1).astype(np.int64)
    mean = np.asarray(sums // int(states.shape[1] * _POOL / MIDWAY_STEPS), dtype=np.int64)
    if finders is None:
        return mean
    wide = np.pad(states, ((0, 0), (1, 1), (0, 0)))
    found = finders(np.concatenate([wide[:, :-2], wide[:, 1:-1], wide[:, 2:]], axis=2)).max(axis=1)
    most = np.rint(np.maximum(found, 0) * np.float32(MIDWAY_STEPS)).astype(np.int64)
    return np.concatenate([mean, most], axis=1)


def _attended(mix: Floats, heads: int, shares: Wide) -> Floats:
    """Each piece as a mixture of all pieces of its text, per head."""
    count, length, _ = mix.shape
    parts = mix.reshape(count, length, 3, heads, -1).transpose(2, 0, 3, 1, 4).astype(np.float64)
    query, key = np.clip(np.rint(parts[:2] * _HEAD), -_HEAD_LARGEST, _HEAD_LARGEST)
    value = np.clip(np.rint(parts[2] * _VALUE), -_VALUE_LARGEST, _VALUE_LARGEST)
    likeness = query @ key.transpose(0, 1, 3, 2)
    step = SHARE_STEPS / (_HEAD * _HEAD * np.sqrt(float(query.shape[-1])))
    below = (likeness.max(axis=-1, keepdims=True) - likeness) * step
    share = shares[np.minimum(np.rint(below), len(shares) - 1).astype(np.int64)]
    mixed = (share @ value) / (share.sum(axis=-1, keepdims=True) * _VALUE)
    return np.asarray(mixed.transpose(0, 2, 1, 3).reshape(count, length, -1), dtype=np.float32)


def _bent(state: Floats, bend: Floats) -> Floats:
    """GELU by its table."""
    reach = np.float32(BEND_REACH)
    inside = np.clip(state, -reach, reach)
    place = np.rint((inside + reach) * np.float32(BEND_STEPS)).astype(np.int32)
    return np.asarray(bend[place] + np.maximum(state - reach, np.float32(0)))
