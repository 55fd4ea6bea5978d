"""What sort of thing a person says, by a small trained model: integers in, integers out, on every machine.

`python -m tools.understanding` makes `data/sorts.bin`: a line of JSON, the features, then their weights, a
byte each, the finders', and then the numbers of the second readings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lamina.language.features import Hashes, by_place
from lamina.late import files
from lamina.records import dataclass

#: One unit of a score is a thousandth of a logit.
UNIT = 1000
Wholes = NDArray[np.int64]


class Sort(StrEnum):
    """What a person does with a sentence."""

    REMEMBER = "remember"
    SET = "set"
    FORGET = "forget"
    CORRECT = "correct"
    TEMPORARY = "temporary"
    CONFIRM = "confirm"
    REJECT = "reject"
    LASTING = "lasting"  #: states something of themselves that will still hold next month
    PASSING = "passing"  #: something of today
    THIRD = "third"  #: something of others, or of the world
    TASK = "task"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    QUOTE = "quote"
    CHAT = "chat"


#: What asks for nothing and is not kept.
LEFT = (Sort.PASSING, Sort.THIRD, Sort.TASK, Sort.QUESTION, Sort.HYPOTHETICAL, Sort.QUOTE, Sort.CHAT)


#: One step of a weight of the second reading.
STEP = 4096
#: Steps per unit of what an encoder makes of a text.
MIDWAY = 64


@dataclass(frozen=True)
class Finders:
    """What looks for turns of phrase in what an encoder makes of a text: each sees every piece between its
    neighbours, halfway, where it is still told how something is said."""

    matrix: NDArray[np.int8]  #: a row for each number of three pieces, a column for each finder
    worth: NDArray[np.float32]  #: of a step in each column
    bias: NDArray[np.float32]
    largest: float  #: how large what is multiplied may be, so that every sum is exact


@runtime_checkable
class Reader(Protocol):
    """An encoder that says what it makes of a text halfway, before only its subject is left."""

    @property
    def embedder_id(self) -> str:
        """Names the encoder and its weights."""
        ...

    def midway(self, texts: Sequence[str], finders: Finders) -> Wholes:
        """A row of whole numbers for each text, `MIDWAY` to a unit: what it is on the whole, and how strongly
        each finder finds what it looks for."""
        ...


@dataclass(frozen=True)
class Second:
    """A second reading: one hidden layer that weighs what the letters say against the signs, and against
    what an encoder makes of the text.

    To letters "my tutor marks in green" is like "my wife works in Leeds"; signs say who is spoken of.
    """

    names: tuple[str, ...]  #: the signs that it knows
    inner: Wholes  #: a row for each sort's score, each sign, each number of the encoder, and one always there
    outer: Wholes  #: a row for each hidden number, and one that is always there
    thresholds: Mapping[str, int] = field(default_factory=dict)
    encoder: str = ""  #: whose numbers it weighs; empty where it weighs none
    finders: Finders | None = None  #: what they are found with

    def scores(self, first: Wholes, signs: frozenset[str], midway: Wholes | None = None) -> Wholes:
        """The scores in units, of scores in units."""
        sorts = len(Sort)
        there = [sorts + at for at, name in enumerate(self.names) if name in signs]
        level = first - first.sum() // sorts
        hidden = level @ self.inner[:sorts] // UNIT + self.inner[there].sum(axis=0) + self.inner[-1]
        if midway is not None:
            hidden = hidden + midway @ self.inner[sorts + len(self.names) : -1] // MIDWAY
        return np.asarray(
            (np.maximum(hidden, 0) @ self.outer[:-1] // STEP + self.outer[-1]) * UNIT // STEP, dtype=np.int64
        )


@dataclass(frozen=True)
class Sorter:
    """A trained model; `weights` has a row for each feature of `known`, in its order, and a
    column for each sort."""

    known: Hashes  #: sorted
    weights: NDArray[np.int8]
    biases: Wholes  #: in units
    scale: int  #: units that one step of a weight is worth, times 4096
    plain: Second | None = None  #: for what no encoder reads
    read: Second | None = None  #: for what its encoder reads
    beside: Second | None = None  #: what a clause is among others, by their scores

    def second(self, encoder: str) -> Second | None:
        """The second reading beside this encoder; one for letters alone where it knows another."""
        return self.read if self.read is not None and self.read.encoder == encoder else self.plain

    def _rows(self, seen: Hashes) -> Wholes:
        """The weights of some features, zeros for those that training did not see."""
        places = np.searchsorted(self.known, seen)
        places[places == len(self.known)] = 0
        rows = self.weights[places].astype(np.int64)
        rows[self.known[places] != seen] = 0
        return rows

    def first(self, hashes: Hashes) -> Wholes:
        """What the letters alone say of each sort, in units; only differences mean something."""
        sums = self._rows(hashes).sum(axis=0)
        length = max(1, math.isqrt(len(hashes) << 16))  # the root of their number, times 256
        return np.asarray(self.biases + sums * self.scale // (length * 16), dtype=np.int64)

    def told(self, said: str, sort: Sort) -> list[int]:
        """For each character of a text how much it speaks for a sort, against plain statements."""
        column, others = list(Sort).index(sort), [list(Sort).index(one) for one in (Sort.LASTING, Sort.THIRD)]
        total = np.zeros(len(said) + 2, dtype=np.int64)
        for size, seen in enumerate(by_place(said), 1):
            rows = self._rows(seen)
            gain = (2 * rows[:, column] - rows[:, others].sum(axis=1)) * (60 // size)
            for at in range(size):
                total[at : at + len(gain)] += gain
        return [int(one) for one in total[1:-1]]

    def strongest(self, seen: Hashes, sort: Sort, names: dict[int, str], most: int = 3) -> list[str]:
        """The named features that speak most for a sort, against all others."""
        column = list(Sort).index(sort)
        rows = self._rows(seen)
        gain = rows[:, column] - rows.sum(axis=1) // len(Sort)
        order = sorted(zip((-gain).tolist(), seen.tolist(), strict=True))
        return [names[one] for lost, one in order if lost < 0 and one in names][:most]


@cache
def sorter() -> Sorter:
    """The model in the package."""
    raw = files("lamina.language").joinpath("data/sorts.bin").read_bytes()
    head, _, body = raw.partition(b"\n")
    card = json.loads(head)
    count = int(card["features"])
    known = np.frombuffer(body, dtype="<u4", count=count)
    weights = np.frombuffer(body, dtype=np.int8, offset=4 * count, count=count * len(Sort))
    weights = weights.reshape(count, len(Sort))
    biases = np.array([card["biases"][sort] for sort in Sort], dtype=np.int64)
    finders, at = _finders(card["finders"], body, (4 + len(Sort)) * count)
    numbers = np.frombuffer(body, dtype="<i4", offset=at).astype(np.int64)
    plain, read, *beside = _seconds(card["readings"], numbers)
    read = replace(read, finders=finders)
    return Sorter(known, weights, biases, int(card["scale"]), plain, read, next(iter(beside), None))


def _finders(card: Mapping[str, Any], body: bytes, at: int) -> tuple[Finders, int]:
    """The finders that stand in a file at some place, and where they end."""
    rows, count = int(card["rows"]), int(card["count"])
    matrix = np.frombuffer(body, dtype=np.int8, offset=at, count=rows * count).reshape(rows, count)
    floats = np.frombuffer(body, dtype="<f4", offset=at + matrix.nbytes, count=2 * count).astype(np.float32)
    end = at + matrix.nbytes + floats.nbytes
    return Finders(matrix, floats[:count], floats[count:], float(card["largest"])), end


def _seconds(cards: Sequence[Mapping[str, Any]], numbers: Wholes) -> Iterator[Second]:
    """The second readings, whose numbers stand behind the weights, one after the other."""
    at = 0
    for card in cards:
        names, hidden = tuple(card["signs"]), int(card["hidden"])
        inner = (len(Sort) + len(names) + int(card["wide"]) + 1) * hidden
        outer = (hidden + 1) * len(Sort)
        first, second = numbers[at : at + inner], numbers[at + inner : at + inner + outer]
        at += inner + outer
        yield Second(
            names,
            first.reshape(-1, hidden),
            second.reshape(-1, len(Sort)),
            card["thresholds"],
            card["encoder"],
        )
