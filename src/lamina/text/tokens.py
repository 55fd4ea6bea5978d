"""How much of a model's context a text takes, estimated without a model."""

from __future__ import annotations

import re
from functools import lru_cache

from lamina.late import regex

# Thousandths of a token per character. Basis: the mean of OpenAI's o200k and Mistral's tekken vocabularies on
# English, Thai and Chinese prose, Python and Markdown (November 2026). They put 4.3 to 4.9 characters of
# English prose into a token, 3.2 to 3.9 of code and Markdown, 1.9 to 2.4 of Thai and 1.0 to 1.3 of Chinese.
# An older vocabulary (cl100k) needs twice as many tokens for Thai.
_LOWER, _UPPER, _DIGIT, _BLANK, _PUNCTUATION = 200, 250, 400, 220, 600
_THAI, _HAN, _KANA_HANGUL, _WIDE_PUNCTUATION, _ALPHABETIC, _OTHER = 500, 900, 800, 800, 450, 2000

_ASCII = {
    "abcdefghijklmnopqrstuvwxyz": _LOWER,
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ": _UPPER,
    "0123456789": _DIGIT,
    "\t\n\v\f\r ": _BLANK,
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~": _PUNCTUATION,
}
#: For each byte the number of its class; the last is that of all others.
_CLASS_OF = bytes(
    next((n for n, members in enumerate(_ASCII) if chr(code) in members), len(_ASCII)) for code in range(256)
)
_WEIGHTS = (*_ASCII.values(), _OTHER)
# No character may be in two classes: its weight would be taken off again where the rest is counted.
_FOREIGN: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (regex(f"[{members}]+"), weight)
    for members, weight in (
        ("\u0e00-\u0e7f", _THAI),
        ("\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", _HAN),
        ("\u3041-\u30ff\u1100-\u11ff\uac00-\ud7a3", _KANA_HANGUL),
        ("\u2010-\u206f\u3000-\u3020\uff00-\uffef", _WIDE_PUNCTUATION),
        ("\u00a0-\u0dff\u1e00-\u1fff", _ALPHABETIC),
    )
)


def count_tokens(text: str) -> int:
    """An estimate of a current model's tokens, within about a fifth for English, Thai and Chinese prose.

    Every character adds its share, so a text never counts less than its beginning; only the empty text is 0.
    """
    return -(-token_weight(text) // 1000)


def token_weight(text: str) -> int:
    """The same in thousandths of a token; the weight of two texts together is the sum of theirs."""
    return _known_weight(text) if len(text) <= _KEPT_TEXT else _weight(text)


def _weight(text: str) -> int:
    plain = text.encode("ascii", "ignore")
    classes = plain.translate(_CLASS_OF)
    total = sum(classes.count(number) * weight for number, weight in enumerate(_WEIGHTS))
    rest = len(text) - len(plain)
    for members, weight in _FOREIGN if rest else ():
        count = sum(map(len, members.findall(text)))
        total += count * weight
        rest -= count
    return total + rest * _OTHER


#: What is found is weighed each time it is found.
_KEPT_TEXT = 2000
_known_weight = lru_cache(maxsize=8192)(_weight)
