"""Procedures and episodes: the words they are found by, and the forms that people and programs see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.model import Memory, iso
from lamina.records import dataclass
from lamina.text.normalise import folded

_PRIOR = 3  #: a procedure that was taught counts as if it had worked so often


class Origin(StrEnum):
    """How a procedure came to be known."""

    CORRECTION = "correction"
    REPEATED = "repeated_pattern"
    EXPLICIT = "explicit"


class Result(StrEnum):
    """How something went."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What to do when."""

    id: str
    trigger: str
    steps: tuple[str, ...]
    source: str
    confidence: float
    success_count: int
    failure_count: int
    last_used: str | None
    text: str

    def to_plain(self) -> dict[str, Any]:
        """With the names that clients of the reference know."""
        return {
            "id": self.id,
            "trigger": self.trigger,
            "procedure": list(self.steps),
            "source": self.source,
            "successCount": self.success_count,
            "failureCount": self.failure_count,
            "lastUsed": self.last_used,
            "confidence": self.confidence,
        }


def procedure_of(memory: Memory) -> Procedure:
    meta = memory.meta
    return Procedure(
        id=memory.id,
        trigger=str(meta.get("trigger", memory.text.partition("\n")[0])),
        steps=tuple(meta.get("procedure", ())),
        source=str(meta.get("source", Origin.EXPLICIT)),
        confidence=memory.confidence,
        success_count=int(meta.get("success_count", 0)),
        failure_count=int(meta.get("failure_count", 0)),
        last_used=meta.get("last_used"),
        text=memory.text,
    )


def worded(trigger: str, steps: Sequence[str]) -> str:
    """The words a procedure is found by and read as."""
    return "\n".join([trigger, *(f"{number}. {step}" for number, step in enumerate(steps, 1))])


def united(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The steps of both, each once; a new one stands behind what it followed, or before what followed it."""
    out, waiting = list(one), list[str]()
    at: int | None = None
    for step in other:
        known = next((number for number, old in enumerate(out) if folded(old) == folded(step)), None)
        if known is not None:
            out[known:known] = waiting
            at, waiting = known + len(waiting) + 1, []
        elif at is None:
            waiting.append(step)
        else:
            out.insert(at, step)
            at += 1
    return (*out, *waiting)


def corrected(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The steps after a correction: one that goes over what is known is the new order, and nothing else is in
    it; one that is mostly new adds to what is known."""
    known = {folded(step) for step in one}
    told = sum(folded(step) in known for step in other)
    return tuple(other) if 2 * told >= len(other) and len(other) > 1 else united(one, other)


def trusted(base: float, successes: int, failures: int) -> float:
    """How sure a procedure is that was tried so often: as sure as it was taught, less for each failure."""
    return round(base * (successes + _PRIOR) / (successes + failures + _PRIOR), 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One thing that happened."""

    id: str
    user: str
    group: str | None
    summary: str
    topics: tuple[str, ...]
    decisions: tuple[str, ...]  #: what was settled, as the summary says it
    outcome: str
    duration_ms: int | None
    at: datetime
    expires_at: datetime | None
    archived: bool

    def to_plain(self) -> dict[str, Any]:
        """With the names that clients of the reference know: of the document and of its running code."""
        at = iso(self.at)
        return {
            "id": self.id,
            "userId": self.user,
            "groupId": self.group,
            "summary": self.summary,
            "topics": list(self.topics),
            "decisions": list(self.decisions),
            "outcome": self.outcome,
            "durationMs": self.duration_ms,
            "recordedAt": int(self.at.timestamp() * 1000),
            "created_at": at,
            "archived": self.archived,
            "expiresAt": None if self.expires_at is None else iso(self.expires_at),
        }


def episode_text(summary: str, topics: Sequence[str]) -> str:
    """The words an episode is found by."""
    return f"{summary}\n({', '.join(topics)})" if topics else summary


def episode_of(memory: Memory, user: str) -> Episode:
    meta = memory.meta
    topics = tuple(meta.get("topics", ()))
    return Episode(
        id=memory.id,
        user=user,
        group=meta.get("group"),
        summary=memory.text.removesuffix(episode_text("", topics)) if topics else memory.text,
        topics=topics,
        decisions=tuple(meta.get("decisions", ())),
        outcome=str(meta.get("outcome", Result.UNKNOWN)),
        duration_ms=meta.get("duration_ms"),
        at=memory.created_at,
        expires_at=memory.expires_at,
        archived=bool(meta.get("archived")),
    )
