"""The line of an entry: its fields, its escapes and its rules."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import NamedTuple

from lamina.errors import InvalidInput
from lamina.late import regex
from lamina.model import Kind
from lamina.records import dataclass
from lamina.text.normalise import canonical_key
from lamina.text.ttl import NEVER, parse_time, parse_ttl

SOURCES = frozenset({"user_explicit", "user_inferred", "system", "admin"})
MOST_FIELDS = 64

_KINDS = frozenset(kind.value for kind in Kind)
_FIELDS = ("key", "value", "kind", "priority", "ttl", "source", "updated_at")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Every pattern here is linear: a line may be megabytes long, and it may be hostile.
BOM = b"\xef\xbb\xbf"
ENTRY = regex(rb"((?:\xef\xbb\xbf)*[ \t]*[-*][ \t]+)key[ \t]*:")  #: a line meant as an entry
_NAME = regex(r"[a-z][a-z0-9_.-]*")
_NAMED = regex(r"\s*([a-z][a-z0-9_.-]*)\s*:\s*")
_PRIORITY = regex(r"[0-9]{1,3}")
_TOKEN = regex(r"(?:\\.)+|\|", re.DOTALL)
_ESCAPE = regex(r"\\(?:([\\|nrt])|u\{([0-9A-Fa-f]{0,6})\})")
# What could end the line or the field, hide or reorder text on screen, or open and close a comment.
_UNSAFE = regex(
    "[\\\\|\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
    "|<(?=!--)|(?<=--)>"
)
_SHORT = {"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {"\\": "\\", "|": "|", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One keyed memory as a line of a file says it."""

    key: str  #: as written; `canonical` is what it is looked up by
    value: str
    kind: str = Kind.PREFERENCE.value
    priority: int = 50
    ttl: str = NEVER
    source: str = "user_explicit"  #: what the line claims; authority never follows from it
    updated_at: str = ""
    extra: tuple[tuple[str, str], ...] = ()  #: fields of names we do not know
    line: int = field(default=0, compare=False)  #: where it stands, from 1; 0 for an entry that is in no file

    @property
    def canonical(self) -> str:
        return canonical_key(self.key)


class LineField(
    NamedTuple
):  # a tuple, because a file has thousands of them and reading it is mostly making them
    """One `name:value` piece of a line; `lead + raw + tail` is the piece exactly as typed."""

    name: str
    lead: str
    raw: str
    tail: str = ""

    @property
    def value(self) -> str:
        return _unescape(self.raw)

    @property
    def text(self) -> str:
        return self.lead + self.raw + self.tail


class Malformed(Exception):
    """A line that was meant as an entry and is none."""

    def __init__(self, message: str, hint: str) -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


