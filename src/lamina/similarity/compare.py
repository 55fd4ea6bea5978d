"""How two statements stand to each other: the same, another value, the opposite, or something else.

Deterministic and pure. Who keeps memories uses it for contradictions, for merging procedures and for merging
near duplicates. A caller with an encoder passes the calibrated likeness of the two texts (0 to 1); without
one, words alone decide, and a paraphrase in other words counts as unrelated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any

from lamina.late import late, read_rules, regex
from lamina.records import dataclass
from lamina.text.normalise import folded
from lamina.text.terms import query_terms

with late():
    import difflib

#: Above this closeness two triggers name one task (FL-3), and two statements one subject (FL-10).
SAME = 0.85
#: How much of two statements must agree before a difference in the rest is one of value.
_CHANGED = 0.5
#: The same for one that is turned into its opposite, where nothing but the turn differs as a rule.
_TURNED = 0.52
#: From this likeness on an encoder's word is taken where the words themselves say little.
_LIKE = 0.8
_LONGEST = 2_000  #: characters that are looked at
_LITTLE = "little in common"

_THAI, _HAN = "\u0e01-\u0e3a\u0e40-\u0e4e", "\u3400-\u9fff\uf900-\ufaff"
_UNIT = regex(rf"¤\d+|\d+(?:[.,:/-]\d+)*%?|[a-z][a-z0-9]*(?:['’][a-z]+)?|[{_HAN}]|[{_THAI}]|[^\W_]")
_NUMBER = regex(r"\d+(?:[.,:/-]\d+)*%?")
_UNSPACED = regex(rf"[{_THAI}{_HAN}]")


class StatementRelation(StrEnum):
    """What one statement is to another."""

    SAME = "same"
    CHANGED = "changed"  #: the same thing said with another value
    CONTRADICTION = "contradiction"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two statements stand to each other, and why."""

    relation: StatementRelation
    similarity: float  #: of the words alone, from 0 to 1
    closeness: float  #: of words or meaning, whichever says more
    why: str

    @property
    def conflicts(self) -> bool:
        """Whether both cannot be true at once, as far as words tell."""
        return self.relation in (StatementRelation.CHANGED, StatementRelation.CONTRADICTION)

    @property
    def undecided(self) -> bool:
        """Whether they may yet say one thing, in other words."""
        return self.why == _LITTLE


def same_task(found: Comparison) -> bool:
    """Whether two triggers are one: alike above 0.85, and nothing that differs names another thing."""
    return found.relation is StatementRelation.SAME and found.closeness > SAME


def text_similarity(one: str, other: str) -> float:
    """How many words two texts share, from 0 to 1; Thai and Chinese are cut into words' pieces first."""
    mine, theirs = _said(one[:_LONGEST]), _said(other[:_LONGEST])
    return round(2 * len(mine & theirs) / (len(mine) + len(theirs)), 4) if mine or theirs else 1.0


def least_shared(text: str, least: float) -> int:
    """How many of its words a text has in common with any other to which it is so similar, at the very least.

    A similarity is rounded, and of a long text only the beginning is looked at, of which this says nothing.
    """
    share = max(0.0, least - 0.00005) / 2
    return math.ceil(len(_said(text)) * share / (1 - share)) if len(text) <= _LONGEST else 0


