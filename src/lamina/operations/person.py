"""Operations of a person who looks after their memory: what is known, what waits, what would be kept."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from lamina.layers.would_keep import WouldKeep
from lamina.lifecycle.review import Review
from lamina.model import Kind, Right
from lamina.operations.operation import Door, Field, Tool, operation
from lamina.operations.sessions import Nothing
from lamina.operations.upkeep import ADMINS_ONLY
from lamina.read.difference import Difference
from lamina.read.profile import Profile
from lamina.read.records import AuditPage
from lamina.read.tree import DocumentTree
from lamina.records import dataclass
from lamina.scoped import ScopedMemory


@operation(
    "GET /v1/me",
    Right.READ,
    tool=Tool(
        title="What is known about the user",
        name="memory_me",
        advice="Use it when the user asks what you know about them; tell them how to correct it.",
    ),
)
def me(memory: ScopedMemory, request: Nothing) -> Profile:  # noqa: ARG001 the catalogue's form
    """What is known about you, in words, grouped; what waits for your answer; how much there is."""
    return memory.me()


@operation("GET /v1/review", Right.READ, tool=Tool(title="What waits for the user"))
def review(memory: ScopedMemory, request: Nothing) -> Review:  # noqa: ARG001 the catalogue's form
    """One queue of what waits for you: guesses, wishes of agents, contradictions, doubles, refusals."""
    return memory.review()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A sentence to try."""

    text: Annotated[str, Field("A sentence as you would say it.", position=True, also=("content",))]
    key: Annotated[str | None, Field("The one value it would set.")] = None
    kind: Annotated[Kind | None, Field("What sort of statement it would be.")] = None
    agent: Annotated[
        str | None,
        Field("As if this agent said it.", longest=128, but={Door.MCP: "The connection says who asks."}),
    ] = None


@operation("POST /v1/would-keep", Right.READ, tool=Tool(title="Would it be kept?"))
def would_keep(memory: ScopedMemory, request: Trial) -> WouldKeep:
    """Whether a sentence would be kept, check by check; nothing is stored."""
    return memory.would_keep(request.text, key=request.key, kind=request.kind, agent=request.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """Two dates."""

    before: Annotated[datetime, Field("The earlier date or time.", position=True, code="time_invalid")]
    after: Annotated[
        datetime | None, Field("The later one; now if none.", position=True, code="time_invalid")
    ] = None


@operation("GET /v1/difference", Right.READ, tool=Tool(title="Difference of two dates"))
def difference(memory: ScopedMemory, request: Dates) -> Difference:
    """What came, went and says something else between two dates."""
    return memory.difference(request.before, request.after)


@operation("GET /v1/documents/tree", Right.READ, command="documents", tool=Tool(title="Documents"))
def document_tree(memory: ScopedMemory, request: Nothing) -> DocumentTree:  # noqa: ARG001 the catalogue's form
    """Every file of the workspace that is searched, its tier, and lines that are kept back or not used."""
    return memory.document_tree()


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Which records of the audit."""

    actor: Annotated[str, Field("Only what somebody with this in their name did.", longest=256)] = ""
    op: Annotated[str, Field("Only this act, such as remember.", longest=64)] = ""
    memory_id: Annotated[str, Field("Only what was done to this memory.", longest=4000)] = ""
    before: Annotated[int, Field("Only records before this number; 0 for the newest.", low=0, high=2**62)] = 0
    limit: Annotated[int, Field("How many at most.", low=1, high=1000)] = 50


@operation("GET /v1/audit", Right.ADMIN, command="audit list", changes=False, but={Door.MCP: ADMINS_ONLY})
def audit(memory: ScopedMemory, request: Records) -> AuditPage:
    """The newest records of the audit, with who did what; values are in it as hashes only."""
    return memory.audit(
        actor=request.actor,
        op=request.op,
        memory_id=request.memory_id,
        before=request.before,
        limit=request.limit,
    )
