"""What a trained model sees of a sentence: hashed stretches of characters, words, and the rules' own cues.

Nothing here depends on a machine: the hashes are arithmetic modulo 2**32 on code points of the folded view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lamina.language.clauses import UNSAID
from lamina.language.framing import is_own, signs
from lamina.language.hearing import Hearing
from lamina.language.phrases import LATIN

#: The longest stretch of characters.
_LONGEST = 5
#: How much of a sentence is looked at: the rest says no more about its sort.
WINDOW = 400
_EDGE = 3  #: how many words, or pairs of characters, of an opening and a closing count by themselves
_WORD = re.compile(rf"[{LATIN}']+|[\u0e01-\u0e4e]+|[\u3400-\u9fff]|[?!:\x00]")
_DIGITS = re.compile(r"[0-9]+")
_SCRIPTS = (("th", re.compile("[\u0e01-\u0e4e]")), ("zh", re.compile("[\u3400-\u9fff]")))
#: Cues of the rules that say something about a sentence as a whole.
_CUES = (
    "supposes",
    "reports",
    "reports_self",
    "exemplifies",
    "asks_open",
    "asks_in",
    "asks_tag",
    "negates",
    "requests",
    "requests_after",
    "lasts",
    "corrects",
    "agrees",
    "amends",
    "signals",
    "denies",
    "lists",
)

Hashes = NDArray[np.uint32]


class Seen(NamedTuple):
    """What a model sees of a stretch of a message."""

    hashes: Hashes  #: each once, sorted
    signs: frozenset[str]  #: what stands for many words: cues of the rules, signs, the language


def features(hearing: Hearing, start: int, end: int) -> Seen:
    """The features of a stretch of a message."""
    end = min(end, start + WINDOW)
    said = _DIGITS.sub("0", hearing.said[start:end].strip())
    signs = [*_cues(hearing, start, end)]
    names = [*_words(said), *signs]
    hashed = [np.fromiter(map(_hash, names), dtype=np.uint32, count=len(names)), *_stretches(said)]
    return Seen(np.unique(_mixed(np.concatenate(hashed))), frozenset(signs))


def _stretches(said: str) -> Iterator[Hashes]:
    codes = np.frombuffer(f"\x02{said}\x03".encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    rolled = np.zeros(len(codes), dtype=np.uint32)
    for size in range(1, _LONGEST + 1):
        if len(codes) < size:
            return
        rolled = rolled[: len(codes) - size + 1] * np.uint32(0x01000193) + codes[size - 1 :]
        yield rolled ^ np.uint32(0x9E3779B9 * size & 0xFFFFFFFF)


def by_place(said: str) -> list[Hashes]:
    """The stretches of a text by their size, each where it begins; a sign stands before it."""
    return [_mixed(one) for one in _stretches(_DIGITS.sub(lambda d: "0" * len(d[0]), said))]


def _mixed(hashes: Hashes) -> Hashes:
    """Every bit of a hash in each of those that count."""
    hashes = hashes ^ (hashes >> np.uint32(16))
    hashes = hashes * np.uint32(0x7FEB352D)
    hashes = hashes ^ (hashes >> np.uint32(15))
    hashes = hashes * np.uint32(0x846CA68B)
    return hashes ^ (hashes >> np.uint32(16))


def _hash(name: str) -> int:
    return crc32(name.encode("utf-8", "surrogatepass"))


def _words(said: str) -> Iterator[str]:
    """Words and pairs of them, those of the opening and of the closing once more with their place."""
    words = _WORD.findall(said)
    for at, word in enumerate(words):
        yield f"w {word}"
        if at:
            yield f"p {words[at - 1]} {word}"
        if at > 1:
            yield f"s {words[at - 2]} {word}"
    for size in range(1, _EDGE + 1):
        yield f"o {' '.join(words[:size])}"
        yield f"c {' '.join(words[-size:])}"


def _cues(hearing: Hearing, start: int, end: int) -> Iterator[str]:
    said = hearing.said
    sentence = hearing.sentence_at(start)
    for does in _CUES:
        if hearing.cue(does).search(said, start, end):
            yield f"cue {does}"
    if sentence.marked and end >= sentence.end:
        yield "marked"
    if UNSAID in said[start:end]:
        yield "unsaid"
    for sign in signs(said[start:end].strip()):
        yield f"sign {sign}"
    if is_own(said[start:end]):
        yield "own"
    yield next((name for name, script in _SCRIPTS if script.search(said, start, end)), "en")
    if hearing.book.any_of("command").match(said, start, end):
        yield "commands"
    size = end - start
    yield f"size {min(size.bit_length(), 9)}"


def named(hearing: Hearing, start: int, end: int) -> dict[int, str]:
    """What a person would call the features of a stretch: words, pairs of them and cues."""
    said = _DIGITS.sub("0", hearing.said[start : min(end, start + WINDOW)].strip())
    names = [*_words(said), *_cues(hearing, start, end)]
    hashed = _mixed(np.fromiter(map(_hash, names), dtype=np.uint32, count=len(names)))
    return {int(one): name for one, name in zip(hashed, names, strict=True)}
