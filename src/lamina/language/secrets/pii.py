"""Numbers that name a person or an account: payment cards, national ids, bank accounts.

A number counts when its check digits add up; a short or common form counts only where the words before it say
what it is, and none where they say that it is something else. The forms and the words are data
(`data/numbers.toml`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from lamina.language.secrets.shapes import Place, compiled, source
from lamina.late import regex
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


CHECKS: dict[str, Callable[[str], bool]] = {
    "none": bool,
    "luhn": passes_luhn,
    "thai": _is_thai,
    "thai_and_no_bar_code": lambda digits: _is_thai(digits) and not _is_bar_code(digits),
    "chinese": _is_chinese,
    "taiwan": _is_taiwan,
    "iban": _is_iban,
}
NUMBERS = [_Number(**number) for number in source("numbers")["number"]]
_REACH = 48  #: how far before a number a word may stand that says what it is
# Where enough digits begin; looks back from the first one, because the search then skips all else.
_START = regex(r"[0-9](?<![0-9].)(?=(?:[ -]{0,2}[0-9]){8}|[0-9](?:[ -]?[A-Za-z0-9]){11})")
_SEPARATORS = regex("[ -]")
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"  #: in the order of the values 10 to 35
