"""Cuts a text into the rows of a table of vectors; training and use share it, so that they cannot drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import cast
from zlib import crc32

from lamina.text.terms import Cut, analysed

#: Goes up with every change of what `Pieces` returns; a table made by another version cannot be read.
PIECES_VERSION = 1

#: Stands before a stretch of Thai characters that is no word, so that it has a row apart from the word's.
STRETCH = "~"

_SUBWORD = (3, 4)
_LONGEST_SUBWORDS = 24  # characters of an unknown word that are looked at


class Pieces:
    """Words where the table knows them, character stretches beside them, and parts of words it does not know.

    Rows from `len(vocabulary)` on are shared by the parts of unknown words, by their checksum.
    """

    def __init__(self, vocabulary: Mapping[str, int], shared: int) -> None:
        self._vocabulary = vocabulary
        self._shared = shared
        self._longest = longest_words(vocabulary)
        self.parts = lru_cache(maxsize=16_384)(self._parts)
        self._known_thai = lru_cache(maxsize=8_192)(self._known(self._thai))
        self._known_chinese = lru_cache(maxsize=8_192)(self._known(self._chinese))

    def __len__(self) -> int:
        return len(self._vocabulary)

    def known_share(self, text: str) -> float:
        """How many of the text's pieces have a row of their own, of all."""
        pieces = analysed(text, self._chinese, self._thai)
        known = sum(piece in self._vocabulary for piece in pieces)
        return known / len(pieces) if pieces else 0.0

    def rows(self, text: str) -> list[int]:
        """Row numbers, repeated as often as the piece occurs."""
        pieces = analysed(text, self._known_chinese, self._known_thai)
        found = list(map(self._vocabulary.get, pieces))
        if None not in found:
            return cast("list[int]", found)
        out: list[int] = []
        for piece, row in zip(pieces, found, strict=True):
            if row is not None:
                out.append(row)
            elif piece.isascii() and piece.isalnum():
                out += self.parts(piece)
        return out

    def _known(self, cut: Cut) -> Cut:
        return lambda run: tuple(filter(self._vocabulary.__contains__, cut(run)))

    def _thai(self, run: str) -> list[str]:
        return [*words(run, self._vocabulary, self._longest, 2), *stretches(run)]

    def _chinese(self, run: str) -> list[str]:
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        return [*run, *pairs, *words(run, self._vocabulary, self._longest, 3)]

    def _parts(self, word: str) -> tuple[int, ...]:
        if not self._shared:
            return ()
        first = len(self._vocabulary)
        return tuple(first + crc32(part.encode()) % self._shared for part in subwords(word))


def longest_words(known: Iterable[str]) -> dict[str, int]:
    """By its first character, how long a word without blanks may be."""
    longest: dict[str, int] = {}
    for word in known:
        if not word.isascii():
            longest[word[0]] = max(longest.get(word[0], 0), len(word))
    return longest


def words(run: str, known: Mapping[str, int], longest: Mapping[str, int], shortest: int) -> list[str]:
    """The longest known word at each place, from left to right."""
    out: list[str] = []
    at, end = 0, len(run)
    while at < end:
        for until in range(min(end, at + longest.get(run[at], 0)), at + shortest - 1, -1):
            if run[at:until] in known:
                out.append(run[at:until])
                at = until
                break
        else:
            at += 1
    return out


def stretches(run: str) -> list[str]:
    """Every three characters in a row of Thai, marked."""
    return [STRETCH + run[at : at + 3] for at in range(max(1, len(run) - 2))]


def subwords(word: str) -> list[str]:
    """The parts of a word of an alphabet: three and four characters with its borders."""
    bounded = f"<{word[:_LONGEST_SUBWORDS]}>"
    return [bounded[at : at + size] for size in _SUBWORD for at in range(len(bounded) - size + 1)]
