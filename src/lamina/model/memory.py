"""A memory, and what is said, asked and told of it: drafts, receipts, questions, hits, history, audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.model.scope import Authority, Role, Scope, Space, Trust
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What `memory.query` may ask of a memory beside its words; None asks nothing."""

    agent_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    category: str | None = None
    pinned: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question, with everything that narrows it."""

    scope: Scope
    text: str
    k: int = 6
    spaces: tuple[Space, ...] = tuple(Space)
    layers: tuple[Layer, ...] = ()
    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    budget_tokens: int | None = None
    across_phases: bool = False
    trusted_only: bool = False  #: what no person, agent or administrator said is left out
    filters: Filters = Filters()
    documents: str | None = None  #: the shelf of the documents that may be found, set by the engine
    depth: int = 0  #: how deep among them: 0 hot and warm, 1 cold, 2 archives, too
    phases: tuple[str, ...] = ()  #: `<shelf> <phase>` that may be seen, set by the engine; empty for all


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a hit comes from: a file and its lines, or who said it and through which door."""

    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    heading: str | None = None
    date: str | None = None  #: the day that a document says it is about
    status: str | None = None  #: what a document says of itself: active, superseded, archived
    actor: str | None = None
    via: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found, with its rank in every retriever and the reasons it is here."""

    id: str
    text: str
    score: float
    reasons: tuple[str, ...]
    ranks: dict[str, int]
    layer: Layer
    kind: Kind
    space: Space
    key: str | None
    at: datetime
    source: Source
    tokens: int
    trust: Trust = Trust.TRUSTED  #: the text of an untrusted hit is data, whatever it says
    scores: dict[str, float] = field(default_factory=dict)  #: in every retriever that found it
    adjustments: dict[str, float] = field(default_factory=dict)  #: `+near` was added, `*layer` multiplied
    confidence: float = 0.0  #: the probability that this answers the question
    uncertainty: str = "high"  #: the same in a word: low, medium or high


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What one scope says of a key."""

    value: str
    scope: str  #: policy, profile, session or project
    memory_id: str | None  #: None for the policy, whose entries are nobody's to read
    authority: Authority
    priority: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """The value in force for a key, where it comes from, and what it hides."""

    key: str
    value: str
    provenance: Value
    shadows: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What became of one memory; the words of what is put aside, or was never trusted, are not in it."""

    event: str  #: created, updated, merged, deleted, soft_deleted or restored
    memory_id: str
    category: str
    text: str
    importance: int
    at: datetime
    combined: int = 0  #: of how many notes it was merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What changed since a cursor: at most three changes, how many more, and the header that says it."""

    cursor: str  #: for the next time; it survives restarts
    revision: int  #: of the thread: how many changes were made in it; of those alone that the caller may know
    changes: tuple[Changed, ...]
    more: int
    text: str


#: What an edge is where nobody says of what sort.
RELATED = "related_to"
#: How many tokens a context may have where nobody says.
BUDGET = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A memory beside an answer: it is linked to something in it. Its text is data, never an instruction."""

    id: str
    text: str
    to: str  #: what in the answer it is linked to
    type: str
    strength: float
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A block for a prompt: its text, its size, and how much each part takes."""

    text: str
    tokens: int
    parts: dict[str, int]
    left_out: int = 0
    delta: Delta | None = None  #: what changed, where it was asked for
    answer: str = ""  #: the id of the receipt that says what was found, shown and left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The answer to a query, best first; `left_out` counts hits that did not fit the budget."""

    hits: tuple[Hit, ...]
    left_out: int = 0
    related: tuple[Related, ...] = ()  #: linked to the hits and none of them; at most two, within the budget
    events: tuple[dict[str, Any], ...] = ()  #: what the contract says of this reading, where it was asked for
    delta: Delta | None = None  #: what changed, where it was asked for
    answer: str = ""  #: the id of the receipt that says what was found, shown and left out

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


#: A number of a record or an event says which chain it is in: record 5 of chain 17 is 17,000,000,000,005.
CHAIN = 10**12


def chain_of_number(seq: int) -> int:
    """The chain that a record or an event is in; 0 where there is but one."""
    return max(seq, 0) // CHAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One link of the chain; values appear only as keyed hashes."""

    seq: int
    at: datetime
    op: str
    scope: str
    key: str | None
    memory_id: str | None
    number: int | None  #: which step of the memory's history this is
    actor: str
    via: str
    run_id: str
    reason: str
    old_hash: str | None
    new_hash: str | None
    key_id: str
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One event of the governance contract, redacted."""

    seq: int
    at: datetime
    type: str
    shelf: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an audit check found wrong, or that whoever reads it should know."""

    #: edited, removed, inserted, truncated, unverifiable, damaged, mirror_edited, mirror_missing; or an act
    what: str
    seq: int | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a full check of the chain and its files came to."""

    records: int
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...] = ()  #: what the chain itself says of how far it can be trusted
    proof: dict[str, Any] | None = None  #: of one memory that was asked for: its story, with a mark over it

    @property
    def intact(self) -> bool:
        return not self.findings

    @property
    def is_only_of_files(self) -> bool:
        """Whether the store is as it was sealed, and only lines of the audit's files, made of it, are not."""
        return bool(self.findings) and all(one.what.startswith("mirror_") for one in self.findings)
