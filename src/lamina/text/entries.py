"""Entry files: the lines of a markdown file that are memories, and every other byte as it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from lamina.errors import Damaged, InvalidInput
from lamina.late import regex
from lamina.records import dataclass
from lamina.text.entry_line import (
    BOM,
    ENTRY,
    Entry,
    LineField,
    Malformed,
    checked,
    parts,
    read_entry,
    rendered,
    revised,
    tokens,
)
from lamina.text.normalise import canonical_key
from lamina.text.ttl import parse_time

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
UTF16 = (b"\xff\xfe", b"\xfe\xff")

# Every pattern here is linear: a line may be megabytes long, and it may be hostile.
_FENCE = regex(rb"(?:\xef\xbb\xbf)*[ \t]*(`{3,}|~{3,})")
MAY_HIDE = regex(rb"```|~~~|<!--")
_CODE_OR_COMMENT = regex(rb"`[^`]*`|<!--")
_HEADING = regex(r"[^\x00-\x1f\x7f-\x9f<`#\u2028\u2029\ud800-\udfff]{1,200}")


#: A list item with a key and a value that is no entry: in capitals, turned round, without its blank.
_MEANT = regex(rb"[ \t]*[-*+]")
_PARTS = tuple(regex(rb"(?i)[-*+|][ \t]*%s[ \t]*:" % name) for name in (b"key", b"value"))


class Severity(StrEnum):
    """What a problem does to its line."""

    ERROR = "error"  #: the line is not used
    SHADOWED = "shadowed"  #: the line is fine, and another one of the same key is used instead
    WARNING = "warning"  #: the line is used; a part of it has no effect


@dataclass(frozen=True, slots=True, kw_only=True)
class LineProblem:
    """Something in a file that its owner should look at; the text of the line is never repeated here."""

    line: int
    message: str
    hint: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class _Row:
    """What one line of the file is to us; `key` is canonical and also known for some unusable lines."""

    kind: Literal["text", "blank", "hidden", "heading", "entry"]
    key: str | None = None
    entry: Entry | None = None
    level: int = 0
    title: str = ""


_TEXT, _BLANK, _HIDDEN = _Row("text"), _Row("blank"), _Row("hidden")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFile:
    """A file of entries that gives back every byte it was parsed from."""

    entries: tuple[Entry, ...]  #: the effective entry of each key, in file order
    problems: tuple[LineProblem, ...]  #: by line
    _lines: tuple[bytes, ...] = field(repr=False)
    _rows: tuple[_Row, ...] = field(repr=False)
    _winners: Mapping[str, int] = field(repr=False)

    @classmethod
    def parse(cls, data: bytes, before: EntryFile | None = None) -> EntryFile:
        """Reads any bytes whatever; what cannot be used is kept and named in `problems`.

        Comments and code blocks that are closed hide what is inside them. Of `before`, the file as it was,
        lines that are still there are not read again.
        """
        lines = split_lines(data)
        read = before._sound() if before is not None else {}
        hidden, problems = hidden_lines(lines) if MAY_HIDE.search(data) else ([False] * len(lines), [])
        rows: list[_Row] = []
        for number, (line, is_hidden) in enumerate(zip(lines, hidden, strict=True), 1):
            if is_hidden:
                rows.append(_HIDDEN)
            elif (row := read.get(line)) is not None and row.entry is not None:
                same = row.entry.line == number
                rows.append(row if same else replace(row, entry=replace(row.entry, line=number)))
            else:
                rows.append(_row(line, number, problems))
        winners = _winners(rows, problems)
        if data.startswith(UTF16):
            problems.append(
                LineProblem(line=1, message="This file is UTF-16 text.", hint="Save it as UTF-8.")
            )
        return cls(
            entries=tuple(e for at in sorted(winners.values()) if (e := rows[at].entry) is not None),
            problems=tuple(sorted(problems, key=lambda problem: problem.line)),
            _lines=tuple(lines),
            _rows=tuple(rows),
            _winners=winners,
        )

    def _sound(self) -> dict[bytes, _Row]:
        """By its bytes what each entry's line says, but for those with which something is wrong."""
        flawed = {one.line for one in self.problems if one.severity is not Severity.SHADOWED}
        return {
            line: row
            for number, (line, row) in enumerate(zip(self._lines, self._rows, strict=True), 1)
            if row.entry is not None and number not in flawed
        }

    def to_bytes(self) -> bytes:
        return b"".join(self._lines)

    def get(self, key: str) -> Entry | None:
        """The effective entry of a key in any spelling; raises InvalidInput for what can be no key."""
        at = self._winners.get(canonical_key(key))
        return None if at is None else self._rows[at].entry

    def put(self, entry: Entry, heading: str = "Preferences", title: str = "PROFILE") -> EntryFile:
        """The file with `entry` in force and no byte changed outside the lines of its key.

        A line in force is edited in place: spelling of the key, layout and unknown fields stay. Other lines
        of the key stay too, unless one would now outrank the entry: that one goes. A new key follows the last
        entry under `## heading`. Raises InvalidInput for an entry that could not be read back.
        """
        key = checked(entry)
        if self._lines and self._lines[0].startswith(UTF16):
            raise Damaged(
                "This file is UTF-16 text, so nothing can be added to it.",
                code="file_encoding",
                hint="Save it as UTF-8 in your editor, then try again.",
            )
        lines = list(self._lines)
        if (at := self._winners.get(key)) is None:
            return self._with(self._appended(lines, [entry], heading, title))
        lines[at] = revised(lines[at], entry)
        rank = _rank(replace(entry, line=at + 1))
        rivals = [
            n
            for n, row in enumerate(self._rows)
            if n != at and row.key == key and row.entry is not None and _rank(row.entry) > rank
        ]
        return self._with(_without(lines, rivals))

    def put_new(self, entries: Iterable[Entry], heading: str, title: str) -> EntryFile:
        """The file with entries whose keys it lacks, as `put` one by one would make it."""
        return self._with(self._appended(list(self._lines), list(entries), heading, title))

    def _with(self, lines: list[bytes]) -> EntryFile:
        return EntryFile.parse(b"".join(lines), self)

    def remove(self, key: str) -> EntryFile:
        """The file without any line of this key, unusable ones included, and otherwise the same bytes."""
        wanted = canonical_key(key)
        found = [n for n, row in enumerate(self._rows) if row.key == wanted]
        return self._with(_without(list(self._lines), found)) if found else self

    def without_repeats(self) -> tuple[EntryFile, int]:
        """The file without the lines that say again, key and value, what another has in force; how many."""
        found = [
            n
            for n, row in enumerate(self._rows)
            if row.entry is not None and row.key is not None and self._repeats(n, row.key, row.entry)
        ]
        return EntryFile.parse(b"".join(_without(list(self._lines), found))) if found else self, len(found)

    def _repeats(self, at: int, key: str, entry: Entry) -> bool:
        winner = self._winners.get(key, at)
        said = self._rows[winner].entry
        return winner != at and said is not None and said.value == entry.value

    def _appended(
        self, lines: list[bytes], entries: Sequence[Entry], heading: str, title: str
    ) -> list[bytes]:
        for name in (heading, title):
            if not _HEADING.fullmatch(name) or name != name.strip():
                raise InvalidInput(
                    f"{name!r:.80} cannot be a heading.",
                    code="heading_invalid",
                    hint="Use one line of plain text.",
                )
        section = next(
            (
                n
                for n, row in enumerate(self._rows)
                if row.kind == "heading" and row.level == 2 and row.title == heading.casefold()
            ),
            None,
        )
        bullet, new = "- ", []
        if section is None:
            at = len(lines)
            if lines and self._rows[-1].kind != "blank":
                new.append("")
            if not any(row.level == 1 for row in self._rows):
                new += [f"# {title}", ""]
            new.append(f"## {heading}")
        else:
            at, bullet = self._end_of(section)
        new += [bullet + rendered(entry) for entry in entries]
        ending = usual_ending(lines)
        if at == len(lines) and lines and lines[-1].strip(BOM) and not lines[-1].endswith(b"\n"):
            lines[-1] += b"\n" if lines[-1].endswith(b"\r") else ending
        lines[at:at] = [text.encode() + ending for text in new]
        return lines

    def _end_of(self, section: int) -> tuple[int, str]:
        """Where a new entry of a section goes, and its bullet; never inside a comment or code block."""
        rows = self._rows
        end = next((n for n in range(section + 1, len(rows)) if rows[n].kind == "heading"), len(rows))
        last = next((n for n in range(end - 1, section, -1) if rows[n].kind == "entry"), None)
        if last is None:
            return 1 + next(n for n in range(end - 1, section - 1, -1) if rows[n].kind != "blank"), "- "
        at = last + 1
        # An indented note below an entry belongs to it: a new entry between the two would take the note over.
        while at < end and (
            (rows[at].kind in ("text", "hidden") and self._lines[at][:1] in (b" ", b"\t"))
            or (rows[at].kind == "hidden" and at > last + 1 and rows[at - 1].kind == "hidden")
        ):
            at += 1
        return at, parts(self._lines[last])[0].replace(BOM, b"").decode()


