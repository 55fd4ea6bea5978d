"""How deep a search goes: where a document stands, how far a question reaches, and when it is enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from lamina.late import read_rules, regex
from lamina.ranking.timing import timing
from lamina.text.terms import query_terms, terms

DEEPEST = 2
#: What each depth adds.
DEPTHS = ("warm", "cold", "archive")
#: Of the second brain, what is only looked at when a question reaches across months.
_DEEP = frozenset({"research", "devlogs", "archive"})
_MONTHS = timedelta(days=31)
_ENOUGH = 0.7  #: of the question's terms, in one of the best three
#: Likeness of meaning from which a thing is worth acting on that shares no word with what was asked; a hit is
#: then as likely right as it was from 0.3 on with the weights before (`data/confidence.toml`).
_LIKELY = 0.31


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
    words = read_rules("lamina.ranking", "reach.toml")
    return regex("|".join(pattern for group in words.values() for pattern in group))


def coverage(question: str, text: str) -> tuple[int, int]:
    """How many of the question's terms a text has, and how many there are."""
    asked = query_terms(question)
    present = set(terms(text))
    return sum(one in present for one in asked), len(asked)


def is_enough(question: str, texts: list[str]) -> bool:
    """Whether what was found first says what was asked for, so that nothing deeper is needed."""
    return any(has >= _ENOUGH * of for has, of in (coverage(question, text) for text in texts[:3]))


def is_likely(scores: Mapping[str, float]) -> bool:
    """Whether what was found this well bears on the question, for whoever has to choose and not to show.

    A search shows the best there is and says how unsure it is; nobody is sent off on a guess.
    """
    return bool(scores.keys() - {"meaning"}) or scores.get("meaning", 0.0) >= _LIKELY
