"""Where a message may part into clauses: at commas and blanks, and before words that open a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.language.clauses import UNSAID
from lamina.language.framing import phrases_of
from lamina.language.hearing import Hearing, Sentence

#: So many clauses of a sentence are looked at; the last one holds the rest.
CLAUSES = 32
#: A clause has at least so many letters, by its writing; what is shorter stands with the next one.
_LEAST, _LEAST_DENSE = 5, 3
_ONE_WORD = 20  #: and so many, where it is one word of English
_LETTER = re.compile(r"[^\W_]")
_DENSE = re.compile("[\u0e01-\u0e2e\u3400-\u9fff]")


def clauses_in(hearing: Hearing, sentence: Sentence) -> list[tuple[int, int]]:
    """The stretches of a sentence that may mean something each, from left to right; none without letters."""
    said = hearing.said
    if not _LETTER.search(said, sentence.start, sentence.end):
        return []
    cuts = [found.span() for found in phrases_of("cuts").finditer(said, sentence.start, sentence.end)]
    pieces = list(
        zip(
            [sentence.start, *(high for _, high in cuts)],
            [*(low for low, _ in cuts), sentence.end],
            strict=True,
        )
    )
    if len(pieces) > CLAUSES:
        pieces = [*pieces[: CLAUSES - 1], (pieces[CLAUSES - 1][0], sentence.end)]
    return list(_long_enough(said, pieces))


def _long_enough(said: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces, each that is too short together with the next one, the last with the one before."""
    last: tuple[int, int] | None = None
    low: int | None = None
    for start, end in pieces:
        low = start if low is None else low
        text = said[low:end]
        least = _LEAST_DENSE if _DENSE.search(text) else _LEAST
        letters = len(_LETTER.findall(text.replace(UNSAID, ""))) + text.count(UNSAID)
        if letters < least or (text.isascii() and len(text.split()) < 2 and letters < _ONE_WORD):
            continue
        if last is not None:
            yield last
        last, low = (low, end), None
    if last is not None:
        yield (last[0], pieces[-1][1]) if low is not None else last
    elif pieces:
        yield pieces[0][0], pieces[-1][1]
