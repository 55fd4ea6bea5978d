"""Whether a piece of text has the shape of a secret, or of something that only stands in its place.

A shape is asked about `view[start:end]` and may look at what stands around it. The words it knows are data
(`data/secrets.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

Shape = Callable[[str, int, int], bool]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most texts need none of the rules."""
    return re.compile(pattern, re.ASCII)


SOURCE: dict[str, Any] = tomllib.loads(
    files("lamina.policy").joinpath("data/secrets.toml").read_text(encoding="utf-8")
)


def is_any(_view: str, start: int, end: int) -> bool:
    """Nothing more to ask: the pattern said it all."""
    return end > start


def is_known(view: str, start: int, end: int) -> bool:
    """A token with a vendor's mark, and not the one in the vendor's manual."""
    return not _SHOWN_IN_A_MANUAL.search(view, start, end) and len(set(view[start:end][-20:])) > _FEW_SIGNS


def is_random(view: str, start: int, end: int) -> bool:
    """Digits, or upper and lower case mixed: not a name that somebody chose."""
    value = view[start:end]
    return is_known(view, start, end) and (has_digit(value) or not (value.islower() or value.isupper()))


def is_dense(view: str, start: int, end: int) -> bool:
    """A long piece with digits in it that is no chain of words, as a name with hyphens is."""
    return is_random(view, start, end) and any(
        len(piece) >= (_DENSE_PIECE if has_digit(piece) and has_letter(piece) else _LONG_TOKEN * 2)
        for piece in re.split("[-_.]", view[start:end])
    )


def is_three_classes(view: str, start: int, end: int) -> bool:
    """Upper case, lower case and several digits, as no identifier has them."""
    value = view[start:end]
    value = value[-24:]
    digits = sum(map(str.isdigit, value))
    return (
        is_known(view, start, end)
        and 2 <= digits < len(value)
        and not value.islower()
        and not value.isupper()
        and changes(value) >= _MANY_CHANGES
    )


def is_key_block(view: str, start: int, end: int) -> bool:
    """A private key with something in it: the bare first line stands in many manuals."""
    body = view[start:end].replace("\\n", "\n").partition("KEY")[2]
    return bool(_KEY_BODY.search(body))


def is_url_password(view: str, start: int, end: int) -> bool:
    """A password in an address or after a user's name; not the name again, as manuals have it."""
    value = view[start:end]
    user = _BEFORE_COLON.search(view, max(0, start - 80), start)
    if is_placeholder(view, start, end) or (user and user[1] == value):
        return False
    return is_strong(view, start, end) or (len(value) >= _SHORT_NUMBER and not _EXAMPLE_HOST.match(view, end))


def is_option(view: str, start: int, end: int) -> bool:
    """What a command takes as a password: anything but a placeholder or another option."""
    return not is_placeholder(view, start, end) and not view[start:end].startswith(("-", "/", "\\"))


def is_token(view: str, start: int, end: int) -> bool:
    """Letters and digits in one piece, or a long piece in mixed case."""
    value = view[start:end]
    if has_digit(value) and has_letter(value):
        if len(value) < _MIXED_TOKEN:
            return False
    elif len(value) < _LONG_TOKEN or value.islower() or value.isupper() or _NAME.fullmatch(value):
        return False
    if not _TOKEN.fullmatch(value) or is_slug(value):
        return False
    return not _SHOWN_IN_A_MANUAL.search(value) and not is_something_else(view, start, end)


def is_long_random(view: str, start: int, end: int) -> bool:
    """What nobody would write but a machine: for names that mean many things, like `key`."""
    value = view[start:end]
    return (
        len(value) >= _LONG_TOKEN
        and is_token(view, start, end)
        and any(len(run) >= _LONG_TOKEN and changes(run) >= _MANY_CHANGES for run in _SEPARATOR.split(value))
    )


def is_pin(view: str, start: int, end: int) -> bool:
    """A number that counts nothing."""
    return end > start and not _UNIT.match(view, end)


