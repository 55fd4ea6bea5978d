"""Plain JSONL: one message a line, under whatever names its fields have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lamina.imports.exclusion import excluded_session
from lamina.imports.lines import Line, json_lines
from lamina.imports.turn import ImportedTurn, ImportFile, Item, ReadUpTo, Skipped, Speaker, extent
from lamina.imports.words import TOOL_CHARS, digest, moment, of_memory, said, text_of

SOURCE = "jsonl"
_ROLES = {
    **dict.fromkeys(("user", "human", "me", "person"), Speaker.USER),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "gemini", "bot"), Speaker.ASSISTANT),
    **dict.fromkeys(("tool", "function", "tool_result"), Speaker.TOOL),
}
_ROLE = ("role", "sender", "author", "from", "type")
_TEXT = ("content", "text", "message", "parts")
_TIME = ("at", "timestamp", "time", "created_at", "ts", "date", "create_time")
_SESSION = ("session", "session_id", "sessionId", "conversation_id", "conversation", "thread_id", "thread")
_ID = ("id", "uuid", "message_id", "messageId")


def role_of(name: Any) -> Speaker | None:
    """Who speaks under a name that some tool gives its roles."""
    return _ROLES.get(name.lower()) if isinstance(name, str) else None


def read(file: ImportFile, place: ReadUpTo) -> Iterator[Item]:
    """The turns of a file from a place on."""
    line = None
    for line in json_lines(file, place):
        if isinstance(line, Skipped):
            yield line
            continue
        yield from _taken(file, line)
        yield line.after()


def _taken(file: ImportFile, line: Line) -> Iterator[Item]:
    message = line.value
    role = next((one for name in _ROLE if (one := role_of(message.get(name)))), None)
    body = next((message[name] for name in _TEXT if message.get(name)), None)
    if isinstance(body, dict) and "content" in body:
        body = body["content"]
    text = said(text_of(body))
    session = str(next((message[name] for name in _SESSION if message.get(name)), file.path.stem))
    if role is None:
        yield file.skipped("unknown_role", line.number)
    elif reason := excluded_session(session):
        yield file.skipped(reason, line.number)
    elif role is Speaker.TOOL and (of_memory(str(message.get("name", ""))) or not file.tool_output):
        yield file.skipped("tool_output", line.number)
    elif text:
        entry = next((str(message[name]) for name in _ID if message.get(name)), "")
        shown = entry or f"line-{line.number}"
        yield ImportedTurn(
            source=SOURCE,
            session_id=session,
            entry_id=shown,
            role=role,
            text=text[:TOOL_CHARS] if role is Speaker.TOOL else text,
            at=next((at for name in _TIME if (at := moment(message.get(name)))), None),
            path=file.name,
            message_range=extent(shown, line.number),
            # Files of one name in two folders are two; one that was moved is the same.
            key=f"{SOURCE}:{session}:{entry or f'{line.offset}:{digest(text)}'}",
            speaker=str(message["name"]) if message.get("name") else None,
        )