def split_lines(data: bytes) -> list[bytes]:
    """Lines with their endings; only LF ends one, or a value could break out of its line."""
    *whole, rest = data.split(b"\n")
    lines = [line + b"\n" for line in whole]
    return [*lines, rest] if rest else lines


def usual_ending(lines: Iterable[bytes]) -> bytes:
    ended = [line.endswith(b"\r\n") for line in lines if line.endswith(b"\n")]
    return b"\r\n" if 2 * sum(ended) > len(ended) else b"\n"


def _without(lines: list[bytes], dropped: Iterable[int]) -> list[bytes]:
    for at in sorted(dropped, reverse=True):
        if at == 0 and lines[0].startswith(BOM):
            lines[0] = BOM  # the mark belongs to the file, not to its first line
        else:
            del lines[at]
    return lines


def hidden_lines(lines: list[bytes]) -> tuple[list[bool], list[LineProblem]]:
    """Which lines are inside closed comments and code blocks.

    One that is never closed hides nothing: a forgotten `-->` must not make a person's memories disappear.
    """
    fences = [_fence(line) for line in lines]
    reach = _reach(fences)
    last_close = max((n for n, line in enumerate(lines) if b"-->" in line), default=-1)
    hidden, problems = [False] * len(lines), []
    closing: tuple[bytes, int] | None = None
    in_comment = False
    for n, (line, fence) in enumerate(zip(lines, fences, strict=True)):
        if closing is not None:
            hidden[n] = True
            if fence is not None and fence[2] and fence[0] == closing[0] and fence[1] >= closing[1]:
                closing = None
            continue
        hidden[n] = in_comment
        if not in_comment:
            if ENTRY.match(line):
                continue
            if fence is not None:
                if reach[n].get(fence[0], 0) >= fence[1]:
                    closing, hidden[n] = fence[:2], True
                else:
                    problems.append(_never_closed("code block", "another line of the same marks", n))
                continue
        if in_comment := _leaves_comment_open(line, in_comment):
            if n < last_close:
                hidden[n] = True
            else:
                in_comment = False
                problems.append(_never_closed("comment", "-->", n))
    return hidden, problems


