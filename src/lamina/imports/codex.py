"""Codex's rollouts: events without ids; what was said is an event, or in old files a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, field
from typing import Any

from lamina.imports.lines import Line, json_lines
from lamina.imports.turn import ImportedTurn, ImportFile, Item, ReadUpTo, Skipped, Speaker, extent
from lamina.imports.words import TOOL_CHARS, digest, moment, of_memory, said, text_of
from lamina.records import dataclass

SOURCE = "codex"
_EVENTS = {"user_message": Speaker.USER, "agent_message": Speaker.ASSISTANT}
_ROLES = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


@dataclass
class _State:
    """What is known of a rollout's beginning."""

    session: str = ""
    root: str = ""  #: the session that this one was forked from, which holds the copied turns as well
    excluded: str = ""
    chain: str = ""  #: a hash of every turn so far: what a fork has copied has the same
    tools: dict[str, str] = field(default_factory=dict)


def read(file: ImportFile, place: ReadUpTo) -> Iterator[Item]:
    """The turns of one rollout from a place on."""
    state = _State(**place.state) if place.state else _State(session=file.path.stem)
    events = _has_events(file)
    line = None
    for line in json_lines(file, place):
        if isinstance(line, Skipped):
            yield line
            continue
        kind, payload = line.value.get("type"), line.value.get("payload")
        if not isinstance(payload, dict):
            continue
        if kind == "session_meta":
            _enter(state, payload)
            if state.excluded:
                yield file.skipped(state.excluded)
                yield file.end()
                return
        elif kind in ("event_msg", "response_item"):
            yield from _taken(file, state, line, events)
            yield line.after(**asdict(state))
    if isinstance(line, Line):
        yield line.after(**asdict(state))


def _has_events(file: ImportFile) -> bool:
    """Whether what was said stands there as events; messages then say it a second time."""
    with file.path.open("rb") as stream:
        return any(b'"event_msg"' in data and b'_message"' in data for data in stream)


def _enter(state: _State, meta: dict[str, Any]) -> None:
    if state.root:  # a fork copies its parent's header, too: that says where the parent was forked from
        if meta.get("id") == state.root and meta.get("forked_from_id"):
            state.root = str(meta["forked_from_id"])
        return
    state.session = str(meta.get("id") or state.session)
    state.root = str(meta.get("forked_from_id") or state.session)
    origin = str(meta.get("source") or "")
    if "memory_consolidation" in origin:
        state.excluded = "own_job"
    elif "sub_agent" in origin or "subagent" in origin:
        state.excluded = "subagent"


def _taken(file: ImportFile, state: _State, line: Line, events: bool) -> Iterator[Item]:
    payload = line.value["payload"]
    kind = payload.get("type")
    if line.value["type"] == "event_msg":
        if kind in _EVENTS and (text := said(text_of(payload.get("message")))):
            yield _turn(file, state, line, _EVENTS[kind], text)
    elif kind == "message" and not events:
        role = _ROLES.get(str(payload.get("role")))
        if role and (text := said(text_of(payload.get("content")))):
            yield _turn(file, state, line, role, text)
    elif kind in _CALLS:
        state.tools[str(payload.get("call_id"))] = str(payload.get("name"))
    elif kind in _RESULTS:
        tool = state.tools.pop(str(payload.get("call_id")), "")
        output = payload.get("output")
        text = said(text_of(output.get("content") if isinstance(output, dict) else output))[:TOOL_CHARS]
        if of_memory(tool):
            yield file.skipped("recalled", line.number)
        elif not file.tool_output or not text:
            yield file.skipped("tool_output", line.number)
        else:
            yield _turn(file, state, line, Speaker.TOOL, text, tool or "tool")


def _turn(
    file: ImportFile, state: _State, line: Line, role: Speaker, text: str, speaker: str | None = None
) -> ImportedTurn:
    if role is not Speaker.TOOL:
        state.chain = digest(f"{state.chain}\n{role}\n{text}")
    entry = f"line-{line.number}"
    return ImportedTurn(
        source=SOURCE,
        session_id=state.session,
        entry_id=entry,
        role=role,
        text=text,
        at=moment(line.value.get("timestamp")),
        path=file.name,
        message_range=extent(entry, line.number),
        key=f"{SOURCE}:{state.root}:{state.chain}" + (f":{line.offset}" if role is Speaker.TOOL else ""),
        speaker=speaker,
    )
