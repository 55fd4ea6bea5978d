"""Secrets and personal numbers in text: where they are, by which rule, and the text without them.

The rules are data (`data/secrets.toml`). This module applies them to the text and to the views of it in which
a secret may hide (`views.py`).
"""

from __future__ import annotations

import hmac
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from lamina.errors import Denied
from lamina.policy import views
from lamina.policy.pii import find_personal
from lamina.policy.shapes import SHAPES, SOURCE, compiled, has_digit
from lamina.policy.shapes_named import NAMES, find_named, matches_at, trimmed
from lamina.policy.views import View

#: What stands in the place of a secret.
REDACTED = "(redacted)"

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret at `text[start:end]`; holds no text, so that it may be traced."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that somebody has said are no secrets, by their fingerprints under a key.

    Keyed, because a plain hash of a short password gives the password away.
    """

    key: bytes
    fingerprints: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if len(self.key) < _SHORTEST_KEY:
            raise ValueError(f"a key of at least {_SHORTEST_KEY} bytes is needed")

    def fingerprint(self, text: str, finding: Finding) -> str:
        """The name by which the value that was found in the text can be allowed."""
        value = text[finding.start : finding.end].encode("utf-8", "surrogatepass")
        return hmac.digest(self.key, b"allowed\0" + value, "sha256").hex()[:_FINGERPRINT]


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    keywords: tuple[str, ...]
    pattern: str
    shape: str
    inside: bool  #: a keyword may stand anywhere in a match, not only where it begins


def find_secrets(text: str, allowed: Allowed | None = None) -> tuple[Finding, ...]:
    """Every secret by its place in the text, in order, without one inside another, and without the allowed.

    Never raises, and takes time linear in the text. Invisible characters, wide forms, look-alike letters,
    foreign digits, a line break in a token and one level of base64 or percent encoding do not hide it.
    """
    found = [Finding(rule, start, end) for rule, start, end in _everywhere(text)]
    found.sort(key=lambda hit: (hit.start, -hit.end, _ORDER[hit.rule]))
    outermost: list[Finding] = []
    for hit in found:
        if not outermost or hit.end > outermost[-1].end:
            outermost.append(hit)
    if allowed is not None and allowed.fingerprints:
        outermost = [hit for hit in outermost if allowed.fingerprint(text, hit) not in allowed.fingerprints]
    return tuple(outermost)


@lru_cache(maxsize=4096)
def check_name(name: str, numbers: bool = True) -> str:
    """A name that holds no secret, or Denied; a number like a card's may be what a platform calls a user."""
    if any(not numbers or hit.rule not in _PERSONAL for hit in find_secrets(name)):
        raise Denied("A name looks like a secret.", code="privacy_deny_sensitive", hint="Choose another.")
    return name


def redacted(text: str) -> str:
    """The text with `(redacted)` in the place of each secret. Never raises."""
    out: list[str] = []
    done = 0
    for hit in find_secrets(text):
        if hit.start >= done:
            out += (text[done : hit.start], REDACTED)
        done = hit.end
    return "".join((*out, text[done:]))


def _everywhere(text: str) -> list[Place]:
    """The places in every view of the text."""
    plain = views.plain(text)
    found = [(rule, *plain.span(start, end)) for rule, start, end in _scan(plain.text)]
    if plain.grows:
        # Sentences are read in the plain view alone: the words that make a value harmless are known there.
        found += _tokens(text, _lowered(text))
    if plain.text != text and (tags := views.tagged(text)) is not None:
        found += [(rule, *tags.span(start, end)) for rule, start, end in _scan(tags.text)]
    if (bare := views.unescaped(plain)) is not None:
        found += [(rule, *bare.span(start, end)) for rule, start, end in _scan(bare.text)]
    if (whole := views.joined(plain)) is not None:
        found += _across_lines(text, whole)
    starts = sorted(start for _, start, _ in found)
    for start, end, said in views.decoded(plain.text):
        left, right = plain.span(start, end)
        if bisect_left(starts, left) == bisect_left(starts, right):  # nothing was found in it as it stands
            found += [(rule, left, right) for rule, _, _ in _scan(views.plain(said).text)]
    return found


