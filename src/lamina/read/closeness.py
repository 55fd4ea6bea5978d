"""How close texts are on a scale of 0 to 1 that means the same for every encoder, and without one."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.encoders.port import Embedder
from lamina.errors import LaminaError
from lamina.text.terms import query_terms, terms
from lamina.write.meaning import compare


def closeness(embedder: Embedder | None, text: str, others: Sequence[str]) -> list[float]:
    """Of each of the others to the text: the encoder's calibrated likeness, or the share of words if more."""
    words = set(query_terms(text))
    shared = [len(words & set(terms(other))) / len(words) if words else 0.0 for other in others]
    if embedder is None or not others:
        return shared
    try:
        alike = compare(embedder, text, others)
    except LaminaError:  # one that is asked over a network, and does not answer
        return shared
    return [max(one, other.likeness) for one, other in zip(shared, alike, strict=True)]
