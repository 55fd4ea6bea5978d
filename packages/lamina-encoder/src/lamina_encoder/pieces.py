"""Cuts a text into the pieces that the reading encoder knows; training and use share it, and cannot drift.

Words of alphabets are cut as BERT's uncased WordPiece does. Runs of Thai and of Chinese characters, which
have no blanks, are cut where the pieces together are the most frequent; traditional characters are read as
simplified ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache

#: Goes up with every change of what `Pieces.rows` returns.
PIECES_VERSION = 1

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"

#: Characters of a text that are looked at: more than the most pieces that are read can need.
LONGEST_TEXT = 4096

_LONGEST_WORD = 100
_LONGEST_PIECE = 16  # characters of a Thai or Chinese piece
_NO_PIECE = 30_000  # what a character without a piece costs

_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

# What Thai and Chinese write differently from what the English pieces hold: digits, wide letters, full stops.
_FOLDED: dict[int, int | str] = {0xFF01 + at: 0x21 + at for at in range(94)}
_FOLDED |= {0x0E50 + at: 0x30 + at for at in range(10)}
_FOLDED |= {
    ord(one): other
    for one, other in zip("。、「」『』《》【】…—–‘’“”\u3000", '.,""""""[].--\'\'"" ', strict=True)
}


@cache
def _run() -> re.Pattern[str]:
    """Stretches of one script; made for the first text that has more than ASCII."""
    return re.compile(f"(?P<thai>[{_THAI}]+)|(?P<han>[{_HAN}]+)|(?P<other>[^{_THAI}{_HAN}]+)")


#: Thai and Chinese pieces with what each costs, and traditional characters with the simplified ones.
Unspaced = tuple[Mapping[str, int], Mapping[int, str]]


class Pieces:
    """The vocabulary in the order of its rows: pieces of words, and behind them Thai and Chinese ones.

    Those are asked for when a text first has such a run: they are three in five of the pieces, and most
    commands meet none.
    """

    def __init__(self, words: Sequence[str], unspaced: Callable[[], Unspaced]) -> None:
        self.words = dict(zip(words, range(len(words)), strict=True))  #: and their rows
        self._ask = unspaced
        self._unknown = self.words[UNKNOWN]
        self._ends = self.words[START], self.words[END]
        self._word = lru_cache(maxsize=16_384)(self._word_rows)
        self._run = lru_cache(maxsize=8_192)(self._run_rows)

    def rows(self, text: str, most: int) -> list[int]:
        """Row numbers with the marks of start and end; of a long text the beginning. Linear in the text."""
        out: list[int] = []
        view = text[:LONGEST_TEXT]
        if view.isascii():
            for word in _words(view):
                out += self._word(word)
            return [self._ends[0], *out[: most - 2], self._ends[1]]
        view = view.translate(_FOLDED).replace("\u0e4d\u0e32", "\u0e33")
        for run in _run().finditer(view):
            if run.lastgroup == "other":
                for word in _words(run[0]):
                    out += self._word(word)
            else:
                simplified = self.unspaced[1]
                out += self._run(run[0].translate(simplified) if run.lastgroup == "han" else run[0])
            if len(out) > most:
                break
        return [self._ends[0], *out[: most - 2], self._ends[1]]

    def known_share(self, text: str) -> float:
        """How many of the text's pieces are known, of all."""
        rows = self.rows(text, 512)[1:-1]
        return 1.0 - rows.count(self._unknown) / len(rows) if rows else 0.0

    @cached_property
    def unspaced(self) -> tuple[Mapping[str, int], Mapping[int, str], dict[str, int]]:
        """Thai and Chinese pieces with their costs, what is read as simplified, and the pieces' rows."""
        costs, simplified = self._ask()
        first = len(self.words)
        return costs, simplified, dict(zip(costs, range(first, first + len(costs)), strict=True))

    def _word_rows(self, word: str) -> tuple[int, ...]:
        """The longest known beginning, then the longest continuation, and so on; or unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        out: list[int] = []
        at = 0
        while at < len(word):
            mark = "##" if at else ""
            for until in range(len(word), at, -1):
                row = self.words.get(mark + word[at:until])
                if row is not None:
                    out.append(row)
                    at = until
                    break
            else:
                return (self._unknown,)
        return tuple(out)

    def _run_rows(self, run: str) -> tuple[int, ...]:
        """The cheapest way through a run without blanks."""
        costs, _, number = self.unspaced
        best, back = [0], [0]
        for until in range(1, len(run) + 1):
            cheapest, start = best[until - 1] + _NO_PIECE, until - 1
            for at in range(max(0, until - _LONGEST_PIECE), until):
                cost = costs.get(run[at:until])
                if cost is not None and best[at] + cost < cheapest:
                    cheapest, start = best[at] + cost, at
            best.append(cheapest)
            back.append(start)
        out: list[int] = []
        at = len(run)
        while at:
            out.append(number.get(run[back[at] : at], self._unknown))
            at = back[at]
        return tuple(reversed(out))


def _words(text: str) -> list[str]:
    """Words and single marks, as BERT cuts them: lower case, without accents and control characters."""
    if not text.isascii():
        text = "".join(_kept(unicodedata.normalize("NFD", text.lower())))
        return [part for chunk in text.split() for part in _split(chunk)]
    return re.findall(r"[a-z0-9]+|[!-/:-@\[-`{-~]", _ASCII_CONTROL.sub("", text).lower())


_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _kept(text: str) -> list[str]:
    out = []
    for char in text:
        category = unicodedata.category(char)
        if char in "\t\n\r" or category == "Zs":
            out.append(" ")
        elif category != "Mn" and category[0] != "C" and char != "\ufffd":
            out.append(char)
    return out


def _split(chunk: str) -> list[str]:
    out: list[str] = []
    alone = True
    for char in chunk:
        mark = char in _ASCII_MARKS or unicodedata.category(char)[0] == "P"
        if mark or alone:
            out.append(char)
        else:
            out[-1] += char
        alone = mark
    return out


_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
