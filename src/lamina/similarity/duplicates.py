"""Whether two statements are one said twice: the same words but for some that say nothing.

Stricter than `compare`, to which "used to live in Bangkok" says "lives in Bangkok" and more: what is merged
while nobody looks must lose nothing.
"""

from __future__ import annotations

import re
import tomllib
from difflib import SequenceMatcher
from functools import cache
from importlib import resources

from lamina.late import regex
from lamina.text.normalise import folded

_LONGEST = 2_000
_UNIT = regex(
    r"[a-z]*\d[a-z\d]*(?:[.,:/-]\d+)*%?|[a-z]+|[^\W_]|[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
    r"|[^\w\s.,;:!?'\"()…。，、！？；：「」『』（）]"
)


def said_twice(one: str, other: str) -> bool:
    """Whether nothing is lost if only one of the two is kept, whichever it is; symmetric.

    One phrase may stand elsewhere ("every day the …"); of single words the order is part of what is said.
    """
    mine, theirs = _units(one), _units(other)
    runs: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
    for what, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if what != "equal":
            runs[0].append(tuple(mine[a:b]))
            runs[1].append(tuple(theirs[c:d]))
    moved = [run for run in runs[0] if len(run) > 1 and run in runs[1]][:1]
    return all(_says_nothing(run) for side in runs for run in side if run not in moved)


def _says_nothing(run: tuple[str, ...]) -> bool:
    joined = "".join(f" {unit} " if unit.isascii() else unit for unit in run)
    return all(_empty().fullmatch(piece) for piece in joined.split())


def _units(text: str) -> list[str]:
    """Words as they are, since an ending may be a tense; characters of scripts without blanks; symbols."""
    return _UNIT.findall(folded(text[:_LONGEST]))


def limits(text: str) -> frozenset[str]:
    """The words of a statement that limit, date or doubt what the rest says."""
    return frozenset(_limits().findall(folded(text[:_LONGEST])))


@cache
def _empty() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(map(re.escape, _listed('empty')))})+")


@cache
def _limits() -> re.Pattern[str]:
    words = (rf"\b{word}\b" if word.isascii() else word for word in _listed("limits"))
    return re.compile("|".join(words))


def _listed(name: str) -> list[str]:
    """The words of a list as texts are looked at, the longest first."""
    file = resources.files("lamina.similarity") / "data" / "doubles.toml"
    words = tomllib.loads(file.read_text("utf-8"))[name]
    return sorted({folded(word) for word in words}, key=lambda word: (-len(word), word))
