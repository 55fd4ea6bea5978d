"""What describes answers that are no dataclass: the five layers' in their reference's names, a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


class UserModelBody(BaseModel):
    """What is known about a user; what is not has defaults."""

    userId: str  # noqa: N815 the reference's names, here and below
    name: str | None = None
    expertise: dict[str, str]
    preferences: dict[str, str]
    commonTopics: list[str]  # noqa: N815
    timezone: str
    activeHours: dict[str, float] | None = None  # noqa: N815
    notes: list[str]
    updatedAt: int  # noqa: N815
    confidence: float
    known: list[str]


class WaitingBody(BaseModel):
    """Something that waits for the person's yes or no."""

    code: str
    ids: list[str]


class UpdatedModelBody(BaseModel):
    """A user model after something was merged into it."""

    success: bool
    model: UserModelBody
    pending: list[WaitingBody]


class ResetModelBody(BaseModel):
    """How many values of a user model were taken back."""

    success: bool
    removed: int


class ProcedureBody(BaseModel):
    """How something is done."""

    id: str
    trigger: str
    procedure: list[str]
    source: str
    successCount: int  # noqa: N815
    failureCount: int  # noqa: N815
    lastUsed: str | None  # noqa: N815
    confidence: float


class FoundProceduresBody(BaseModel):
    """Procedures for a task, the best first."""

    results: list[ProcedureBody]
    total: int


class LearnedProcedureBody(BaseModel):
    """A procedure that was learned, or merged with one that was known."""

    success: bool
    id: str
    merged: bool


class UsedProcedureBody(ProcedureBody):
    """A procedure after it was used."""

    success: bool


class EpisodeBody(BaseModel):
    """One thing that happened."""

    id: str
    userId: str  # noqa: N815
    groupId: str | None  # noqa: N815
    summary: str
    topics: list[str]
    decisions: list[str]
    outcome: str
    durationMs: int | None  # noqa: N815
    recordedAt: int  # noqa: N815
    created_at: str
    archived: bool
    expiresAt: str | None  # noqa: N815


class FoundEpisodesBody(BaseModel):
    """Episodes, the best or the newest first."""

    results: list[EpisodeBody]
    total: int


class RecordedEpisodeBody(BaseModel):
    """An episode that was recorded."""

    success: bool
    id: str


class ContradictionBody(BaseModel):
    """What is known and does not go with what was to be learned."""

    type: str
    existingId: str  # noqa: N815
    existingContent: str  # noqa: N815
    similarity: float
    message: str


class ApiLearnedBody(BaseModel):
    """What became of something to learn."""

    success: bool
    id: str | None
    documentId: str | None  # noqa: N815
    file: str | None
    layer: str
    code: str
    model: UserModelBody | None = None
    suggestedLayer: str | None = None  # noqa: N815
    warning: ContradictionBody | None = None


class ResultBody(BaseModel):
    """One hit."""

    id: str
    type: str
    content: str
    source_file: str | None
    concepts: list[str]
    project: str | None
    source: str
    score: float
    memoryLayer: str  # noqa: N815
    createdAt: str  # noqa: N815
    reasons: list[str]
    uncertainty: str | None


class SearchedBody(BaseModel):
    """A page of hits."""

    results: list[ResultBody]
    total: int
    offset: int
    limit: int
    mode: str
    query: str


class AdviceBody(BaseModel):
    """What bears on a decision, in short."""

    id: str
    source_file: str | None
    score: float
    source: str
    content: str


class ConsultedBody(BaseModel):
    """Principles and patterns for a decision."""

    decision: str
    context: str
    principles: list[AdviceBody]
    patterns: list[AdviceBody]
    guidance: str


class ApiHealthBody(BaseModel):
    """That the memory answers."""

    status: str
    server: str
    version: str
    port: int


class PolicySpacesBody(BaseModel):
    """Which spaces are read, written, kept and promoted to."""

    read_order: list[str]
    write_spaces: list[str]
    retention: list[str]
    promotion: list[dict[str, Any]]


class PolicyPrivacyBody(BaseModel):
    """What is kept out; patterns are told apart and not told."""

    deny_patterns: list[str]
    allow_profile_keys: list[str]


class PolicyTrustBody(BaseModel):
    """Which tools are vouched for."""

    tools: list[str]


class PolicyBody(BaseModel):
    """The policy in force, as traces carry it."""

    name: str
    write_policy: str
    allow_event_types: list[str]
    deny_event_types: list[str]
    authority_order: list[str]
    short_term_turns: int
    retention: dict[str, dict[str, str]]
    promotion: dict[str, list[str]]
    spaces: PolicySpacesBody
    phase: dict[str, Any]
    privacy: PolicyPrivacyBody
    trust: PolicyTrustBody


class ProofBody(BaseModel):
    """A memory's story, for whoever has the key and not the store."""

    model_config = ConfigDict(extra="allow")
    memory_id: str
    chain: dict[str, Any]
    memory: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    records: list[dict[str, Any]]
    mark: str


#: By operation, what describes an answer that its type does not.
DESCRIBED: Mapping[str, type[BaseModel]] = {
    "export_proof": ProofBody,
    "policy": PolicyBody,
    "user_model": UserModelBody,
}
