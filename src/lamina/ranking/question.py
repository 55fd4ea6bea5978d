"""What a question asks for: its terms with their weights, its manner, its time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from string import ascii_lowercase

from lamina.late import read_rules, regex
from lamina.ranking.timing import Timing, timing
from lamina.records import dataclass
from lamina.text.terms import is_stop_word, query_terms, spelt_terms, terms

#: A word shorter than this has too many neighbours to guess what it was meant to be.
_SHORTEST_TYPO = 4
_LITERAL = regex(r"`([^`]{2,})`|\"([^\"]{2,})\"|“([^”]{2,})”|「([^」]{2,})」|『([^』]{2,})』")
#: What ends a line, and a sentence: a point after "Mr" or "Prof" does not.
_LINES, _SENTENCES = regex(r"\n"), regex(r"(?<=[。！？!?])|(?<=[a-z]{4}\.)\s")
#: Characters that ask something; and the parts of a question that are read by themselves.
_SHORTEST_PART, _MOST_PARTS = 4, 8
_EAST_ASIAN = "\u3400"
_THAI = ("\u0e01", "\u0e4e")
_PAIR = 2


class Manner(StrEnum):
    """How a question is asked, which decides how far words and meaning are trusted."""

    EXACT = "exact"
    HOW_TO = "how_to"
    RECALL = "recall"
    MIXED = "mixed"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, understood; nothing in it is a query language."""

    text: str
    words: tuple[str, ...]  #: what to look for, in order
    weights: Mapping[str, float]  #: of every term that is looked up
    manner: Manner
    timing: Timing
    own: bool  #: a person asks about themselves
    literals: tuple[str, ...]  #: what stands in quotes, folded

    @property
    def support(self) -> frozenset[str]:
        """Terms that add to what the words find: single Chinese characters, a word with its accents."""
        return frozenset(self.weights) - frozenset(self.words)


@dataclass(frozen=True, slots=True)
class _Rules:
    frame: frozenset[str]
    characters: frozenset[str]
    marks: frozenset[str]
    weights: Mapping[str, float]
    patterns: Mapping[str, re.Pattern[str]]


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    data = read_rules("lamina.ranking", "questions.toml")
    frame = data["frame"]
    sources: dict[str, list[str]] = {**data["own"], **data["manner"]}
    return _Rules(
        frozenset(terms(frame["words"])),
        frozenset(frame["characters"]),
        frozenset(frame["marks"]),
        data["weights"],
        {name: regex("|".join(all_)) for name, all_ in sources.items()},
    )


def understood(text: str, now: datetime) -> Question:
    """The question, seen from `now`."""
    words, weights = _looked_up(text)
    rules, folded = _rules(), text.casefold()
    own = bool(rules.patterns["me"].search(folded)) and not rules.patterns["you"].search(folded)
    literals = tuple(next(filter(None, found)).casefold() for found in _LITERAL.findall(text))
    return Question(text, words, weights, _manner(text), timing(text, now), own, literals)


def asked_terms(text: str) -> list[str]:
    """The terms that a question is looked up by."""
    return list(_looked_up(text)[1]) if text else []


@lru_cache(maxsize=64)  # a question is looked up before it is understood
def _looked_up(text: str) -> tuple[tuple[str, ...], Mapping[str, float]]:
    """The terms to look for in order, and all that are looked up with their weights."""
    words = tuple(query_terms(text))
    return words, _weights(words, spelt_terms(text))


def _manner(text: str) -> Manner:
    patterns = _rules().patterns
    exact = bool(patterns["exact"].search(text))
    for manner in (Manner.HOW_TO, Manner.RECALL):
        if patterns[manner].search(text):
            return Manner.MIXED if exact else manner
    return Manner.EXACT if exact else Manner.PLAIN


def _weights(words: Sequence[str], spelt: Sequence[str]) -> dict[str, float]:
    """What each term counts; where all are of the frame, each counts in full.

    What is `spelt` with accents comes before what only looks the same without them.
    """
    rules = _rules()
    known = {word: _weight(word, rules) for word in words}
    if all(word in rules.frame for word in words):
        return dict.fromkeys(words, 1.0)
    for word in words:
        if len(word) == _PAIR and word[0] >= _EAST_ASIAN:
            for one in word:
                known.setdefault(one, rules.weights["character"] * _weight(one, rules))
    return {**dict.fromkeys(spelt, rules.weights["spelling"]), **known}


def parts_of(question: str) -> list[str]:
    """The lines of a question, or of one line its sentences, the last few; none where there is but one."""
    for ends in (_LINES, _SENTENCES):
        parts = [part for one in ends.split(question) if len(part := one.strip()) >= _SHORTEST_PART]
        if len(parts) > 1:
            return parts[-_MOST_PARTS:]
    return []


def weighed(text: str) -> dict[str, float]:
    """The terms of a text with what each counts in it; little for the words of which every text is made."""
    words = query_terms(text)
    return _weights(words, ()) if words else {}


def _weight(word: str, rules: _Rules) -> float:
    if word in rules.frame:
        return rules.weights["frame"]
    if _THAI[0] <= word[0] <= _THAI[1]:
        return rules.weights["mark"] if word[0] in rules.marks else 1.0
    if word[0] >= _EAST_ASIAN and not rules.characters.isdisjoint(word):
        return rules.weights["function"]
    return 1.0


def mistyped(missing: Iterable[str]) -> list[str]:
    """Those of the terms nobody wrote that may be a word with one letter wrong."""
    return [term for term in missing if len(term) >= _SHORTEST_TYPO and term.isascii() and term.isalpha()]


def guesses(term: str, known: Iterable[str]) -> list[str]:
    """The known terms that are one letter away: one more, one less, another, or two changed places.

    No stop word is meant: "thesis" is not "these" with a letter wrong.
    """
    near = (other for other in known if other.isalpha() and _one_apart(term, other))
    return sorted(other for other in near if not is_stop_word(other))


def misread(term: str) -> list[str]:
    """Every term that differs from this one by a letter at its beginning, where an index cannot look."""
    out = {term[1:], term[0] + term[2:], term[1] + term[0] + term[2:]}
    for letter in ascii_lowercase:
        out |= {letter + term, letter + term[1:], term[0] + letter + term[1:], term[0] + letter + term[2:]}
    return sorted(other for other in out - {term} if not is_stop_word(other))


def guessed(weights: Mapping[str, float], meant: Mapping[str, str]) -> dict[str, float]:
    """The weights with those of the terms that were perhaps meant, by what was typed instead."""
    share = _rules().weights["guess"]
    return {**{other: share * weights[typed] for other, typed in meant.items()}, **weights}


def _one_apart(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    start = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    rest, left = one[start:], other[start:]
    if len(rest) == len(left):
        return rest[1:] == left[1:] or (rest[1::-1] == left[:2] and rest[2:] == left[2:])
    longer, shorter = (rest, left) if len(rest) > len(left) else (left, rest)
    return longer[1:] == shorter
