"""What is kept short is the same when it is read, and nobody's words change on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from lamina.model import canonical
from lamina.storage.rows import _PIECES, EVENT, MEMORY, shortened, whole

names = some.text() | some.sampled_from(_PIECES)
values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text() | some.sampled_from(_PIECES),
    lambda inner: (
        some.lists(inner, max_size=4) | some.dictionaries(some.text() | some.sampled_from(_PIECES), inner)
    ),
    max_leaves=12,
)


@given(values)
def test_whatever_is_shortened_comes_back(value: object) -> None:
    text = canonical(value)
    assert whole(text) == text
    assert whole(shortened(text)) == whole(shortened(text, MEMORY)) == text


def test_every_piece_has_a_sign_of_its_own() -> None:
    assert len(EVENT) == len(_PIECES) == len({sign for _, sign in EVENT})
    assert len(MEMORY) == 1
