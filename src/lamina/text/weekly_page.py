"""The weekly archive: what went into MEMORY.md, what left it, what was overruled, with reason and date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from lamina.records import dataclass
from lamina.text.entries import split_lines, usual_ending
from lamina.text.memory_page import PageItem

_KEY = re.compile(rb"- ([0-9-]{10}) (DECISION-\S+)[: ]")


class PageVerb(StrEnum):
    """What is done to an item, or to a decision."""

    PROMOTE = "promote"
    KEEP = "keep"
    REWRITE = "rewrite"  #: its decision says something else by now
    DEMOTE = "demote"  #: still in force, and others are worth more
    ARCHIVE = "archive"  #: no longer in force
    RESOLVE = "resolve"  #: it cannot stand beside another


GONE = (PageVerb.DEMOTE, PageVerb.ARCHIVE)
_SECTIONS = {
    PageVerb.PROMOTE: "Promoted",
    PageVerb.REWRITE: "Rewritten",
    PageVerb.DEMOTE: "Demoted",
    PageVerb.ARCHIVE: "Archived",
    PageVerb.RESOLVE: "Overruled",
}


@dataclass(frozen=True, slots=True)
class PageOperation:
    """One thing to do, why, and on what evidence."""

    verb: PageVerb
    id: str
    why: str
    evidence: str = ""
    item: PageItem | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.id}: {self.why}" + (f" ({self.evidence})" if self.evidence else "")


def weekly_name(at: datetime) -> str:
    """The file of the week that a day is in."""
    year, week, _ = at.isocalendar()
    return f"memory/archive/weekly-{year}-{week:02}.md"


def recorded(
    data: bytes | None,
    name: str,
    day: str,
    operations: Sequence[PageOperation],
    instead_of: Sequence[PageOperation] = (),
) -> bytes:
    """The weekly file with these operations in it, each once a day; whatever else stands there stays.

    `instead_of` are operations that were written down and then not carried out.
    """
    dropped = {line.encode() for one in instead_of for line in _rendered(one, day)}
    lines = [line for line in split_lines(data or b"") if line.rstrip(b"\r\n") not in dropped]
    ending = usual_ending(lines)
    if not lines:
        title = name.rpartition("/")[2].removeprefix("weekly-").removesuffix(".md").replace("-", "-W")
        lines = [f"# Week {title}".encode() + ending]
    for verb, heading in _SECTIONS.items():
        wanted = [one for one in operations if one.verb is verb]
        start, end = _section(lines, heading)
        there = set(_keys(lines[start:end])) if start else set()
        wanted = [one for one in wanted if (day, one.id) not in there]
        new = [line.encode() + ending for one in wanted for line in _rendered(one, day)]
        if not new:
            continue
        if not lines[-1].endswith(b"\n"):
            lines[-1] += ending
        if not start:
            lines += [ending, f"## {heading}".encode() + ending, ending, *new]
        else:
            lines[end:end] = new
    return b"".join(lines)


def told_in(data: bytes | None, verb: PageVerb) -> set[str]:
    """The decisions that a weekly file names under an operation."""
    lines = split_lines(data or b"")
    start, end = _section(lines, _SECTIONS[verb])
    return {name for _, name in _keys(lines[start:end])} if start else set()


def _section(lines: list[bytes], heading: str) -> tuple[int, int]:
    """The lines below a heading, without blank ones at the end; 0 and 0 when there is no such heading."""
    start = next((n + 1 for n, one in enumerate(lines) if one.strip() == f"## {heading}".encode()), 0)
    if not start:
        return 0, 0
    end = next((n for n in range(start, len(lines)) if lines[n].startswith(b"#")), len(lines))
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _keys(lines: Iterable[bytes]) -> list[tuple[str, str]]:
    found = (_KEY.match(line) for line in lines)
    return [(one[1].decode(), one[2].decode(errors="replace").rstrip(":")) for one in found if one]


def _rendered(operation: PageOperation, day: str) -> list[str]:
    item, link = operation.item, ""
    if item is not None:
        place = item.path.removeprefix("memory/")
        link = f" {item.summary} ([{item.day}](../{place}#{item.anchor or item.id}))"
    lines = [f"- {day} {operation.id}:{link}", f"  - why: {operation.why}"]
    return [*lines, f"  - evidence: {operation.evidence}"] if operation.evidence else lines
