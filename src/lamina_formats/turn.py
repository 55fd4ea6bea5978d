"""What a file of another tool comes to: turns of conversations, and facts drawn from them elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Speaker(StrEnum):
    """Who said it, by the structure of the file and never by what the text says of itself."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where reading can go on: everything before it was told, nothing behind it was."""

    offset: int = 0
    line: int = 0  #: lines read so far
    state: dict[str, Any] = field(default_factory=dict)  #: what a reader must know of the part before


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said in one conversation."""

    source: str  #: the tool whose transcript it is; `lamina` for what was heard here
    session_id: str
    entry_id: str  #: the entry's own id, or the number of its line where it has none
    role: Speaker
    text: str
    at: datetime | None
    path: str  #: the transcript's file; empty for what was heard here
    message_range: str = ""  #: first to last entry, by ids and by lines
    key: str = ""  #: the same wherever the entry is found again
    speaker: str | None = None  #: who of several, or which tool
    memory_id: str = ""  #: the memory that holds it, once there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that another memory holds."""

    source: str
    entry_id: str
    text: str
    at: datetime | None
    path: str
    by_user: bool = False  #: the person wrote it; otherwise a program drew it from what they said
    category: str | None = None
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that is not taken, and why."""

    reason: str  #: a stable word: bad_line, truncated, subagent, scheduler, heartbeat, tool_output, …
    path: str
    line: int = 0  #: 0 where it is about the whole file
    count: int = 1
