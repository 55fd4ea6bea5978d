"""The sentences of a long message that state something lasting of the speaker: what is, is liked, is settled.

Only what the speaker asserts: nothing asked, quoted, reported, supposed, or true for today only.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from lamina.language.clauses import UNSAID, listen
from lamina.language.events import event_type, importance
from lamina.language.hearing import sentences_of
from lamina.language.rulebook import Rulebook, packaged, rulebook
from lamina.language.signal import low_signal
from lamina.model.memory import Kind
from lamina.model.scope import Role
from lamina.records import dataclass

#: Longest sentence that is one fact, in characters.
_LONGEST = 280
_HAN = re.compile("[\u3400-\u9fff]")
_EDGES = " \t\n\v,，、;；:：-—–"
_BUT = re.compile(r"[,，] ?(?:so|and so|but) .*\Z|[,，](?:所以|不过|但是).*\Z")


@dataclass(frozen=True, slots=True)
class Durable:
    """One statement that lasts, in the words it was made in."""

    text: str
    kind: Kind
    importance: int


def length_of(text: str) -> int:
    """How long a message is to a reader, in Latin letters: a Chinese character is about three."""
    return len(text) + 2 * len(_HAN.findall(text))


def durable(text: str, limit: int, *, book: Rulebook | None = None) -> list[Durable]:
    """So many lasting statements of a person's message, what matters most first, equals in their order.

    Never raises; linear in the text.
    """
    book = book or rulebook()
    speech = listen(text, book)
    found: dict[str, Durable] = {}
    for one in sentences_of(speech.view.text):
        said = speech.said[one.start : one.end]
        words = " ".join(speech.view.slice(one.start, one.end).split()).strip(_EDGES)
        if one.marked or UNSAID in said or not 0 < len(words) <= _LONGEST or low_signal(words, book=book):
            continue
        if not _lasts(_BUT.sub("", said)):
            continue
        fact = _BUT.sub("", words)
        kind = event_type(fact, Role.USER, book=book).kind
        kind = kind if kind in (Kind.PREFERENCE, Kind.DECISION) else Kind.FACT
        weight = min(5, importance(kind, Role.USER, fact, book=book).value)
        found.setdefault(fact, Durable(fact, kind, weight))
    return sorted(found.values(), key=lambda one: -one.importance)[:limit]


def _lasts(said: str) -> bool:
    """Whether a sentence, as it was asserted, says something that will still hold next month."""
    rules = _rules()
    if rules["from_now_on"].search(said):
        return True
    if rules["passing"].search(said):
        return False
    plainly = rules["speaker"].search(said) and not rules["event"].search(said)
    return bool(rules["lasting"].search(said) or plainly)


@cache
def _rules() -> dict[str, re.Pattern[str]]:
    data = tomllib.loads(packaged("durable"))
    return {name: re.compile("|".join(f"(?:{shape})" for shape in shapes)) for name, shapes in data.items()}
