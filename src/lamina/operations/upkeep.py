"""Operations of owners: how memories end and leave, who is let in, jobs, policy, audit, figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, cast

from lamina.imports.bring_in import Report
from lamina.jobs.job import JobReport
from lamina.jobs.run import JobLine
from lamina.lifecycle.erase import EraseReceipt
from lamina.lifecycle.export import Exported
from lamina.lifecycle.prove import Proof
from lamina.lifecycle.purge import PurgeReceipt
from lamina.lifecycle.tokens import MOST_PEOPLE
from lamina.lifecycle.undo import Undone
from lamina.model import AuditReport, Right, Role, Token
from lamina.operations.memories import ID_FORM, MemoryId
from lamina.operations.operation import Door, Field, Tool, given, operation, routed
from lamina.operations.sessions import PERSON_ONLY, Nothing
from lamina.read.answered import AnswerReceipt
from lamina.read.status import StoreStatus
from lamina.records import dataclass
from lamina.scoped import ScopedMemory
from lamina.storage.refusals import Refusal

ADMINS_ONLY = "It works for everybody, so an administrator asks for it."
FILES_HERE = "It reads or writes files of the machine that the command runs on."


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """What to purge, and how."""

    memory_id: Annotated[
        str,
        Field(
            "The memory; without one, all that is due.",
            position=True,
            metavar="ID",
            wire="id",
            form=ID_FORM,
        ),
    ] = ""
    now: Annotated[bool, Field("Also what could still be restored.")] = False
    exports: Annotated[
        bool, Field("Remove known exports that hold it, too.", but={Door.HTTP: FILES_HERE})
    ] = False


@operation(
    routed("POST /v1/memories/{id}/purge", codes=(404, 409), under=""),
    Right.CONSENT,
    asks="Purge {memory_id!r}? Nothing can bring it back.",
    but={Door.MCP: PERSON_ONLY},
)
def purge(memory: ScopedMemory, request: Purge) -> tuple[PurgeReceipt, ...]:
    """Take a memory out of every place for good, and prove it."""
    return memory.purge(request.memory_id, now=request.now, exports=request.exports)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePurged:
    """Which memory was purged."""

    memory_id: MemoryId


@operation(
    routed("GET /v1/memories/{id}/purge", codes=(404,)),
    Right.CONSENT,
    command=None,
    changes=False,
    but={Door.CLI: "`lamina purge ID --verify` asks for it.", Door.MCP: PERSON_ONLY},
)
def verify_purge(memory: ScopedMemory, request: OnePurged) -> PurgeReceipt:
    """Look at every place again for a memory that was purged."""
    return memory.verify_purge(request.memory_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Where to."""

    to: Annotated[Path | None, Field("A new or empty folder; one beside you by default.", metavar="DIR")] = (
        None
    )
    format: Annotated[str, Field("lamina, omi (Open Memory Interchange 0.1) or cogx (Cognee 0.1).")] = (
        "lamina"
    )


@operation(
    None,
    Right.READ,
    changes=True,
    but={Door.HTTP: "GET /v1/export streams the same lines.", Door.MCP: PERSON_ONLY},
)
def export(memory: ScopedMemory, request: Export) -> Exported:
    """Everything known about you, as files to read and keep."""
    return memory.export(request.to, request.format)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    """Whose memories to erase."""

    user: Annotated[str, Field("Whose memories; there is no default.", longest=128)]


