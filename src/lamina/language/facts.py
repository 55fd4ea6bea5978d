"""Facts about a person that have a key: their name, time zone, language, project, editor and units."""

from __future__ import annotations

import re
import tomllib
from itertools import islice

from lamina.language.clauses import Speech, listen
from lamina.language.rulebook import Rule, Rulebook, packaged, rulebook
from lamina.language.view import view_of
from lamina.late import regex
from lamina.records import dataclass

#: The keys a fact may have, from `data/keys.toml`.
ALLOWED_KEYS: tuple[str, ...] = tuple(tomllib.loads(packaged("keys"))["keys"])

#: Longest value, in characters.
VALUE_LIMIT = 60
#: How many mentions are looked at for one that has a value.
_MENTIONS = 32
#: How far a value is looked for: what is longer is cut anyway.
_WINDOW = 240
_LONGEST_TAIL = 16

_QUOTES = "\"'`“”„‘’«»「」『』《》〈〉*_"
_EDGES = _QUOTES + " \t\n\r\v\u3000:=-–—.!?,;。！？，；、：．…~()（）"
_LEADING = regex(rf"[ \v:={re.escape(_QUOTES)}(（]*(?:- )?")
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f]")
_LETTER_OR_DIGIT = regex(r"[^\W_]")
_OFFSET = regex(r"(?:utc|gmt)? ?([+-]) ?(\d{1,2})(?::?([0-5]\d))?|(?:utc|gmt) ?()(\d{1,2})()")
_ZONE = regex(
    r"(?:africa|america|antarctica|arctic|asia|atlantic|australia|europe|indian|pacific|etc)(?:/[a-z0-9_+-]+){1,2}"
)
_SMALL_WORDS = frozenset({"of", "au", "es", "da", "and"})
_FARTHEST = 14  # hours from UTC that any place on earth is


@dataclass(frozen=True, slots=True)
class Fact:
    """A value under an allowed key, and the rule that found it."""

    key: str
    value: str
    rule: str


def profile_fact(text: str, *, book: Rulebook | None = None) -> Fact | None:
    """The first fact about the speaker, in the order of the keys; None where the text states none.

    Never raises; linear in the text.
    """
    return fact_in(listen(text, book or rulebook()))


def fact_in(speech: Speech) -> Fact | None:
    """The same for a text that has been listened to."""
    found = (_fact(rule, speech) for rule in speech.book.of("fact"))
    return next((fact for fact in found if fact is not None), None)


def whole_fact(text: str, book: Rulebook) -> Fact | None:
    """The fact that a text states, where it states nothing else."""
    if len(text) > _WINDOW:
        return None
    speech = listen(text, book)
    for rule in speech.book.of("fact"):
        found = next(speech.matches(rule), None)
        if found is None or found.start() > 0 or speech.denied(found.start()):
            continue
        typed = speech.view.slice(0, found.end()) if rule["value"] else _typed(found, speech)
        key = rule["key"]
        value = rule["value"] or value_of(key, typed, speech.book)
        if value and trimmed(key, text, speech.book).endswith(trimmed(key, typed, speech.book)):
            return Fact(key, value, rule.name)
    return None


def _fact(rule: Rule, speech: Speech) -> Fact | None:
    key: str = rule["key"]
    for found in islice(speech.matches(rule), _MENTIONS):
        if speech.denied(found.start()):
            continue
        if rule["value"]:
            return Fact(key, rule["value"], rule.name)
        if value := value_of(key, _typed(found, speech), speech.book):
            return Fact(key, value, rule.name)
    return None


def _typed(found: re.Match[str], speech: Speech) -> str:
    """What the person typed as the value, up to where it ends."""
    view = speech.view
    if "value" in found.re.groupindex:
        return view.slice(*found.span("value"))
    window = view.text[found.end() : found.end() + _WINDOW]
    lead = _LEADING.match(window)
    start = lead.end() if lead else 0
    end = speech.book.any_of("value", "ends").search(window, start)
    stop = end.start() if end else len(window)
    return view.slice(found.end() + start, found.end() + stop)


def value_of(key: str, typed: str, book: Rulebook) -> str:
    """The value without what only surrounds it, in the form the rules give it; empty where it is none."""
    value = trimmed(key, typed, book)
    view = view_of(value)
    if not _LETTER_OR_DIGIT.search(view.text):
        return ""
    rejected = any(rule.regex.match(view.text) for rule in _rules(book, "rejects", key))
    if rejected and not _keeps(key, view.text, book):
        return ""
    for rule in _rules(book, "means", key):
        if rule.regex.fullmatch(view.text):
            return str(rule["means"])
    if key == "timezone":
        value = _zone(view.text) or value
    return value[:VALUE_LIMIT].rstrip(_EDGES)


def trimmed(key: str, typed: str, book: Rulebook) -> str:
    """The value as typed without heads and tails, however many; something is always left."""
    value = " ".join(_CONTROL.sub(" ", typed).split()).strip(_EDGES)
    for _ in range(4):
        view = view_of(value)
        if _keeps(key, view.text, book):
            break
        low = max(1, len(view.text) - _LONGEST_TAIL)
        heads = [rule.regex.match(view.text) for rule in _rules(book, "head", key)]
        tails = [rule.ending.search(view.text, low) for rule in _rules(book, "tail", key)]
        start = max((head.end() for head in heads if head), default=0)
        end = min((tail.start() for tail in tails if tail), default=len(view.text))
        shorter = view.slice(start, end).strip(_EDGES)
        if not shorter or shorter == value:
            break
        value = shorter
    return value


def _rules(book: Rulebook, does: str, key: str) -> list[Rule]:
    return [rule for rule in book.of("value", does) if rule["key"] in (None, key)]


def _keeps(key: str, text: str, book: Rulebook) -> bool:
    return any(rule.regex.fullmatch(text) for rule in _rules(book, "keeps", key))


def _zone(text: str) -> str:
    """The time zone as everybody writes it; empty where the text is none that can be recognised."""
    if offset := _OFFSET.fullmatch(text):
        sign, hours, minutes = offset.groups()[:3] if offset[2] else offset.groups()[3:]
        return f"UTC{sign or '+'}{int(hours):02}:{minutes or '00'}" if int(hours) <= _FARTHEST else ""
    if not _ZONE.fullmatch(text):
        return ""
    return re.sub(r"[a-z]+", lambda word: word[0] if word[0] in _SMALL_WORDS else word[0].title(), text)
