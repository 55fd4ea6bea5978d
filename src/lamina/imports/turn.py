"""What a file of another tool comes to: turns of conversations, and facts drawn from them elsewhere."""

from __future__ import annotations

import hashlib
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from lamina.errors import Denied, InvalidInput
from lamina.language.secrets.privacy import check_name
from lamina.model import Layer, checked_name
from lamina.records import dataclass


class Speaker(StrEnum):
    """Who said it, by the structure of the file and never by what the text says of itself."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadUpTo:
    """Where reading can go on: everything before it was told, nothing behind it was."""

    offset: int = 0
    line: int = 0  #: lines read so far
    state: dict[str, Any] = field(default_factory=dict)  #: what a reader must know of the part before


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTurn:
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
class HeldAs:
    """How a memory with layers holds something."""

    layer: str
    name: str | None = None  #: the key of a value of the user model
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    uses: int = 0
    used_at: datetime | None = None
    until: datetime | None = None  #: when its time is over
    user: str | None = None  #: whose it is, where the memory is of several
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What a format says of a fact beside its words. Nothing of it says who speaks or what that weighs."""

    layer: Layer = Layer.SEMANTIC
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    since: datetime | None = None
    until: datetime | None = None
    meta: dict[str, Any] = field(default_factory=dict)  #: what has no place here, to be given back


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """Something that another memory holds."""

    source: str
    entry_id: str
    text: str
    at: datetime | None
    path: str
    key: str = ""
    held: HeldAs | None = None
    carried: Carried | None = None
    user: str | None = None  #: whose it is, where a file is of several people


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that is not taken, and why."""

    reason: str  #: a stable word: bad_line, truncated, subagent, scheduler, heartbeat, tool_output, …
    path: str
    line: int = 0  #: 0 where it is about the whole file


Item = ImportedTurn | ImportedFact | Skipped | ReadUpTo


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFile:
    """One file to read, and how."""

    path: Path
    format: str
    tool_output: bool = False  #: tell what tools returned, too

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def size(self) -> int:
        """In bytes, now; -1 for one that cannot be looked at."""
        try:
            return self.path.stat().st_size
        except OSError:
            return -1

    def skipped(self, reason: str, line: int = 0) -> Skipped:
        return Skipped(reason=reason, path=self.name, line=line)

    def mark(self, head: int) -> str:
        """Which file it is: its inode and the hash of so many bytes of its head."""
        with self.path.open("rb") as stream:
            return f"{self.path.stat().st_ino}:{hashlib.sha256(stream.read(head)).hexdigest()[:32]}:{head}"

    def end(self) -> ReadUpTo:
        """The place behind everything, where a file is read as a whole."""
        return ReadUpTo(offset=max(self.size, 0))


def extent(entry: str, line: int = 0, last: str = "", last_line: int = 0) -> str:
    """One message by its id and line, or a range of them: `a1..b2 (lines 4-7)`."""
    ids = entry if last in ("", entry) else f"{entry}..{last}"
    if not line:
        return ids
    return f"{ids} (line {line})" if last_line in (0, line) else f"{ids} (lines {line}-{last_line})"


@lru_cache(maxsize=4096)
def session_name(name: str) -> str:
    """A session's name as the other tool says it, or a stand-in for one that cannot be a name here."""
    try:
        return check_name(checked_name("session", name))
    except (InvalidInput, Denied):
        return f"session-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"
