"""What every stable code means, and what to do about it: the words of the reference page and of our hints."""

from __future__ import annotations

from functools import cache

from lamina.late import files


def told_of(code: str) -> tuple[list[str], list[str]]:
    """What a code may mean and what to do then, a line for each; nothing for what is no code."""
    return _table().get(code, ([], []))


@cache
def _table() -> dict[str, tuple[list[str], list[str]]]:
    found: dict[str, tuple[list[str], list[str]]] = {}
    for line in (files("lamina.doors") / "data" / "codes.tsv").read_text("utf-8").splitlines():
        code, meaning, *hint = line.split("\t")
        found.setdefault(code, ([], []))[bool(hint)].append(*hint or [meaning])
    return found
