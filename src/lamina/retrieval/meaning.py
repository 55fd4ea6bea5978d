"""Search by meaning: what a text's vector is made of, and how alike texts are to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from lamina.encoders.port import Embedder, Verdict, patient
from lamina.errors import LaminaError
from lamina.model import Memory
from lamina.ranking.lexical import Shelf
from lamina.ranking.question import parts_of
from lamina.records import dataclass
from lamina.storage.database import Database, Transaction
from lamina.storage.ledger import lane_of
from lamina.storage.search_index import BEYOND, EVERYWHERE, WRITTEN, Stretch, TextIndex, Vectors
from lamina.text.normalise import language_of

#: So many texts without a vector are read while a question waits, a few milliseconds each.
AT_ONCE = 64
_SHELVES, _WRITTEN = 1000, 100  #: that are looked at in one go: in turn, and of those just written to


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


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike texts are to a question, as the encoder that answers it sees them."""

    likeness: Mapping[int, NDArray[np.float32]]  #: by shelf number, of each slot
    beside: Mapping[int, NDArray[np.float32]] = field(default_factory=dict)  #: what the next encoder says
    reach: float = 0.0  #: how much of the question it understands, from 0 to 1
    waiting: bool = False  #: whether there are texts that have no vector of the first encoder in the store
    encoder: str = ""  #: the id of the one that answers; empty where none does
    read: Mapping[int, Mapping[int, NDArray[np.float32]]] = field(default_factory=dict)  #: not stored yet


def alike(
    transaction: Transaction, encoders: Sequence[Embedder | None], question: str, shelves: Sequence[Shelf]
) -> Alike:
    """What the first encoder says that can be had and has a vector of every text on these shelves.

    A few texts that have none yet are read now; where there are more, the next encoder answers, so that
    vectors of two are never compared. The last one answers with what it has; without any, words alone find.
    Beside the one that answers, the next says what it makes of the question.
    """
    usable = [one for one in dict.fromkeys(encoders) if one is not None]
    waiting = False
    for number, encoder in enumerate(usable):
        reach = weight_of(encoder, question)
        try:
            lacking = _lacking(transaction, encoder, shelves) if reach else None
        except LaminaError:
            lacking = None
        last = number == len(usable) - 1
        waiting = waiting or (number == 0 and lacking != {})
        if reach and (last or lacking is not None):
            found = likeness(transaction, encoder, question, shelves, lacking or {})
            if found.likeness or last:
                others = usable[number + 1 : number + 2]
                beside = [likeness(transaction, one, question, shelves).likeness for one in others]
                return replace(found, beside=dict(*beside), reach=reach, waiting=waiting)
    return Alike({})


def _lacking(
    transaction: Transaction, encoder: Embedder, shelves: Sequence[Shelf]
) -> dict[int, dict[int, str]] | None:
    """By shelf and slot the texts without a vector of this encoder; None if they are too many to read now."""
    vectors, name = Vectors(transaction), encoder.embedder_id
    counts = {shelf: vectors.lacking_on(name, shelf) for shelf in shelves}
    most = AT_ONCE if patient(encoder) is encoder else 0  # one elsewhere is asked for the question alone
    if sum(counts.values()) > most:
        return None
    found = {}
    for shelf, count in counts.items():
        if count and (texts := vectors.newest_lacking(name, encoder.dimension, shelf, count)):
            found[shelf.number] = {slot: meant(*text) for slot, text in texts.items()}
    return found


def likeness(
    transaction: Transaction,
    embedder: Embedder | None,
    question: str,
    shelves: Sequence[Shelf],
    lacking: Mapping[int, Mapping[int, str]] = MappingProxyType({}),
) -> Alike:
    """By shelf number, how alike the text in each slot is to the question: a cosine, 0 without a vector.

    Of several lines or sentences each is a question, too: the whole and the likest of them count half each.
    `lacking` are texts that get theirs now. A shelf without any vector of this encoder is left out, and all
    are where the encoder cannot be had: then words alone find.
    """
    if embedder is None or not shelves:
        return Alike({})
    try:
        whole, *parts = embedder.embed([question, *parts_of(question)])
        name = embedder.embedder_id
        made = {number: vectors_of(embedder, texts) for number, texts in lacking.items()}
    except LaminaError:
        return Alike({})
    vectors = Vectors(transaction)
    found = vectors.likeness(name, whole, shelves, made)
    best = [vectors.likeness(name, part, shelves, made) for part in parts]
    if best:
        found = {
            one: (like + np.maximum.reduce([each[one] for each in best])) / 2 for one, like in found.items()
        }
    return Alike(found, encoder=name if found else "", read=made)


