"""What comes out: queries, hits with their reasons, and where they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime
from typing import Any

from lamina.model.memory import Kind, Layer
from lamina.model.scope import Authority, Scope, Space, Trust
from lamina.records import dataclass


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