def parts(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Indent and bullet, the fields, the line ending; together the line."""
    found = ENTRY.match(line)
    start = found.end(1) if found else 0
    end = len(line.rstrip(b"\r\n"))
    return line[:start], line[start:end], line[end:]


def tokens(body: str) -> list[LineField]:
    """The pieces between the bars; a bar after a backslash belongs to its value.

    A piece without a name has the name ''. Nothing is read after one piece too many.
    """
    ends = (token.start() for token in _TOKEN.finditer(body) if token[0] == "|")
    cuts = [-1, *islice(ends, MOST_FIELDS), len(body)]
    return [_field(body[start + 1 : end]) for start, end in pairwise(cuts)]


def _field(text: str) -> LineField:
    if (found := _NAMED.match(text)) is None:
        return LineField("", "", text)
    value = text[found.end() :].rstrip()
    return LineField(found[1], found[0], value, text[found.end() + len(value) :])


def read_entry(fields: list[LineField], line: int = 0) -> Entry:
    """What the fields say together; raises Malformed when they do not make an entry."""
    if len(fields) > MOST_FIELDS:
        raise Malformed(
            f"This entry has more than {MOST_FIELDS} parts.", r"Write \| for a bar inside a value."
        )
    values: dict[str, str] = {}
    for item in fields:
        if not item.name:
            raise Malformed(
                "A part of this entry has no name.",
                r"Each part is name:value with a lower-case name. Write \| for a bar inside a value.",
            )
        if item.name in values:
            raise Malformed(f"This entry has two parts named {item.name[:40]}.", "Keep one of them.")
        values[item.name] = item.value
        if item.name in ("key", "value") and not item.raw:
            raise Malformed(f"This entry has an empty {item.name}.", f"Write something after {item.name}:")
    if "value" not in values:
        raise Malformed("This entry has no value.", "Add | value: and what should be remembered.")
    priority = values.get("priority", "50")
    entry = Entry(
        key=values["key"],
        value=values["value"],
        updated_at=values.get("updated_at", ""),
        kind=values.get("kind", "preference"),
        ttl=values.get("ttl", NEVER),
        priority=int(priority) if _PRIORITY.fullmatch(priority) else -1,
        source=values.get("source", "user_explicit"),
        extra=tuple((name, value) for name, value in values.items() if name not in _FIELDS),
        line=line,
    )
    try:
        _check_fields(entry)
    except InvalidInput as flaw:
        raise Malformed(flaw.message, flaw.hint) from None
    return entry


def _check_fields(entry: Entry) -> str:
    """The canonical key; raises InvalidInput for what no line may say, whoever writes it."""
    if entry.kind not in _KINDS:
        raise InvalidInput(
            "This kind is not known.",
            code="kind_invalid",
            hint=f"Use one of {', '.join(sorted(_KINDS))}.",
        )
    if entry.source not in SOURCES:
        raise InvalidInput(
            "This source is not known.",
            code="source_invalid",
            hint=f"Use one of {', '.join(sorted(SOURCES))}.",
        )
    if not 0 <= entry.priority <= 100:
        raise InvalidInput(
            "The priority is not a number from 0 to 100.",
            code="priority_invalid",
            hint="Write one, such as 50.",
        )
    if entry.ttl != NEVER:
        parse_ttl(entry.ttl, _EPOCH)
    return canonical_key(entry.key)


def checked(entry: Entry) -> str:
    """The canonical key of an entry that will read back as itself; raises InvalidInput for any other."""
    if entry.updated_at and parse_time(entry.updated_at) is None:
        raise InvalidInput(
            "The time of this entry cannot be read.",
            code="time_invalid",
            hint="Write it like 2026-02-07T11:00:00Z.",
        )
    names = [name for name, _ in entry.extra]
    count = len(names) + len(_FIELDS)
    if not len({*names, *_FIELDS}) == count <= MOST_FIELDS or not all(map(_NAME.fullmatch, names)):
        raise InvalidInput(
            "There are too many extra fields, or one has a name that is taken or cannot be written.",
            code="field_invalid",
            hint="Use lower-case letters, digits, dots, dashes and underscores, each name once.",
        )
    try:
        for text in (entry.key, entry.value, *(value for _, value in entry.extra)):
            text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "This text holds half of a character pair and cannot be stored.",
            code="text_invalid",
            hint="Send it as valid Unicode.",
        ) from None
    return _check_fields(entry)


def _texts(entry: Entry) -> dict[str, str]:
    """Every field as plain text, in the order of a new line."""
    known = {name: str(getattr(entry, name)) for name in _FIELDS}
    return known | dict(entry.extra)


_DEFAULTS = _texts(Entry(key="", value=""))


def rendered(entry: Entry) -> str:
    """A new line without bullet and ending; `kind` and `updated_at` only where they say something."""
    return " | ".join(
        f"{name}:{_escape(text)}"
        for name, text in _texts(entry).items()
        if name not in ("kind", "updated_at") or text != _DEFAULTS[name]
    )


def revised(line: bytes, entry: Entry) -> bytes:
    """The line saying what `entry` says, with every part left alone that says it already."""
    prefix, body, ending = parts(line)
    fields = tokens(body.decode())
    before, after = _texts(read_entry(fields)), _texts(entry)
    kept: list[LineField] = []
    for item in fields:
        if item.name == "key" or item.name not in after or before[item.name] == after[item.name]:
            kept.append(item)
        elif item.name != "updated_at" or after[item.name]:
            kept.append(item._replace(raw=_escape(after[item.name])))
    present = {item.name for item in fields}
    added = [
        LineField(name, f" {name}:", _escape(text))
        for name, text in after.items()
        if name not in present and text != _DEFAULTS.get(name)
    ]
    if added or kept[-1].name != fields[-1].name:
        kept[-1] = kept[-1]._replace(tail=" " if added else "")
    added = [item._replace(tail=" ") for item in added[:-1]] + added[-1:]
    return prefix + "|".join(item.text for item in kept + added).encode() + ending


def _code(char: str) -> str:
    return _SHORT.get(char) or f"\\u{{{ord(char):X}}}"


def _escape(text: str) -> str:
    """One field's text, on one line, from which `_unescape` gives back exactly `text`."""
    if not text:
        return "\\u{}"  # an empty field is taken for one that a person has not finished typing
    start = int(text[0].isspace())
    end = len(text) - int(len(text) > 1 and text[-1].isspace())
    inner = _UNSAFE.sub(lambda found: _code(found[0]), text[start:end])
    return "".join(map(_code, text[:start])) + inner + "".join(map(_code, text[end:]))


def _unescape(raw: str) -> str:
    return _ESCAPE.sub(_meant, raw) if "\\" in raw else raw


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return _LONG[found[1]]
    if not found[2]:
        return ""
    code = int(found[2], 16)
    return found[0] if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)
