"""Short acknowledgements in the user's language, at the verbosity in force."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from lamina.late import read_rules
from lamina.text.normalise import Language, language_of

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"\{(\w+)\}")
_CHINESE = ("zh-Hant", "zh-Hans")
#: Values longer than this are not repeated.
_LONGEST = 80
#: Tables that are no messages.
_TABLES = ("codes", "leads", "names", "values")


@cache
def _data() -> dict[str, dict[str, Any]]:
    return read_rules("lamina.language", "acknowledgements.toml")


@cache
def messages() -> dict[str, dict[str, dict[str, str]]]:
    """Every message by its name, language and verbosity."""
    return {name: table for name, table in _data().items() if name not in _TABLES}


def refusal(code: str) -> str:
    """The message for a write that was refused with this stable code."""
    form = "refused_form" if code.endswith("_invalid") else "refused"  # what a caller wrote in a wrong form
    return str(_data()["codes"].get(code, form))


def language_for(setting: str | None, text: str) -> Language:
    """The language to answer in: that of `response.language` if it is one of ours, else that of the text."""
    spoken = language_of(text)
    if setting in ("en", "th", *_CHINESE):
        return setting  # type: ignore[return-value]  # it is one of the four, as the line above says
    if setting == "zh":
        return spoken if spoken in _CHINESE else "zh-Hans"
    return spoken


def in_words(key: str, language: Language) -> str:
    """What a person calls the setting of a key; a key that we have no words for is itself."""
    return str(_data()["names"][language].get(key.removesuffix(".default"), key))


def value_in_words(key: str, value: str, language: Language) -> str:
    """The value of a setting of answers; one that we have no words for, and any other key's, is itself."""
    return str(_data()["values"][language].get(value, value)) if key.startswith("response.") else value


@lru_cache(maxsize=256)  # most have no details
def acknowledge(message: str, language: Language, verbosity: str = "normal", **details: str | int) -> str:
    """The text of a message, with `details` (key, value, old, options, count, until, scope) in its gaps.

    `verbosity` is a value of `response.verbosity`; what is none of concise, normal and detailed is normal. A
    part of the text in brackets is left out where a detail it names is not given or too long to repeat. A
    refusal repeats nothing, whatever is given; it begins with what was not done, by the detail `act`. `name`
    is the key in words, unless it is given; the value of a setting is in words, too.
    """
    texts, leads = messages()[message][language], _data()["leads"][language]
    key, value, most = str(details.get("key", "")), str(details.get("value", "")), {"options": 4 * _LONGEST}
    spoken = {"name": in_words(key, language), **details, "value": value_in_words(key, value, language)}
    known = {name: str(one) for name, one in spoken.items() if 0 < len(str(one)) <= most.get(name, _LONGEST)}
    known["lead"] = leads.get(known.get("act", ""), leads["remember"])

    def part(found: re.Match[str]) -> str:
        return found[1] if all(name in known for name in _NAME.findall(found[1])) else ""

    chosen = _OPTIONAL.sub(part, _OPTIONAL.sub(part, texts.get(verbosity, texts["normal"])))  # one in another
    return _NAME.sub(lambda found: known.get(found[1], ""), chosen)


def acknowledgement(what: str, text: str, detail: str = "") -> str:
    """What happened, in the language of `text`; `detail` is the key, or until when it can be restored."""
    message = {"denied": "refused"}.get(what, what)
    name = "until" if what == "forgotten" else "name"  # whoever gave the key reads it as it is
    return acknowledge(message, language_of(text), **{name: detail})
