"""The words of the interface, in English, Thai and Chinese of both scripts; they are data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from lamina.errors import LaminaError
from lamina.late import files
from lamina.records import dataclass

#: The languages of the interface, as HTML names them, and what each calls itself.
LANGUAGES = {"en": "English", "th": "ไทย", "zh-Hans": "简体中文", "zh-Hant": "繁體中文"}
COOKIE = "lamina_lang"
_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")


@dataclass(frozen=True, slots=True)
class StudioWords:
    """The interface in one language."""

    language: str
    table: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The words of a key with its values in their places; a key without words is a fault of ours."""
        text = self.table.get(key)
        if text is None:
            raise LaminaError(f"The interface has no words for {key!r:.60}.", code="words_missing")
        return text.format(**values) if values else text

    def named(self, family: str, value: object) -> str:
        """What a value of ours such as a state is called; its own name where it is called nothing else."""
        return self.table.get(f"{family}.{value}", str(value))


@cache
def tables() -> Mapping[str, StudioWords]:
    """Every language with its words, from `data/words.tsv`."""
    lines = (files(__package__) / "data" / "words.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:] if line.strip()]
    return {
        language: StudioWords(language, {row[0]: row[place] for row in rows})
        for place, language in enumerate(LANGUAGES, 1)
    }


def language_of(asked: str, remembered: str, accepted: str) -> str:
    """The language of a page: what the address asks for, else the cookie, else what the browser prefers."""
    for name in (asked, remembered):
        if name in LANGUAGES:
            return name
    preferred = [(_quality(part), -place, part) for place, part in enumerate(accepted.split(",")[:20])]
    for quality, _, part in sorted(preferred, reverse=True):
        if quality > 0 and (found := _nearest(part.partition(";")[0].strip().lower())):
            return found
    return "en"


def _quality(part: str) -> float:
    _, _, weight = part.partition(";q=")
    try:
        return float(weight.strip()) if weight else 1.0
    except ValueError:
        return 0.0


def _nearest(tag: str) -> str:
    if tag.startswith(_TRADITIONAL):
        return "zh-Hant"
    if tag.startswith("zh"):
        return "zh-Hans"
    return next((one for one in ("en", "th") if tag.partition("-")[0] == one), "")
