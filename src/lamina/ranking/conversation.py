"""Conversations: a turn is found through itself, its neighbours and its session."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.ranking.lexical import K1, SLOTS_PER_BLOCK, B, Shelf, Words, inverse_frequency
from lamina.records import dataclass

#: What a term is worth to a turn that does not have it itself, by how far away it was said: behind and ahead.
NEIGHBOURS: Mapping[int, float] = {1: 0.5, -1: 0.3, 2: 0.1}
#: What the whole session is worth beside the turn.
SESSION = 1.0
#: What another's voice is worth where a person asks about themselves.
OTHER_VOICE = 0.5

_ENTRY = np.dtype([("slot", "u1"), ("voice", "u1"), ("length", "<u2"), ("conversation", "<u4")])

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Place(NamedTuple):
    """Where a text was said: in which conversation of its shelf, by whom (0 the person), how many terms."""

    conversation: int
    voice: int
    length: int


def placed(slot: int, place: Place) -> bytes:
    """One entry of a block of places."""
    length = min(place.length, 65_535)
    return struct.pack("<BBHI", slot % SLOTS_PER_BLOCK, place.voice, length, place.conversation)


def unplaced(data: bytes, slot: int) -> bytes:
    """A block of places without that of one slot."""
    entries = np.frombuffer(data, dtype=_ENTRY)
    return bytes(entries[entries["slot"] != slot % SLOTS_PER_BLOCK].tobytes())


@dataclass(frozen=True, slots=True)
class Places:
    """The place of every slot of a shelf; conversation 0 is none."""

    conversation: Whole
    voice: Whole
    length: Whole

    @classmethod
    def of(cls, blocks: Iterable[tuple[int, bytes]], slots: int) -> Places:
        """From blocks of entries; a shelf has so many slots."""
        parts = [(block, np.frombuffer(data, dtype=_ENTRY)) for block, data in blocks]
        columns = {name: np.zeros(slots, dtype=np.int64) for name in ("conversation", "voice", "length")}
        at = np.concatenate([block * SLOTS_PER_BLOCK + part["slot"].astype(int) for block, part in parts])
        for name, column in columns.items():
            column[at] = np.concatenate([part[name] for _, part in parts])
        return cls(**columns)


class Talk:
    """The conversations of the searched shelves together.

    `seat` is the order in which things were said, session after session; texts outside any conversation
    have sessions of their own.
    """

    def __init__(self, shelves: Sequence[Shelf], places: Mapping[int, Places]) -> None:
        numbers, voices, lengths, used = [], [], [], 0
        for shelf in shelves:
            none = np.zeros(shelf.next_slot, dtype=np.int64)
            place = places.get(shelf.number) or Places(none, none, none)
            numbers.append(np.where(place.conversation > 0, place.conversation + used, 0))
            used += int(place.conversation.max(initial=0))
            voices.append(place.voice)
            lengths.append(place.length)
        self.session: Whole = np.concatenate(numbers)
        self.voice: Whole = np.concatenate(voices)
        self.length: Whole = np.concatenate(lengths)
        self.sessions = used + 1
        self.inside = self.session > 0
        self._order = np.argsort(self.session, kind="stable")
        self._seat = np.empty_like(self._order)
        self._seat[self._order] = np.arange(len(self._order))

    def neighbours(self, at: Whole, distance: int) -> tuple[Whole, NDArray[np.bool_]]:
        """The texts said so many turns later in the same session, and which of `at` have one."""
        seats = self._seat[at] + distance
        inside = (seats >= 0) & (seats < len(self._order))
        other = self._order[np.where(inside, seats, 0)]
        return other, inside & self.inside[at] & (self.session[other] == self.session[at])

    def best_of_session(self, scores: Floats) -> Floats:
        """For every text, the best score in its session; its own where it is in none."""
        best = np.zeros(self.sessions)
        np.maximum.at(best, self.session, scores)
        return np.where(self.inside, best[self.session], scores)


def spread(words: Words, talk: Talk, own: bool) -> tuple[Floats, Floats]:
    """What the words are worth to each text, and how much of that comes from those said around it.

    `own` says that a person asks about themselves: then their own turns count more than the answers to them.
    """
    voice = np.where(talk.voice > 0, OTHER_VOICE, 1.0) if own else np.ones(words.size)
    near = words.score * voice
    scratch = np.zeros(words.size)
    for term in words.terms:
        gain = term.gain * voice[term.at]
        scratch[term.at] = term.gain
        for distance, share in NEIGHBOURS.items():
            other, has = talk.neighbours(term.at, distance)
            other, lent = other[has], gain[has]
            near[other] += share * np.maximum(lent - scratch[other], 0.0)
        scratch[term.at] = 0.0
    near /= max(float(near.max(initial=0.0)), 1e-9)
    person = talk.voice == 0
    session = _session_scores(words, talk, talk.inside)
    if own and bool((talk.inside & ~person).any()):
        session = (session + _session_scores(words, talk, talk.inside & person)) / 2.0
    mixed = np.where(talk.inside, (near + SESSION * session[talk.session]) / (1.0 + SESSION), near)
    alone = words.score / max(float(words.score.max(initial=0.0)), 1e-9)
    return mixed, np.maximum(mixed - alone, 0.0)


def _session_scores(words: Words, talk: Talk, heard: NDArray[np.bool_]) -> Floats:
    """BM25 of every session as one text made of the turns that are heard; the best has 1."""
    lengths = np.bincount(talk.session, talk.length * heard, talk.sessions)
    known = int(np.count_nonzero(lengths))
    average = max(1.0, float(lengths.sum()) / max(1, known))
    scores = np.zeros(talk.sessions)
    damping = K1 * (1.0 - B + B * lengths / average)
    for term in words.terms:
        counts = np.bincount(talk.session[term.at], term.frequency * heard[term.at], talk.sessions)
        having = int(np.count_nonzero(counts))
        if having:
            weight = term.weight * inverse_frequency(known, having)
            scores += weight * counts * (K1 + 1.0) / (counts + damping)
    scores[0] = 0.0
    return np.asarray(scores / max(float(scores.max(initial=0.0)), 1e-9))
