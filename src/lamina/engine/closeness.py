"""How close texts are on a scale of 0 to 1 that means the same for every encoder, and without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.errors import LaminaError
from lamina_search.encoders.port import Embedder
from lamina_text.analyse import query_terms, terms
from lamina_text.normal import language_of


def closeness(embedder: Embedder | None, text: str, others: Sequence[str]) -> list[float]:
    """Of each of the others to the text: the encoder's calibrated likeness, or the share of words they have.

    Words count too where there is an encoder, because it does not know every name.
    """
    words = set(query_terms(text))
    shared = [len(words & set(terms(other))) / len(words) if words else 0.0 for other in others]
    if embedder is None or not others:
        return shared
    try:
        vectors = embedder.embed([text, *others]).astype(np.float64)
    except LaminaError:  # one that is asked over a network, and does not answer
        return shared
    language, scores = language_of(text), (vectors[1:] @ vectors[0]).round(6).tolist()
    alike = [
        embedder.calibration.likeness(score, language, language_of(other))
        for score, other in zip(scores, others, strict=True)
    ]
    return [max(one, other) for one, other in zip(shared, alike, strict=True)]
