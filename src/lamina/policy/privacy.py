"""Secrets in text: where they are, by which rule, and the text without them.

The rules are data (`data/secrets.toml`). This module reads them, applies them to the text and to a plain view
of it, and judges whether a value somebody names as a secret has the shape of one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from lamina.text.normal import visible

#: What stands in the place of a secret.
REDACTED = "(redacted)"


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret at `text[start:end]`; holds no text, so that it may be traced."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    keywords: tuple[str, ...]
    pattern: str
    shape: str


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Every secret by its place in the text, in order, without one inside another.

    Never raises, and takes time linear in the text. Invisible characters, wide forms and foreign digits in a
    secret do not hide it.
    """
    found = list(_scan(text))
    if not text.isascii():
        view, origin = _plain_view(text)
        if view != text:
            found += [
                Finding(hit.rule, origin[hit.start], origin[hit.end - 1] + 1) for hit in _scan(view)
            ]
    found.sort(key=lambda hit: (hit.start, -hit.end, _ORDER[hit.rule]))
    outermost: list[Finding] = []
    for hit in found:
        if not outermost or hit.end > outermost[-1].end:
            outermost.append(hit)
    return tuple(outermost)


def redacted(text: str) -> str:
    """The text with `(redacted)` in the place of each secret. Never raises."""
    out: list[str] = []
    done = 0
    for hit in find_secrets(text):
        if hit.start >= done:
            out += (text[done : hit.start], REDACTED)
        done = hit.end
    return "".join((*out, text[done:]))


def _scan(view: str) -> Iterator[Finding]:
    lowered = view.lower()
    if not any(map(lowered.__contains__, _KEYWORDS)):
        return  # nearly every text: not worth asking each rule
    for rule in _RULES:
        if any(keyword in lowered for keyword in rule.keywords):
            yield from _hits(rule, view)


def _hits(rule: _Rule, view: str) -> Iterator[Finding]:
    pattern = _compiled(rule.pattern)
    has_shape = _SHAPES[rule.shape]
    value = "value" if "value" in pattern.groupindex else 0
    hit = pattern.search(view)
    while hit:
        start = hit.start(value)
        end = start + len(hit[value].rstrip(_TRAILING))
        if end > start and has_shape(view, start, end):
            yield Finding(rule.name, start, end)
            hit = pattern.search(view, hit.end())
        else:
            # What looked like a value may itself be the name of the next one.
            hit = pattern.search(view, hit.start() + 1)


def _plain_view(text: str) -> tuple[str, list[int]]:
    """The text one character at a time in its search view, and where each character of that came from."""
    parts: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        plain = char if char.isascii() else _plain_char(char)
        parts.append(plain)
        origin += [at] * len(plain)
    return "".join(parts), origin


_plain_char = lru_cache(maxsize=8192)(visible)

# Punctuation of the sentence, not of the secret.
_TRAILING = ".,;:)]}*"

_CLAUSE_END = re.compile(r"[\"'`”’」』*)]{0,2}(?:[.!;,]?\s*(?:\n|$)|[，。；！]|\s?(?:ครับ|ค่ะ|นะ))")
_SAID = (":", "=", "คือ", "是", "为")
_SOMEBODYS = re.compile(
    r"(?i:\b(?:my|our|his|her|their|wi-?fi|router|admin|root)|'s)\s+\S+(?:\s+\S+){0,8}\s+$", re.ASCII
)
_QUOTES = "\"'`“‘「『"
_SYMBOLS = frozenset("!@#$%^&*+=?~|")
_ADJECTIVE = re.compile(r"\w+(?:ed|ing|able|ible|ive|ous|ful|less|ly|ary|ory|est)")

# Shortest values that are taken for a secret, by what they are made of.
_MIXED_TOKEN, _LONG_TOKEN = 6, 16
_MIXED_PASSWORD, _SYMBOL_PASSWORD, _WORD_PASSWORD, _HYPHENATED_WORDS = 4, 5, 5, 4


def _is_any(_view: str, start: int, end: int) -> bool:
    return end > start


def _is_random(view: str, start: int, end: int) -> bool:
    """Digits, or upper and lower case mixed: not a name that somebody chose."""
    value = view[start:end]
    return _has_digit(value) or not (value.islower() or value.isupper())


