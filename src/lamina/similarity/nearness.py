"""How alike texts are by their vectors: eight bits a number, compared exactly, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.ranking.lexical import SLOTS_PER_BLOCK
from lamina.records import dataclass

Small = NDArray[np.int8]  #: vectors of eight bits a number
_LARGEST = 127
_CHUNK = 16 * SLOTS_PER_BLOCK  #: slots that are copied together when one of them changes
_STRIDE = 2048  #: vectors widened at a time: they stay in the processor's cache
_ROUNDING = 1e-4  #: more than a cosine of directions that were rounded is off
_EXACT = 1024  #: products of eight bits that add up without rounding in 24
MANY = 2**18  #: slots from which on only the nearest by their signs are compared in full
_LOOKED_AT = 32  #: one in so many of them


def small(vectors: NDArray[Any]) -> Small:
    """Each row in eight bits a number, the largest of it at the end of the scale."""
    wide = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    return np.rint(wide * _LARGEST / np.where(largest == 0.0, 1.0, largest)).astype(np.int8)


def packed(slots: Iterable[int], vectors: Small) -> bytes:
    """Entries of a block: slot within the block, vector."""
    places = np.fromiter((slot % SLOTS_PER_BLOCK for slot in slots), dtype=np.uint8)
    return np.concatenate([places[:, None], vectors.view(np.uint8)], axis=1).tobytes()


def unpacked(data: bytes, dimension: int) -> tuple[NDArray[np.uint8], Small]:
    """Slots within the block, and their vectors."""
    entries = np.frombuffer(data, dtype=np.uint8).reshape(-1, dimension + 1)
    return entries[:, 0], entries[:, 1:].view(np.int8)


def without(data: bytes, slot: int, dimension: int) -> bytes:
    """A block without the entry of one slot."""
    places, _ = unpacked(data, dimension)
    entries = np.frombuffer(data, dtype=np.uint8).reshape(-1, dimension + 1)
    return bytes(entries[places != slot % SLOTS_PER_BLOCK].tobytes())


@dataclass(frozen=True)
class _Chunk:
    """The vectors of some slots in a row; a row of zeros where a slot has none."""

    vectors: Small

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """One over each vector's length; zero where there is none."""
        wide = self.vectors.astype(np.int32)
        lengths = np.sqrt((wide * wide).sum(axis=1).astype(np.float64))
        return np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """Whether each number is above zero, a bit each; 64 of them a row, a column for each vector."""
        return np.ascontiguousarray(_signs(self.vectors).T)


Part = tuple[NDArray[np.int64], _Chunk]  #: slots and what stands in them


