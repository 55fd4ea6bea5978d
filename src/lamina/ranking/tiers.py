"""How deep a search goes: where a document stands, how far a question reaches, and when it is enough."""

from __future__ import annotations

import re
import tomllib
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files

from lamina.ranking.timing import timing
from lamina.text.terms import query_terms, terms

DEEPEST = 2
#: What each depth adds.
DEPTHS = ("warm", "cold", "archive")
#: Of the second brain, what is only looked at when a question reaches across months.
_DEEP = frozenset({"research", "devlogs", "archive"})
_MONTHS = timedelta(days=31)
_ENOUGH = 0.7  #: of the question's terms, in one of the best three
_LOW, _MEDIUM, _AGREED = 0.7, 0.4, 0.25


def tier_of(path: str) -> tuple[str, int]:
    """`hot`, `warm`, `cold` or `archive`, and the depth: 0 is looked at first, 2 last."""
    first, *rest = path.split("/")
    if path == "MEMORY.md":
        return "hot", 0
    if first == "memory":
        return ("archive", DEEPEST) if rest and rest[0] == "archive" else ("warm", 0)
    return "cold", DEEPEST if _DEEP & set(rest[:-1]) else 1


def reaches_far(question: str, now: datetime) -> bool:
    """Whether a question is about what may be months old, or asks for the archives."""
    period = timing(question, now).period
    if period is not None and period.start < now - _MONTHS:
        return True
    return _far().search(question.casefold()) is not None


@lru_cache(maxsize=1)
def _far() -> re.Pattern[str]:
    words = tomllib.loads((files("lamina.ranking") / "data" / "reach.toml").read_text("utf-8"))
    return re.compile("|".join(pattern for group in words.values() for pattern in group))


def coverage(question: str, text: str) -> tuple[int, int]:
    """How many of the question's terms a text has, and how many there are."""
    asked = query_terms(question)
    present = set(terms(text))
    return sum(one in present for one in asked), len(asked)


def is_enough(question: str, texts: list[str]) -> bool:
    """Whether what was found first says what was asked for, so that nothing deeper is needed."""
    return any(has >= _ENOUGH * of for has, of in (coverage(question, text) for text in texts[:3]))


def uncertainty(has: int, of: int, *, agreed: bool, exact: bool) -> str:
    """How unsure it is that this answers the question, from what of it is there and who found it."""
    share = has / of if of else 0.0
    if exact or share >= _LOW:
        return "low"
    return "medium" if share >= (_AGREED if agreed else _MEDIUM) else "high"
