"""As much as fits: the best first, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.model import Hit
from lamina.records import dataclass

#: One part of so many of the room is every group's own, whatever stands before it.
FLOOR = 10


def packed(hits: Sequence[Hit], budget_tokens: int | None) -> tuple[Hit, ...]:
    """The hits that fit the budget in their order; a long one that does not fit lets a shorter one in."""
    if budget_tokens is None:
        return tuple(hits)
    chosen, left = [], budget_tokens
    for hit in hits:
        if hit.tokens <= left:
            chosen.append(hit)
            left -= hit.tokens
    return tuple(chosen)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One thing to pack, by what it weighs."""

    weight: int
    within: str = ""  #: what it shares with others of its group, such as an element around them
    around: int = 0  #: what that weighs, once for all of them


@dataclass(frozen=True, slots=True)
class Crate:
    """Things of one sort, the most useful first; what stands around them weighs something if any is in."""

    weight: int
    parcels: Sequence[Parcel]


def shared(crates: Sequence[Crate], room: int) -> list[list[int]]:
    """Which things of each sort fit, by their numbers: each sort gets a share, then they are served in order.

    First every sort takes the best of its things up to a tenth of the room, or one that is no larger than an
    equal share of it. Then the first takes all that fits into what is left, then the second, and so on. What
    does not fit is passed over, and the next is tried.
    """
    taken: list[set[int]] = [set() for _ in crates]
    opened: list[set[str]] = [set() for _ in crates]
    equal = max(0, room - sum(crate.weight for crate in crates)) // max(1, len(crates))
    left = room
    for own in (True, False):
        for crate, chosen, begun in zip(crates, taken, opened, strict=True):
            used = 0
            for number, one in enumerate(crate.parcels):
                price = one.weight + (0 if one.within in begun else one.around)
                price += 0 if chosen else crate.weight
                wanted = not own or used + one.weight <= room // FLOOR or (not chosen and one.weight <= equal)
                if number not in chosen and wanted and price <= left:
                    chosen.add(number)
                    begun.add(one.within)
                    left -= price
                    used += one.weight
    return [sorted(chosen) for chosen in taken]
