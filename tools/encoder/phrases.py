"""Everyday words in everyday sentences, in three languages: `data/words.txt` beside this file.

A part of it has a name (`#`), words of one sort (`W`), sentences that any of them fits in (`S`), each with a
question that it answers (`Q`), and sentences that nobody asks for (`P`); English, Thai and Chinese on a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools.encoder.lessons import Lesson, Side
from tools.encoder.talk import near_judge

WORDS = Path(__file__).parent / "data" / "words.txt"
_PEOPLE = 24  #: among whom the words are dealt out, so that a person has some of every sort


@dataclass
class Sort:
    """Words of one sort, and what can be said with them."""

    name: str
    words: list[Side] = field(default_factory=list)
    said: list[tuple[Side, Side]] = field(default_factory=list)  #: with the question that it answers
    passing: list[Side] = field(default_factory=list)


@cache
def sorts(path: Path = WORDS) -> tuple[Sort, ...]:
    """The parts of the file, in order."""
    found: list[Sort] = []
    said: Side = {}
    for line in path.read_text("utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "#":
            found.append(Sort(rest))
            continue
        side = dict(zip(("en", "th", "zh"), map(str.strip, rest.split("|")), strict=True))
        if mark == "W":
            found[-1].words.append(side)
        elif mark == "S":
            said = side
        elif mark == "Q":
            found[-1].said.append((said, side))
        elif mark == "P":
            found[-1].passing.append(side)
        else:
            raise ValueError(f"{path.name}: a line begins with #, W, S, Q or P, not with {mark!r}")
    return tuple(found)


def phrases() -> list[Side]:
    """Every word in every sentence of its sort, but what is near a judge's."""
    return [side for side in _every() if not any(map(near_judge, side.values()))]


def _every() -> Iterator[Side]:
    for sort in sorts():
        yield from sort.words
        for said, asked in sort.said:
            yield asked
            yield from (_filled(said, word) for word in sort.words)
        for passing in sort.passing:
            yield from (_filled(passing, word) for word in sort.words)


def word_lessons() -> list[Lesson]:
    """Each word in one of the sentences that are asked for; the others of that sentence answer as well."""
    out = []
    for sort in sorts():
        for number, word in enumerate(sort.words):
            at = (number + number // _PEOPLE) % len(sort.said)
            said, asked = sort.said[at]
            statement = _filled(said, word)
            if not any(map(near_judge, (*statement.values(), *asked.values()))):
                person, key = f"words-{number % _PEOPLE}", f"{sort.name}-{at}"
                out.append(Lesson(person, key, statement, (asked,), ()))
    return out


def _filled(sentence: Side, word: Side) -> Side:
    out = {language: text.replace("{}", word[language]) for language, text in sentence.items()}
    return {**out, "en": out["en"][:1].upper() + out["en"][1:]}