def is_mixed(view: str, start: int, end: int) -> bool:
    """Letters with digits or symbols among them, as in no word."""
    value = view[start:end].rstrip("!?")
    if not has_letter(value):
        return False
    if has_digit(value):
        return len(value) >= _MIXED_PASSWORD and not is_something_else(view, start, end)
    if len(value) < _SYMBOL_PASSWORD or _SYMBOLS.isdisjoint(value.strip("*_+=")):
        return False
    return not is_something_else(view, start, end)


def is_strong(view: str, start: int, end: int) -> bool:
    """So mixed that it is a secret even where the sentence around it is not clear."""
    value = view[start:end]
    if not is_mixed(view, start, end) or not has_digit(value) or not _SOLID.fullmatch(value):
        return False
    if is_slug(value) or _HEX.fullmatch(value):
        return False
    if len(value) >= _STRONG_WITH_SYMBOL and not _SYMBOLS.isdisjoint(value):
        return True
    return len(value) >= _STRONG and not value.islower() and not value.isupper()


def is_chosen(view: str, start: int, end: int) -> bool:
    """After an account's name and a stroke: strong, or mixed and set off by blanks; not a path."""
    if "/" in view[start:end]:
        return False
    if view[start - 1] == " " and view[start - 2] in "/|":
        return is_mixed(view, start, end) and not is_slug(view[start:end])
    return is_strong(view, start, end)


def is_password(view: str, start: int, end: int) -> bool:
    """What stands after a clear "the password is": mixed, a number, or a word outside of the sentence."""
    value = view[start:end]
    if is_something_else(view, start, end):
        return value.isdigit() and not _UNIT.match(view, end) and len(value) >= _SHORT_NUMBER
    if not has_letter(value):
        return has_digit(value) and not _SYMBOLS.isdisjoint(value)
    return is_mixed(view, start, end) or is_secret_word(view, start, end)


def is_quoted(view: str, start: int, end: int) -> bool:
    """What stands between quotes where a password goes: nearly anything that is not a label."""
    value = view[start:end]
    if is_placeholder(view, start, end) or not value.strip():
        return False
    if " " in value.strip():
        return is_passphrase(view, start, end)
    if value.isdigit():
        return len(value) >= _SHORT_NUMBER
    if not value.isascii():
        return is_own(view, start, end) or (len(value) <= _LONG_TOKEN and ends_in_digits(value))
    if is_something_else(view, start, end):
        return False
    if not has_letter(value):
        return has_digit(value) and not _SYMBOLS.isdisjoint(value)
    return is_mixed(view, start, end) or is_uncommon_word(value)


def is_secret_word(view: str, start: int, end: int) -> bool:
    """A password of letters only: told from an ordinary word by quotes, or by ending the sentence alone."""
    value = view[start:end].rstrip("!?")
    if not is_uncommon_word(value) or is_placeholder(view, start, end):
        return False
    before = view[max(0, start - 120) : start].rpartition("\n")[2]
    if before.endswith(tuple(_QUOTES)):
        return True
    if not _CLAUSE_END.match(view, end):
        return False
    return before.rstrip().endswith(_SAID) or bool(_SOMEBODYS.search(before))


def is_passphrase(view: str, start: int, end: int) -> bool:
    """Some words in a row that hold no sentence and are no label of a form."""
    value = view[start:end].strip()
    words = [word.casefold() for word in re.split(r"[ ,]+", value)]
    if not 2 <= len(words) <= _MOST_WORDS or not all(_WORD.fullmatch(word) for word in words):
        return False
    if not FUNCTION_WORDS.isdisjoint(words) or not _LABEL_WORDS.isdisjoint(words):
        return False
    if not value.isascii() and _OWN_FUNCTION.search(value):
        return False
    if sum(map(_is_plain_word, words)) * 2 >= len(words):
        return False
    return len(words) > 2 or has_digit(value) or value.islower()


