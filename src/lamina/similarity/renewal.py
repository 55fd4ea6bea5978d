"""Whether a statement gives another value for the same thing as an earlier one, though no word says so.

"The gym costs 42 euros a month" renews "The gym costs 35 euros a month": both begin alike up to a value, and
the values are of one sort. Pure and deterministic. It says no where it cannot tell: a wrong yes would put a
true statement behind another.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from lamina.late import read_rules, regex
from lamina.records import dataclass
from lamina.similarity.compare import StatementRelation, compare
from lamina.text.normalise import folded
from lamina.text.terms import query_terms

_LONGEST = 300  #: characters of a statement; what is longer tells of many things
_HAN, _THAI = regex("[\u3400-\u9fff]"), regex("[\u0e01-\u0e4e]")
_SHARED = 2  #: terms that two values share where nothing but a sentence's ends tells what it is about
_SELF = frozenset({"", "ผม", "ฉัน", "ดิฉัน", "หนู", "เรา"})


@dataclass(frozen=True, slots=True)
class _Value:
    """How a statement begins, up to the value that it gives, and of what sort that is."""

    frame: tuple[str, str]  #: what it is about, and the word that joins
    value: str
    sort: str
    vague: bool  #: many values may hold at once


def renews(new: str, old: str) -> bool:
    """Whether the first statement gives another value of the very thing that the second gives one of."""
    mine, theirs = _value_of(new), _value_of(old)
    if mine is None or theirs is None or (mine.frame, mine.sort) != (theirs.frame, theirs.sort):
        return False
    found = compare(new, old).relation
    if mine.vague:
        shared = set(query_terms(mine.value)) & set(query_terms(theirs.value))
        alike = len(shared) >= _SHARED and mine.value[-2:] == theirs.value[-2:]
        return found is StatementRelation.CHANGED and alike
    return mine.value != theirs.value and found is not StatementRelation.CONTRADICTION


@lru_cache(maxsize=4096)
def _value_of(text: str) -> _Value | None:
    """The value that a short statement gives of something, if it has that form."""
    said = folded(text[: _LONGEST + 1]).strip().rstrip(".。!！ ")
    if len(said) > _LONGEST or "?" in said or "？" in said:
        return None
    rules = _rules()
    names = ("chinese",) if _HAN.search(said) else ("thai",) if _THAI.search(said) else rules.english
    found = next(filter(None, (rules.frames[name].match(said) for name in names)), None)
    if found is None or not (value := said[found.end() :].strip()):
        return None
    about, join = found["about"].strip(), found["join"].strip()
    sort = next((name for name, pattern in rules.sorts.items() if pattern.match(value)), "other")
    if sort in ("noun", "other") and _is_named(text, value):
        sort = "name"
    loose = join in rules.loose
    if loose and names == rules.english and sort == "other":
        return None  # "is strict", "is red": a quality, of which a thing has several
    several = about in _SELF or bool(rules.people.search(about))
    vague = sort not in ("name", "day") and ((loose and several) or join == "在")
    return _Value((about, join), value, sort, vague)


def _is_named(text: str, value: str) -> bool:
    """Whether a value begins with a name, as English writes one."""
    at = len(text.strip().rstrip(".。!！ ")) - len(value)
    return text.strip()[at : at + 1].isupper()


@dataclass(frozen=True)
class _Rules:
    frames: dict[str, re.Pattern[str]]
    english: tuple[str, ...]
    sorts: dict[str, re.Pattern[str]]
    loose: frozenset[str]
    people: re.Pattern[str]


@cache
def _rules() -> _Rules:
    data = read_rules("lamina.similarity", "renewal.toml")
    frames = {name: regex(source) for name, source in data["frames"].items()}
    sorts = {name: regex(source) for name, source in data["sorts"].items()}
    words = (rf"\b{word}s?\b" if word.isascii() else word for word in data["people"]["words"])
    english = tuple(name for name in frames if name not in ("chinese", "thai"))
    return _Rules(frames, english, sorts, frozenset(data["people"]["loose"]), regex("|".join(words)))
