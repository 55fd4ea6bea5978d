"""How two texts stand to each other, by their words and, where there is an encoder, by their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from lamina.encoders.port import Embedder
from lamina.errors import LaminaError
from lamina.retrieval.meaning import compare as meanings
from lamina.similarity.compare import Comparison, compare


def compared(embedder: Embedder | None, text: str, others: Sequence[str]) -> list[Comparison]:
    """The text beside each of the others; an encoder that cannot be had leaves it to the words."""
    alike: list[float | None] = [None] * len(others)
    if embedder is not None and others:
        with suppress(LaminaError):
            alike = [one.likeness for one in meanings(embedder, text, others)]
    return [compare(text, other, like) for other, like in zip(others, alike, strict=True)]
