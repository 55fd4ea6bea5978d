"""Decision entries: the `## Decision:` sections of a markdown file, and every other byte as it was.

    ## Decision: <title>
    - id: DECISION-YYYYMMDD-<slug>
    - date: 2026-03-06T11:12:00+07:00
    - source:
      - session_id: s18
      - session_path: sessions/s18.jsonl
      - message_range: 3-3
    - why: …              - finding: …        - conclusion: …      - impact: …     (a line each)
    - confidence: 0.9
    - status: active | superseded | archived
    - supersedes: DECISION-…                 (optional, several with commas)
    - doubts: DECISION-…                     (optional: what it may have changed; both stand)
    - doubted_by: DECISION-…                 (the other half)
    - superseded_by / superseded_at / superseded_because                (once it is no longer in force)
    - refs: [[memory/2026-03-02.md]]

`DecisionFile.parse` reads any bytes. `decisions` has the one in force for each id; what cannot be used is
named in `problems` with its line and stays in the file. `add`, `revise` and `remove` give a new file in which
nothing but the fields or the section in question differs. `superseded` and `archived` are the life cycle:
active, then superseded or archived; superseded, then archived; never back. `in_force` reads files together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from lamina.errors import Conflict, Damaged, InvalidInput, NotFound
from lamina.late import regex
from lamina.records import dataclass
from lamina.text.entries import (
    MAY_HIDE,
    UTF16,
    LineProblem,
    Severity,
    hidden_lines,
    split_lines,
    usual_ending,
)
from lamina.text.normalise import dedup_key
from lamina.text.ttl import parse_time

__all__ = [
    "NOT_SAID",
    "Decision",
    "DecisionFile",
    "Status",
    "archived",
    "decision_id",
    "in_force",
    "plain_line",
    "same_conclusion",
    "superseded",
]

NOT_SAID = "not said"  #: what a required field holds when nobody said it

_SLUG_LENGTH = 56
_TITLE_LENGTH = 300
_SOURCE = ("session_id", "session_path", "message_range")
_PROSE = ("why", "finding", "conclusion", "impact")
_LATER = ("superseded_by", "superseded_at", "superseded_because")
_ORDER = (
    "id",
    "date",
    "source",
    *_PROSE,
    "confidence",
    "status",
    "supersedes",
    "doubts",
    "doubted_by",
    *_LATER,
    "refs",
)
_MUST_SAY = ("id", "date", *_SOURCE, "conclusion", "confidence", "status")
_LISTS = ("supersedes", "doubts", "refs")

# Every pattern here is linear: a line may be megabytes long, and it may be hostile.
_HEADING = regex(rb"(?:\xef\xbb\xbf)? {0,3}(#{1,2})(?!#)(?:[ \t]+|(?=[\r\n]|$))")
_TITLE = regex(r"\ufeff? {0,3}##[ \t]+decision[ \t]*[:：][ \t]*(.*)", re.IGNORECASE | re.DOTALL)
_FIELD = regex(r"([ \t]*)([-*][ \t]+)([A-Za-z][A-Za-z0-9_-]*)([ \t]*[:：][ \t]*)(.*)", re.DOTALL)
_NAME = regex(r"[a-z][a-z0-9_-]*")
_BULLET = regex(r"[ \t]*(?:[-*][ \t]+)?")
_ID = regex(r"DECISION-([0-9]{8})-(\S{1,100})")
_CONFIDENCE = regex(r"[01](?:\.[0-9]{1,6})?")
# What could end the line, hide or reorder text on screen.
_UNSAFE = regex(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Status(StrEnum):
    """Where a decision is in its life."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