def _scan(view: str) -> Iterator[Place]:
    lowered = _lowered(view)
    yield from find_personal(view)
    yield from _tokens(view, lowered)
    roots = _ASCII_ROOTS if view.isascii() else _ROOTS
    if any(map(lowered.__contains__, roots)):  # not in most texts
        for rule in _RULES:
            if any(map(lowered.__contains__, rule.keywords)):
                yield from _hits(rule, view, lowered)
        yield from find_named(view, lowered)


def _tokens(view: str, lowered: str) -> Iterator[Place]:
    """Tokens that say themselves what they are."""
    if all(run[0].islower() and not has_digit(run[0]) for run in _LONG_RUN.finditer(view)):
        return  # no long run, or long words only
    for rule in _TOKENS:
        if not rule.keywords or any(map(lowered.__contains__, rule.keywords)):
            yield from _hits(rule, view, lowered)


def _across_lines(text: str, whole: View) -> Iterator[Place]:
    """Tokens and numbers that only a line break cut in two."""
    for rule, start, end in (*_tokens(whole.text, _lowered(whole.text)), *find_personal(whole.text)):
        left, right = whole.span(start, end)
        breaks = text.count("\n", left, right)
        many = breaks > 1 and rule in _PERSONAL  # a column of numbers
        if breaks and not many and _is_one_piece(text[left:right]):
            yield rule, left, right


def _is_one_piece(broken: str) -> bool:
    """A token over several lines, and not a token with the first word of the next line."""
    lines = broken.split("\n")
    return all(len(line.strip()) >= _SHORTEST_PIECE for line in lines) and any(map(str.isdigit, lines[-1]))


def _hits(rule: _Rule, view: str, lowered: str) -> Iterator[Place]:
    pattern = compiled(rule.pattern)
    has_shape = SHAPES[rule.shape]
    value = "value" if "value" in pattern.groupindex else 0
    if rule.keywords and not rule.inside:
        hits: Iterable[re.Match[str]] = matches_at(pattern, view, lowered, rule.keywords)
    else:
        hits = pattern.finditer(view)
    for hit in hits:
        start = hit.start(value)
        end = start + len(trimmed(hit[value]))
        if end > start and has_shape(view, start, end):
            yield rule.name, start, end


def _lowered(view: str) -> str:
    """In lower case and of the same length: one capital has a small form of two characters."""
    return (view.replace("\u0130", "I") if "\u0130" in view else view).lower()


def _rules(section: str) -> tuple[_Rule, ...]:
    rules = []
    for rule in SOURCE[section]:
        pattern: str = rule["pattern"]
        for name, part in SOURCE["parts"].items():
            pattern = pattern.replace(f"@{name}@", part)
        shape, inside = rule.get("shape", "any"), rule.get("inside", False)
        rules.append(_Rule(rule["name"], tuple(rule["keywords"]), pattern, shape, inside))
    return tuple(rules)


def _roots(keywords: Iterable[str]) -> tuple[str, ...]:
    """Without those that hold another one: where that is not, they are not."""
    every = dict.fromkeys(keywords)
    return tuple(one for one in every if not any(other in one for other in every if other != one))


_TOKENS = _rules("token")
_RULES = _rules("rule")
_ROOTS = _roots(
    [keyword for rule in _RULES for keyword in rule.keywords]
    + [keyword for name in NAMES for keyword in name.keywords]
)
_ASCII_ROOTS = tuple(root for root in _ROOTS if root.isascii())
_LONG_RUN = compiled(r"[A-Za-z0-9_+/-]{16,}")
_SHORTEST_PIECE = 4
_SHORTEST_KEY, _FINGERPRINT = 16, 24  #: bytes; hexadecimal digits
_PERSONAL = (
    "payment_card", "thai_national_id", "chinese_resident_id", "taiwan_national_id", "iban", "us_ssn",
)
_ORDER = {
    rule: place
    for place, rule in enumerate(
        dict.fromkeys(
            (*(rule.name for rule in (*_TOKENS, *_RULES)), *_PERSONAL, *(name.rule for name in NAMES))
        )
    )
}
