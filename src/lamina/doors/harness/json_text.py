"""JSON as people write it, changed in place: comments, commas, blanks and line ends stay as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from lamina.errors import InvalidInput
from lamina.records import dataclass

BOM = "\ufeff"
_TRIVIA = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.S)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SINGLE = re.compile(r"'(?:[^'\\\x00-\x1f]|\\.)*'")  # as JSON5 has them
_BARE = re.compile(r"[A-Za-z_$][\w$]*")
_SCALAR = re.compile(r"[-+.\w]+")
_DEEPEST = 200


@dataclass(slots=True)
class JsonNode:
    """A value and where it stands; `parts` are the members of an object or the items of an array."""

    start: int
    end: int = 0
    value: Any = None
    parts: list[Part] = field(default_factory=list)

    def get(self, key: str) -> Part | None:
        return next((part for part in self.parts if part.key == key), None)


@dataclass(slots=True)
class Part:
    """A member or an item: it begins with its key, and `comma` is where one follows it."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None = None


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def fail(self, at: int, what: str) -> InvalidInput:
        line = self.text.count("\n", 0, at) + 1
        return InvalidInput(
            f"{self.name}, line {line}: {what}.",
            code="client_file_malformed",
            hint="Correct that line and run it again. Nothing was changed.",
        )

    def past(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int = 0) -> JsonNode:
        char = self.text[at : at + 1]
        if depth > _DEEPEST:
            raise self.fail(at, "this is nested too deep")
        if char in ("{", "["):
            return self._container(at, "}" if char == "{" else "]", depth)
        found = {'"': _STRING, "'": _SINGLE}.get(char, _SCALAR).match(self.text, at)
        if found is None:
            raise self.fail(at, "a value is missing or not closed")
        try:
            return JsonNode(at, found.end(), _said(found[0]))
        except ValueError:
            raise self.fail(at, f"{found[0]!r:.40} is not a value") from None

    def _container(self, start: int, closing: str, depth: int) -> JsonNode:
        node = JsonNode(start)
        at = self.past(start + 1)
        while not self.text.startswith(closing, at):
            part = self._part(at, closing == "}", depth)
            node.parts.append(part)
            at = self.past(part.node.end)
            if self.text.startswith(",", at):
                part.comma, at = at, self.past(at + 1)
            elif not self.text.startswith(closing, at):
                raise self.fail(at, f"a comma or {closing!r} is missing")
        node.end = at + 1
        values = [part.node.value for part in node.parts]
        node.value = values if closing == "]" else self._object(node, values)
        return node

    def _object(self, node: JsonNode, values: list[Any]) -> dict[str, Any]:
        keys = [str(part.key) for part in node.parts]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise self.fail(node.parts[number].start, f"{key!r:.60} is there twice")
        return dict(zip(keys, values, strict=True))

    def _part(self, at: int, named: bool, depth: int) -> Part:
        if not named:
            return Part(None, at, self.value(at, depth + 1))
        found = _STRING.match(self.text, at) or _SINGLE.match(self.text, at) or _BARE.match(self.text, at)
        colon = self.past(found.end()) if found else at
        if found is None or not self.text.startswith(":", colon):
            raise self.fail(at, "a name and a colon are missing")
        key = found[0] if found.re is _BARE else str(_said(found[0]))
        return Part(key, at, self.value(self.past(colon + 1), depth + 1))


def _said(text: str) -> Any:
    """What a scalar stands for; ValueError for what is none."""
    if text.startswith("'"):
        return text[1:-1].replace("\\'", "'")
    return json.loads(text)


def parse(text: str, name: str) -> JsonNode | None:
    """The object in a file; None for an empty file. InvalidInput names the line that cannot be read."""
    reader = _Reader(text, name)
    start = reader.past(1 if text.startswith(BOM) else 0)
    if start == len(text):
        return None
    node = reader.value(start)
    if (end := reader.past(node.end)) != len(text):
        raise reader.fail(end, "something stands after the end")
    if not isinstance(node.value, dict):
        raise reader.fail(start, "this is not an object")
    return node


def at_path(root: JsonNode, path: Sequence[str]) -> JsonNode | None:
    """The value at a path of names; None where it ends early."""
    node: JsonNode | None = root
    for key in path:
        part = node.get(key) if node is not None and isinstance(node.value, dict) else None
        node = None if part is None else part.node
    return node


@dataclass(frozen=True, slots=True)
class Added:
    """A text with something added, and what its removal must know."""

    text: str
    at: int  #: where the new part begins
    piece: str
    made: dict[str, str | None]  #: containers by path, as they were when empty; None: they were not there