def embed_some(
    database: Database, embedder: Embedder | None, limit: int, among: Sequence[Stretch] = EVERYWHERE
) -> int:
    """The same as work in the background does it: none while the encoder cannot be had."""
    with suppress(LaminaError):  # `status` says what is wrong with it, and search goes on by words
        return embed_missing(database, patient(embedder), limit, among)
    return 0


def embed_missing(
    database: Database, embedder: Embedder | None, limit: int = 500, among: Sequence[Stretch] = EVERYWHERE
) -> int:
    """Give so many of the texts without a vector of this encoder one; returns how many got theirs.

    No transaction is open while the encoder works, so that it may take its time. Raises what it raises.
    """
    if embedder is None:
        return 0
    name, dimension = embedder.embedder_id, embedder.dimension
    texts = database.read(lambda tx: Vectors(tx).lacking(name, dimension, limit, among))
    if not texts:
        return 0
    vectors = iter(embedder.embed([meant(*text) for some in texts.values() for text in some.values()]))
    made = {shelf: dict(zip(some, vectors, strict=False)) for shelf, some in texts.items()}

    def work(transaction: Transaction, number: int, owner: str) -> int:
        lacking = Vectors(transaction).lacking_in(name, dimension, number, limit)
        # One may have changed meanwhile, or another process was faster.
        known, new = texts[number, owner], made[number, owner]
        rows = {at: new[at] for at, text in lacking.items() if known.get(at) == text}
        if rows:
            Vectors(transaction).add(name, number, rows)
        return len(rows)

    if not database.chains:  # all in one transaction, where everybody waits anyway
        return database.write(lambda tx: sum(work(tx, *shelf) for shelf in texts))
    return sum(
        database.write(partial(work, number=number, owner=owner), lanes=[lane_of(owner)])
        for number, owner in texts
    )


@dataclass(slots=True)
class Rounds:
    """Where a process looks for texts that wait for a vector: at what it wrote, and at the rest in turn.

    So what a look costs follows what is written, not how many people there are.
    """

    _to: int = 0  #: the shelf up to which all were looked at

    def embed(self, database: Database, embedder: Embedder | None, limit: int) -> int:
        """Give so many texts of the next shelves theirs; how many. Where none had to wait it goes on."""
        try:
            stretch, written = database.read(self._next)
        except LaminaError:  # as in `embed_some`
            return 0
        own = [written.popitem()[0] for _ in range(min(len(written), _WRITTEN))]
        made = embed_some(database, embedder, limit, [*((one - 1, one) for one in own), stretch])
        if made:
            written.update(dict.fromkeys(own))  # they may have more
        else:
            self._to = 0 if stretch[1] == BEYOND else stretch[1]
        return made

    def _next(self, transaction: Transaction) -> tuple[Stretch, dict[int, None]]:
        stretch = Vectors(transaction).stretch(self._to, _SHELVES)
        return stretch, {} if stretch == EVERYWHERE[0] else transaction.kept.get(WRITTEN, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Whether search by meaning is on."""

    embedder: str | None  #: the id of the encoder; None while it cannot be had
    missing: int  #: texts that wait for its vector
    problem: str = ""
    texts: int = 0  #: how many there are in all
    meanwhile: str | None = None  #: the encoder that answers until the texts that wait are few


def meaning_of(
    database: Database, embedder: Embedder | None, table: Embedder | None, setting: str
) -> Meaning:
    """The state of search by meaning; asks the encoder who it is."""
    if embedder is None:
        why = "it is set to `none`" if setting == "none" else "the package `lamina-encoder` is not installed"
        return Meaning(embedder=None, missing=0, problem=f"Off: {why}.")
    try:
        name = embedder.embedder_id
    except LaminaError as error:
        return Meaning(embedder=None, missing=0, problem=error.message, meanwhile=_name_of(table))
    missing, texts = database.read(lambda tx: (Vectors(tx).missing(name), sum(TextIndex(tx).members())))
    other = _name_of(table) if missing > AT_ONCE and table is not embedder else None
    return Meaning(embedder=name, missing=missing, texts=texts, meanwhile=other)


def _name_of(table: Embedder | None) -> str | None:
    with suppress(LaminaError):
        return None if table is None else table.embedder_id
    return None


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two texts beside each other: how alike they are on the common scale, and what that means."""

    likeness: float
    verdict: Verdict


def compare(embedder: Embedder, one: str, others: Sequence[str]) -> list[Likeness]:
    """One text with each of the others, on the scale that is the same for every pair of languages.

    Raises what the encoder raises. A text of which the encoder knows nothing is like no other.
    """
    vectors = embedder.embed([one, *others])
    language, calibration = language_of(one), embedder.calibration
    out = []
    for score, other in zip((vectors[1:].astype(np.float64) @ vectors[0]).tolist(), others, strict=True):
        pair = (round(score, 6), language, language_of(other))
        out.append(Likeness(calibration.likeness(*pair), calibration.verdict(*pair)))
    return out
