"""What a person said of sentences of theirs: kept as sketches without words, and believed over the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.language.features import by_place
from lamina.language.sorts import Sort
from lamina.language.view import view_of
from lamina.records import dataclass

#: How many numbers a sketch has.
_NUMBERS = 48
#: How much of a sentence has to be alike before it is taken for the same.
_ALIKE = 0.5
_MIXERS = np.array([(0x9E3779B1 * (at + 1) | 1) & 0xFFFFFFFF for at in range(_NUMBERS)], dtype=np.uint32)

Sketch = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that somebody told the sort of."""

    sketch: Sketch
    sort: Sort

    def note(self) -> str:
        """As it is kept."""
        return f"{self.sort} {''.join(f'{one:08x}' for one in self.sketch)}"


def example_of(note: str) -> Example | None:
    """The example that a note tells of; None for a note of another form."""
    name, _, digits = note.partition(" ")
    if name not in set(Sort) or len(digits) != 8 * _NUMBERS:
        return None
    return Example(tuple(int(digits[at : at + 8], 16) for at in range(0, len(digits), 8)), Sort(name))


def sketch_of(text: str) -> Sketch:
    """Numbers that two texts share as often as they share stretches of three characters."""
    stretches = by_place(view_of(text).text.strip())
    hashes = np.unique(stretches[min(2, len(stretches) - 1)])
    least = (hashes[:, None] * _MIXERS[None, :] ^ (hashes[:, None] >> np.uint32(13))).min(axis=0)
    return tuple(int(one) for one in least)


def told_sort(text: str, examples: Sequence[Example]) -> Sort | None:
    """The sort that the person gave the sentence most like this one, where one is like it."""
    if not examples:
        return None
    own = sketch_of(text)
    alike = [(sum(a == b for a, b in zip(own, one.sketch, strict=True)), one) for one in examples]
    most, nearest = max(alike, key=lambda each: each[0])
    return nearest.sort if most >= _ALIKE * _NUMBERS else None
