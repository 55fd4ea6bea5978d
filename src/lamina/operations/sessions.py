"""Operations on the stretches of a life: sessions, phases, promotion, and what waits for a person's word."""

from __future__ import annotations

from typing import Annotated

from lamina.lifecycle.consent import Proposal
from lamina.model import Phase, Receipt, Right, Space
from lamina.operations.memories import MemoryId, Reason
from lamina.operations.operation import Door, Field, Tool, operation, routed
from lamina.policy.phases import PhaseDiff
from lamina.records import dataclass
from lamina.scoped import ScopedMemory
from lamina.storage.small_tables import Session

OfSpace = Annotated[Space, Field("Which space: session, user or project.")]
PERSON_ONLY = "Only the person decides; no tool call of a model can."


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """It takes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promote:
    """Where a memory is to move."""

    memory_id: MemoryId
    to: Annotated[Space, Field("The wider space: user or project.")]
    reason: Reason = ""


@operation(
    routed("POST /v1/memories/{id}/promote", etag=True, codes=(404, 409)),
    Right.WRITE,
    tool=Tool(
        title="Promote",
        repeatable=False,
        advice=(
            "Use it when the user asks for it. The policy has to have a way for it, and what the user "
            "said only "
            "the user can move."
        ),
    ),
)
def promote(memory: ScopedMemory, request: Promote) -> Receipt:
    """Move a memory to a wider space, such as from the session to the project, if the policy lets it."""
    return memory.promote(request.memory_id, request.to, reason=request.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSession:
    """Which session."""

    name: Annotated[str, Field("What to call it.", position=True)]


@operation("POST /v1/session", Right.WRITE, command="session start", tool=Tool(title="Start a session"))
def start_session(memory: ScopedMemory, request: StartSession) -> Session:
    """Begin a session or go on with it; SESSION.md is about it from now on."""
    return memory.start_session(request.name)


@operation(
    routed("DELETE /v1/session", under="removed"),
    Right.WRITE,
    command="session end",
    tool=Tool(title="End the session", destroys=True, repeatable=False),
)
def end_session(memory: ScopedMemory, request: Nothing) -> int:  # noqa: ARG001 the catalogue's form
    """End the session; what it keeps until its end goes. How many entries went."""
    return memory.end_session()


@operation(
    routed("GET /v1/session", under="session"),
    Right.READ,
    command="session status",
    tool=Tool(title="The session"),
)
def session(memory: ScopedMemory, request: Nothing) -> Session | None:  # noqa: ARG001 the catalogue's form
    """When the session began, was last used and ended; nothing before its first use."""
    return memory.session()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPhase:
    """The next stretch of a space's life."""

    space: OfSpace = Space.SESSION
    name: Annotated[str, Field("What to call it.")] = ""
    reason: Annotated[str, Field("Why; it is kept in the trace.")] = "manual"


@operation(
    routed("POST /v1/phases", status=201),
    Right.WRITE,
    command="phase start",
    tool=Tool(title="Start a phase", repeatable=False),
)
def start_phase(memory: ScopedMemory, request: StartPhase) -> Phase:
    """Begin the next phase of a space; from then on a recall looks at that one only."""
    return memory.start_phase(request.space, name=request.name, reason=request.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSpace:
    """Which space."""

    space: OfSpace = Space.SESSION


@operation("GET /v1/phases", Right.READ, command="phase list", tool=Tool(title="Phases"))
def phases(memory: ScopedMemory, request: OneSpace) -> tuple[Phase, ...]:
    """The phases of a space that are kept, oldest first."""
    return memory.phases(request.space)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasePair:
    """Two phases of a space, by number."""

    before: Annotated[int, Field("The number of the earlier phase.", low=1, high=2**31, position=True)]
    after: Annotated[int, Field("The number of the later phase.", low=1, high=2**31, position=True)]
    space: OfSpace = Space.SESSION


@operation(
    routed("GET /v1/phases/diff", codes=(404,), shows=("summary_lines",)),
    Right.READ,
    command="phase diff",
    tool=Tool(title="Difference of phases"),
)
def phase_diff(memory: ScopedMemory, request: PhasePair) -> PhaseDiff:
    """What was added, deleted and replaced between the ends of two phases."""
    return memory.phase_diff(request.before, request.after, request.space)


@operation(routed("POST /v1/compact", under="removed"), Right.WRITE, tool=Tool(title="Compact"))
def compact(memory: ScopedMemory, request: OneSpace) -> int:
    """Put aside what is past its time in a space, and lines of its file that repeat another. How many."""
    return memory.compact(request.space)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What to show of the queue."""

    decided: Annotated[bool, Field("Also what was approved, denied or expired.", option="--all")] = False


@operation(
    "GET /v1/pending",
    Right.READ,
    command="pending list",
    verb="proposals",
    tool=Tool(title="Pending guesses", core=True, advice="Ask the user; you cannot confirm them."),
)
def pending(memory: ScopedMemory, request: Waiting) -> list[Proposal]:
    """Guesses about the person, and what agents want to set of them, that wait for their yes or no."""
    return memory.proposals(decided=request.decided)


@operation(
    routed("POST /v1/pending/question", under="question"),
    Right.CONSENT,
    command="pending ask",
    but={Door.MCP: PERSON_ONLY},
)
def ask_what_waits(memory: ScopedMemory, request: Nothing) -> str:  # noqa: ARG001 the catalogue's form
    """Ask the person about all that waits in one question, at the end of a session; the next turn answers."""
    return memory.ask_what_waits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """Which guess, by its key."""

    key: Annotated[str | None, Field("Which, by its key; else the newest.", position=True)] = None
    reason: Annotated[str, Field("Why; it is kept in the history.")] = ""


@operation(
    routed("POST /v1/pending/confirm", codes=(404,)),
    Right.CONSENT,
    command="pending confirm",
    but={Door.MCP: PERSON_ONLY},
)
def confirm(memory: ScopedMemory, request: Decide) -> list[Receipt]:
    """Keep what was guessed."""
    return memory.confirm(request.key, reason=request.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Which guess, by its key."""

    key: Annotated[str | None, Field("Which, by its key; else the newest.", position=True)] = None


@operation(
    routed("POST /v1/pending/reject", codes=(404,)),
    Right.CONSENT,
    command="pending reject",
    but={Door.MCP: PERSON_ONLY},
)
def reject(memory: ScopedMemory, request: Reject) -> list[Receipt]:
    """Drop what was guessed."""
    return memory.reject(request.key)