@lru_cache(maxsize=8192)  # one text is compared with many, and each of them with the next
def _said(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


def compare(one: str, other: str, likeness: float | None = None) -> Comparison:
    """What the first statement is to the second; symmetric. `likeness` is an encoder's calibrated word."""
    mine, theirs = _read(one), _read(other)
    words = text_similarity(one, other)
    if mine == theirs:
        return Comparison(StatementRelation.SAME, words, 1.0, "the same words")
    parts = _aligned(mine, theirs)
    overlap = max(parts.overlap, words)
    close = round(max(overlap, likeness or 0.0), 4)

    def verdict(relation: StatementRelation, why: str) -> Comparison:
        return Comparison(relation, words, close, why)

    about_same = parts.overlap >= _CHANGED or (likeness or 0.0) >= _LIKE
    if (mine.turns + theirs.turns + parts.antonyms) % 2:
        if max(parts.overlap, likeness or 0.0) >= _TURNED and not parts.other_subject:
            return verdict(StatementRelation.CONTRADICTION, "one denies what the other says")
        return verdict(StatementRelation.UNRELATED, "one denies something")
    if parts.numbers and about_same and not parts.other_subject:
        return verdict(StatementRelation.CHANGED, "another number")
    if parts.replaced and parts.overlap >= _CHANGED:
        if parts.other_subject:
            return verdict(StatementRelation.UNRELATED, "about something else")
        if all(map(_among_several, (one, other))):
            return verdict(StatementRelation.UNRELATED, "both may be true")
        return verdict(StatementRelation.CHANGED, "another value")
    if parts.overlap >= _CHANGED and not parts.replaced:
        return verdict(StatementRelation.SAME, "one says more" if parts.added else "the same words")
    if likeness is not None and likeness >= _LIKE and not parts.numbers:
        return verdict(StatementRelation.SAME, "the same meaning")
    return verdict(StatementRelation.UNRELATED, "other numbers" if parts.numbers else _LITTLE)


def _among_several(text: str) -> bool:
    """Whether a statement names one of several things: who likes tea may like coffee, too."""
    rules = _rules()
    return bool(rules.several.found(rules.favourites.replaced(folded(text[:_LONGEST]))[0]))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A statement without what carries nothing: its units in order, and how often it is turned round."""

    units: tuple[str, ...]
    turns: int
    poles: frozenset[tuple[int, int]]  #: which side of which opposites it names


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Two readings side by side."""

    overlap: float  #: the share of both that agrees
    replaced: bool  #: something of the one stands where something else of the other does
    added: bool
    numbers: bool  #: both name numbers, and not the same
    antonyms: int  #: how many opposites face each other
    other_subject: bool  #: they differ in what they begin with


def _aligned(one: _Reading, other: _Reading) -> _Aligned:
    matcher = difflib.SequenceMatcher(None, one.units, other.units, autojunk=False)
    whole = _weight(one.units) + _weight(other.units)
    equal, replaced, added, first = 0.0, False, False, False
    leftovers: tuple[list[str], list[str]] = ([], [])
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            equal += _weight(one.units[a:b])
            continue
        leftovers[0].extend(one.units[a:b])
        leftovers[1].extend(other.units[c:d])
        first = first or (what == "replace" and a == 0 and c == 0)
    mine, theirs = _moved(*leftovers)
    equal += (_weight(leftovers[0]) - _weight(mine) + _weight(leftovers[1]) - _weight(theirs)) / 2
    replaced, added = bool(mine and theirs), bool(mine or theirs)
    faced = [(pair, 1 - side) in other.poles and (pair, side) not in other.poles for pair, side in one.poles]
    numbers = [{unit for unit in side if _NUMBER.fullmatch(unit)} for side in (mine, theirs)]
    overlap = round(2 * equal / whole, 4) if whole else 1.0
    return _Aligned(
        overlap, replaced, added, all(numbers), int(any(faced)), first and replaced and _names(mine, theirs)
    )


def _moved(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is left when words that only stand elsewhere are taken away; parts of words do not move."""
    if one == other:  # a phrase that stands elsewhere, whole
        return [], []
    shared = {unit for unit in set(one) & set(other) if not _UNSPACED.match(unit)}
    return [u for u in one if u not in shared], [u for u in other if u not in shared]


def _names(one: Sequence[str], other: Sequence[str]) -> bool:
    return not any(_NUMBER.fullmatch(unit) for unit in (*one[:1], *other[:1]))


def _weight(units: Sequence[str]) -> float:
    """How many words these are, about: a Thai word has four characters, a Chinese one two."""
    return sum(
        0.25 if "\u0e01" <= unit[0] <= "\u0e4e" else 0.5 if _UNSPACED.match(unit) else 1.0 for unit in units
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> _Reading:
    bare, turns, poles = bared(text)
    return _Reading(tuple(_units(bare)), turns, poles)


def bared(text: str) -> tuple[str, int, frozenset[tuple[int, int]]]:
    """A statement without what carries nothing, whether it is turned round, and the opposites it names."""
    rules = _rules()
    view, _ = rules.harmless.replaced(folded(text[:_LONGEST]))
    bare, turns = rules.negations.replaced(view)
    poles = frozenset(rules.sides[found] for found in rules.poles.found(bare))
    if poles:
        bare, _ = rules.poles.replaced(bare, lambda found: f" ¤{rules.sides[found[0]][0]} ")
    bare, _ = rules.synonyms.replaced(bare, lambda found: f" {rules.stands_for[found[0]]} ")
    bare, _ = rules.fillers.replaced(bare)
    return bare, turns % 2, poles


def _units(view: str) -> list[str]:
    found: list[str] = []
    for unit in _UNIT.findall(view):
        # Beside another word, a stop word is none of the terms.
        found += query_terms(f"{unit} \u4e00")[:-1][:1] if "a" <= unit[0] <= "z" else [unit]
    return found


class _Words:
    """Any of some words in a folded text, the longest first; those of an alphabet stand alone.

    A text that none of them can begin in is not searched: most have none of most lists.
    """

    def __init__(self, words: Sequence[str] | dict[str, Any]) -> None:
        views = sorted({folded(word) for word in words}, key=lambda word: (-len(word), word))
        spaced = [word for word in views if word.isascii()]
        joined = [word for word in views if not word.isascii()]
        alone = rf"(?<![a-z0-9]){_branches(spaced)}(?![a-z0-9])"
        self._pattern = re.compile(f"{alone}|{_branches(joined)}" if joined else alone)
        self._firsts = frozenset(_ALONE.findall(word)[0] for word in spaced) | {word[0] for word in joined}

    def found(self, text: str) -> list[str]:
        return self._pattern.findall(text) if self._begins(text) else []

    def replaced(self, text: str, by: Callable[[re.Match[str]], str] | str = " ") -> tuple[str, int]:
        """The text with something else in their place, and how many there were."""
        return self._pattern.subn(by, text) if self._begins(text) else (text, 0)

    def _begins(self, text: str) -> bool:
        return not self._firsts.isdisjoint(_beginnings(text))


@lru_cache(maxsize=8)
def _beginnings(text: str) -> frozenset[str]:
    """What a word may begin with in a text: its words, and its letters beyond ASCII."""
    return frozenset(_ALONE.findall(text) if text.isascii() else (*_ALONE.findall(text), *text))


_ALONE = regex("[a-z0-9]+")


@dataclass(frozen=True)
class _Rules:
    negations: _Words
    harmless: _Words
    fillers: _Words
    synonyms: _Words
    several: _Words
    favourites: _Words
    poles: _Words
    stands_for: dict[str, str]
    sides: dict[str, tuple[int, int]]  #: a word to its group of opposites and the side it is on


@cache
def _rules() -> _Rules:
    data = read_rules("lamina.similarity", "compare.toml")
    stands_for = {folded(word): folded(group[0]) for group in data["synonyms"] for word in group[1:]}
    sides: dict[str, tuple[int, int]] = {}
    for number, pair in enumerate(data["antonyms"]):  # whoever shares an opposite is in one group with it
        left, right = map(folded, pair)
        group, side = sides.get(right, (number, 1))
        group, side = sides.get(left, (group, 1 - side))
        sides |= {left: (group, side), right: (group, 1 - side)}
    return _Rules(
        negations=_Words(data["negations"]),
        harmless=_Words(data["harmless"]),
        fillers=_Words(data["fillers"]),
        synonyms=_Words(stands_for),
        several=_Words(data["several"]),
        favourites=_Words(data["favourites"]),
        poles=_Words(sides),
        stands_for=stands_for,
        sides=sides,
    )


def _branches(words: Sequence[str]) -> str:
    """A pattern of words that looks at each letter of a text once, and no further where no word begins so."""
    if not words:
        return ""
    firsts = dict.fromkeys(word[0] for word in words)
    rests = {one: "|".join(re.escape(word[1:]) for word in words if word[0] == one) for one in firsts}
    every = "|".join(f"{re.escape(one)}(?:{rest})" for one, rest in rests.items())
    return f"(?=[{re.escape(''.join(firsts))}])(?:{every})"
