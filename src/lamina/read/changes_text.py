"""The delta header: what changed since somebody last looked, in at most three lines (IS-1)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from lamina.model import Changed
from lamina.text.normalise import Language, language_of

MOST = 3
_LONGEST = 160
_SIGN = {
    "created": "+",
    "updated": "↑",
    "merged": "↔",
    "deleted": "-",
    "soft_deleted": "~",
    "restored": "↺",
}


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads((resources.files("lamina.read") / "data" / "delta.toml").read_text("utf-8"))


def shown(changes: Sequence[Changed]) -> tuple[Changed, ...]:
    """The changes worth a line: what matters most, then what is newest."""
    order = sorted(changes, key=lambda one: (-one.importance, -one.at.timestamp(), one.memory_id))
    return tuple(order[:MOST])


def header(changes: Sequence[Changed], since: int, language: Language | None = None) -> str:
    """The lines for a prompt, in the language of what they say unless told; empty without a change."""
    if not changes:
        return ""
    words = _words()[language or language_of(" ".join(one.text for one in changes))]
    lines = [f"- {_SIGN[one.event]}{words[one.event]}: {_said(one, words)}" for one in changes]
    return "\n".join([words["since"].format(since=since), *lines])


def _said(one: Changed, words: dict[str, str]) -> str:
    line = " ".join(one.text.split()) or one.memory_id
    cut = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    if one.combined > 1:
        return words["combined"].format(count=one.combined) + cut
    weight = f" (imp={one.importance})" if one.event == "created" else ""
    return f"[{one.category}] {cut}{weight}" if one.category else cut
