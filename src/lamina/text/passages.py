"""Markdown into searchable passages: true lines, heading paths, dates, and one passage for each decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from lamina.late import regex
from lamina.records import dataclass
from lamina.text.tokens import count_tokens

#: Goes up with every change of what `read_markdown` returns; then every document is read again.
PASSAGES_VERSION: int = 1

TARGET = 400  #: tokens a passage is filled up to
LARGEST = 900  #: tokens of a code fence that stays whole
OVERLAP = 80  #: tokens that two passages of one section share at most: a fifth
_WHOLE_DECISION = 3600  #: tokens; a decision beyond is cut like any other section

_FENCE = regex(r" {0,3}(`{3,}|~{3,})(.*)")
# No pattern here has two ways to divide a run of blanks: a line may be a megabyte of them.
_HEADING = regex(r" {0,3}(#{1,6})[ \t]+(.*)")
_DECISION = regex(r"decision ?[:：]", re.IGNORECASE)
_FIELD = regex(r" {0,8}[-*] {1,4}\**(id|date|status)\**[:：](.*)", re.IGNORECASE)
_FRONT = regex(r"([A-Za-z][\w-]{0,40}):(.*)")
# Where a long line may be cut: after a sentence in Latin or Chinese, after a blank in Thai.
_PIECE = regex(r".+?(?:[.!?;][ \t]|[。！？；…]|(?<=[\u0e01-\u0e4e])[ \t]|$)", re.DOTALL)
_WORD = regex(r"[A-Za-z][\w-]{0,19}")

_YEAR_FIRST = regex(
    r"(?<![\d.])(\d{4})(?:-(\d{1,2})-(\d{1,2})|/(\d{1,2})/(\d{1,2})|\.(\d{1,2})\.(\d{1,2})"
    r"|\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號])(?![\d.]*\d)"
)
_MONTHS = (
    "january jan มกราคม ม.ค.",
    "february feb กุมภาพันธ์ ก.พ.",
    "march mar มีนาคม มี.ค.",
    "april apr เมษายน เม.ย.",
    "may may พฤษภาคม พ.ค.",
    "june jun มิถุนายน มิ.ย.",
    "july jul กรกฎาคม ก.ค.",
    "august aug สิงหาคม ส.ค.",
    "september sep กันยายน ก.ย.",
    "october oct ตุลาคม ต.ค.",
    "november nov พฤศจิกายน พ.ย.",
    "december dec ธันวาคม ธ.ค.",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAMES = "|".join(re.escape(name) for name in sorted(_MONTH, key=len, reverse=True))
_DAY_FIRST = regex(rf"(?<!\d)(\d{{1,2}})\s*({_NAMES}),?\s*(?:พ\.ศ\.\s*)?(\d{{4}})(?!\d)", re.IGNORECASE)
_MONTH_FIRST = regex(rf"\b({_NAMES})\s+(\d{{1,2}}),\s*(\d{{4}})(?!\d)", re.IGNORECASE)
_COMPACT = regex(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")
_WEEK = regex(r"(?<!\d)(\d{4})-W?(\d{2})(?=\.md$)")
_BUDDHIST = 543  #: years that the Thai calendar is ahead
_OLDEST, _NEWEST = 1900, 2200


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document: `text` stands in lines `start_line` to `end_line`, counted from 1."""

    start_line: int
    end_line: int
    heading: str  #: the headings above it, outermost first, joined by ` > `
    text: str
    key: str | None = None  #: the id of a decision
    date: date | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a markdown file says of itself, and its passages in order."""

    title: str
    date: date | None
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut: a line, a piece of a long line, or a code fence."""

    start: int
    end: int
    text: str
    tokens: int
    is_fence: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    headings: tuple[str, ...]
    start: int  #: the heading's line, 0 for what comes before the first
    units: tuple[_Unit, ...]
    is_decision: bool


