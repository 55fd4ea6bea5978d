"""Whose what is asked for: things that are said of people, in three languages: `data/attributes.txt`.

The file has people (`E`: as it is said of them and as it is theirs, in English; Thai; Chinese), then parts by
what is said of them (`#`): values (`V`), sentences (`S`) and questions (`Q`). In English `[a/b]` stands
with the first person and with others. On a shelf some of it is known of some of them: a question for another
thing of the same person, or the same thing of another, has no answer there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from tools.encoder.lessons import Lesson, Side
from tools.encoder.talk import near_judge

ATTRIBUTES = Path(__file__).parent / "data" / "attributes.txt"
LANGUAGES = ("en", "th", "zh")
SHELF = "attributes-"  #: how the shelves are called
SHELVES, PEOPLE, SORTS, KNOWN, STRANGE = 48, 8, 12, 26, 10
_EITHER = re.compile(r"\[([^/\]]*)/([^\]]*)\]")


@dataclass
class Sort:
    """One thing that is said of people."""

    name: str
    values: list[Side] = field(default_factory=list)
    said: list[Side] = field(default_factory=list)
    asked: list[Side] = field(default_factory=list)


@cache
def read(path: Path = ATTRIBUTES) -> tuple[tuple[Side, ...], tuple[Sort, ...]]:
    """The people, and what is said of them."""
    people: list[Side] = []
    sorts: list[Sort] = []
    for line in path.read_text("utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "#":
            sorts.append(Sort(rest))
            continue
        side = dict(zip(LANGUAGES, map(str.strip, rest.split("|")), strict=True))
        lists = {"E": people} if not sorts else {}
        if sorts:
            lists = {"V": sorts[-1].values, "S": sorts[-1].said, "Q": sorts[-1].asked}
        if mark not in lists:
            raise ValueError(f"{path.name}: {line!r} stands where it has no meaning")
        lists[mark].append(side)
    return tuple(people), tuple(sorts)


def told(form: Side, person: Side, value: Side | None = None) -> Side:
    """A sentence or a question about a person."""
    return {
        language: (_english if language == "en" else _plain)(
            form[language], person[language], value[language] if value else ""
        )
        for language in LANGUAGES
    }


def _plain(form: str, person: str, value: str) -> str:
    return form.replace("{s}", person).replace("{v}", value)


def _english(form: str, person: str, value: str) -> str:
    who, whose = (part.strip() for part in person.split(","))
    is_me = who == "I"
    text = _EITHER.sub(lambda found: found[1 if is_me else 2], form)
    for mark, own, other in (("{s:o}", "me", who), ("{p:n}", "mine", whose), ("{h}", "my", "their")):
        text = text.replace(mark, own if is_me else other)
    text = text.replace("{s}", who).replace("{p}", whose).replace("{v}", value)
    return text[0].upper() + text[1:]


def shelves() -> Iterator[tuple[list[Lesson], list[tuple[str, str, Side]]]]:
    """What is known on each shelf, and person, key and question of what is not."""
    people, sorts = read()
    for number in range(SHELVES):
        chance = np.random.default_rng(number)
        name = f"{SHELF}{number}"
        some = [people[at] for at in (0, *(1 + chance.permutation(len(people) - 1)[: PEOPLE - 1]))]
        about = [sorts[at] for at in chance.permutation(len(sorts))[:SORTS]]
        places = [(who, what) for who in range(PEOPLE) for what in range(SORTS)]
        mixed = [places[at] for at in chance.permutation(len(places))]
        lessons = []
        for who, what in mixed[:KNOWN]:
            sort = about[what]
            value, said = _one(sort.values, chance), _one(sort.said, chance)
            asked = tuple(told(form, some[who]) for form in sort.asked)
            key = f"{name}-{who}-{what}"
            lessons.append(Lesson(name, key, told(said, some[who], value), asked, ()))
        lessons = [one for one in lessons if not _judges(one.statement, *one.questions)]
        seen = {what for _, what in mixed[:KNOWN]}
        lacking = [(who, what) for who, what in mixed[KNOWN:] if what in seen][:STRANGE]
        strange = [
            (name, f"{name}-{who}-{what}", told(_one(about[what].asked, chance), some[who]))
            for who, what in lacking
        ]
        yield lessons, [one for one in strange if not _judges(one[2])]


def _judges(*sides: Side) -> bool:
    return any(near_judge(text) for side in sides for text in side.values())


def _one(of: list[Side], chance: np.random.Generator) -> Side:
    return of[int(chance.integers(len(of)))]
