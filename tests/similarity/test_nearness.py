"""Vectors of eight bits: compared exactly, kept in blocks, changed without touching what others hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.similarity import nearness
from lamina.similarity.nearness import ShelfVectors, cosines, packed, small, unpacked, without


def directions(count: int, dimension: int = 192) -> Any:
    return small(np.random.default_rng(5).normal(size=(count, dimension)))


def shelf_of(rows: Any) -> ShelfVectors:
    count = len(rows)
    blocks = [
        (first // 256, packed(range(first, min(count, first + 256)), rows[first : first + 256]))
        for first in range(0, count, 256)
    ]
    return ShelfVectors(rows.shape[1], -1, {}).changed(1, blocks)


@pytest.mark.parametrize("dimension", [3, 192, 2500])
def test_likeness_is_that_of_whole_numbers(dimension: int) -> None:
    rows = directions(700, dimension)
    rows[:2] = 127  # the largest sums there are
    asked = rows[0]
    wide = rows.astype(np.int64)
    lengths = np.sqrt((wide * wide).sum(axis=1).astype(np.float64))
    expected = ((wide @ wide[0]) * (1.0 / lengths) / lengths[0]).astype(np.float32)
    assert shelf_of(rows).likeness(asked, 700).tolist() == expected.tolist()
    assert cosines(rows, asked).tolist() == expected.tolist()


def test_a_slot_without_a_vector_and_a_question_without_one_are_like_nothing() -> None:
    rows = directions(5)
    rows[3] = 0
    scores = shelf_of(rows).likeness(rows[0], 9)
    assert (scores[3], scores[5:].tolist(), len(scores)) == (0.0, [0.0] * 4, 9)
    assert not shelf_of(rows).likeness(rows[3], 9).any()


def test_an_entry_leaves_its_block_and_the_last_one_leaves_it_empty() -> None:
    rows = directions(2)
    data = packed([256, 511], rows)
    rest = without(data, 256, 192)
    places, vectors = unpacked(rest, 192)
    assert (places.tolist(), vectors.tolist()) == ([255], [rows[1].tolist()])
    assert without(rest, 511, 192) == b""
    assert not ShelfVectors(192, 1, {}).changed(2, [(1, b"")]).likeness(rows[0], 600).any()


def test_a_change_is_not_seen_by_those_who_hold_the_state_before_it() -> None:
    rows = directions(5000)
    before = shelf_of(rows)
    after = before.changed(2, [(0, packed([7], rows[9:10]))])
    assert before.likeness(rows[7], 5000)[7] == 1.0
    assert after.likeness(rows[9], 5000)[7] == 1.0
    assert after.likeness(rows[8], 5000)[8] == 0.0
    assert after.chunks[1] is before.chunks[1]


def test_of_very_many_the_nearest_are_compared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = directions(9000, 200)
    asked = small((rows[4321].astype(float) + 0.8 * rows[17])[None, :])[0]
    whole = shelf_of(rows).likeness(asked, 9000)
    monkeypatch.setattr(nearness, "MANY", 1000)
    some = shelf_of(rows).likeness(asked, 9000)
    compared = np.flatnonzero(some)
    assert some[compared].tolist() == whole[compared].tolist()
    assert {4321, 17} <= set(compared.tolist())
    assert 9000 // 32 <= len(compared) < 9000 // 16
