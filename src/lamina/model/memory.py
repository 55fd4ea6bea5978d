"""The one record that every view is a view of, and the phases of a shelf that it stands in."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.model.scope import Authority, Role, Space, Trust
from lamina.records import dataclass


class Layer(StrEnum):
    """The five cognitive layers."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    USER_MODEL = "user_model"


class Kind(StrEnum):
    """What sort of statement a memory is."""

    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    FACT = "fact"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    CORRECTION = "correction"
    EXECUTION = "execution"
    CONTEXT = "context"
    PROCEDURE = "procedure"
    EPISODE = "episode"
    INSIGHT = "insight"


class State(StrEnum):
    """Where a memory is in its life; only `active` ones are recalled."""

    PENDING = "pending"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    SOFT_DELETED = "soft_deleted"
    EXPIRED = "expired"


#: The contract's name (GC-1) for each layer, used in ids.
CONTRACT_KIND = {Layer.WORKING: "short_term", Layer.USER_MODEL: "profile"}


#: The category of a memory that was given none, by its layer.
TOPIC = {
    Layer.WORKING: "activity",
    Layer.EPISODIC: "event",
    Layer.PROCEDURAL: "procedural",
    Layer.USER_MODEL: "profile",
    Layer.SEMANTIC: "uncategorised",
}


def topic_of(category: str | None, layer: Layer) -> str:
    """The category that something counts as."""
    return category or TOPIC[layer]


def contract_kind(layer: Layer) -> str:
    return CONTRACT_KIND.get(layer, layer.value)


#: How the reason of what a person said begins; the rule that heard it follows.
SPOKEN = "said:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a memory came from; written by the engine from the caller's scope."""

    actor: str
    role: Role
    via: str
    trust: Trust = Trust.TRUSTED
    agent: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    session_path: str | None = None
    message_range: str | None = None
    source_turn_ids: tuple[str, ...] = ()
    reference: str | None = None
    reason: str | None = None
    origins: tuple[str, ...] = ()  #: what it was made of; it is trusted no more than the least of them
    vouched_by: str | None = None  #: the person who said what nobody else vouched for
    user: str | None = None  #: for whom it was said, where others read it too

    @property
    def is_spoken(self) -> bool:
        """Whether it is kept because a person said it in so many words."""
        return (self.reason or "").startswith(SPOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing remembered, with everything the engine knows about it."""

    id: str
    space: Space
    owner: str
    layer: Layer
    kind: Kind
    text: str
    key: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    authority: Authority
    importance: int = 3  #: 1 to 5 where a caller says it, up to 7 where the rules weigh it
    priority: int = 50  #: 0 to 100
    confidence: float = 1.0  #: 0 to 1
    pinned: bool = False
    state: State = State.ACTIVE
    revision: int = 1
    tick: int = 0
    phase: str | None = None
    ttl: str = "none"  #: as it was asked for; `expires_at` is what it came to
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    expires_tick: int | None = None  #: the tick of its shelf at which policy forgets it
    retired_tick: int | None = None  #: the tick of its shelf when it ceased to be active
    purge_at: datetime | None = None
    last_accessed_at: datetime | None = None
    access_count: int = 0
    decay_score: float | None = None  #: worked out for whoever reads it, at that moment; never stored
    supersedes: str | None = None
    superseded_by: str | None = None
    file: str | None = None  #: the workspace file that is this memory's home, None for the database
    provenance: Provenance
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        return topic_of(self.category, self.layer)

    @property
    def said_at(self) -> datetime:
        """When it was said: what was brought in from elsewhere was said before it came here."""
        return min(self.valid_from or self.created_at, self.created_at)

    @property
    def shelf(self) -> str:
        return f"{self.space}:{self.owner}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase of one shelf; what was remembered in it carries its id."""

    number: int
    name: str | None
    reason: str  #: `auto`, `manual`, or what the caller gave
    started_tick: int
    started_at: datetime

    @property
    def id(self) -> str:
        return f"phase-{self.number}"
