"""Search by meaning: what a text's vector is made of, and how alike texts are to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lamina.errors import LaminaError
from lamina.model import Memory
from lamina.storage.database import Transaction
from lamina.storage.vectors import Vectors
from lamina_search.encoders.port import Embedder, Verdict
from lamina_search.lexical import Shelf
from lamina_text.normal import language_of


def meant(name: str | None, text: str) -> str:
    """What the vector of a text says: its words, with its key or heading before them."""
    return f"{name} {text}" if name else text


def meant_by(memory: Memory) -> str:
    return meant(memory.key, memory.text)


def learn(transaction: Transaction, encoder: Embedder | None, shelf: int, texts: Mapping[int, str]) -> None:
    """Give texts of a shelf their vectors, by slot; without an encoder that works they wait for one."""
    if encoder is None or not texts:
        return
    try:
        name, made = encoder.embedder_id, encoder.embed(list(texts.values()))
    except LaminaError:  # the words are stored all the same; `status` says what has no vector
        return
    Vectors(transaction).add(name, shelf, dict(zip(texts, made, strict=True)))


def reach(embedder: Embedder | None, question: str) -> float:
    """How much a question's vector counts beside its words, from 0 to 1; 0 where it cannot be had."""
    try:
        return 0.0 if embedder is None else embedder.reach(question)
    except LaminaError:
        return 0.0


def likeness(
    transaction: Transaction, embedder: Embedder | None, question: str, shelves: Sequence[Shelf]
) -> dict[int, NDArray[np.float32]]:
    """By shelf number, how alike the text in each slot is to the question: a cosine, 0 without a vector.

    A shelf without vectors of this encoder is left out, and all are where the encoder cannot be had:
    then words alone find.
    """
    if embedder is None or not shelves:
        return {}
    try:
        asked, name = embedder.embed([question])[0], embedder.embedder_id
    except LaminaError:
        return {}
    return Vectors(transaction).likeness(name, asked, shelves)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts beside each other: how alike they are on the common scale, and what that means."""

    likeness: float
    verdict: Verdict


def compare(embedder: Embedder, one: str, others: Sequence[str]) -> list[Comparison]:
    """One text with each of the others, on the scale that is the same for every pair of languages.

    Raises what the encoder raises. A text of which the encoder knows nothing is like no other.
    """
    vectors = embedder.embed([one, *others])
    language, calibration = language_of(one), embedder.calibration
    out = []
    for score, other in zip((vectors[1:].astype(np.float64) @ vectors[0]).tolist(), others, strict=True):
        pair = (round(score, 6), language, language_of(other))
        out.append(Comparison(calibration.likeness(*pair), calibration.verdict(*pair)))
    return out
