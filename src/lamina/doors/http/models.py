"""The bodies that go in and out: what a client may say, and the shapes it gets back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lamina.model import (
    Effective,
    Heard,
    HistoryEntry,
    Kind,
    Layer,
    Outcome,
    Phase,
    Receipt,
    Role,
    Space,
    plain,
)
from lamina.model.audit import TraceEvent
from lamina.model.token import Right
from lamina.text.ttl import parse_time

MOST_ITEMS = 64


def _moment(value: Any) -> datetime:
    at = parse_time(value) if isinstance(value, str) else None
    if at is None:
        raise ValueError("Write a date or time like 2030-12-31T08:00:00Z.")
    return at


Moment = Annotated[datetime, BeforeValidator(_moment)]
# Bodies are checked strictly, so that "3" is no number; names of enumerations are still texts.
OneKind = Annotated[Kind, Field(strict=False)]
OneSpace = Annotated[Space, Field(strict=False)]
OneLayer = Annotated[Layer, Field(strict=False)]
Few = Field(max_length=MOST_ITEMS)


class Body(BaseModel):
    """Fields we do not know are refused: identity and authority come from the token alone."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Remember(Body):
    """One thing to remember, exactly as it is said."""

    text: str = Field(examples=["Ana is lactose intolerant"])
    kind: OneKind | None = None
    space: OneSpace | None = Field(None, description="How far it reaches; `user` unless said otherwise.")
    layer: OneLayer | None = None
    key: str | None = Field(None, description="Which one value it sets, such as `response.language`.")
    category: str | None = None
    tags: Annotated[list[str], Few] | None = None
    importance: Annotated[int, Field(ge=1, le=5)] | None = None
    priority: Annotated[int, Field(ge=0, le=100)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    pin: bool | None = None
    ttl: str | None = Field(None, description="`none`, `session_end`, `90s`, `8h`, `7d`, or a date.")
    reason: str | None = None
    reference: str | None = None
    merge: bool | None = Field(None, description="Whether it becomes one with what says the same.")


class Revise(Body):
    """New words for a memory."""

    text: str
    reason: str | None = None
    expect: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None, description="The revision it must still be at; otherwise 409."
    )


class Narrowed(Body):
    """One question, with what narrows it."""

    query: str = Field(examples=["which milk should I buy?"])
    k: Annotated[int, Field(ge=1, le=1000)] | None = None
    spaces: Annotated[list[OneSpace], Few] | None = None
    layers: Annotated[list[OneLayer], Few] | None = None
    kinds: Annotated[list[OneKind], Few] | None = None
    categories: Annotated[list[str], Few] | None = None
    since: Moment | None = None
    until: Moment | None = None
    budget_tokens: Annotated[int, Field(ge=0, le=2**31)] | None = None
    across_phases: bool | None = Field(None, description="Earlier phases too.")
    trusted_only: bool | None = Field(None, description="Nothing that a tool or a document said.")


class Recall(Narrowed):
    """A question, and what else the answer is to tell."""

    changes_since: str | None = Field(None, description="Also what changed since this cursor; empty: all.")
    trace: bool = Field(False, description="With the events that the governance contract says of a reading.")


class Hear(Body):
    """One turn of a conversation."""

    text: str = Field(examples=["Remember this for me: I prefer dark mode."])
    reply: str | None = Field(None, description="What the agent answered.")
    tools: Annotated[list[dict[str, Any]], Few] = Field([], description="What tools returned.")


class Ask(Body):
    """What an agent is about to do."""

    task: str
    budget_tokens: Annotated[int, Field(ge=0, le=2**31)] = 2000
    form: str = Field("xml", description="xml or markdown")
    changes_since: str | None = Field(None, description="Also what changed since this cursor; empty: all.")


class Keys(BaseModel):
    """Which keys."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[list[str], Few] = Field([], description="Only these; else all.")


class Decide(Body):
    """Which guess, by its key."""

    key: str
    reason: str | None = None


class Compact(Body):
    """Which space."""

    space: OneSpace = Field(Space.SESSION)


class Promote(Body):
    """Where a memory is to move."""

    to: OneSpace
    reason: str | None = None


class StartPhase(Body):
    """The next stretch of a space's life."""

    space: OneSpace = Field(Space.SESSION)
    name: str | None = None
    reason: str | None = None


class WhyNot(Narrowed):
    """The question for which a memory is missed, narrowed as it was."""


class Between(BaseModel):
    """Two phases of a space, by number."""

    model_config = ConfigDict(extra="forbid")

    before: Annotated[int, Field(ge=1, le=2**31)]
    after: Annotated[int, Field(ge=1, le=2**31)]
    space: Space = Space.SESSION


class Nothing(Body):
    """An empty object."""


class Last(BaseModel):
    """How much of the trace."""

    model_config = ConfigDict(extra="forbid")

    last: Annotated[int, Field(ge=1, le=10_000)] = 20


class ReceiptBody(BaseModel):
    """What became of a request to change memory; its events are in the trace."""

    decision: Outcome
    code: str
    ids: list[str]
    acknowledgement: str
    warnings: list[str]
    revision: int | None


class HeardBody(BaseModel):
    """What became of a turn: a receipt for each thing that was tried, and the events."""

    receipts: list[ReceiptBody]
    acknowledgement: str
    events: list[dict[str, Any]]


class ValuesBody(BaseModel):
    """The values in force, by key."""

    values: dict[str, Effective]


class PendingItem(BaseModel):
    """A guess about a person that waits for that person's word."""

    pending_key: str
    target_key: str
    value: str
    priority: int
    confidence: float
    source: str
    updated_at: datetime
    care: str
    signals: int
    proposed_by: str
    expires_at: datetime | None


class PendingBody(BaseModel):
    """What waits, by key."""

    items: list[PendingItem]


class DecidedBody(BaseModel):
    """What became of a guess."""

    status: str
    item: PendingItem


class MetricsBody(BaseModel):
    """How much waits."""

    pending_count: int
    pending_alert_threshold: int
    pending_backlog_alert: bool


class PhasesBody(BaseModel):
    """Phases, oldest first."""

    items: list[Phase]


class HistoryBody(BaseModel):
    """The life of a memory, oldest step first."""

    items: list[HistoryEntry]


class TraceBody(BaseModel):
    """Trace events, oldest first."""

    items: list[TraceEvent]


class Caller(BaseModel):
    """Who the token says is asking."""

    user: str
    agent: str | None
    role: Role
    rights: list[Right]


class StatusBody(BaseModel):
    """The server and its caller; `store` only for a token with the right `admin`, for it counts everyone."""

    version: str
    caller: Caller
    store: dict[str, Any] | None


class HealthBody(BaseModel):
    """Whether the process can do its work."""

    status: str
    checks: dict[str, str]


class FieldError(BaseModel):
    """One field that is wrong; its value is not repeated."""

    field: str
    code: str
    message: str


class ProblemBody(BaseModel):
    """RFC 9457: what went wrong."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    hint: str | None = None
    errors: list[FieldError] | None = None


def heard_body(heard: Heard) -> dict[str, Any]:
    return {
        "receipts": [receipt_body(receipt) for receipt in heard.receipts],
        "acknowledgement": heard.acknowledgement,
        "events": plain(heard.events),
    }


def receipt_body(receipt: Receipt) -> dict[str, Any]:
    """A receipt without its events, so that a repeated request gets the same bytes as the first."""
    body: dict[str, Any] = plain(receipt)
    del body["events"]
    return body
