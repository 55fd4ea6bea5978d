"""A table in a TOML file, added at its end and taken away again; every other byte stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from lamina.doors.harness.json_text import BOM, newline
from lamina.errors import InvalidInput


def parse(text: str, name: str) -> dict[str, Any]:
    """What a file says; InvalidInput names the line that cannot be read."""
    try:
        return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(
            f"{name} is not valid TOML: {error}.",
            code="client_file_malformed",
            hint="Correct that line and run it again. Nothing was changed.",
        ) from None


def add(text: str, name: str, path: Sequence[str], values: Mapping[str, Any]) -> tuple[str, str]:
    """The file with this table at its end, and what was added; the table must not be there."""
    before = parse(text, name)
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    piece = "\n".join(["", *lines, ""]) if text.strip(f"{BOM} \t\r\n") else "\n".join([*lines, ""])
    if text and not text.endswith("\n") and text != BOM:
        piece = f"\n{piece}"
    piece = piece.replace("\n", newline(text))
    try:
        after = parse(text + piece, name)
    except InvalidInput:
        after = {}
    if without(after, path) != without(before, path) or not after:
        raise InvalidInput(
            f"{name} has no room for a table [{'.'.join(path)}].",
            code="client_file_malformed",
            hint=f"Write `{path[0]}` as tables of their own, one for each server. Nothing was changed.",
        )
    return text + piece, piece


def without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The data without what stands at a path, nor tables that hold nothing else."""
    first, *rest = path
    inner = data.get(first)
    kept = {key: value for key, value in data.items() if key != first}
    if rest and isinstance(inner, Mapping) and (left := without(inner, rest)):
        kept[first] = left
    elif rest and not isinstance(inner, Mapping) and inner is not None:
        kept[first] = inner
    return kept


def remove(text: str, name: str, path: Sequence[str], piece: str = "") -> str:
    """The text without the table at a path: `piece` as it was added, else the lines of the table.

    Raises InvalidInput where it is written in a way that cannot be cut out without a doubt.
    """
    wanted = without(parse(text, name), path)
    if piece and text.count(piece) == 1:
        after = text.replace(piece, "")
    else:
        head = r"[ \t]*\.[ \t]*".join(rf"(?:{re.escape(key)}|\"{re.escape(key)}\")" for key in path)
        # Its own lines, and those of tables in it; a blank line, a comment or another table ends them.
        table = (
            rf"^[ \t]*\[[ \t]*{head}[ \t]*(?:\.[^\n]*)?\][^\n]*(?:\n|\Z)(?:[ \t]*[^\s\[#][^\n]*(?:\n|\Z))*"
        )
        after = re.sub(table, "", text, flags=re.M)
    if without(parse(after, name), path) != wanted or not is_gone(parse(after, name), path):
        raise InvalidInput(
            f"{name}: the table [{'.'.join(path)}] cannot be cut out.",
            code="client_file_malformed",
            hint="Delete it by hand. Nothing was changed.",
        )
    return after


def is_gone(data: Any, path: Sequence[str]) -> bool:
    """Whether nothing stands at a path."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data is None


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