def has_plain_word(view: str, start: int, end: int) -> bool:
    """Whether one of the words is common in sentences about passwords."""
    return any(_is_plain_word(word) for word in re.split(r"[ ,]+", view[start:end].casefold()))


def is_seed(view: str, start: int, end: int) -> bool:
    """Twelve or more short words in a row, none of them a word that only sentences have."""
    words = [word for word in _SEED_GAP.split(view[start:end].casefold()) if word]
    return (
        len(words) in _SEED_LENGTHS
        and all(_SEED_WORD.fullmatch(word) for word in words)
        and _NEVER_IN_A_SEED.isdisjoint(words)
    )


def is_own(view: str, start: int, end: int) -> bool:
    """A password in Thai, Chinese or another alphabet: a few characters that make no statement."""
    value = view[start:end]
    letters = value.rstrip("0123456789!@#$%^&*_.-")
    if not has_letter(letters) or len(value) > _OWN_LONGEST or _UNIT.match(view, end):
        return False
    return not _OWN_FUNCTION.search(letters) and not is_placeholder(view, start, end)


def ends_in_digits(value: str) -> bool:
    """Two digits or more at the end of letters, as people add them to a word."""
    return bool(_DIGITS_LAST.search(value))


def is_something_else(view: str, start: int, end: int) -> bool:
    """A placeholder, code, an address, a quantity, a version, the name of a method."""
    return is_placeholder(view, start, end) or bool(_OTHER.fullmatch(view, start, end))


def is_placeholder(view: str, start: int, end: int) -> bool:
    """Something that shows where a secret goes."""
    return bool(_PLACEHOLDER.fullmatch(view, start, end))


def is_slug(value: str) -> bool:
    """Words and version numbers with hyphens, as things are named: `us-east-1`, `my-app-v2`.

    A number of three digits or a capital makes it a chosen password instead.
    """
    return bool(_SLUG.fullmatch(value))


def is_hexadecimal(value: str) -> bool:
    return bool(_HEX.fullmatch(value))


def has_digit(value: str) -> bool:
    return _ANY_DIGIT.search(value) is not None


def has_letter(value: str) -> bool:
    return _ANY_LETTER.search(value) is not None


def changes(value: str) -> int:
    """How often a letter follows a digit, or small follows large, or the other way round."""
    kinds = [0 if char.isdigit() else 1 if char.islower() else 2 for char in value if char.isalnum()]
    return sum(left != right for left, right in pairwise(kinds))


def is_uncommon_word(value: str) -> bool:
    """Letters that are no word of a sentence about passwords."""
    pieces = value.casefold().split("-")
    if len(pieces) > 1:
        chain = len(pieces) >= _HYPHENATED_WORDS and all(map(str.isalpha, pieces))
        return chain and FUNCTION_WORDS.isdisjoint(pieces)
    if not value.isalpha() or len(value) < _WORD_PASSWORD:
        return False
    return not _is_plain_word(pieces[0])


def _is_plain_word(word: str) -> bool:
    return word in _ORDINARY or _ADJECTIVE.fullmatch(word) is not None


SHAPES: dict[str, Shape] = {
    "any": is_any,
    "known": is_known,
    "random": is_random,
    "dense": is_dense,
    "three_classes": is_three_classes,
    "key_block": is_key_block,
    "url": is_url_password,
    "option": is_option,
    "quoted": is_quoted,
    "token": is_token,
    "password": is_password,
    "mixed": is_mixed,
    "chosen": is_chosen,
}

# Shortest values that are taken for a secret, by what they are made of.
_MIXED_TOKEN, _LONG_TOKEN, _DENSE_PIECE = 6, 16, 12
_MIXED_PASSWORD, _SYMBOL_PASSWORD, _WORD_PASSWORD, _HYPHENATED_WORDS, _SHORT_NUMBER = 4, 5, 5, 4, 3
_STRONG, _STRONG_WITH_SYMBOL = 8, 6
_FEW_SIGNS, _MANY_CHANGES = 4, 4
_MOST_WORDS, _OWN_LONGEST = 8, 24
_SEED_LENGTHS = frozenset(range(11, 26))

