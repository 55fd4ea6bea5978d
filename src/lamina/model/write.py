"""What goes in: drafts, the decisions about them, and receipts."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.model.memory import Kind, Layer, Memory
from lamina.model.scope import Scope, Space
from lamina.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What someone asked us to remember, before any policy has looked at it."""

    scope: Scope  #: authority follows from this and from nothing in the text
    text: str
    space: Space = Space.USER
    layer: Layer = Layer.SEMANTIC
    kind: Kind = Kind.FACT
    key: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 3
    importance_reason: tuple[str, ...] = ("given",)
    priority: int = 50
    confidence: float = 1.0
    pinned: bool = False
    ttl: str = "none"
    reason: str | None = None
    reference: str | None = None
    source_turn_ids: tuple[str, ...] = ()
    said_at: datetime | None = None  #: when it was said, if that was before now
    session_path: str | None = None  #: the transcript it is from
    message_range: str | None = None  #: where in it
    place: str = ""  #: its place on the shelf where neither key nor wording says it
    file: str | None = None  #: the file that a learning is written to as well
    valid_from: datetime | None = None  #: since when it holds, where that is not now
    valid_until: datetime | None = None
    merge: bool | None = None  #: whether it may become one with what says the same; None: as the settings say
    low_signal: bool = False  #: nobody asked for it and it says nothing
    origins: tuple[str, ...] = ()  #: what it was made of, as far as that was said or found
    tainted: bool = False  #: one of its origins is not trusted; set by the engine
    takes_back: bool = False  #: its person says that what it replaces never was so
    second_hand: bool = False  #: brought in from a file of another time or program: nobody's new word
    meta: dict[str, Any] = field(default_factory=dict)  #: what the engine itself adds, never the caller


class Outcome(StrEnum):
    """What became of a draft."""

    ADMITTED = "admitted"
    HELD = "held"
    DENIED = "denied"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Admit:
    """No gate objected; `passed` names the gates in the order they were asked."""

    passed: tuple[str, ...]
    code: str = "allowed"


@dataclass(frozen=True, slots=True)
class Hold:
    """No gate objected, but the person it is about has to consent first."""

    passed: tuple[str, ...]
    code: str = "consent_needed"


@dataclass(frozen=True, slots=True)
class Deny:
    """Refused, with a stable code; `evidence` never holds the refused text."""

    code: str
    why: str
    hint: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)


Decision = Admit | Hold | Deny


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of one request to change memory."""

    decision: Outcome
    code: str
    ids: tuple[str, ...] = ()
    acknowledgement: str = ""
    warnings: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()
    revision: int | None = None


class HistoryOp(StrEnum):
    """One step in the life of a memory."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    LINK = "LINK"
    TTL = "TTL"
    RESTORE = "RESTORE"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One recorded step: who did what to a memory, and why it was allowed."""

    memory_id: str
    revision: int
    op: HistoryOp
    at: datetime
    actor: str
    via: str
    old_text: str | None
    new_text: str | None
    decision: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """One part of a message: what its speaker does with it, what would come of it, and why."""

    text: str
    sort: str  #: remember, set, note, …; or what it is taken for that is left alone
    outcome: str  #: act, ask, refuse or leave
    would: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of one turn of a conversation: a receipt for each thing that was tried."""

    receipts: tuple[Receipt, ...]
    acknowledgement: str = ""
    events: tuple[dict[str, Any], ...] = ()
    asked: int = 0  #: how many of the receipts, from the first, are those of commands
    understood: tuple[Understanding, ...] = ()  #: of a dry run: what every part of the message was taken for


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is there, told from what was recorded."""

    memory: Memory
    history: tuple[HistoryEntry, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why something happened, or did not: a recorded event or a search, a sentence each."""

    subject: str
    lines: tuple[str, ...]
