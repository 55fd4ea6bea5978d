"""Pages from templates: always escaped, with what hides or reorders text made visible."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from lamina.doors.cli.plain_view import plain_lines
from lamina.doors.http.answers import wire
from lamina.studio import drawing
from lamina.text.normalise import is_note

#: Controls, marks of direction, and what has no width: each could make a text look like another.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = 240
#: So much of a text is shown on its own page; the plain view has the rest.
SHOWN_CHARS, SHOWN_LINES = 20_000, 400


def visible(text: object) -> Markup:
    """A memory's words as a page shows them: escaped, and what cannot be seen named by its number."""
    parts: list[Markup] = []
    said, start = str(text), 0
    for found in _UNSEEN.finditer(said):
        parts += [escape(said[start : found.start()]), _named(found[0])]
        start = found.end()
    return Markup("").join([*parts, escape(said[start:])])


def _named(char: str) -> Markup:
    return Markup('<span class="unseen" title="U+{0:04X}">U+{0:04X}</span>').format(ord(char))


def short(text: object, most: int = _SHORT) -> Markup:
    """The beginning of a text on one line."""
    said = " ".join(str(text)[: most * 4].split())
    return visible(said if len(said) <= most else f"{said[:most].rstrip()}…")


def bounded(text: str) -> tuple[str, bool]:
    """As much of a text as a page shows, and whether that is all."""
    lines = text[:SHOWN_CHARS].split("\n")
    shown = "\n".join(lines[:SHOWN_LINES])
    return shown, len(shown) == len(text)


def day(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d}"


def minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def difference(old: str, new: str) -> Iterator[tuple[str, str]]:
    """What became of a text, in runs: `same`, `gone` or `new`, each with its words."""
    before, after = _pieces(old), _pieces(new)
    if len(before) * len(after) > 4_000_000:  # comparing is quadratic: as wholes, then
        before, after = [old], [new]
    for sort, low, high, start, end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if sort == "equal":
            yield "same", "".join(before[low:high])
            continue
        if low < high:
            yield "gone", "".join(before[low:high])
        if start < end:
            yield "new", "".join(after[start:end])


def _pieces(text: str) -> Sequence[str]:
    """Words where there are blanks between them, characters of Thai and Chinese otherwise."""
    return re.findall(r"\s+|[A-Za-z0-9_'’-]+|.", text[:SHOWN_CHARS], re.DOTALL)


def plainly(value: Any) -> str:
    """Any answer of ours, one `key: value` a line."""
    return "\n".join(plain_lines(wire(value)))


@cache
def environment() -> Environment:
    """The templates; nothing in them is ever taken for HTML that was not written in one of them."""
    made = Environment(
        loader=PackageLoader("lamina.studio", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        visible=visible,
        short=short,
        day=day,
        minute=minute,
        bounded=bounded,
        difference=difference,
        plainly=plainly,
    )
    made.globals.update(
        activity=drawing.activity,
        life=drawing.life,
        shares=drawing.shares,
        web=drawing.web,
        meters=drawing.meters,
        is_note=is_note,
    )
    return made


def rendered(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)
