"""An entry in a YAML file, added and taken away as lines; every other byte stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from lamina.doors.harness.json_text import BOM, newline
from lamina.doors.harness.toml_text import is_gone, without
from lamina.errors import InvalidInput


def parse(text: str, name: str) -> dict[str, Any]:
    """What a file says; InvalidInput names the line that cannot be read."""
    try:
        data = yaml.safe_load(text.removeprefix(BOM))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise _malformed(f"{name}{where} is not valid YAML.", "Correct that line and run it again.") from None
    if data is not None and not isinstance(data, dict):
        raise _malformed(f"{name} is not a table of settings.", "Correct it and run this again.")
    return data or {}


def add(text: str, name: str, path: Sequence[str], values: Mapping[str, Any]) -> tuple[str, str]:
    """The file with an entry, and the lines that were added; the entry must not be there."""
    above, own = path
    before = parse(text, name)
    head = re.search(rf"^{re.escape(above)}[ \t]*:[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", text, re.M)
    at, indent = len(text), "  "
    lines = [f"{above}:"]
    if above in before and head is not None:
        at, lines = head.end(), []
        child = re.match(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]+)[^\s#]", text[at:].replace("\r\n", "\n"))
        indent = child[1] if child else indent
    lines += [f"{indent}{own}:", *(f"{indent * 2}{key}: {json.dumps(one)}" for key, one in values.items())]
    piece = "\n".join([*lines, ""])
    piece = piece if not text[:at].removeprefix(BOM) or text[:at].endswith("\n") else f"\n{piece}"
    piece = piece.replace("\n", newline(text))
    after = text[:at] + piece + text[at:]
    try:
        made = parse(after, name)
    except InvalidInput:
        made = {}
    if without(made, path) != without(before, path) or is_gone(made, path):
        raise _malformed(
            f"{name} has no room for {above}.{own}.", f"Write `{above}` with a line for each entry."
        )
    return after, piece


def remove(text: str, name: str, path: Sequence[str], piece: str = "") -> str:
    """The text without the entry: `piece` as it was added, else the lines of the entry."""
    wanted = without(parse(text, name), path)
    if piece and text.count(piece) == 1:
        after = text.replace(piece, "")
    else:
        own = rf"^([ \t]+){re.escape(path[-1])}[ \t]*:[^\n]*(?:\n|\Z)(?:\1[ \t]+[^\n]*(?:\n|\Z))*"
        after = re.sub(own, "", text, count=1, flags=re.M)
    left = parse(after, name)
    if without(left, path) != wanted or not is_gone(left, path):
        raise _malformed(f"{name}: {'.'.join(path)} cannot be cut out.", "Delete it by hand.")
    return after


def _malformed(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, code="client_file_malformed", hint=f"{hint} Nothing was changed.")
