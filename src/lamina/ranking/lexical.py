"""BM25 over posting lists, with the statistics of the shelves that are searched and of no others."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.records import dataclass

K1 = 0.9
B = 0.75
#: How much of a text's score hangs on how many of the terms it has, by what they tell.
COVERAGE = 0.15
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
    linked: int = 0  #: whether memories of it were ever linked
    making: int = 0  #: how often its index was made anew


#: Many entries of a term, decoded: slot within the shelf, frequency, length of the text.
Decoded = NDArray[np.void]
_WIDE = np.dtype([("slot", "<i4"), ("frequency", "u1"), ("length", "<u2")])
Block = tuple[int, str, int, bytes | Decoded]  #: shelf, term, block, entries; decoded ones are of every block


def packed(slot: int, frequency: int, length: int) -> bytes:
    """One entry of a posting list."""
    return struct.pack("<BBH", slot % SLOTS_PER_BLOCK, min(frequency, 255), min(length, 65535))


def lengths_in(data: bytes) -> dict[int, int]:
    """How long each text of a block is, by its slot within it."""
    return {slot: length for slot, _, length in struct.iter_unpack("<BBH", data)}


def without(data: bytes, slot: int) -> bytes:
    """A block without the entry of one slot."""
    place = slot % SLOTS_PER_BLOCK
    return b"".join(data[i : i + 4] for i in range(0, len(data), 4) if data[i] != place)


@dataclass(frozen=True, slots=True)
class Term:
    """Where a term of the question stands, and what it is worth there."""

    weight: float  #: what the question gives it
    at: NDArray[np.int64]  #: texts, all shelves in one row
    frequency: NDArray[np.float64]
    gain: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Words:
    """Every text's score for the question's words; texts of all searched shelves stand in one row."""

    size: int
    terms: tuple[Term, ...]
    score: NDArray[np.float64]
    rarity: Mapping[str, float]  #: what each term that occurs tells, by how few texts have it
    missing: tuple[str, ...]  #: terms that no text has
    covered: NDArray[np.float64]  #: by text, what those of the terms tell that it has


def ranked(
    blocks: Iterable[Block],
    shelves: Sequence[Shelf],
    weights: Mapping[str, float],
    support: Collection[str] = (),
) -> Words:
    """BM25 of every text in the blocks, over all the shelves together; a text with all the terms comes first.

    Terms that are only `support` add to what others find, and find nothing by themselves.
    The same blocks give the same order on every machine: the only function that may differ between
    maths libraries, the logarithm, is rounded before use.
    """
    return summed(weighed(blocks, shelves, weights), shelves, weights, support)


Weighed = Mapping[str, tuple[float, Term]]  #: by name in order: what a term tells, and where it stands


def weighed(blocks: Iterable[Block], shelves: Sequence[Shelf], weights: Mapping[str, float]) -> Weighed:
    """Every term of the blocks with what it is worth to each text that has it, all of them in one pass."""
    total = sum(shelf.members for shelf in shelves)
    average = max(1.0, sum(shelf.length for shelf in shelves) / max(1, total))
    starts = dict(zip((s.number for s in shelves), offsets(shelves), strict=False))
    ordered = sorted(blocks, key=_place)
    if not ordered:
        return {}
    at, frequency, length = _decoded(ordered, starts)
    having: dict[str, int] = {}
    for _, name, _, data in ordered:
        having[name] = having.get(name, 0) + _size(data)
    worth = [weights[name] * inverse_frequency(total, count) for name, count in having.items()]
    each = np.repeat(worth, [*having.values()])
    gain = each * frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length / average))
    found, start = dict[str, tuple[float, Term]](), 0
    for (name, count), weight in zip(having.items(), worth, strict=True):
        part = slice(start, start := start + count)
        found[name] = (weight, Term(weights[name], at[part], frequency[part], gain[part]))
    return found


def summed(
    known: Weighed, shelves: Sequence[Shelf], weights: Mapping[str, float], support: Collection[str] = ()
) -> Words:
    """What the weighed terms of one question come to for every text."""
    size = sum(shelf.next_slot for shelf in shelves)
    rarity = {name: weight for name, (weight, _) in known.items()}
    terms = tuple(term for _, term in known.values())
    missing = tuple(name for name in weights if name not in rarity)
    if not terms:
        return Words(size, (), np.zeros(size), rarity, missing, np.zeros(size))
    counts = [len(term.at) for term in terms]
    at = np.concatenate([term.at for term in terms])
    score = _added(at, np.concatenate([term.gain for term in terms]), size)
    covered = _added(at, np.repeat([*rarity.values()], counts), size)
    if not rarity.keys().isdisjoint(support):
        found = np.zeros(size, bool)
        found[at[np.repeat([name not in support for name in rarity], counts)]] = True
        score[~found] = 0.0
    whole = sum(rarity.values())
    if whole:
        score *= 1.0 - COVERAGE + COVERAGE * covered / whole
    return Words(size, terms, score, rarity, missing, covered)


def _added(at: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values at each of so many places, added one after the other as they stand."""
    return np.asarray(np.bincount(at, values, size), dtype=np.float64)


def offsets(shelves: Sequence[Shelf]) -> list[int]:
    """Where each shelf's texts begin when all stand in one row, and at last where the row ends."""
    return [0, *accumulate(shelf.next_slot for shelf in shelves)]


def _place(block: Block) -> tuple[str, int, int]:
    return block[1], block[0], block[2]


def decoded(blocks: Sequence[tuple[int, bytes]]) -> Decoded:
    """The entries of a term on one shelf, from its blocks and their numbers."""
    entries = np.frombuffer(b"".join(data for _, data in blocks), dtype=_ENTRY)
    sizes = [len(data) // _ENTRY.itemsize for _, data in blocks]
    found = np.empty(len(entries), dtype=_WIDE)
    found["slot"] = np.repeat([number * SLOTS_PER_BLOCK for number, _ in blocks], sizes) + entries["slot"]
    found["frequency"], found["length"] = entries["frequency"], entries["length"]
    return found


def _decoded(
    blocks: Sequence[Block], starts: Mapping[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Place, frequency and length of every entry of some blocks, in their order."""
    parts = []
    for is_packed, group in groupby(blocks, key=lambda block: isinstance(block[3], bytes)):
        some = list(group)
        data: list[Any] = [block[3] for block in some]
        entries = np.frombuffer(b"".join(data), dtype=_ENTRY) if is_packed else np.concatenate(data)
        step = SLOTS_PER_BLOCK if is_packed else 0  # decoded ones have their slots within the shelf
        first = [starts[shelf] + number * step for shelf, _, number, _ in some]
        parts.append((np.repeat(first, [*map(_size, data)]) + entries["slot"], entries))
    at = np.concatenate([place for place, _ in parts])
    frequency, length = (
        np.concatenate([entries[name] for _, entries in parts]).astype(float)
        for name in ("frequency", "length")
    )
    return at, frequency, length


def _size(data: bytes | Decoded) -> int:
    """How many entries a block has."""
    return len(data) // _ENTRY.itemsize if isinstance(data, bytes) else len(data)


def inverse_frequency(total: int, having: int) -> float:
    """How much it tells that so many of all texts have a term."""
    return round(math.log(1.0 + (total - having + 0.5) / (having + 0.5)), 6)