def add(text: str, name: str, path: Sequence[str], value: Any) -> Added:
    """Add a value at a path: the last name is the member's, or `+` for a new item of the array before it.

    Objects and arrays on the way are made where they are missing. The member must not be there.
    """
    root = parse(text, name)
    if root is None:
        whole = _rendered(_nested(path, value), "", "  ", newline(text))
        piece = whole + ("" if text.endswith("\n") else newline(text))
        return Added(text + piece, len(text), piece, {"[]": text, **_made(path, 1)})
    node, depth = root, 0
    while depth < len(path) - 1 and (found := node.get(path[depth])) is not None:
        node, depth = found.node, depth + 1
        wanted = list if path[depth] == "+" else dict
        if not isinstance(node.value, wanted):
            kind = "list" if wanted is list else "object"
            raise _Reader(text, name).fail(node.start, f"{'.'.join(path[:depth])} is not of the type {kind}")
    key, rest = path[depth], path[depth + 1 :]
    was = {} if node.parts else {json.dumps(path[:depth]): text[node.start : node.end]}
    inserted = _inserted(text, node, None if key == "+" else key, _nested(rest, value))
    return Added(*inserted, {**was, **_made(path, depth + 1)})


def _made(path: Sequence[str], depth: int) -> dict[str, str | None]:
    """The containers that did not exist, from a depth on."""
    return {json.dumps(path[:size]): None for size in range(depth, len(path))}


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = [value] if key == "+" else {key: value}
    return value


def newline(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def _rendered(value: Any, indent: str, unit: str, end: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    return f"{end}{indent}".join(lines)


def _indent_at(text: str, at: int) -> str | None:
    """The blanks before a place, where nothing else stands before it on its line."""
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line if not line.strip(" \t") else None


def _inserted(text: str, node: JsonNode, key: str | None, value: Any) -> tuple[str, int, str]:
    """The text with a new last part in a container, where it begins and what it is."""
    end, close = newline(text), node.end - 1
    line_indent = re.match(r"[ \t]*", text[text.rfind("\n", 0, node.start) + 1 :])
    outer = line_indent[0] if line_indent else ""
    own = _indent_at(text, node.parts[-1].start) if node.parts else None
    unit = own.removeprefix(outer) if own and own.startswith(outer) and own != outer else _unit(text)
    spread = own is not None if node.parts else "\n" in text.strip() or text.strip() in ("{}", f"{BOM}{{}}")
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not spread:
        body = f"{label}{json.dumps(value, ensure_ascii=False)}"
        lead, tail = (" " if node.parts else "", "")
    else:
        indent = own if own is not None else outer + unit
        body = label + _rendered(value, indent, unit, end)
        lead, tail = end + indent, "" if node.parts else end + outer
    if not node.parts:
        at = node.start + 1
        if text[at:close].strip():  # a comment is all there is in it: it stays first, on its own lines
            at, tail = _after_comments(text, at, close), ""
        piece = lead + body + (tail if not text[at:close].count("\n") else "")
        return text[:at] + piece + text[at:], at, piece
    last = node.parts[-1]
    if last.comma is not None:
        at = _after_comments(text, last.comma + 1, close)
        piece = f"{lead}{body},"
        return text[:at] + piece + text[at:], at, piece
    at = _after_comments(text, last.node.end, close)
    piece = lead + body
    made = text[: last.node.end] + "," + text[last.node.end : at] + piece + text[at:]
    return made, at + 1, piece


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _after_comments(text: str, at: int, close: int) -> int:
    """Behind the last comment before a closing bracket, or where it was."""
    found = list(_COMMENT.finditer(text, at, close))
    return found[-1].end() if found else at


def remove(text: str, container: JsonNode, part: Part) -> str:
    """The text without a part, and without the comma that it needed."""
    number = container.parts.index(part)
    before = container.parts[number - 1] if number else None
    start = part.start
    floor = max(container.start + 1, (before.comma or before.node.end) if before else 0)
    while start > floor and text[start - 1] in " \t\r\n":
        start -= 1
    if part.comma is not None:
        between = text[part.node.end : part.comma]
        return text[:start] + between + text[part.comma + 1 :]
    text = text[:start] + text[part.node.end :]
    if before is not None and before.comma is not None:
        text = text[: before.comma] + text[before.comma + 1 :]
    return text


def restore(text: str, name: str, made: Mapping[str, str | None]) -> str:
    """Containers that are empty again as they were: gone, or in their old spelling; comments in them stay."""
    for path in sorted(made, key=lambda one: -len(json.loads(one))):
        keys, was = json.loads(path), made[path]
        root = parse(text, name)
        node = None if root is None else at_path(root, keys)
        if root is None or node is None or node.parts:
            continue
        if _COMMENT.findall(text, node.start, node.end) != _COMMENT.findall(was or ""):
            continue
        if not keys and not (was or "").strip(f" \t\r\n{BOM}"):
            outside = text[: node.start] + text[node.end :]
            text = text if outside.strip(f" \t\r\n{BOM}") else was or ""
        elif was is not None:
            text = text[: node.start] + was + text[node.end :]
        elif (above := at_path(root, keys[:-1])) is not None and (part := above.get(keys[-1])) is not None:
            text = remove(text, above, part)
    return text
