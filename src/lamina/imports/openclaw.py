"""OpenClaw's sessions: trees of entries, a line each, of which one branch is the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lamina.imports.exclusion import excluded_session, silent
from lamina.imports.lines import Line, json_lines, parsed
from lamina.imports.turn import ImportedTurn, ImportFile, Item, ReadUpTo, Skipped, Speaker, extent
from lamina.imports.words import TOOL_CHARS, moment, of_memory, said, text_of
from lamina.records import dataclass

SOURCE = "openclaw"
_ROLES = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT, "toolResult": Speaker.TOOL}
#: `<session>.jsonl`, `<session>-topic-7.jsonl`, `<session>.jsonl.reset.<time>`
_STEM = re.compile(r"(?P<session>.+?)(?:-topic-[^.]+)?\.jsonl(?:\.(?:reset|deleted)\..*)?")


def read(file: ImportFile, place: ReadUpTo) -> Iterator[Item]:
    """The turns on the active branch of one session's file from a place on."""
    match = _STEM.fullmatch(file.path.name)
    session = str(place.state.get("session") or (match["session"] if match else file.path.stem))
    if reason := _kept_out(file, session):
        yield file.skipped(reason)
        yield file.end()
        return
    active = _active(file, place)
    if active is None:  # the conversation went on from an earlier point: the whole tree says where
        place = ReadUpTo(state={"session": session})
        active = _active(file, place) or set()
    leaf = place.state.get("leaf")
    line = None
    for line in json_lines(file, place):
        if isinstance(line, Skipped):
            yield line
            continue
        entry = line.value
        if entry.get("type") == "session" and entry.get("id"):
            session = str(entry["id"])
        where = EntryId(session, str(entry.get("id") or f"@{line.offset}"), line.number)
        if "id" in entry and entry.get("type") != "session" and entry["id"] not in active:
            if entry.get("type") == "message":
                yield file.skipped("other_branch", line.number)
        else:
            yield from turn_of(file, where, entry)
            leaf = entry["id"] if entry.get("id") in active else leaf
        yield line.after(session=session, leaf=leaf)


def _kept_out(file: ImportFile, session: str) -> str | None:
    """Why the list of sessions beside a file says that nobody speaks in it."""
    index = file.path.parent / "sessions.json"
    known = parsed(index.read_bytes()) if index.is_file() else None
    for key, about in known.items() if isinstance(known, dict) else ():
        if isinstance(about, dict) and about.get("sessionId") == session:
            return excluded_session(key) or ("subagent" if about.get("spawnedBy") else None)
    return None


def _active(file: ImportFile, place: ReadUpTo) -> set[str] | None:
    """Ids of the entries on the active branch behind a place; None where it began before the place."""
    entries = (line.value for line in json_lines(file, place) if isinstance(line, Line))
    return branch(entries, place.state.get("leaf") if place.offset else None, from_start=not place.offset)


def branch(entries: Iterable[Mapping[str, Any]], leaf: str | None, *, from_start: bool) -> set[str] | None:
    """The way from the last entry to the root, or to the leaf that is known; None if it leads to neither."""
    parents: dict[str, str | None] = {}
    before: dict[str, str | None] = {}
    last: str | None = None
    previous: str | None = None
    for entry in entries:
        if entry.get("type") == "leaf":
            last = entry.get("targetId") or last
        elif entry.get("type") != "session" and isinstance(entry.get("id"), str):
            last = entry["id"]
            parents[last], before[last] = entry.get("parentId"), previous
            previous = last
    if from_start and last not in parents:
        last = previous
    active: set[str] = set()
    while last is not None and last not in active:
        if last not in parents:
            return None if last != leaf else active
        active.add(last)
        parent = parents[last]
        # Where the parent's line is lost, what stands before it is the best there is.
        lost = parent is not None and parent not in parents and from_start
        last = before[last] if lost else parent
    return active if from_start or last == leaf else None


@dataclass(frozen=True, slots=True)
class EntryId:
    """Which entry it is."""

    session: str
    id: str
    line: int


def turn_of(file: ImportFile, where: EntryId, entry: Mapping[str, Any]) -> Iterator[Item]:
    """What one entry says, or why it is not taken; entries that are no messages say nothing."""
    message = entry.get("message")
    if entry.get("type") in ("compaction", "branch_summary", "custom_message"):
        yield file.skipped("summary" if entry["type"] != "custom_message" else "meta", where.line)
    if entry.get("type") != "message" or not isinstance(message, dict):
        return
    role = _ROLES.get(str(message.get("role")))
    text, tool = said(text_of(message.get("content"))), str(message.get("toolName") or "")
    if role is None:
        yield file.skipped("tool_output" if message.get("role") == "bashExecution" else "meta", where.line)
    elif role is Speaker.TOOL and (of_memory(tool) or not file.tool_output):
        yield file.skipped("recalled" if of_memory(tool) else "tool_output", where.line)
    elif reason := silent(text):
        yield file.skipped(reason, where.line)
    elif text:
        yield ImportedTurn(
            source=SOURCE,
            session_id=where.session,
            entry_id=where.id,
            role=role,
            text=text[:TOOL_CHARS] if role is Speaker.TOOL else text,
            at=moment(message.get("timestamp")) or moment(entry.get("timestamp")),
            path=file.name,
            message_range=extent(where.id, where.line),
            # A fork copies entries with their ids and times into a session of its own.
            key=f"{SOURCE}:{where.id}:{(entry.get('id') and entry.get('timestamp')) or where.session}",
            speaker=tool or None,
        )
