"""What fits: every sort has its share, the first are served first, and no useful room is left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.retrieval.packing import FLOOR, Crate, Parcel, shared

parcels = st.builds(Parcel, st.integers(1, 400), st.sampled_from(["", "notes"]), st.integers(0, 20))
crates = st.builds(Crate, st.integers(0, 40), st.lists(parcels, max_size=8))


def price(crate: Crate, chosen: list[int]) -> int:
    if not chosen:
        return 0
    around = {crate.parcels[number].within for number in chosen}
    shared_once = sum(max(p.around for p in crate.parcels if p.within == one) for one in around)
    return crate.weight + shared_once + sum(crate.parcels[number].weight for number in chosen)


@given(st.lists(crates, max_size=6), st.integers(0, 3000))
def test_it_fits_and_nothing_that_fits_is_left(packed: list[Crate], room: int) -> None:
    """An element weighs the same for all in it."""
    packed = [
        Crate(one.weight, [Parcel(p.weight, p.within, 7 if p.within else 0) for p in one.parcels])
        for one in packed
    ]
    chosen = shared(packed, room)
    left = room - sum(map(price, packed, chosen))
    assert left >= 0
    assert chosen == shared(packed, room)
    for crate, numbers in zip(packed, chosen, strict=True):
        for number in set(range(len(crate.parcels))) - set(numbers):
            more = sorted([*numbers, number])
            assert price(crate, more) - price(crate, numbers) > left


@given(st.lists(st.lists(st.integers(1, 100), min_size=1, max_size=9), min_size=1, max_size=FLOOR))
def test_no_sort_is_starved(weights: list[list[int]]) -> None:
    """What weighs a tenth of the room is always in, however much the others want."""
    chosen = shared([Crate(0, [Parcel(weight) for weight in one]) for one in weights], 1000)
    assert all(0 in numbers for numbers in chosen)


def test_one_that_is_larger_than_a_tenth_has_an_equal_share() -> None:
    greedy, one = Crate(0, [Parcel(90)] * 50), Crate(0, [Parcel(450)])
    assert shared([greedy, one], 1000) == [[0, 1, 2, 3, 4, 5], [0]]
    assert shared([greedy, Crate(0, [Parcel(501)])], 1000) == [list(range(11)), []]


def test_the_first_are_served_first() -> None:
    crates_ = [Crate(0, [Parcel(100)] * 9), Crate(0, [Parcel(100)] * 9)]
    assert shared(crates_, 1000) == [list(range(9)), [0]]
