"""What every stable code means, for those who meet one: the words of the reference page."""

from __future__ import annotations

from functools import cache

from lamina.late import files


def meanings_of(code: str) -> list[str]:
    """What a code means, a line for each thing that it can mean; nothing for what is no code."""
    return list(_table().get(code, ()))


@cache
def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (files("lamina.doors") / "data" / "codes.tsv").read_text("utf-8").splitlines():
        code, _, meaning = line.partition("\t")
        found.setdefault(code, []).append(meaning)
    return found
