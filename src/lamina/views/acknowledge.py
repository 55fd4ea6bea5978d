"""Short acknowledgements in the language of the text they answer."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from lamina.text.normal import language_of


@cache
def _phrases() -> dict[str, dict[str, str]]:
    file = resources.files("lamina.views") / "data" / "acknowledgements.toml"
    return tomllib.loads(file.read_text("utf-8"))


def acknowledgement(what: str, text: str, detail: str = "") -> str:
    """The phrase for what happened, in the language of `text`; `detail` fills the gap where there is one."""
    phrases = _phrases()
    chosen = phrases.get(language_of(text), {})
    if detail and f"{what}_key" in phrases["en"]:
        what = f"{what}_key"
    return chosen.get(what, phrases["en"][what]).format(what=detail)