@operation(
    "POST /v1/erase",
    Right.CONSENT,
    asks="Erase all of {user!r}, files and exports too? Nothing can bring it back.",
    but={Door.MCP: PERSON_ONLY},
)
def erase(memory: ScopedMemory, request: Erase) -> EraseReceipt:
    """Take out everything of one person's, and prove it: your own, or as an administrator anybody's."""
    return memory.erase(request.user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What to bring in."""

    paths: Annotated[
        tuple[Path, ...],
        Field("Transcripts, exports, or folders that hold some.", position=True, metavar="PATH..."),
    ]
    format: Annotated[
        str,
        Field(
            "auto, lamina, openclaw, claude-code, codex, jsonl, gemini, chatgpt, claude, mem0, "
            "memory-server, oracle, omi, cogx or basic-memory."
        ),
    ] = "auto"
    since: Annotated[
        datetime | None, Field("Nothing said before this date or time.", code="time_invalid")
    ] = None
    tool_output: Annotated[bool, Field("What tools returned, too, each cut to 2,000 characters.")] = False
    dry_run: Annotated[bool, Field("Say what would happen, and write nothing.")] = False
    bring_back: Annotated[bool, Field("Also what you said no to since.")] = False


@operation(
    None,
    Right.WRITE,
    command="import",
    verb="import_files",
    but={Door.HTTP: FILES_HERE, Door.MCP: FILES_HERE},
)
def bring_in(memory: ScopedMemory, request: Import) -> Report:
    """Bring in conversations and memories of other tools, once each."""
    return memory.import_files(request.paths, **cast(Any, given(request, "paths")))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLine:
    """A token without its secret."""

    id: str
    label: str
    user: str | None
    agent: str | None
    role: Role
    rights: tuple[Right, ...]
    state: str  #: live, ended or revoked
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    acts_for: tuple[str, ...] = ()

    @classmethod
    def of(cls, token: Token, now: datetime) -> TokenLine:
        ended = token.expires_at is not None and token.expires_at <= now
        state = "revoked" if token.revoked_at else "ended" if ended else "live"
        kept = [name for name in cls.__dataclass_fields__ if name != "state"]
        return cls(state=state, **{name: getattr(token, name) for name in kept})


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new token, and the text to present, shown this once."""

    token: TokenLine
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateToken:
    """Whom a new token lets in."""

    label: Annotated[str, Field("What it is for, to recognise it by.", position=True)]
    user: Annotated[
        str | None, Field("Whose memories it opens; the owner's by default, nobody's with `acts_for`.")
    ] = None
    agent: Annotated[str | None, Field("The agent that speaks with it.")] = None
    acts_for: Annotated[
        tuple[str, ...] | None,
        Field(
            "People whom a service acts for, each request naming one; `*` alone is everybody.",
            longest=MOST_PEOPLE,
            metavar="PERSON",
        ),
    ] = None
    role: Annotated[Role | None, Field("user, agent, tool, document, system or admin.")] = None
    rights: Annotated[
        tuple[Right, ...] | None,
        Field(
            "read, write, consent, speaks_for or admin; read and write by default.",
            longest=5,
            option="--right",
        ),
    ] = None
    speaks_for: Annotated[
        bool, Field("What its agent reports as a turn are the person's own words; only the owner can say so.")
    ] = False
    expires_at: Annotated[
        datetime | None, Field("When it ends; never by default.", option="--expires-in", code="time_invalid")
    ] = None


@operation(
    routed("POST /v1/tokens", status=201),
    Right.ADMIN,
    command="token create",
    verb="create_token",
    but={Door.MCP: ADMINS_ONLY},
)
def new_token(memory: ScopedMemory, request: CreateToken) -> MadeToken:
    """Make a token; its text is shown this once."""
    made, text = memory.create_token(request.label, **cast(Any, given(request, "label")))
    return MadeToken(token=TokenLine.of(made, memory.store.now()), text=text)


@operation("GET /v1/tokens", Right.ADMIN, command="token list", changes=False, but={Door.MCP: ADMINS_ONLY})
def tokens(memory: ScopedMemory, request: Nothing) -> list[TokenLine]:  # noqa: ARG001 the catalogue's form
    """Every token there is or was, without its secret."""
    return [TokenLine.of(one, memory.store.now()) for one in memory.tokens()]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneToken:
    """Which token."""

    token_id: Annotated[
        str, Field("Its id, as the list of tokens shows it.", position=True, metavar="ID", wire="id")
    ]


@operation(
    routed("DELETE /v1/tokens/{id}", status=204, codes=(404,)),
    Right.ADMIN,
    command="token revoke",
    verb="revoke_token",
    asks="Revoke the token {token_id!r}? This cannot be undone.",
    but={Door.MCP: ADMINS_ONLY},
)
def end_token(memory: ScopedMemory, request: OneToken) -> None:
    """End a token at once and for good."""
    memory.revoke_token(request.token_id)


@operation(
    "GET /v1/jobs",
    Right.READ,
    command="job list",
    tool=Tool(
        title="Jobs",
        items="jobs",
        advice=(
            "Use it when the user asks why something was not summed up, merged or put aside yet. It starts "
            "nothing."
        ),
    ),
)
def jobs(memory: ScopedMemory, request: Nothing) -> list[JobLine]:  # noqa: ARG001 the catalogue's form
    """The memory's background work: when each job runs next, and how its last run went."""
    return memory.jobs()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJob:
    """Which job, and how to run it."""

    name: Annotated[str, Field("Which job; the list has their names.", position=True, longest=64)]
    dry_run: Annotated[bool, Field("Show what would change; change nothing.")] = False
    agree: Annotated[bool, Field("Agree to what the job would otherwise leave to you.", option="--yes")] = (
        False
    )
    scheduled: Annotated[bool, Field("Only if there was no success for its last time yet.")] = False


@operation(
    routed("POST /v1/jobs/{name}/run", codes=(404,)),
    Right.ADMIN,
    command="job run",
    but={Door.MCP: ADMINS_ONLY},
)
def run_job(memory: ScopedMemory, request: RunJob) -> JobReport:
    """Run a job now and wait for it."""
    return memory.run_job(request.name, **given(request, "name"))


@operation("GET /v1/policy", Right.READ, command="policy show", tool=Tool(title="Policy"))
def policy(memory: ScopedMemory, request: Nothing) -> Mapping[str, Any]:  # noqa: ARG001 the catalogue's form
    """The policy that is used, as events carry it."""
    return memory.policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What is in force of POLICY.md, without its words."""

    status: str
    policy_entry_count: int
    digest: str | None


@operation(
    "POST /admin/policy/reload",
    Right.ADMIN,
    command="policy accept",
    asks="Use POLICY.md as it is now?",
    but={Door.MCP: ADMINS_ONLY},
)
def accept_policy(memory: ScopedMemory, request: Nothing) -> Accepted:  # noqa: ARG001 the catalogue's form
    """Use POLICY.md of the configuration folder from now on."""
    who = memory.store.scope_of(user=memory.scope.user, role=Role.ADMIN, via=memory.scope.via)
    made = ScopedMemory(memory.store, who).accept_policy()
    return Accepted(status="reloaded", policy_entry_count=len(made.entries or {}), digest=made.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """What is no secret."""

    fingerprints: Annotated[
        tuple[str, ...],
        Field("As the refusal names it.", fewest=1, longest=64, position=True, metavar="FINGERPRINT..."),
    ]


@operation(
    routed("POST /v1/policy/allow", status=204),
    Right.CONSENT,
    command="policy allow",
    but={Door.MCP: PERSON_ONLY},
)
def allow(memory: ScopedMemory, request: Allow) -> None:
    """Let a value pass that was taken for a secret and is none."""
    memory.allow(*request.fingerprints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What to check; everything without a word."""

    user: Annotated[str, Field("Only what is this person's.", longest=128)] = ""
    memory: Annotated[
        str, Field("Only what is of whoever has this memory, with a proof of its story.", longest=4000)
    ] = ""


@operation(
    "GET /v1/audit/verify", Right.ADMIN, command="audit verify", changes=False, but={Door.MCP: ADMINS_ONLY}
)
def verify_audit(memory: ScopedMemory, request: Checked) -> AuditReport:
    """Check every record of the audit, its anchor, its files, and all that they tell of."""
    return memory.verify_audit(request.user, request.memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """Whose story to prove."""

    memory_id: MemoryId


@operation(
    "GET /v1/audit/proof",
    Right.ADMIN,
    command="audit export-proof",
    changes=False,
    but={Door.MCP: ADMINS_ONLY},
)
def export_proof(memory: ScopedMemory, request: Proved) -> dict[str, Any]:
    """The whole story of a memory, which `lamina audit check-proof` can check with the key and no store."""
    return memory.export_proof(request.memory_id)


@operation(
    None,
    Right.ADMIN,
    changes=False,
    tool=Tool(
        title="Status",
        advice="Over HTTP the token needs the admin right, because the figures count every user's memories.",
    ),
    but={Door.HTTP: "GET /v1/status also says who asks, and gives the figures to administrators only."},
)
def status(memory: ScopedMemory, request: Nothing) -> StoreStatus:  # noqa: ARG001 the catalogue's form
    """The state of the whole store in figures, and lines of workspace files that are not used."""
    return memory.status()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """What wrote what is to be undone; one of the three."""

    session: Annotated[str | None, Field("All that was kept in this session.", longest=128)] = None
    agent: Annotated[str | None, Field("All that this agent kept.", longest=128)] = None
    source: Annotated[str | None, Field("All that came from this file, memory or tool.", longest=4000)] = None
    dry_run: Annotated[bool, Field("Say what would go, and change nothing.")] = False
    for_good: Annotated[bool, Field("Purge it, too: nothing can bring it back.")] = False


@operation(
    "POST /v1/undo",
    Right.CONSENT,
    asks="Forget all that it wrote? `--dry-run` shows what that is.",
    but={Door.MCP: PERSON_ONLY},
)
def undo(memory: ScopedMemory, request: Undo) -> Undone:
    """Forget all that a session, an agent or a source wrote; what it had replaced comes back."""
    return memory.undo(**cast(Any, given(request)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noes:
    """Which noes."""

    lifted: Annotated[bool, Field("Also those that are over.")] = False
    limit: Annotated[int, Field("How many at most.", low=1, high=10_000)] = 200


@operation("GET /v1/noes", Right.CONSENT, command="noes", changes=False, but={Door.MCP: PERSON_ONLY})
def noes(memory: ScopedMemory, request: Noes) -> list[Refusal]:
    """What you said no to, without the words, and who tried to bring it back."""
    return memory.noes(lifted=request.lifted, limit=request.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftNo:
    """Which no."""

    number: Annotated[int, Field("Its number, as the list of noes shows it.", position=True, low=1)]


@operation(
    routed("POST /v1/noes/{number}/lift", codes=(404,)),
    Right.CONSENT,
    command="lift",
    asks="Let it be remembered again?",
    but={Door.MCP: PERSON_ONLY},
)
def lift_no(memory: ScopedMemory, request: LiftNo) -> Refusal:
    """End a no: what it was about may be kept again."""
    return memory.lift_no(request.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove:
    """What should be forgotten."""

    what: Annotated[
        str, Field("Its words, or the id of a memory.", position=True, metavar="TEXT-or-ID", piped=True)
    ]


@operation(
    "POST /v1/prove/forgotten",
    Right.CONSENT,
    command="prove forgotten",
    changes=False,
    but={Door.MCP: PERSON_ONLY},
)
def prove_forgotten(memory: ScopedMemory, request: Prove) -> Proof:
    """Try every way by which something forgotten could come back; nothing of it stays, no words are shown."""
    return memory.prove_forgotten(request.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneAnswer:
    """Which answer."""

    answer_id: Annotated[
        str, Field("The id that the answer carries.", position=True, metavar="ID", wire="id", longest=100)
    ]
    replay: Annotated[bool, Field("Ask again, and say whether the same comes back.")] = False


@operation(
    routed("GET /v1/answers/{id}", codes=(404,)),
    Right.READ,
    command="receipt",
    tool=Tool(
        title="Receipt of an answer",
        name="memory_receipt",
        advice="Use it when the user asks what an answer was based on.",
    ),
)
def receipt(memory: ScopedMemory, request: OneAnswer) -> AnswerReceipt:
    """What a recall, context or query found, showed and left out, and by which policy."""
    return memory.receipt(request.answer_id, replay=request.replay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accesses:
    """Which memory."""

    memory_id: MemoryId
    limit: Annotated[int, Field("How many at most.", low=1, high=1000)] = 50


@operation(
    routed("GET /v1/memories/{id}/answers", codes=(404,)),
    Right.READ,
    command="accesses",
    changes=False,
    but={Door.MCP: "memory_receipt says what an answer was made of."},
)
def answers_with(memory: ScopedMemory, request: Accesses) -> list[AnswerReceipt]:
    """The answers that a memory was in, or was left out of, the latest first."""
    return memory.answers_with(request.memory_id, request.limit)
