"""BM25 over posting lists, with the statistics of the shelves that are searched and of no others."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
SLOTS_PER_BLOCK = 256
_ENTRY = np.dtype([("slot", "u1"), ("frequency", "u1"), ("length", "<u2")])


@dataclass(frozen=True, slots=True)
class Shelf:
    """What ranking needs to know of a shelf."""

    number: int
    members: int
    length: int
    next_slot: int
    name: str = ""
    phase: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text by its place, and how well it matched."""

    shelf: int
    slot: int
    score: float


Block = tuple[int, str, int, bytes]  #: shelf, term, block, entries


def packed(slot: int, frequency: int, length: int) -> bytes:
    """One entry of a posting list."""
    return struct.pack("<BBH", slot % SLOTS_PER_BLOCK, min(frequency, 255), min(length, 65535))


def without(data: bytes, slot: int) -> bytes:
    """A block without the entry of one slot."""
    place = slot % SLOTS_PER_BLOCK
    return b"".join(data[i : i + 4] for i in range(0, len(data), 4) if data[i] != place)


class Ranking:
    """Every text that has at least one of the terms, with its score; put in order only as far as asked."""

    def __init__(self, shelves: Sequence[int], scores: Sequence[NDArray[Any]]) -> None:
        slots = [np.flatnonzero(values) for values in scores]
        self._shelves = list(shelves)
        self._shelf = np.repeat(np.arange(len(slots)), [len(part) for part in slots])
        self._slot = np.concatenate(slots) if slots else np.zeros(0, dtype=np.int64)
        found = [values[part] for values, part in zip(scores, slots, strict=True)]
        self._score = np.concatenate(found) if found else np.zeros(0)

    def __len__(self) -> int:
        return len(self._score)

    def best(self, count: int) -> list[Candidate]:
        """At least the best so many, in order: where the cut would fall among equals, all of them are in."""
        chosen = np.arange(len(self))
        if count < len(self):
            border = -np.partition(-self._score, count - 1)[count - 1]
            chosen = np.flatnonzero(self._score >= border)
        order = np.lexsort((self._slot[chosen], self._shelf[chosen], -self._score[chosen]))
        return [
            Candidate(self._shelves[self._shelf[at]], int(self._slot[at]), float(self._score[at]))
            for at in chosen[order].tolist()
        ]


def ranked(blocks: Iterable[Block], shelves: Sequence[Shelf]) -> Ranking:
    """BM25 of every text in the blocks, over all the shelves together.

    The same blocks give the same order on every machine: the only function that may differ between
    maths libraries, the logarithm, is rounded before use.
    """
    total = sum(shelf.members for shelf in shelves)
    average = max(1.0, sum(shelf.length for shelf in shelves) / max(1, total))
    lists = [
        (key, _decoded(list(group)))
        for key, group in groupby(sorted(blocks, key=_place), key=lambda block: (block[1], block[0]))
    ]
    found: dict[str, int] = {}
    for (term, _), entries in lists:
        found[term] = found.get(term, 0) + len(entries[0])
    scores = {shelf.number: np.zeros(shelf.next_slot) for shelf in shelves}
    for (term, shelf_number), (slots, frequency, length) in lists:
        weight = _inverse_frequency(total, found[term])
        gain = frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length / average))
        scores[shelf_number][slots] += weight * gain
    return Ranking(list(scores), list(scores.values()))


def _place(block: Block) -> tuple[str, int, int]:
    return block[1], block[0], block[2]


def _decoded(blocks: Sequence[Block]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    entries = np.frombuffer(b"".join(block[3] for block in blocks), dtype=_ENTRY)
    sizes = [len(block[3]) // _ENTRY.itemsize for block in blocks]
    base = np.repeat([block[2] * SLOTS_PER_BLOCK for block in blocks], sizes)
    return base + entries["slot"], entries["frequency"].astype(float), entries["length"].astype(float)


def _inverse_frequency(total: int, having: int) -> float:
    return round(math.log(1.0 + (total - having + 0.5) / (having + 0.5)), 6)