def read_markdown(path: str, text: str) -> Document:
    """A file's passages. Never raises; every line that is not blank is in one, but for the front matter and
    headings without text, and no passage reaches over a heading.

    A section under `## Decision: …` is one passage with its own id, date and status.
    """
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    body, front = _front_matter(lines)
    sections = list(_sections(lines, body))
    titles = [section.headings for section in sections if section.headings]
    name = path.rpartition("/")[2].removesuffix(".md")
    title = front.get("title") or (titles[0][0] if titles else name)
    dated = date_in(front.get("date", "")) or date_of_path(path) or date_in(title)
    whole = Passage(start_line=0, end_line=0, heading=title, text="", date=dated, status=_status(front))
    found = [passage for section in sections for passage in _passages(section, whole)]
    return Document(title=title, date=dated, passages=tuple(found))


def date_in(text: str) -> date | None:
    """The first calendar date that a short text names, in the forms of English, Thai and Chinese."""
    if match := _YEAR_FIRST.search(text):
        year, month, day = [int(part) for part in match.groups() if part]
    elif match := _DAY_FIRST.search(text):
        year, month, day = int(match[3]), _MONTH[match[2].lower()], int(match[1])
    elif match := _MONTH_FIRST.search(text):
        year, month, day = int(match[3]), _MONTH[match[1].lower()], int(match[2])
    else:
        return None
    return _calendar(year, month, day)


def date_of_path(path: str) -> date | None:
    """The day in a file's name or an id, or the Monday of the week for `…-2026-07.md`."""
    if (found := date_in(path)) is not None:
        return found
    if (match := _COMPACT.search(path)) and (found := _calendar(*map(int, match.groups()))):
        return found
    if not (match := _WEEK.search(path)):
        return None
    try:
        return date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:
        return None


def _calendar(year: int, month: int, day: int) -> date | None:
    if year > _NEWEST:
        year -= _BUDDHIST
    try:
        return date(year, month, day) if _OLDEST <= year <= _NEWEST else None
    except ValueError:
        return None


