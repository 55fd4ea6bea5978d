"""Secrets and personal numbers in text: where they are, by which rule, and the text without them.

The rules are data (`data/*.toml`). This module applies them to the text and to the views of it in which a
secret may hide (`views.py`).
"""

from __future__ import annotations

import hmac
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from lamina.errors import Denied
from lamina.language.secrets import views
from lamina.language.secrets.pii import NUMBERS, find_personal
from lamina.language.secrets.shapes import Piece, Place, compiled, shape, source
from lamina.language.secrets.shapes_named import NAMES, find_named, matches_at, trimmed
from lamina.language.secrets.views import View
from lamina.records import dataclass

#: What stands in the place of a secret.
REDACTED = "(redacted)"
#: Longer texts are read anew each time.
_SHORT = 2000


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
    keywords: Sequence[str]
    pattern: str
    shape: str = "any"
    inside: bool = False  #: a keyword may stand anywhere in a match, not only where it begins


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


def _everywhere(text: str) -> Sequence[Place]:
    """The places in every view of the text; a message is asked about by several gates in a row."""
    return _lately(text) if len(text) <= _SHORT else _read(text)


@lru_cache(maxsize=16)
def _lately(text: str) -> tuple[Place, ...]:
    return tuple(_read(text))


def _read(text: str) -> list[Place]:
    plain = views.plain(text)
    found = _placed(plain, _scan(plain.text))
    if plain.grows:
        # Sentences are read in the plain view alone: the words that make a value harmless are known there.
        found += _tokens(text, _lowered(text))
    if plain.text != text and (tags := views.tagged(text)) is not None:
        found += _placed(tags, _scan(tags.text))
    if (bare := views.unescaped(plain)) is not None:
        found += _placed(bare, _scan(bare.text))
    if (close := views.closed_up(plain)) is not None:
        found += _placed(close, _scan(close.text))
    if (whole := views.joined(plain)) is not None:
        parts = (*_tokens(whole.text, _lowered(whole.text)), *find_personal(whole.text))
        found += [place for place in _placed(whole, parts) if _is_broken(text, *place)]
    starts = sorted(start for _, start, _ in found)
    for start, end, said in views.decoded(plain.text):
        left, right = plain.span(start, end)
        if bisect_left(starts, left) == bisect_left(starts, right):  # nothing was found in it as it stands
            found += [(rule, left, right) for rule, _, _ in _scan(views.plain(said).text)]
    return found


def _placed(view: View, found: Iterable[Place]) -> list[Place]:
    return [(rule, *view.span(start, end)) for rule, start, end in found]


def _scan(view: str) -> Iterator[Place]:
    lowered = _lowered(view)
    yield from find_personal(view)
    yield from _tokens(view, lowered)
    roots = _ASCII_ROOTS if view.isascii() else _ROOTS
    if any(map(lowered.__contains__, roots)):  # not in most texts
        for rule in _RULES:
            yield from _hits(rule, view, lowered)
        yield from find_named(view, lowered)


def _tokens(view: str, lowered: str) -> Iterator[Place]:
    """Tokens that say themselves what they are."""
    if any(_NOT_IN_A_WORD.search(run[0]) for run in _LONG_RUN.finditer(view)):
        for rule in _TOKENS:
            yield from _hits(rule, view, lowered)


def _is_broken(text: str, rule: str, start: int, end: int) -> bool:
    """A token over several lines, and not one with the first word of the next line or a column of numbers."""
    lines = text[start:end].split("\n")
    return (
        len(lines) > 1
        and (len(lines) == 2 or rule not in _PERSONAL)
        and all(len(line.strip()) >= _SHORTEST_PIECE for line in lines)
        and any(map(str.isdigit, lines[-1]))
    )


def _hits(rule: _Rule, view: str, lowered: str) -> Iterator[Place]:
    if rule.keywords and not any(map(lowered.__contains__, rule.keywords)):
        return
    pattern = compiled(rule.pattern)
    has_shape = shape(rule.shape)
    value = "value" if "value" in pattern.groupindex else 0
    anywhere = rule.inside or not rule.keywords
    for hit in pattern.finditer(view) if anywhere else matches_at(pattern, view, lowered, rule.keywords):
        start = hit.start(value)
        end = start + len(trimmed(hit[value]))
        if end > start and has_shape(Piece(view, start, end)):
            yield rule.name, start, end


def _lowered(view: str) -> str:
    """In lower case and of the same length: one capital has a small form of two characters."""
    return view.replace("\u0130", "I").lower()


_TOKENS = [_Rule(**rule) for rule in source("secrets")["token"]]
_RULES = [_Rule(**rule) for rule in source("secrets")["rule"]]
_PERSONAL = tuple(number.rule for number in NUMBERS)
_KEYWORDS = {word for section in (_RULES, NAMES) for rule in section for word in rule.keywords}
_ROOTS: list[str] = []  #: without those that hold another one: where that is not, they are not
for _one in sorted(_KEYWORDS, key=lambda word: (len(word), word)):
    if not any(root in _one for root in _ROOTS):
        _ROOTS.append(_one)
_ASCII_ROOTS = [root for root in _ROOTS if root.isascii()]
_LONG_RUN, _NOT_IN_A_WORD = compiled("[A-Za-z0-9_+/-]{16,}"), compiled("[A-Z0-9]")
_SHORTEST_PIECE, _SHORTEST_KEY, _FINGERPRINT = 4, 16, 24  #: characters; bytes; hexadecimal digits
_PRECEDENCE = (*(rule.name for rule in (*_TOKENS, *_RULES)), *_PERSONAL, *(name.rule for name in NAMES))
_ORDER = {rule: place for place, rule in enumerate(dict.fromkeys(_PRECEDENCE))}
