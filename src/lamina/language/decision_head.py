"""What a sentence does about matters that are settled or not: a small linear model, trained, in integers.

It reads runs of characters and words, the signs of `decision_signs.toml` and pairs of them, and what rules
see; beside the encoder that it was trained on also what that makes of the sentence halfway, with one hidden
layer. Weights are whole numbers, trained by `python -m tools.decisions`; the same text has the same reading
on every machine.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from lamina.language.sorts import Wholes
from lamina.late import files
from lamina.records import dataclass
from lamina.text.terms import is_stop_word

KINDS = (
    "decides",
    "rule",
    "changes",
    "proposes",
    "asks",
    "reports_others",
    "task",
    "lesson",
    "private",
    "none",
)
BUCKETS = 1 << 16
PAIR = 0.2  #: what a pair of signs counts beside a sign
RUNS = 5.0  #: what all runs of characters together count, about
#: Steps per unit of a weight of the hidden layer, of what comes out of it, and of what the encoder says.
INNER, OUTER = 1 << 16, 1 << 12
LONGEST = 600  #: characters; nobody settles anything in a sentence longer than this
_SETTLES = 3  #: the first kinds settle something
_NUMBER = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*")
_FILLER = re.compile("\x00+")
_WORD = re.compile(r"[a-z][a-z']*|0|[^\sa-z0]")
_FIRST = re.compile(r"\W*([^\W\d_]+)")
_OPENING = 12  #: characters in which a sign opens a sentence
_SHORT, _LONG = 25, 90  #: characters of an alphabet; half as many of the others


@dataclass(frozen=True, slots=True)
class Features:
    """Where a sentence falls in the table."""

    signs: tuple[int, ...]
    pairs: tuple[int, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How likely a sentence is of each kind."""

    shares: tuple[float, ...]

    @property
    def settles(self) -> float:
        """How likely it decides, rules or changes something."""
        return sum(self.shares[:_SETTLES])

    @property
    def kind(self) -> str:
        """The likeliest kind."""
        return KINDS[max(range(len(KINDS)), key=lambda at: (self.shares[at], -at))]

    @property
    def settled(self) -> str:
        """The likeliest of the kinds that settle something."""
        return KINDS[max(range(_SETTLES), key=lambda at: (self.shares[at], -at))]

    def share(self, kind: str) -> float:
        return self.shares[KINDS.index(kind)]


def read(typed: str, said: str, cues: Iterable[str], halfway: Wholes | None = None) -> Reading:
    """What a sentence does; `typed` is as it was written, `said` its folded view, fillers for quotations.

    `cues` are the names of whatever else is known of it, `halfway` what the encoder of `knows` makes of it.
    In time linear in the sentence.
    """
    head, found = _head(), features(typed, said, cues)
    sums = [_sum(head.weights, part) for part in (found.signs, found.pairs, found.runs)]
    runs = RUNS / math.sqrt(max(len(found.runs), 1))
    scores = head.scale * (sums[0] + PAIR * sums[1] + runs * sums[2]) + head.bias
    if halfway is not None:
        scores = scores + head.second(halfway)
    powers = [math.exp(one) for one in (scores - scores.max()).tolist()]
    return Reading(tuple(round(one / sum(powers), 4) for one in powers))


def knows(encoder: str) -> bool:
    """Whether it was trained beside this encoder."""
    return encoder == _head().encoder


def _sum(weights: np.ndarray[Any, Any], places: tuple[int, ...]) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = weights[list(places)].sum(axis=0, dtype=np.int64).astype(np.float64)
    return found


def features(typed: str, said: str, cues: Iterable[str]) -> Features:
    """The features of a sentence, each once; a run that falls where a sign does counts as the sign."""
    view = _FILLER.sub("□", _NUMBER.sub("0", said.replace("\v", " "))).strip()
    on = _signs(typed, said.replace("\v", " "), cues)
    first = [name for name, at in sorted(on.items(), key=lambda each: each[1]) if at < _OPENING][:2]
    signs = {_place(f"s{name}") for name in on} | {_place(f"f{name}") for name in first}
    pairs = {_place(f"p{one}+{other}") for one, other in combinations(sorted(on), 2)} - signs
    runs = {_place(run) for run in _runs(view)} - signs - pairs
    return Features(tuple(sorted(signs)), tuple(sorted(pairs)), tuple(sorted(runs)))


