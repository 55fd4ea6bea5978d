"""What sort of thing a person says, by a small trained model: integers in, integers out, on every machine.

`python -m tools.understanding` makes `data/sorts.bin`: a line of JSON, the features, then their weights, a
byte each, then the numbers of the second reading.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.language.features import Hashes, Seen, by_place

#: One unit of a score is a thousandth of a logit.
UNIT = 1000


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


@dataclass(frozen=True)
class Second:
    """A second reading: one hidden layer that weighs what the letters say against the signs.

    To letters "my tutor marks in green" is like "my wife works in Leeds"; signs say who is spoken of.
    """

    names: tuple[str, ...]  #: the signs that it knows
    inner: NDArray[np.int64]  #: a row for each sort's score, each sign, and one that is always there
    outer: NDArray[np.int64]  #: a row for each hidden number, and one that is always there

    def scores(self, first: NDArray[np.int64], signs: frozenset[str]) -> NDArray[np.int64]:
        """The scores in units, of scores in units."""
        sorts = len(Sort)
        there = [sorts + at for at, name in enumerate(self.names) if name in signs]
        level = first - first.sum() // sorts
        hidden = level @ self.inner[:sorts] // UNIT + self.inner[there].sum(axis=0) + self.inner[-1]
        return np.asarray(
            (np.maximum(hidden, 0) @ self.outer[:-1] // STEP + self.outer[-1]) * UNIT // STEP, dtype=np.int64
        )


@dataclass(frozen=True)
class Sorter:
    """A trained model; `weights` has a row for each feature of `known`, in its order, and a
    column for each sort."""

    known: Hashes  #: sorted
    weights: NDArray[np.int8]
    biases: NDArray[np.int64]  #: in units
    scale: int  #: units that one step of a weight is worth, times 4096
    thresholds: dict[str, int]
    second: Second | None = None

    def _rows(self, seen: Hashes) -> NDArray[np.int64]:
        """The weights of some features, zeros for those that training did not see."""
        places = np.searchsorted(self.known, seen)
        places[places == len(self.known)] = 0
        rows = self.weights[places].astype(np.int64)
        rows[self.known[places] != seen] = 0
        return rows

    def scores(self, seen: Seen) -> dict[Sort, int]:
        """How well each sort fits, in units; only their differences mean something."""
        found = self.first(seen.hashes)
        if self.second is not None:
            found = self.second.scores(found, seen.signs)
        return {sort: int(score) for sort, score in zip(Sort, found, strict=True)}

    def first(self, hashes: Hashes) -> NDArray[np.int64]:
        """What the letters alone say."""
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
    second = _second(card, np.frombuffer(body, dtype="<i4", offset=(4 + len(Sort)) * count).astype(np.int64))
    return Sorter(known, weights, biases, int(card["scale"]), card["thresholds"], second)


def _second(card: dict[str, Any], numbers: NDArray[np.int64]) -> Second:
    """The second reading, whose numbers stand behind the weights."""
    names, hidden = tuple(card["signs"]), int(card["hidden"])
    inner = (len(Sort) + len(names) + 1) * hidden
    return Second(names, numbers[:inner].reshape(-1, hidden), numbers[inner:].reshape(hidden + 1, len(Sort)))