def _front_matter(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Where the text begins, and the plain `name: value` lines above it."""
    if lines[0].rstrip() != "---":
        return 0, {}
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            named = [match for one in lines[1:at] if (match := _FRONT.fullmatch(one))]
            return at + 1, {match[1].lower(): match[2].strip(" \t\"'") for match in named}
    return 0, {}  # a rule and no front matter


def _status(fields: dict[str, str]) -> str | None:
    match = _WORD.match(fields.get("status", ""))
    return match[0].lower() if match else None


def _sections(lines: Sequence[str], body: int) -> Iterator[_Section]:
    """The text under each heading; a decision holds the headings below it, too."""
    path: list[tuple[int, str]] = []
    start, held, decision = 0, [], 0  # decision: the level of the one we are in
    for unit, level, title in _units(lines, body):
        if not level or (decision and level > decision):
            held.append(unit)
            continue
        if held:
            yield _Section(tuple(name for _, name in path), start, tuple(held), decision > 0)
        path = [*((depth, name) for depth, name in path if depth < level), (level, title)]
        start, held = unit.start, [unit]
        decision = level if _DECISION.match(title) else 0
    if held:
        yield _Section(tuple(name for _, name in path), start, tuple(held), decision > 0)


def _units(lines: Sequence[str], body: int) -> Iterator[tuple[_Unit, int, str]]:
    """Everything in order; a heading has its level and title, all else a level of 0."""
    at = body
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.fullmatch(line):
            end = _fence_end(lines, at, fence[1])
            for unit in _fenced(lines, at, end):
                yield unit, 0, ""
            at = end + 1
            continue
        heading = _HEADING.fullmatch(line)
        for unit in [_unit(at, line)] if heading else _pieces(at, line):
            yield unit, len(heading[1]) if heading else 0, _title(heading[2]) if heading else ""
        at += 1


def _title(text: str) -> str:
    """A heading's words, without the marks that may close it."""
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _unit(at: int, text: str) -> _Unit:
    return _Unit(at + 1, at + 1, text, count_tokens(text))


def _fence_end(lines: Sequence[str], start: int, mark: str) -> int:
    """The line that closes a fence; one that is never closed ends with the file."""
    closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
    return next((at for at in range(start + 1, len(lines)) if closing.fullmatch(lines[at])), len(lines) - 1)


def _fenced(lines: Sequence[str], start: int, end: int) -> Iterable[_Unit]:
    text = "\n".join(lines[start : end + 1])
    tokens = count_tokens(text)
    if tokens <= LARGEST:
        return [_Unit(start + 1, end + 1, text, tokens, is_fence=True)]
    return [unit for at in range(start, end + 1) for unit in _pieces(at, lines[at])]


def _pieces(at: int, line: str) -> Iterator[_Unit]:
    """A line, or its sentences when it is long, or cuts of those that are still too long."""
    whole = _unit(at, line)
    if whole.tokens <= OVERLAP:
        yield whole
        return
    for piece in _PIECE.findall(line):
        unit = _unit(at, piece)
        size = len(piece) if unit.tokens <= OVERLAP else max(1, len(piece) * OVERLAP // (2 * unit.tokens))
        for start in range(0, len(piece), size):
            yield _unit(at, piece[start : start + size])


def _passages(section: _Section, document: Passage) -> Iterator[Passage]:
    titled = section.units[0].start == section.start  # the first unit is the heading
    if not any(unit.text.strip() for unit in section.units[titled:]):
        return
    dates = [found for name in reversed(section.headings) if (found := date_in(name))]
    heading = " > ".join(section.headings) or document.heading
    shared = replace(document, heading=heading, date=dates[0] if dates else document.date)
    if section.is_decision:
        shared = _decided(section, shared)
        if sum(unit.tokens for unit in section.units) <= _WHOLE_DECISION:
            yield _passage(section.units, shared)
            return
    for units in _filled(section.units):
        yield _passage(units, shared)


def _decided(section: _Section, shared: Passage) -> Passage:
    named = [match for unit in section.units if (match := _FIELD.fullmatch(unit.text))]
    # What follows a blank and a # is a remark; of two fields of one name the first counts.
    fields = {match[1].lower(): match[2].split(" #")[0].strip('`*" \t') for match in reversed(named)}
    return replace(
        shared,
        key=fields.get("id") or None,
        date=date_in(fields.get("date", "")) or date_of_path(fields.get("id", "")) or shared.date,
        status=_status(fields) or "active",
    )


def _filled(units: Sequence[_Unit]) -> Iterator[list[_Unit]]:
    """As much as goes into a passage; the next begins with the last few lines of the one before it."""
    held: list[_Unit] = []
    tokens = fresh = 0
    for unit in units:
        if fresh and tokens + unit.tokens > TARGET:
            yield held
            held = _tail(held, LARGEST - unit.tokens)
            tokens, fresh = sum(one.tokens for one in held), 0
        held.append(unit)
        tokens += unit.tokens
        fresh += bool(unit.text.strip())
    if fresh:
        yield held


def _tail(units: Sequence[_Unit], room: int) -> list[_Unit]:
    kept: list[_Unit] = []
    left = min(OVERLAP, room)
    for unit in reversed(units):
        if unit.is_fence or unit.tokens > left:
            break
        kept.append(unit)
        left -= unit.tokens
    return kept[::-1]


def _passage(units: Sequence[_Unit], shared: Passage) -> Passage:
    """The units as one text, without the blank lines around them."""
    first = next(at for at, unit in enumerate(units) if unit.text.strip())
    last = next(at for at in range(len(units) - 1, -1, -1) if units[at].text.strip())
    used = units[first : last + 1]
    text = used[0].text
    for before, unit in pairwise(used):
        text += unit.text if unit.start == before.end else f"\n{unit.text}"
    return replace(shared, start_line=used[0].start, end_line=used[-1].end, text=text)
