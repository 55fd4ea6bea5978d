"""How two texts stand to each other, by their words and, where there is an encoder, by their meaning."""

from __future__ import annotations

from collections.abc import Sequence

from lamina_language.compare import Comparison, compare
from lamina_search.encoders.port import Embedder
from lamina_text.normal import language_of


def compared(embedder: Embedder | None, text: str, others: Sequence[str]) -> list[Comparison]:
    """The text beside each of the others."""
    if embedder is None or not others:
        return [compare(text, other) for other in others]
    vectors = embedder.embed([text, *others])
    scores = vectors[1:] @ vectors[0]
    spoken = language_of(text)
    return [
        compare(text, other, embedder.calibration.likeness(float(score), spoken, language_of(other)))
        for other, score in zip(others, scores, strict=True)
    ]
