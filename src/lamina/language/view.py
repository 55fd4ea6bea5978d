"""The folded view of a text that rules are matched on, and the way back to what the person typed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lamina.late import regex
from lamina.records import dataclass
from lamina.text.normalise import folded

#: Stands where Thai or Chinese writers put a blank between two clauses; no other blank is this character.
PAUSE = "\v"

#: Longest run of marks that is folded together with the character they stand on.
_MARKS = 30
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufeff"
_ABOVE_AND_BELOW = "\u0300-\u036f\u0e31-\u0e3a\u0e47-\u0e4e\u3099\u309a"
# What `folded` may join or reorder stays together: a letter with its marks, the two halves of a Thai sara ae.
_PIECE = regex(rf"\s+|(?:\u0e40[{_INVISIBLE}]?\u0e40|[\s\S])[{_ABOVE_AND_BELOW}{_INVISIBLE}]{{0,{_MARKS}}}")
_PLAIN = regex(r"\s\s|[^\S \n]")
_THAI = "\u0e01-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e"
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff"
# Not around the repetition sign: `จริง ๆ แล้ว` is one word.
_PAUSED = regex(rf"(?<=[{_THAI}\u0e46]) (?=[{_THAI}])(?!(?<=\u0e46 )แล้ว)|(?<=[{_HAN}]) (?=[{_HAN}])")


#: Where a stretch of the view begins, and where it ends.
Span = tuple[int, int]

#: What is longer is seen once, and not kept.
_SHORT = 500


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A text folded for matching, each run of blanks as one character."""

    original: str
    text: str
    starts: Sequence[int]  #: for each character of `text`, where its piece of the original begins
    ends: Sequence[int]  #: and where it ends

    def slice(self, start: int, end: int) -> str:
        """What the person typed where the view has `text[start:end]`."""
        if start >= end:
            return ""
        return self.original[self.starts[start] : self.ends[end - 1]]


def view_of(text: str) -> View:
    """The view of any text, in time linear in it."""
    return _viewed(text) if len(text) <= _SHORT else _viewed_at_length(text)


@lru_cache(maxsize=1024)
def _viewed(text: str) -> View:
    if text.isascii() and not _PLAIN.search(text):
        return View(text, text.lower(), range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(text):
        plain = _folded_piece(piece[0]) if len(piece[0]) <= _MARKS else _long_piece(piece[0])
        parts.append(plain)
        starts += [piece.start()] * len(plain)
        ends += [piece.end()] * len(plain)
    return View(text, _PAUSED.sub(PAUSE, "".join(parts)), starts, ends)


_viewed_at_length = lru_cache(maxsize=4)(_viewed.__wrapped__)


def _long_piece(piece: str) -> str:
    if piece.isspace():
        return "\n" if "\n" in piece or "\u2029" in piece else " "
    return folded(piece)


@lru_cache(maxsize=8192)
def _folded_piece(piece: str) -> str:
    return _long_piece(piece)