@dataclass(frozen=True)
class ShelfVectors:
    """The vectors of a shelf as they were at a version; changing it makes another that shares the rest."""

    dimension: int
    version: int
    chunks: Mapping[int, _Chunk]

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return sum(chunk.vectors.nbytes + 8 * len(chunk.vectors) for chunk in self.chunks.values())

    def changed(self, version: int, blocks: Iterable[tuple[int, bytes]]) -> ShelfVectors:
        """The same with other blocks."""
        fresh: dict[int, Small] = {}
        for block, data in sorted(blocks):
            number, first = divmod(block * SLOTS_PER_BLOCK, _CHUNK)
            known = self.chunks.get(number, _Chunk(np.zeros((0, self.dimension), np.int8)))
            rows = fresh.get(number, known.vectors)
            if number not in fresh or first >= len(rows):
                room = np.zeros((max(len(rows), first + SLOTS_PER_BLOCK), self.dimension), np.int8)
                room[: len(rows)] = rows
                fresh[number] = rows = room
            rows[first : first + SLOTS_PER_BLOCK] = 0
            places, vectors = unpacked(data, self.dimension)
            rows[first + places.astype(np.int64)] = vectors
        chunks = {**self.chunks, **{number: _Chunk(rows) for number, rows in fresh.items()}}
        return ShelfVectors(self.dimension, version, chunks)

    def likeness(self, question: Small, slots: int) -> NDArray[np.float32]:
        """Cosine of every slot's vector with the question's, from -1 to 1; 0 where a slot has none.

        Of very many slots, only those are compared whose numbers most often have the question's signs; others
        stay 0 (decision 0014 says what that misses).
        """
        out = np.zeros(slots, dtype=np.float32)
        length = _length(question)
        if not length:
            return out
        nearest = self._nearest(question, slots // _LOOKED_AT) if slots > MANY else None
        for number, chunk in self.chunks.items():
            part = out[number * _CHUNK :][: len(chunk.vectors)]
            rows, scale = chunk.vectors[: len(part)], chunk.scale[: len(part)]
            if nearest is None:
                part[:] = _dots(rows, question) * scale / length
            else:
                some = nearest[number][: len(part)]
                part[some] = _dots(rows[some], question) * scale[some] / length
        return out

    def row(self, slot: int) -> Small | None:
        """The vector in a slot; None where there is none."""
        chunk = self.chunks.get(slot // _CHUNK)
        if chunk is None or slot % _CHUNK >= len(chunk.vectors):
            return None
        found = chunk.vectors[slot % _CHUNK]
        return found if found.any() else None

    def newest(self, first: int) -> Iterator[Part]:
        """What stands in its slots, without most of what stands before a slot."""
        for number, chunk in self.chunks.items():
            if (number + 1) * _CHUNK > first:
                yield np.arange(number * _CHUNK, number * _CHUNK + len(chunk.vectors)), chunk

    def _nearest(self, question: Small, count: int) -> dict[int, NDArray[np.bool_]]:
        """By chunk, which vectors are among at least so many whose signs differ least from the question's."""
        asked = _signs(question[None, :])[0]
        differing = {
            number: np.bitwise_count(chunk.signs ^ asked[:, None]).sum(axis=0, dtype=np.uint16)
            for number, chunk in self.chunks.items()
        }
        counts = np.zeros(len(question) + 1, dtype=np.int64)
        for found in differing.values():
            counts += np.bincount(found, minlength=len(counts))
        border = int(np.searchsorted(np.cumsum(counts), count))
        return {number: found <= border for number, found in differing.items()}


def _signs(vectors: Small) -> NDArray[np.uint64]:
    bits = np.packbits(vectors > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)


def cosines(vectors: Small, question: Small) -> NDArray[np.float32]:
    """The same for a few vectors."""
    length = _length(question)
    if not length:
        return np.zeros(len(vectors), dtype=np.float32)
    return np.asarray(_dots(vectors, question) * _Chunk(vectors).scale / length, dtype=np.float32)


def part(slots: Sequence[int], vectors: Small) -> Part:
    """A few vectors, as those of a shelf are given."""
    return np.array(slots, dtype=np.int64), _Chunk(vectors)


def before(asked: Part, parts: Iterable[Part], least: float, most: int) -> dict[int, list[tuple[int, float]]]:
    """For each slot asked for, those of the parts that stand before it and are at least so alike: slot and
    cosine, the nearest first, at most so many."""
    slots, new = asked
    found: dict[int, list[tuple[int, float]]] = {slot: [] for slot in slots.tolist()}
    wanted = np.ascontiguousarray((new.vectors * new.scale[:, None]).astype(np.float32).T)
    for places, rows in parts:
        lines, at = _candidates(rows, wanted, least)
        earlier = places[at] < slots[lines]
        lines, at = lines[earlier], at[earlier]
        alike = _paired(rows.vectors[at], new.vectors[lines]) * rows.scale[at] * new.scale[lines]
        told = (one.tolist() for one in (lines, alike, places[at], alike.round(6)))
        near: dict[int, list[tuple[float, int, float]]] = {}
        for line, *one in zip(*told, strict=True):
            near.setdefault(line, []).append((*one,))
        for line, some in near.items():
            # More than enough, where several are equally near.
            border = max(least, sorted(some)[-most][0]) if len(some) > most else least
            found[int(slots[line])] += [(slot, shown) for score, slot, shown in some if score >= border]
    return {slot: sorted(all_, key=lambda one: (-one[1], one[0]))[:most] for slot, all_ in found.items()}


def _candidates(rows: _Chunk, wanted: NDArray[np.float32], least: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of directions in columns and of rows the numbers of those pairs that may be at least so alike."""
    with np.errstate(divide="ignore"):  # a row without a vector is like none
        border = ((least - _ROUNDING) / rows.scale).astype(np.float32)
    found = []
    for first in range(0, len(rows.vectors), _STRIDE):
        alike = rows.vectors[first : first + _STRIDE].astype(np.float32) @ wanted
        enough = border[first : first + _STRIDE, None]
        found.append(np.flatnonzero(alike >= enough) + first * wanted.shape[1])
    at, lines = np.divmod(np.concatenate(found), wanted.shape[1])
    return lines, at


def _paired(one: Small, other: Small) -> NDArray[np.int64]:
    """The product of each vector with the one beside it."""
    return np.asarray(np.einsum("ij,ij->i", one, other, dtype=np.int64))


def _length(question: Small) -> float:
    wide = question.astype(np.int64)
    return float(np.sqrt(float((wide * wide).sum())))


def _dots(vectors: Small, question: Small) -> NDArray[np.float64]:
    """Whole numbers, summed in floating point where they stay exact, so that no order of summing shows.

    Several questions stand in columns.
    """
    out = np.zeros((len(vectors), *question.shape[1:]))
    for start in range(0, len(question), _EXACT):
        asked = question[start : start + _EXACT].astype(np.float32)
        room = np.empty((min(_STRIDE, len(vectors)), len(asked)), dtype=np.float32)
        for first in range(0, len(vectors), _STRIDE):
            part = vectors[first : first + _STRIDE, start : start + _EXACT]
            wide = room[: len(part)]
            wide[:] = part
            out[first : first + _STRIDE] += wide @ asked
    return out
