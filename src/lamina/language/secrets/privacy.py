"""Secrets and personal numbers in text: where they are, by which rule, and the text without them.

The rules are data (`data/*.toml`). This module applies them to the text and to the views of it in which a
secret may hide (`views.py`).
"""

from __future__ import annotations

import hmac
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache

from lamina.errors import Denied
from lamina.language.secrets import views
from lamina.language.secrets.shapes import (
    NAMES,
    Piece,
    Place,
    compiled,
    find_named,
    matches_at,
    shape,
    source,
    trimmed,
)
from lamina.language.secrets.views import SecretView
from lamina.late import kept, regex
from lamina.records import dataclass


@dataclass(frozen=True, slots=True)
class _Number:
    rule: str
    patterns: list[str]
    letters: int = 0
    digits: str = ".+"
    check: str = "none"
    needs: str = ""
    unless: str = "(?!)"


def find_personal(view: str) -> Iterator[Place]:
    """Every such number in a plain view of a text. Never raises; takes linear time."""
    starts = [digits.start() for digits in _START.finditer(view)]
    for number in NUMBERS:
        done = 0
        for at in starts:
            start = at - number.letters
            if start >= done and (end := _end_of(number, view, start)) is not None:
                yield number.rule, start, end
                done = end


def _end_of(number: _Number, view: str, start: int) -> int | None:
    """Where the number ends that begins here; None if there is none."""
    for pattern in number.patterns:
        if (hit := compiled(pattern).match(view, start)) is not None:
            bare = _SEPARATORS.sub("", hit[0]).upper()
            if not (compiled(number.digits).fullmatch(bare) and CHECKS[number.check](bare)):
                continue
            before = view[max(0, start - _REACH) : start].rpartition("\n\n")[2].lower()
            if compiled(number.needs).search(before) and not compiled(number.unless).search(before):
                return hit.end()
    return None


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _is_thai(digits: str) -> bool:
    """Thirteen digits whose last is the mod-11 check digit."""
    total = sum(int(digit) * (13 - place) for place, digit in enumerate(digits[:12]))
    return (11 - total % 11) % 10 == int(digits[12])


def _is_bar_code(digits: str) -> bool:
    return sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(digits)) % 10 == 0


def _is_chinese(text: str) -> bool:
    """Region, a date of birth, and the mod 11-2 check character (GB 11643)."""
    try:
        date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17]


def _is_taiwan(text: str) -> bool:
    """A letter for the county, a digit for the sex, and a mod-10 check digit."""
    letter = _TAIWAN_LETTERS.index(text[0]) + 10
    weights = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
    digits = zip(f"{letter}{text[1:]}", weights, strict=True)
    return sum(int(digit) * weight for digit, weight in digits) % 10 == 0


def _is_iban(text: str) -> bool:
    """1 when divided by 97 (ISO 13616)."""
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _is_spanish(text: str) -> bool:
    """Eight digits, or X, Y or Z for the first of them, and the letter that 23 leaves."""
    digits = str("XYZ".find(text[0])) + text[1:-1] if text[0] in "XYZ" else text[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == text[-1]


def _is_german(digits: str) -> bool:
    """Eleven digits, the last of them by ISO 7064 (mod 11, 10)."""
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def _is_french(text: str) -> bool:
    """Thirteen digits and what is left of 97; Corsica's letters stand for 19 and 18."""
    digits = text.replace("2A", "19").replace("2B", "18")
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


CHECKS: dict[str, Callable[[str], bool]] = {
    "none": bool,
    "luhn": passes_luhn,
    "thai": _is_thai,
    "thai_and_no_bar_code": lambda digits: _is_thai(digits) and not _is_bar_code(digits),
    "chinese": _is_chinese,
    "taiwan": _is_taiwan,
    "iban": _is_iban,
    "spanish": _is_spanish,
    "german": _is_german,
    "french": _is_french,
}
NUMBERS = [_Number(**number) for number in source("numbers")["number"]]
_REACH = 48  #: how far before a number a word may stand that says what it is
# Where enough digits begin; looks back from the first one, because the search then skips all else.
_START = regex(r"[0-9](?<![0-9].)(?=(?:[ -]{0,2}[0-9]){7}[ -]?[0-9A-Za-z]|[0-9](?:[ -]?[A-Za-z0-9]){11})")
_SEPARATORS = regex("[ -]")
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"  #: in the order of the values 10 to 35


#: What stands in the place of a secret.
REDACTED = "(redacted)"
#: Of longer texts only the last is kept.
_SHORT = 2000


@dataclass(frozen=True, slots=True)
class SecretFinding:
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

    def fingerprint(self, text: str, finding: SecretFinding) -> str:
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


def find_secrets(text: str, allowed: Allowed | None = None) -> tuple[SecretFinding, ...]:
    """Every secret by its place in the text, in order, without one inside another, and without the allowed.

    Never raises, and takes time linear in the text. Invisible characters, wide forms, look-alike letters,
    foreign digits, a line break in a token and one level of base64 or percent encoding do not hide it.
    """
    found = [SecretFinding(rule, start, end) for rule, start, end in _everywhere(text)]
    found.sort(key=lambda hit: (hit.start, -hit.end, _ORDER[hit.rule]))
    outermost: list[SecretFinding] = []
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
        raise Denied(
            "A name looks like a secret.", code="privacy_deny_sensitive", hint="Choose another name."
        )
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
    return _lately(text) if len(text) <= _SHORT else _at_length(text)


@lru_cache(maxsize=16)
def _lately(text: str) -> tuple[Place, ...]:
    return tuple(_read(text))


_at_length = lru_cache(maxsize=1)(_lately.__wrapped__)


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


def _placed(view: SecretView, found: Iterable[Place]) -> list[Place]:
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
    for rule in _ENTERED if compiled("[0-9]").search(view) else ():
        yield from _hits(rule, view, lowered)


def _tokens(view: str, lowered: str) -> Iterator[Place]:
    """Tokens that say themselves what they are."""
    runs = compiled("[A-Za-z0-9_+/-]{16,}").finditer(view)
    for rule in _TOKENS if any(compiled("[A-Z0-9]").search(run[0]) for run in runs) else ():
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
_RULES, _ENTERED = ([_Rule(**rule) for rule in source("secrets")[kind]] for kind in ("rule", "entered"))
_PERSONAL = tuple(number.rule for number in NUMBERS)
_KEYWORDS = {word for section in (_RULES, NAMES) for rule in section for word in rule.keywords}


def _without_longer(words: Sequence[str]) -> list[str]:
    """Without those that hold another one: where that is not, they are not."""
    roots: list[str] = []
    for word in sorted(words, key=len):
        if not any(root in word for root in roots):
            roots.append(word)
    return roots


_WORDS = sorted(_KEYWORDS)
_ROOTS: list[str] = kept(f"roots of {' '.join(_WORDS)}", lambda: _without_longer(_WORDS))
_ASCII_ROOTS = [root for root in _ROOTS if root.isascii()]
_SHORTEST_PIECE, _SHORTEST_KEY, _FINGERPRINT = 4, 16, 24  #: characters; bytes; hexadecimal digits
_PRECEDENCE = (*(rule.name for rule in (*_TOKENS, *_RULES)), *_PERSONAL, *(name.rule for name in NAMES))
_ORDER = {rule: place for place, rule in enumerate(dict.fromkeys(_PRECEDENCE))}
