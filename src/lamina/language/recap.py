"""What an account of something that happened says: what it was about, what was settled, and how it went."""

from __future__ import annotations

import re
from datetime import date
from functools import cache

from lamina.language.rulebook import Rulebook
from lamina.language.statements import KEPT, headline, statements
from lamina.language.view import view_of
from lamina.late import read_rules
from lamina.records import dataclass
from lamina.text.terms import is_stop_word

_LOOKED_AT = 4_000  #: characters
MOST_TOPICS = 8
MOST_DECISIONS = 10
_SOME_DAY = date(2026, 1, 1)  #: no day counts here
#: A name: a word with a capital letter inside a sentence, or with a capital, digit or sign inside the word.
_NAMES = re.compile(
    r"(?<=[\w,;:)\]] )[A-Z][\w+#-]{1,30}(?: [A-Z][\w+#-]{1,30}){0,2}"
    r"|(?<![\w.])(?:[A-Za-z]+[A-Z0-9+#][\w+#-]*|[A-Z]{2,8})(?![\w])"
)
_EDGES = " .,;:!?。，、；：!?-–—\"'()「」“”"


@dataclass(frozen=True, slots=True)
class Recap:
    """What was drawn from an account; empty where it does not say."""

    topics: tuple[str, ...]
    decisions: tuple[str, ...]
    outcome: str  #: success, partial, failed; empty for not said


def recap(text: str, *, book: Rulebook | None = None) -> Recap:
    """What a text says of what happened; never raises, linear in the text."""
    said = text[:_LOOKED_AT]
    settled = [one for one in statements(said, _SOME_DAY, book=book) if one.said in KEPT]
    decisions = dict.fromkeys(headline(one.text, one.why, book=book) for one in settled)
    return Recap(tuple(_topics(said)), tuple(decisions)[:MOST_DECISIONS], outcome_in(said))


def outcome_in(text: str) -> str:
    """How it went, as the last word about it says: success, partial or failed; empty where nothing does."""
    view = view_of(text[:_LOOKED_AT]).text
    found = [(match.start(), name) for name, shape in _rules().outcomes for match in shape.finditer(view)]
    return max(found)[1] if found else ""


def _topics(text: str) -> list[str]:
    view = view_of(text)
    told = [(found, found.lastgroup or "topic") for found in _rules().about.finditer(view.text)]
    named = [
        (view.starts[found.start(group)], view.slice(*found.span(group)).strip(_EDGES))
        for found, group in told
    ]
    names = [(found.start(), found[0].strip(_EDGES)) for found in _NAMES.finditer(text)]
    kept: dict[str, str] = {}
    for _, topic in sorted([*named, *names]):
        if 1 < len(topic) <= 60 and not is_stop_word(topic.lower()):
            kept.setdefault(topic.casefold(), topic)
    return list(kept.values())[:MOST_TOPICS]


@dataclass(frozen=True)
class _Rules:
    about: re.Pattern[str]
    outcomes: list[tuple[str, re.Pattern[str]]]


@cache
def _rules() -> _Rules:
    data = read_rules("lamina.language", "recap.toml")
    return _Rules(
        about=re.compile(data["about"]),
        outcomes=[(name, re.compile(shape)) for name, shape in data["outcome"].items()],
    )