def _never_closed(what: str, mark: str, at: int) -> LineProblem:
    return LineProblem(
        line=at + 1,
        severity=Severity.WARNING,
        message=f"This {what} is never closed, so the lines below it are read as usual.",
        hint=f"Close it with {mark}.",
    )


def _fence(line: bytes) -> tuple[bytes, int, bool] | None:
    """The mark of a code fence, how many there are, and whether the line could also close a block."""
    if (found := _FENCE.match(line)) is None:
        return None
    mark, info = found[1][:1], line[found.end() :]
    return None if mark == b"`" and b"`" in info else (mark, len(found[1]), not info.strip())


def _reach(fences: list[tuple[bytes, int, bool] | None]) -> list[dict[bytes, int]]:
    """For each line, the longest closing fence of each mark below it, so that no opening searches for one."""
    reach: list[dict[bytes, int]] = []
    longest: dict[bytes, int] = {}
    for fence in reversed(fences):
        reach.append(longest)
        if fence is not None and fence[2] and fence[1] > longest.get(fence[0], 0):
            longest = {**longest, fence[0]: fence[1]}
    reach.reverse()
    return reach


def _leaves_comment_open(line: bytes, is_open: bool) -> bool:
    at = 0
    while True:
        if is_open:
            if (at := line.find(b"-->", at)) < 0:
                return True
            at += 3
        # A comment mark inside a code span is only shown.
        while (found := _CODE_OR_COMMENT.search(line, at)) is not None and found[0] != b"<!--":
            at = found.end()
        if found is None:
            return False
        at, is_open = found.start() + 2, True  # `<!-->` is a whole comment


