"""One statement in the clothes it may come in: escaped, tagged, encoded, threaded with signs, in numerals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

from lamina.language.secrets.views import decoded, one_spelling
from lamina.late import late, regex

with late():
    import base64
    import html
    import quopri
    import zlib

_LONGEST = 20_000  #: characters that are looked at
_TAG = regex(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,200}?-->")
_ESCAPED = regex(r"\\+u([0-9A-Fa-f]{4})")
#: What has neither a run as long as a code nor a sign of an escape nor a row of numbers holds no code.
_MAY_BE_CODED = regex(r"[!-~]{14}|[%=\\]|\d\d[\s,;]+\d\d")
#: Codes, and the bytes that one stands for; ValueError or zlib.error where it only looks like one.
_CODES: list[tuple[re.Pattern[str], Callable[[str], bytes]]] = [
    (regex(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){8,}(?![0-9A-Za-z])"), lambda run: bytes.fromhex(run)),
    (regex(r"(?:\\+x[0-9A-Fa-f]{2}){8,}"), lambda run: bytes.fromhex(run.replace("\\", "").replace("x", ""))),
    (regex(r"(?:\\[0-3]?[0-7]{2}){8,}"), lambda run: bytes(int(one, 8) for one in run.split("\\")[1:])),
    (regex("(?<![0-9A-Za-z])[A-Z2-7]{16,}={0,6}(?![0-9A-Za-z=])"), lambda run: base64.b32decode(run)),
    (regex(r"(?<!\S)[!-~]{20,4000}(?!\S)"), lambda run: base64.b85decode(run)),
    (regex(r"(?<!\S)(?:<~)?([!-uz]{20,4000})(?:~>)?(?!\S)"), lambda run: base64.a85decode(run)),
    (
        regex(r"\A[\s\S]*\+[0-9A-Za-z+/]{8,}-[\s\S]*"),
        lambda text: text.encode("ascii").decode("utf-7").encode(),
    ),
    (
        regex(r"\A[\s\S]*=[0-9A-F]{2}.{0,9}=[0-9A-F]{2}[\s\S]*"),
        lambda text: quopri.decodestring(text.encode("utf-8", "replace")),
    ),
    (regex(r"(?<![0-9A-Za-z+/])(?:H4sI|eJ)[0-9A-Za-z+/]{16,}"), lambda run: _unzipped(f"{run}==")),
    (regex(r"(?<!\d)(?:\d{2,8}[\s,;]+){4,}\d{2,8}(?!\d)"), lambda run: _numbered(run)),
]
_THREADS = 3  #: characters that may stand between every two letters
_ENOUGH = 8  #: letters of a text that may be threaded
#: Signs that tell values apart: `C++` and `C#`, `1.5` and `15`, `-5`, `50%`.
_SIGNIFICANT = regex(r"(?<=[a-z0-9])[+#%]|[$€£¥]\s?\d|-\d|(?<=\d)[.,:/-]\d")
_SIGN = regex("[+#%$€£¥.,:/-]")
#: What is neither a letter nor a digit; Thai vowels and tones are letters here.
_BETWEEN = regex(r"[^\w\u0e30-\u0e4e]+|_+")
#: Where a list parts its items, with the sign or number of the next; a blank that parts no words.
_ITEM = regex(r"\s*[\r\n]\s*(?:\(?\d{1,3}[.)]|[-*•–])?\s*")
_NO_BLANK = "\u0e01-\u0e4e\u3400-\u9fff\uf900-\ufaff"
_BLANK = regex(rf"(?<=[{_NO_BLANK}])[ \t]+(?=[{_NO_BLANK}])")
_NUMERALS = "零〇一二两三四五六七八九十百千万亿"
_COUNTED = regex(
    rf"[{_NUMERALS}]{{2,20}}|[一二两三四五六七八九十](?=[个岁年月日号元块次人位名间口天周点毫公])"
)
_DIGITS = {**{one: at for at, one in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_MYRIAD, _MYRIADS = ("万", 10_000), ("亿", 100_000_000)


@lru_cache(maxsize=16)
def told(text: str) -> tuple[str, ...]:
    """A text, and what it says where it is written otherwise: escapes, tags, codes and threads undone."""
    return (text, *_otherwise(text))


def _otherwise(text: str) -> Iterator[str]:
    seen = text[:_LONGEST]
    bare = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), seen) if "\\" in seen else seen
    bare = html.unescape(_TAG.sub("", bare)) if "<" in bare or "&" in bare else bare
    if bare != seen:
        yield bare
    for said in _uncoded(seen) if _MAY_BE_CODED.search(seen) else ():
        yield said
        yield from _uncoded(said)  # a code in a code
    if (loose := _unthreaded(bare)) != bare:
        yield loose


def _uncoded(text: str) -> Iterator[str]:
    """What the codes in a text say."""
    yield from (said for _, _, said in decoded(text))
    for pattern, undone in _CODES:
        for run in pattern.findall(text):
            with suppress(ValueError, zlib.error):
                yield undone(run).decode()


def _unzipped(code: str) -> bytes:
    return zlib.decompressobj(47).decompress(base64.b64decode(code), _LONGEST)


def _numbered(run: str) -> bytes:
    """The bytes, in eight bits or in decimals, or the letters that numbers stand for."""
    values = [int(one, 2 if len(one) == 8 else 10) for one in _BETWEEN.split(run)]
    return bytes(values) if max(values) < 256 else "".join(map(chr, values)).encode()


def _unthreaded(text: str) -> str:
    """A text without what stands between every two of its letters."""
    for width in range(1, _THREADS + 1):
        thread, step = text[1 : 1 + width], 1 + width
        if len(text) < _ENOUGH * step or thread.isalnum():
            continue
        letters = text[::step]
        if thread.join(letters) == text[: len(letters) * step - width]:
            return letters
    return text


def run_together(text: str) -> Iterator[str]:
    """The items of a list in one piece, all of them and every two: words may have been cut between them."""
    items = _ITEM.split(text)
    if len(items) > 1 or _BLANK.search(text):
        wholes = ["".join(items), "".join(items[1:]), *(one + other for one, other in pairwise(items))]
        yield from (_BLANK.sub("", whole) for whole in wholes)


def letters(text: str) -> str:
    """The letters and digits of a text and nothing between them; empty where a sign among them tells."""
    seen = one_spelling(text)
    if _SIGN.search(seen) and _SIGNIFICANT.search(seen):
        return ""
    return _BETWEEN.sub("", "".join(seen.split()))


def in_digits(text: str) -> str:
    """A text with the numbers that Chinese writes in words in digits: 二十三 is 23, 二〇一九 is 2019."""
    return _COUNTED.sub(lambda found: str(_counted(found[0])), text)


def _counted(numeral: str) -> int:
    if set(numeral) <= _DIGITS.keys():
        return int("".join(str(_DIGITS[one]) for one in numeral))
    whole = part = digit = 0
    for one in numeral:
        if one in _DIGITS:
            digit = _DIGITS[one]
        elif one in _TENS:
            part, digit = part + (digit or 1) * _TENS[one], 0
        elif one == _MYRIAD[0]:
            whole, part, digit = whole + (part + digit or 1) * _MYRIAD[1], 0, 0
        else:
            whole, part, digit = (whole + part + digit or 1) * _MYRIADS[1], 0, 0
    return whole + part + digit