_VALUES = SOURCE["values"]
_PLACEHOLDER = compiled("|".join(_VALUES["placeholders"]))
_OTHER = compiled("|".join(_VALUES["others"]))
_UNIT = compiled(_VALUES["units"])
_ORDINARY = frozenset(_VALUES["ordinary"].split())
FUNCTION_WORDS = frozenset(_VALUES["function_words"].split())
_LABEL_WORDS = frozenset(_VALUES["label_words"].split())
_NEVER_IN_A_SEED = frozenset(_VALUES["never_in_a_seed"].split())
_OWN_FUNCTION = compiled(_VALUES["own_function"])

_SHOWN_IN_A_MANUAL = re.compile(
    r"(?i)example|sample|dummy|placeholder|redacted|(?<![a-z0-9])(?:your|fake|foo)(?![a-z0-9])|your[-_]"
    r"|x{5}|\.{3}|0{10}|1234567890|abcdefgh|[*•]{3}"
)
_CLAUSE_END = re.compile(
    r"[\"'`”’」』*)]{0,2}(?:[.!;,]?\s*(?:\n|$)|[，。；！]|\s?(?:ครับ|ค่ะ|คะ|นะ)|\s*(?:#|//)\s)"
)
_SAID = (":", "=", "คือ", "是", "为", "成", "เป็น", ">")
_SOMEBODYS = re.compile(
    r"(?i:\b(?:my|our|his|her|their|wi-?fi|router|admin|root|guest|login)|'s)\s+\S+(?:\s+\S+){0,8}\s+$",
    re.ASCII,
)
_QUOTES = "\"'`“‘「『"
_SYMBOLS = frozenset("!@#$%^&*+=?~|")
_ADJECTIVE = re.compile(
    r"\w{2,}(?:ed|ing|able|ible|ive|ous|ful|less|ary|ory|est"
    r"|(?:al|ent|ant|ous|ab|ib|ct|re|er|ive|ear|ek|th|te|se|on)ly)"
)
_BEFORE_COLON = re.compile(r"(?://|\s|[\"'])([^\s:@/\"']{1,64}):$")
_EXAMPLE_HOST = re.compile(r"@(?:[\w-]+\.){0,3}example\.(?:com|org|net)")
# A path or a formula has separators between short pieces; base64 has a long piece at least.
_TOKEN = re.compile(r"[\w~+=:.@!#$%^&*|-]+|(?=.{0,255}[\w+=-]{12})[\w~+/=:.@!#$%^&*|-]+", re.ASCII)
_SEPARATOR = re.compile(r"[-_./:]")
_NAME = re.compile(r"(?!.*[A-Z]{2})[A-Za-z][A-Za-z_.-]*|[A-Z]{2,}[a-z]+(?:[A-Z][a-z]+)*")
_SLUG = re.compile(r"(?:[a-z]{2,}|k8s|s3|ec2)(?:[-_./](?:[a-z]+|[vxsr]?\d{1,2}))+")
_ANY_DIGIT = re.compile("[0-9]")
_ANY_LETTER = re.compile(r"[^\W\d_]")
_SOLID = re.compile("[!-~]+")
_HEX = re.compile(r"(?i:(?:0x)?[0-9a-f]{7,})")
_WORD = re.compile(r"[^\W_][\w'-]{1,19}")
_SEED_GAP = re.compile(r"(?:[\s,、]|\d{1,2}[.)])+")
_SEED_WORD = re.compile(r"[a-z]{3,8}|[\u4e00-\u9fff]")
_DIGITS_LAST = re.compile(r"[^\W\d_]\W?\d{2,8}[!@#$]?$")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}")