def _row(line: bytes, number: int, problems: list[LineProblem]) -> _Row:
    if line in (b"\n", b"\r\n"):
        return _BLANK
    if ENTRY.match(line):
        return _entry_row(line, number, problems)
    bare = line.replace(BOM, b"") if line.startswith(BOM) else line
    if _MEANT.match(bare) and all(part.search(bare) for part in _PARTS):
        problems.append(
            LineProblem(
                line=number,
                message="This line looks like an entry and cannot be read as one.",
                hint="Begin it with `- key:` in small letters; `| value:` comes after the key.",
            )
        )
        return _TEXT
    if bare.isspace() or not bare:
        return _BLANK
    indent = len(bare) - len(bare.lstrip(b" "))
    marks = len(bare) - indent - len(bare[indent:].lstrip(b"#"))
    after = bare[indent + marks :]
    if indent > 3 or not 1 <= marks <= 6 or after[:1] not in (b" ", b"\t", b"\r", b"\n", b""):
        return _TEXT
    text = after.strip()
    if text.endswith(b"#") and (closed := text.rstrip(b"#")).endswith((b" ", b"\t")):
        text = closed.rstrip()
    return _Row("heading", level=marks, title=text[:1000].decode(errors="replace").casefold())


def _entry_row(line: bytes, number: int, problems: list[LineProblem]) -> _Row:
    fields: list[LineField] = []
    try:
        _, body, _ = parts(line)
        fields = tokens(body.decode())
        entry = read_entry(fields, number)
    except UnicodeDecodeError:
        flaw = Malformed("This entry is not valid UTF-8.", "Type the line again, or save the file as UTF-8.")
    except Malformed as found:
        flaw = found
    else:
        if entry.updated_at and parse_time(entry.updated_at) is None:
            problems.append(
                LineProblem(
                    line=number,
                    severity=Severity.WARNING,
                    message="The time in updated_at cannot be read: this entry counts as its key's oldest.",
                    hint="Write it like 2026-02-07T11:00:00Z, or leave it out.",
                )
            )
        return _Row("entry", key=entry.canonical, entry=entry)
    problems.append(LineProblem(line=number, message=flaw.message, hint=flaw.hint))
    return _Row("entry", key=_only_key(fields))


def _only_key(fields: list[LineField]) -> str | None:
    """The key of a line that is otherwise unusable, so that forgetting the key takes the line along."""
    keys = [item.value for item in fields if item.name == "key"]
    try:
        return canonical_key(keys[0]) if len(keys) == 1 else None
    except InvalidInput:
        return None


def _rank(entry: Entry) -> tuple[int, datetime, int]:
    at = parse_time(entry.updated_at) if entry.updated_at else None
    return entry.priority, at or _LONG_AGO, entry.line


def _winners(rows: list[_Row], problems: list[LineProblem]) -> dict[str, int]:
    """The line in force for each key; the others of that key are reported as shadowed."""
    lines: dict[str, list[Entry]] = {}
    for row in rows:
        if row.key is not None and row.entry is not None:
            lines.setdefault(row.key, []).append(row.entry)
    winners = {}
    for key, entries in lines.items():
        best = max(entries, key=_rank) if len(entries) > 1 else entries[0]
        winners[key] = best.line - 1
        problems += [
            LineProblem(
                line=entry.line,
                severity=Severity.SHADOWED,
                message=f"{key} is written more than once; line {best.line} is the one that is used.",
                hint="Keep the line you want and delete the other.",
            )
            for entry in entries
            if entry is not best
        ]
    return winners