_BEFORE = {Status.SUPERSEDED: (Status.ACTIVE,), Status.ARCHIVED: (Status.ACTIVE, Status.SUPERSEDED)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision as a section of a file says it."""

    id: str
    title: str
    date: str  #: an ISO date or time
    session_id: str
    session_path: str
    message_range: str
    conclusion: str
    why: str = NOT_SAID
    finding: str = NOT_SAID
    impact: str = NOT_SAID
    confidence: float
    status: Status = Status.ACTIVE
    supersedes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()  #: what it may have changed: nobody said so, and both stand
    doubted_by: str = ""
    superseded_by: str = ""
    superseded_at: str = ""
    superseded_because: str = ""
    refs: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  #: fields of names we do not know
    line: int = field(default=0, compare=False)  #: of its heading, from 1; 0 for one that is in no file

    @property
    def at(self) -> datetime:
        return parse_time(self.date) or _LONG_AGO

    @property
    def rank(self) -> tuple[float, datetime, int]:
        """Of two versions with one id the surer counts, and of two as sure the newer."""
        return self.confidence, self.at, self.line


def decision_id(day: date, title: str) -> str:
    """The id of what was decided on a day: readable in any script, and the same for the same words."""
    words = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in _composed(title))
    slug = "-".join(words.split())
    if len(slug) > _SLUG_LENGTH:
        cut = _SLUG_LENGTH
        while cut > 1 and unicodedata.category(slug[cut])[0] == "M":
            cut -= 1  # a mark without its letter could not be read
        digest = sha256(dedup_key("", title).encode()).hexdigest()[:6]
        slug = f"{slug[:cut].strip('-')}-{digest}"
    return f"DECISION-{day:%Y%m%d}-{slug or sha256(title.encode()).hexdigest()[:8]}"


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", plain_line(text).casefold())


def plain_line(text: str) -> str:
    """The text as one line that can neither end its field nor hide what stands below it."""
    text = " ".join(_UNSAFE.sub(" ", text).split())
    return text.replace("<!--", "<! --").replace("-->", "-- >")


def same_conclusion(one: Decision, other: Decision) -> bool:
    """Whether both say the same but for case, blanks and punctuation."""
    return dedup_key("", one.conclusion) == dedup_key("", other.conclusion)


def superseded(decision: Decision, *, by: str, at: str, because: str) -> Decision:
    """The decision as overruled by another; raises Conflict (`decision_state`) for one that is not active."""
    why = plain_line(because) or NOT_SAID
    return replace(
        _moved(decision, Status.SUPERSEDED), superseded_by=by, superseded_at=at, superseded_because=why
    )


def archived(decision: Decision) -> Decision:
    """The decision as put away for good; raises Conflict (`decision_state`) for one that is already."""
    return _moved(decision, Status.ARCHIVED)


def _moved(decision: Decision, status: Status) -> Decision:
    if decision.status not in _BEFORE[status]:
        raise Conflict(
            f"{decision.id:.120} is {decision.status}, so it cannot become {status}.",
            code="decision_state",
            hint="Decisions go from active to superseded or archived, never back.",
        )
    return replace(decision, status=status)


def in_force(decisions: Iterable[Decision]) -> list[Decision]:
    """One decision for each id, oldest first, each with the status that all of them together give it.

    What another one supersedes is superseded, also where its own section does not say so yet.
    """
    best = _best(decisions)
    for one in list(best.values()):
        for old in one.doubts:
            if one.status is best.get(old, one).status is Status.ACTIVE and old != one.id and old in best:
                best[old] = replace(best[old], doubted_by=best[old].doubted_by or one.id)
    for one in list(best.values()):
        for old in one.supersedes:
            if old in best and old != one.id and best[old].status is Status.ACTIVE:
                because = one.conclusion if one.why == NOT_SAID else one.why
                best[old] = superseded(best[old], by=one.id, at=one.date, because=because)
    return sorted(best.values(), key=lambda one: (one.at, one.id))


def _best(decisions: Iterable[Decision]) -> dict[str, Decision]:
    best: dict[str, Decision] = {}
    for one in decisions:
        if one.id not in best or one.rank > best[one.id].rank:
            best[one.id] = one
    return best


class _Slot(NamedTuple):
    """Where a field stands: its first line, the line after its last, and its text."""

    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    slots: Mapping[str, _Slot]
    decision: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFile:
    """A markdown file with decisions in it that gives back every byte it was parsed from."""

    decisions: tuple[Decision, ...]  #: the version in force of each id, in file order
    problems: tuple[LineProblem, ...]  #: by line
    _lines: tuple[bytes, ...] = field(repr=False)
    _sections: tuple[_Section, ...] = field(repr=False)

    @classmethod
    def parse(cls, data: bytes) -> DecisionFile:
        """Reads any bytes whatever; comments and code blocks that are closed hide what is inside them."""
        lines = split_lines(data)
        hidden, problems = hidden_lines(lines) if MAY_HIDE.search(data) else ([False] * len(lines), [])
        heads = [n for n, line in enumerate(lines) if not hidden[n] and _HEADING.match(line)] + [len(lines)]
        sections = []
        for start, end in pairwise(heads):
            title = _TITLE.fullmatch(_text(lines[start]))
            if title is not None:
                slots = _slots(lines, range(start + 1, end), hidden, problems)
                decision = _read(title[1].strip(), slots, start, problems)
                sections.append(_Section(start, end, slots, decision))
        if data.startswith(UTF16):
            problems.append(
                LineProblem(line=1, message="This file is UTF-16 text.", hint="Save it as UTF-8.")
            )
        return cls(
            decisions=_winners([one.decision for one in sections if one.decision], problems),
            problems=tuple(sorted(problems, key=lambda problem: problem.line)),
            _lines=tuple(lines),
            _sections=tuple(sections),
        )

    def to_bytes(self) -> bytes:
        return b"".join(self._lines)

    def get(self, name: str) -> Decision | None:
        return next((one for one in self.decisions if one.id == name), None)

    def section(self, name: str) -> bytes:
        """The bytes of the section in force of an id, to be kept elsewhere; raises NotFound."""
        found = self._section(name)
        return b"".join(self._lines[found.start : found.end])

    def add(self, *decisions: Decision) -> DecisionFile:
        """The file with these decisions in it; one of the same id stays as it is when it is newer or surer.

        New ones go to the end. Raises InvalidInput for what could not be read back.
        """
        file, new = self, []
        for one in _best(decisions).values():
            _check(one, _texts(one))
            if (there := self.get(one.id)) is None:
                new.append(one)
            elif there.rank[:2] < one.rank[:2]:
                file = file.revise(one)
        return file._appended(new) if new else file

    def _appended(self, new: Iterable[Decision]) -> DecisionFile:
        lines = list(self._lines)
        if lines and lines[0].startswith(UTF16):
            raise Damaged(
                "This file is UTF-16 text, so nothing can be added to it.",
                code="file_encoding",
                hint="Save it as UTF-8 in your editor, then try again.",
            )
        ending = usual_ending(lines)
        if lines and not lines[-1].endswith(b"\n"):
            lines[-1] += ending
        for one in new:
            if lines and lines[-1].strip():
                lines.append(ending)
            lines += [text.encode() + ending for text in _rendered(one)]
        return DecisionFile.parse(b"".join(lines))

    def revise(self, decision: Decision) -> DecisionFile:
        """The file with the fields of this id saying what `decision` says; its heading and all else stay.

        Raises NotFound, and InvalidInput for what could not be read back.
        """
        found = self._section(decision.id)
        lines = list(self._lines)
        ending = usual_ending(lines)
        before = _texts(found.decision)
        changed = {name: text for name, text in _texts(decision).items() if text != before.get(name, "")}
        _check(decision, changed)
        at = max(slot.end for slot in found.slots.values())
        added = [(name, text) for name, text in changed.items() if name not in found.slots]
        missing = [f"- {name}: {text}".encode() + ending for name, text in added]
        if missing and not lines[at - 1].endswith(b"\n"):
            lines[at - 1] += ending
        lines[at:at] = missing
        there = [(found.slots[name], text) for name, text in changed.items() if name in found.slots]
        for slot, text in sorted(there, reverse=True):
            lines[slot.start : slot.end] = [_with_value(lines[slot.start], text)]
        return DecisionFile.parse(b"".join(lines))

    def remove(self, name: str) -> DecisionFile:
        """The file without the section in force of an id, and otherwise the same bytes; raises NotFound."""
        found = self._section(name)
        return DecisionFile.parse(b"".join([*self._lines[: found.start], *self._lines[found.end :]]))

    def _section(self, name: str) -> _Section:
        decision = self.get(name)
        for one in self._sections:
            if decision is not None and one.decision is decision:
                return one
        raise NotFound(f"There is no decision {name:.120} here.", hint="`lamina decisions list` shows them.")


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")


def _slots(
    lines: list[bytes], inside: range, hidden: list[bool], problems: list[LineProblem]
) -> dict[str, _Slot]:
    """The fields of a section by name, those of `source` like the others; an indented line continues one."""
    slots: dict[str, _Slot] = {}
    parent = ""
    for n in inside:
        text = _text(lines[n])
        if text[:1] == "#" and not hidden[n]:
            break  # what a person puts under a heading of their own is theirs
        found = None if hidden[n] else _FIELD.fullmatch(text)
        name = found[3].lower() if found else ""
        nested = text[:2] == "  " or text[:1] == "\t"
        if found and (not nested or (parent == "source" and name in _SOURCE)):
            parent = parent if nested else name
            if name in slots:
                message = f"This decision has two parts named {name[:40]}; the first one counts."
                problems.append(LineProblem(line=n + 1, message=message, hint="Keep one of them."))
                parent = ""
            else:
                slots[name] = _Slot(n, n + 1, found[5].strip())
        elif nested and not hidden[n] and parent not in ("", "source") and slots[parent].end == n:
            told = slots[parent]
            glue = ", " if parent in _LISTS and told.value else " "
            value = (told.value + glue + _BULLET.sub("", text, count=1).strip()).strip()
            slots[parent] = told._replace(end=n + 1, value=value)
    return slots


def _read(title: str, slots: Mapping[str, _Slot], start: int, problems: list[LineProblem]) -> Decision | None:
    """What a section says, None with the reasons among the problems when that is no decision."""
    said = {name: slot.value for name, slot in slots.items()}

    def problem(name: str, message: str, hint: str, severity: Severity = Severity.ERROR) -> LineProblem:
        line = slots[name].start + 1 if name in slots else start + 1
        return LineProblem(line=line, message=message, hint=hint, severity=severity)

    flaws = [problem(*flaw) for flaw in _flaws(said)]
    if "\ufffd" in "".join((title, *said.values())):
        flaws.append(problem("", "This decision is not valid UTF-8.", "Save the file as UTF-8."))
    problems += flaws
    if flaws:
        return None
    problems += [
        problem(name, f"This decision has no {name}.", f"Write it, or {NOT_SAID}.", Severity.WARNING)
        for name in _PROSE
        if not said.get(name)
    ]
    known = {name: said.get(name, "") for name in (*_SOURCE, *_PROSE, *_LATER, "doubted_by")}
    return Decision(
        id=said["id"],
        title=title,
        date=said["date"],
        confidence=float(said["confidence"]),
        status=Status(said["status"].lower()),
        line=start + 1,
        supersedes=_listed(said.get("supersedes", "")),
        doubts=_listed(said.get("doubts", "")),
        refs=_listed(said.get("refs", "")),
        extra=tuple((name, text) for name, text in said.items() if name not in {*_ORDER, *_SOURCE}),
        **known,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for piece in text.split(",") if (part := piece.strip()))


def _flaws(said: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    """Field, message and hint for whatever makes these fields no decision; values are never repeated."""
    for name in _MUST_SAY:
        if not said.get(name):
            yield name, f"This decision has no {name}.", f"Add - {name}: to the section."
    if said.get("id") and not _is_id(said["id"]):
        yield "id", "This id is not one of a decision.", "Write it like DECISION-20260306-switch-to-lancedb."
    if said.get("date") and parse_time(said["date"]) is None:
        yield "date", "This date cannot be read.", "Write it like 2026-03-06 or 2026-03-06T11:12:00+07:00."
    sure = said.get("confidence")
    if sure and not (_CONFIDENCE.fullmatch(sure) and float(sure) <= 1):
        yield "confidence", "This confidence is not a number from 0 to 1.", "Write one, such as 0.9."
    if said.get("status") and said["status"].lower() not in set(Status):
        yield "status", "This status is not known.", "Use active, superseded or archived."
    for name in ("supersedes", "superseded_by", "doubts", "doubted_by"):
        if not all(map(_is_id, _listed(said.get(name, "")))):
            yield name, f"Something in {name} is not the id of a decision.", "Copy the id of that decision."


def _is_id(text: str) -> bool:
    found = _ID.fullmatch(text)
    if found is None or "," in text:
        return False
    day = found[1]
    return parse_time(f"{day[:4]}-{day[4:6]}-{day[6:]}") is not None


def _check(decision: Decision, written: Mapping[str, str]) -> None:
    """Raises InvalidInput for a decision of which these fields would not read back as themselves."""
    flaws = list(_flaws(_texts(decision)))
    flaws += [(name, f"This decision has no {name}.", "") for name in _PROSE if written.get(name) == ""]
    if flaws:
        name, message, hint = flaws[0]
        raise InvalidInput(message, code="decision_invalid", hint=hint or f"Write {NOT_SAID} in {name}.")
    listed = all(one and "," not in one for one in (*decision.refs, *decision.supersedes, *decision.doubts))
    named = all(_NAME.fullmatch(name) and name not in _ORDER for name, _ in decision.extra)
    plain = all(text == plain_line(text) for text in (decision.title, *written.values()))
    if not (listed and named and plain and 0 < len(decision.title) <= _TITLE_LENGTH):
        raise InvalidInput(
            "A part of this decision cannot be written on a line.",
            code="decision_invalid",
            hint="Use a line of plain text for each part, no comma in a reference, and a short title.",
        )


def _texts(decision: Decision | None) -> dict[str, str]:
    """Every field but the title as plain text, in the order of a new section."""
    if decision is None:
        return {}
    texts: dict[str, str] = {}
    for name in _ORDER:
        if name == "source":
            texts |= {part: getattr(decision, part) for part in _SOURCE}
        elif name in _LISTS:
            texts[name] = ", ".join(getattr(decision, name))
        else:
            texts[name] = f"{decision.confidence:g}" if name == "confidence" else str(getattr(decision, name))
    return texts | dict(decision.extra)


def _rendered(decision: Decision) -> list[str]:
    lines = [f"## Decision: {decision.title}"]
    for name, text in _texts(decision).items():
        if name == _SOURCE[0]:
            lines.append("- source:")
        if text or name == "refs":
            lines.append(f"{'  ' if name in _SOURCE else ''}- {name}: {text}".rstrip())
    return lines


def _with_value(line: bytes, text: str) -> bytes:
    """The line of a field with another value; indent, bullet, spelling of the name and ending stay."""
    body = _text(line)
    found = _FIELD.fullmatch(body)
    ending = line[len(line.rstrip(b"\r\n")) :]
    lead = "".join(found.groups()[:4]) if found else ""
    return f"{lead.rstrip()} {text}".rstrip().encode() + ending


def _winners(decisions: list[Decision], problems: list[LineProblem]) -> tuple[Decision, ...]:
    best = _best(decisions)
    problems += [
        LineProblem(
            line=one.line,
            severity=Severity.SHADOWED,
            message=f"This id is written more than once; line {best[one.id].line} is the one that is used.",
            hint="Keep the section you want and delete the other.",
        )
        for one in decisions
        if best[one.id] is not one
    ]
    return tuple(sorted(best.values(), key=lambda one: one.line))