def _place(feature: str) -> int:
    return zlib.crc32(feature.encode()) % BUCKETS


def _signs(typed: str, said: str, cues: Iterable[str]) -> dict[str, int]:
    """The signs in a sentence, each with the place where it first stands; cues stand nowhere."""
    nowhere = len(said) + _OPENING
    groups = _groups()
    on = {name: found.start() for name, group in groups.items() if (found := group.search(said))}
    if _is_name(typed, said, groups):
        on["name_opens"] = 0
    unit = 1 if said.isascii() else 2
    length = "short" if len(said) * unit < _SHORT else "long" if len(said) * unit > _LONG else "middle"
    return (
        on | dict.fromkeys((*cues, length), nowhere) | ({"number": nowhere} if _NUMBER.search(said) else {})
    )


def _is_name(typed: str, said: str, groups: Mapping[str, re.Pattern[str]]) -> bool:
    """Whether a sentence begins with a capital letter and a word that is no sign: mostly somebody's name."""
    opening, first = _FIRST.match(typed), _FIRST.match(said)
    if opening is None or first is None or not opening[1][0].isupper() or is_stop_word(first[1]):
        return False
    return not any(group.match(said, first.start(1)) for group in groups.values())


def _runs(view: str) -> Iterable[str]:
    text = f" {view} "
    for length in range(1, 6):
        for at in range(len(text) - length + 1):
            yield f"c{text[at : at + length]}"
    words = _WORD.findall(view)
    for length in (1, 2, 3):
        for at in range(len(words) - length + 1):
            part = words[at : at + length]
            if any("a" <= word[0] <= "z" for word in part):
                yield f"w{' '.join(part)}"
        if words:
            yield f"o{' '.join(words[:length])}"
            yield f"e{' '.join(words[-length:])}"


@cache
def _groups() -> Mapping[str, re.Pattern[str]]:
    data = tomllib.loads(_data("decision_signs.toml").decode())
    return {
        name: re.compile(rf"(?<![a-z'])(?:{one['en']})(?![a-z'])|{one['th']}|{one['zh']}")
        for name, one in data.items()
    }


@dataclass(frozen=True, slots=True)
class _Head:
    weights: np.ndarray[Any, Any]
    bias: np.ndarray[Any, Any]
    scale: float
    encoder: str
    inner: Wholes  #: a row for each number of the encoder, and one that is always there
    outer: Wholes  #: a row for each hidden number, and one that is always there

    def second(self, halfway: Wholes) -> np.ndarray[Any, Any]:
        """What the encoder's numbers speak for, in logits."""
        hidden = np.maximum(halfway[: len(self.inner) - 1] @ self.inner[:-1] + self.inner[-1], 0)
        return np.asarray((hidden @ self.outer[:-1] / INNER + self.outer[-1]) / OUTER, dtype=np.float64)


@cache
def _head() -> _Head:
    card = json.loads(_data("decision_head.json"))
    data = zlib.decompress(_data("decision_head.bin"))
    size, hidden = BUCKETS * len(KINDS), int(card["hidden"])
    weights = np.frombuffer(data, dtype=np.int8, count=size).reshape(BUCKETS, len(KINDS))
    rest = np.frombuffer(data, dtype="<i4", offset=size).astype(np.int64)
    outer = (hidden + 1) * len(KINDS)
    return _Head(
        weights,
        np.array(card["bias"], dtype=np.float64),
        float(card["scale"]),
        str(card["encoder"]),
        rest[:-outer].reshape(-1, hidden),
        rest[-outer:].reshape(-1, len(KINDS)),
    )


def _data(name: str) -> bytes:
    return files("lamina.language").joinpath(f"data/{name}").read_bytes()
