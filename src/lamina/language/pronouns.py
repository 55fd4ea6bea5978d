"""The personal pronouns of a text, each with whom it stands for; quoted words are somebody else's."""

from __future__ import annotations

import re
import tomllib
from functools import cache

from lamina.late import files
from lamina.records import dataclass
from lamina.text.normalise import Language

_QUOTED = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』')
#: A Thai consonant belongs to the vowel written before it and to the marks written after it.
_THAI = ("(?<![\u0e40-\u0e44])(?:", ")(?![\u0e30-\u0e3a\u0e45\u0e47-\u0e4e])")
_FILLER = "\x00"


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun and where it stands; `who` is first, plural, second, person, many or thing."""

    who: str
    word: str
    start: int
    end: int


def pronouns(text: str, language: Language) -> list[Pronoun]:
    """Every pronoun outside quotation marks, in order; linear in the text."""
    said = without_quotations(text)
    found = [
        Pronoun(who, match[0], match.start(), match.end())
        for who, shape in _shapes()[language[:2]].items()
        for match in shape.finditer(said)
    ]
    return sorted(found, key=lambda one: one.start)


def without_quotations(text: str) -> str:
    """The text with a filler, as long as they are, for the words between quotation marks."""
    return _QUOTED.sub(lambda found: _FILLER * len(found[0]), text)


@cache
def _shapes() -> dict[str, dict[str, re.Pattern[str]]]:
    file = files("lamina.language") / "data" / "pronouns.toml"
    edges = {"th": _THAI}
    return {
        name: {
            who: re.compile(shape.replace("\\\n", "").join(edges.get(name, ("(?:", ")"))))
            for who, shape in shapes.items()
        }
        for name, shapes in tomllib.loads(file.read_text("utf-8")).items()
    }
