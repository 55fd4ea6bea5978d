"""Numbers that name a person or an account: payment cards, national ids, bank accounts.

A number counts when its check digits add up; a short or common form counts only where the words around it say
what it is, and none where they say that it is something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from lamina.policy.shapes import SOURCE, compiled

#: Rule, start, end.
Place = tuple[str, int, int]


def find_personal(view: str) -> Iterator[Place]:
    """Every such number in a plain view of a text. Never raises; takes linear time."""
    if _SOME_DIGITS.search(view) is None:
        return
    for run in _NUMBER.finditer(view):
        yield from _in_run(view, run)
    for hit in _CHINESE_ID.finditer(view):
        if is_chinese_id(_SEPARATORS.sub("", hit[0])):
            yield "chinese_resident_id", *hit.span()
    for hit in _IBAN.finditer(view):
        if (end := _iban_end(view, hit.start() - 2, hit.end())) is not None:
            yield "iban", hit.start() - 2, end
    for hit in _SSN.finditer(view):
        if _SSN_WORDS.search(_before(view, hit.start())):
            yield "us_ssn", *hit.span()
    for hit in _TAIWAN_ID.finditer(view):
        start = hit.start() - 1
        if is_taiwan_id(view[start : hit.end()].upper()) and _ID_WORDS.search(_before(view, start)):
            yield "taiwan_national_id", start, hit.end()


def is_card(digits: str) -> bool:
    """A length and a beginning that an issuer uses, and the Luhn check digit."""
    issued = any(
        len(digits) in lengths and low <= int(digits[: len(str(low))]) <= high
        for low, high, lengths in _ISSUERS
    )
    return issued and passes_luhn(digits)


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def is_thai_id(digits: str) -> bool:
    """Thirteen digits whose last is the mod-11 check digit; the first says what kind of person."""
    if len(digits) != 13 or digits[0] == "9":
        return False
    total = sum(int(digit) * (13 - place) for place, digit in enumerate(digits[:12]))
    return (11 - total % 11) % 10 == int(digits[12])


def is_chinese_id(text: str) -> bool:
    """Region, a date of birth, and the mod 11-2 check character (GB 11643)."""
    if len(text) != 18 or text[:2] not in _CHINESE_REGIONS:
        return False
    try:
        born = date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(text[:17]))
    return 1800 <= born.year <= 2035 and "10X98765432"[total % 11] == text[17].upper()


def is_taiwan_id(text: str) -> bool:
    """A letter for the county, a digit for the sex, and a mod-10 check digit."""
    letter = _TAIWAN_LETTERS.index(text[0]) + 10
    total = letter // 10 + letter % 10 * 9
    weights = (8, 7, 6, 5, 4, 3, 2, 1, 1)
    total += sum(int(digit) * weight for digit, weight in zip(text[1:], weights, strict=True))
    return total % 10 == 0


def is_iban(text: str) -> bool:
    """The length its country uses, and 1 when divided by 97 (ISO 13616)."""
    if len(text) != _IBAN_LENGTHS.get(text[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _in_run(view: str, run: re.Match[str]) -> Iterator[Place]:
    """Cards and Thai ids among the groups of digits of one run."""
    groups = [group.span() for group in _DIGITS.finditer(view, *run.span())]
    sizes = tuple(right - left for left, right in groups)
    at = 0
    while at < len(groups):
        taken = None
        for count in _groupings(sizes, at):
            start, end = groups[at][0], groups[at + count - 1][1]
            if (rule := _rule_of(view, start, _SEPARATORS.sub("", view[start:end]), count)) is not None:
                yield rule, start, end
                taken = count
                break
        at += taken or 1


def _groupings(sizes: tuple[int, ...], at: int) -> Iterator[int]:
    """How many groups from this one on make a grouping in which such numbers are written; longest first."""
    first = sizes[at]
    if at == 0 and first <= 2 and len(set(sizes)) == 1 and 13 <= len(sizes) * first <= 19:
        yield len(sizes)  # every digit or pair on its own
    for known in _GROUPINGS.get(first, ()):
        if sizes[at : at + len(known)] == known:
            yield len(known)
    if 13 <= first <= 19:
        yield 1


def _rule_of(view: str, start: int, digits: str, count: int) -> str | None:
    """What a number is, by its digits, the way it is written and the words before it."""
    if is_card(digits):
        doubtful = len(digits) < 15 or count > 5
        if _means(_before(view, start), _CARD_WORDS, _NOT_A_CARD, needed=doubtful):
            return "payment_card"
    if is_thai_id(digits):
        if count == len(_THAI_GROUPING):
            return "thai_national_id"
        # Thirteen digits in one piece are mostly milliseconds or a bar code.
        doubtful = count > 1 or digits[:2] in _MILLISECONDS or digits[0] in "0678" or _passes_ean(digits)
        if _means(_before(view, start), _ID_WORDS, _NOT_A_PERSON, needed=doubtful):
            return "thai_national_id"
    return None


def _means(before: str, words: re.Pattern[str], others: re.Pattern[str], *, needed: bool) -> bool:
    """What the words before a number make of it."""
    if others.search(before):
        return False
    return not needed or bool(words.search(before))


def _before(view: str, start: int) -> str:
    return view[max(0, start - _REACH) : start].rpartition("\n\n")[2].lower()


def _iban_end(view: str, start: int, end: int) -> int | None:
    """Where the account number ends: blanks inside it are allowed, and a word may follow it."""
    length = _IBAN_LENGTHS.get(view[start : start + 2].upper())
    if length is None:
        return None
    kept = [at for at in range(start, end) if view[at].isalnum()]
    if len(kept) < length:
        return None
    last = kept[length - 1] + 1
    if last < len(view) and view[last].isalnum() and view[last].isascii():
        return None
    number = "".join(view[at] for at in kept[:length]).upper()
    return last if is_iban(number) else None


def _passes_ean(digits: str) -> bool:
    return sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(digits)) % 10 == 0


#: How far before a number a word may stand that says what it is.
_REACH = 48

# Each pattern begins with a digit and looks back from there: the search then skips everything else.
_SOME_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9]){7}|[0-9]{2}(?: ?[A-Za-z0-9]{4}){2}")
_SEPARATORS = re.compile("[ -]")
_DIGITS = re.compile("[0-9]+")
# A run of digits in groups; not a part of a word, a decimal fraction or the path of an address.
_NUMBER = re.compile(
    r"[0-9](?<![\w/.+].)(?<![\w\s(,\[]-.)(?:[ -]{0,2}[0-9]){11,40}(?!\w|[.-][A-Za-z0-9])", re.ASCII
)
_CHINESE_ID = re.compile(
    r"[1-8](?<![0-9A-Za-z].)[0-9]{5}[ -]?(?:18|19|20)[0-9]{2}[ -]?[0-9]{4}[ -]?[0-9]{3}[0-9Xx](?![0-9A-Za-z])"
)
_IBAN = re.compile(
    r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9]...)[0-9](?:[ -]?[A-Za-z0-9]){11,38}", re.ASCII
)
_SSN = re.compile(
    r"[0-8](?<![\w-].)(?!00|(?<=6)66)[0-9]{2}([- ]?)(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![\w-])", re.ASCII
)
_TAIWAN_ID = re.compile(r"[1289](?<=[A-Za-z].)(?<![A-Za-z0-9]..)[0-9]{8}(?![A-Za-z0-9])")

_THAI_GROUPING = (1, 4, 5, 2, 1)
#: By the size of the first group.
_GROUPINGS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: (_THAI_GROUPING,),
    4: ((4, 4, 4, 4, 3), (4, 4, 4, 4, 2), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4)),
    6: ((6, 10), (6, 13)),
    8: ((8, 8),),
}
_MILLISECONDS = frozenset({"12", "13", "14", "15", "16", "17", "18", "19"})

# First digits from, to, and the lengths in use.
_LONG = frozenset(range(16, 20))
_ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({13, 16, 19})),
    (51, 55, frozenset({16})),
    (2221, 2720, frozenset({16})),
    (34, 34, frozenset({15})),
    (37, 37, frozenset({15})),
    (300, 305, frozenset({14, *_LONG})),
    (309, 309, frozenset({14, *_LONG})),
    (36, 36, frozenset({14, *_LONG})),
    (38, 39, frozenset({14, *_LONG})),
    (3528, 3589, _LONG),
    (6011, 6011, _LONG),
    (644, 659, _LONG),
    (62, 62, _LONG),
    (2200, 2204, _LONG),
    (5018, 5018, _LONG),
    (5020, 5020, _LONG),
    (5038, 5038, _LONG),
    (5893, 5893, _LONG),
    (6304, 6304, _LONG),
    (6759, 6763, _LONG),
    (508, 508, frozenset({16})),
    (60, 60, frozenset({16})),
    (81, 82, frozenset({16})),
    (9792, 9792, frozenset({16})),
)
_WORDS: dict[str, str] = SOURCE["personal"]
_CARD_WORDS = compiled(_WORDS["card_words"])
_NOT_A_CARD = compiled(
    rf"(?:{_WORDS['other_numbers']}|(?<![a-z])(?:[a-z]{{1,12}}_)?u?u?id(?![a-z])){_WORDS['filler']}"
)
_NOT_A_PERSON = compiled(rf"(?:{_WORDS['other_numbers']}){_WORDS['filler']}")
_ID_WORDS = compiled(_WORDS["id_words"])
_SSN_WORDS = compiled(_WORDS["ssn_words"])
_CHINESE_REGIONS = frozenset(_WORDS["chinese_regions"].split())
#: In the order of the values 10 to 35.
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
_IBAN_LENGTHS = {code[:2]: int(code[2:]) for code in _WORDS["iban_lengths"].split()}
