"""Search by meaning: what a text's vector is made of, and how alike texts are to a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.encoders.port import Embedder, Verdict
from lamina.encoders.tended import patient
from lamina.errors import LaminaError
from lamina.model import Memory
from lamina.ranking.lexical import Shelf
from lamina.storage.database import Database, Transaction
from lamina.storage.vectors import Vectors
from lamina.text.normalise import language_of


def meant(name: str | None, text: str) -> str:
    """What the vector of a text says: its words, with its key or heading before them."""
    return f"{name} {text}" if name else text


def meant_by(memory: Memory) -> str:
    return meant(memory.key, memory.text)


def vectors_of(encoder: Embedder | None, texts: Mapping[int, str]) -> dict[int, NDArray[np.float32]]:
    """The texts' vectors by their slots; none without an encoder that works."""
    if encoder is None or not texts:
        return {}
    with suppress(LaminaError):  # the words are stored all the same; `status` says what has no vector
        return dict(zip(texts, encoder.embed(list(texts.values())), strict=True))
    return {}


def learn(transaction: Transaction, encoder: Embedder | None, shelf: int, texts: Mapping[int, str]) -> None:
    """Give texts of a shelf their vectors, by slot; without an encoder that works they wait for one."""
    if encoder is not None and (made := vectors_of(encoder, texts)):
        Vectors(transaction).add(encoder.embedder_id, shelf, made)


def weight_of(embedder: Embedder | None, question: str) -> float:
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


def embed_some(database: Database, embedder: Embedder | None, limit: int) -> int:
    """The same as work in the background does it: none while the encoder cannot be had."""
    with suppress(LaminaError):  # `status` says what is wrong with it, and search goes on by words
        return embed_missing(database, patient(embedder), limit)
    return 0


def embed_missing(database: Database, embedder: Embedder | None, limit: int = 500) -> int:
    """Give so many of the texts without a vector of this encoder one; returns how many got theirs.

    No transaction is open while the encoder works, so that it may take its time. Raises what it raises.
    """
    if embedder is None:
        return 0
    name, dimension = embedder.embedder_id, embedder.dimension
    texts = database.read(lambda tx: Vectors(tx).lacking(name, dimension, limit))
    if not texts:
        return 0
    vectors = embedder.embed([meant(*text) for text in texts.values()])
    made = dict(zip(texts, vectors, strict=True))

    def work(transaction: Transaction) -> int:
        rows: dict[int, dict[int, Any]] = defaultdict(dict)
        for place, text in Vectors(transaction).lacking(name, dimension, limit).items():
            if texts.get(place) == text:  # it may have changed meanwhile, or another process was faster
                rows[place[0]][place[1]] = made[place]
        for shelf, those in rows.items():
            Vectors(transaction).add(name, shelf, those)
        return sum(map(len, rows.values()))

    return database.write(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Whether search by meaning is on."""

    embedder: str | None  #: the id of the encoder; None while it cannot be had
    missing: int  #: texts that are found by their words only, until they have a vector
    problem: str = ""


def meaning_of(database: Database, embedder: Embedder | None, setting: str) -> Meaning:
    """The state of search by meaning; asks the encoder who it is."""
    if embedder is None:
        why = "it is set to `none`" if setting == "none" else "the encoder's table is not installed"
        return Meaning(embedder=None, missing=0, problem=f"Off: {why}.")
    try:
        name = embedder.embedder_id
    except LaminaError as error:
        return Meaning(embedder=None, missing=0, problem=error.message)
    return Meaning(embedder=name, missing=database.read(lambda tx: Vectors(tx).missing(name)))


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