def _is_url_password(view: str, start: int, end: int) -> bool:
    return not _PLACEHOLDER.fullmatch(view, start, end)


def _is_token(view: str, start: int, end: int) -> bool:
    value = view[start:end]
    if _is_something_else(view, start, end):
        return False
    if _has_digit(value) and _has_letter(value):
        return len(value) >= _MIXED_TOKEN
    return len(value) >= _LONG_TOKEN and not (value.islower() or value.isupper() or value.istitle())


def _is_pin(view: str, start: int, end: int) -> bool:
    return end > start and not _UNIT.match(view, end)


def _is_mixed(view: str, start: int, end: int) -> bool:
    """Letters with digits or symbols among them, as in no word."""
    value = view[start:end].rstrip("!?")
    if _is_something_else(view, start, end) or not _has_letter(value):
        return False
    if _has_digit(value):
        return len(value) >= _MIXED_PASSWORD
    return len(value) >= _SYMBOL_PASSWORD and not _SYMBOLS.isdisjoint(value)


def _is_password(view: str, start: int, end: int) -> bool:
    value = view[start:end]
    if _is_something_else(view, start, end):
        return False
    if value.isdigit():
        return not _UNIT.match(view, end)
    if not _has_letter(value):
        return _has_digit(value) and not _SYMBOLS.isdisjoint(value)
    return _is_mixed(view, start, end) or _is_secret_word(view, start, end)


def _is_secret_word(view: str, start: int, end: int) -> bool:
    """A password of letters only: told from an ordinary word by quotes, or by ending the sentence alone."""
    value = view[start:end].rstrip("!?").casefold()
    pieces = value.split("-")
    if len(pieces) > 1:
        return len(pieces) >= _HYPHENATED_WORDS and _FUNCTION_WORDS.isdisjoint(pieces)
    if not value.isalpha() or len(value) < _WORD_PASSWORD:
        return False
    if value in _ORDINARY or _ADJECTIVE.fullmatch(value):
        return False
    before = view[max(0, start - 120) : start].rpartition("\n")[2]
    if before.endswith(tuple(_QUOTES)):
        return True
    if not _CLAUSE_END.match(view, end):
        return False
    return before.rstrip().endswith(_SAID) or bool(_SOMEBODYS.search(before))


def _is_phrase(view: str, start: int, end: int) -> bool:
    return _FUNCTION_WORDS.isdisjoint(re.split(r"[ ,]+", view[start:end].casefold()))


def _is_something_else(view: str, start: int, end: int) -> bool:
    return bool(_PLACEHOLDER.fullmatch(view, start, end) or _OTHER.fullmatch(view, start, end))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _has_letter(value: str) -> bool:
    return any(map(str.isalpha, value))


_SHAPES: dict[str, Callable[[str, int, int], bool]] = {
    "any": _is_any,
    "random": _is_random,
    "url": _is_url_password,
    "token": _is_token,
    "pin": _is_pin,
    "password": _is_password,
    "mixed": _is_mixed,
    "phrase": _is_phrase,
}


def _rules(source: dict[str, Any]) -> tuple[_Rule, ...]:
    rules = []
    for rule in source["rule"]:
        pattern: str = rule["pattern"]
        for name, part in source["parts"].items():
            pattern = pattern.replace(f"@{name}@", part)
        rules.append(_Rule(rule["name"], tuple(rule["keywords"]), pattern, rule.get("shape", "any")))
    return tuple(rules)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most texts need none of the rules."""
    return re.compile(pattern, re.ASCII)


_SOURCE = tomllib.loads(files("lamina.policy").joinpath("data/secrets.toml").read_text(encoding="utf-8"))
_VALUES = _SOURCE["values"]
_PLACEHOLDER = _compiled("|".join(_VALUES["placeholders"]))
_OTHER = _compiled("|".join(_VALUES["others"]))
_UNIT = _compiled(_VALUES["units"])
_ORDINARY = frozenset(_VALUES["ordinary"].split())
_FUNCTION_WORDS = frozenset(_VALUES["function_words"].split())
_RULES = _rules(_SOURCE)
_KEYWORDS = tuple(dict.fromkeys(keyword for rule in _RULES for keyword in rule.keywords))
_ORDER = {rule.name: place for place, rule in enumerate(_RULES)}
