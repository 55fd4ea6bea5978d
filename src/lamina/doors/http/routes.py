"""The routes: a request into a verb of the engine, and what it came to into a response."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from importlib.metadata import version
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.responses import JSONResponse

from lamina.doors.http.models import (
    Ask,
    Between,
    HealthBody,
    Hear,
    HeardBody,
    HistoryBody,
    Keys,
    Last,
    Nothing,
    OneSpace,
    PhasesBody,
    Promote,
    Recall,
    ReceiptBody,
    Remember,
    Revise,
    StartPhase,
    StatusBody,
    TraceBody,
    ValuesBody,
    WhyNot,
    heard_body,
    receipt_body,
)
from lamina.doors.http.problems import MEDIA_TYPE, refused
from lamina.engine import Engine
from lamina.errors import Conflict, Denied, InvalidInput, NotFound
from lamina.model import (
    Context,
    Explanation,
    Memory,
    Outcome,
    Phase,
    Receipt,
    Recollection,
    Space,
    Verdict,
    plain,
)
from lamina.model.token import Right, Token
from lamina.policy.phases import PhaseDiff
from lamina.scoped import ScopedMemory
from lamina.storage.small_tables import Properties
from lamina.text.terms import ANALYSER_VERSION
from lamina.write.details import Details, Narrowing

VERSION = version("lamina")

# What `quoted` and the engine make of names: nothing else can be an id, so nothing else reaches the store.
_ID = re.compile(r"(?:session|user|project|system):[A-Za-z0-9._@~,-]{1,3200}:[a-z_]{1,20}:[0-9]{1,18}")
_ETAG = re.compile(r'(W/)?"([\x21\x23-\x7e]{0,64})"')
_SUCCESS = {Outcome.ADMITTED: 200, Outcome.UNCHANGED: 200, Outcome.HELD: 202}


def says(*statuses: int) -> dict[int | str, dict[str, Any]]:
    meaning = {
        401: "No valid token",
        403: "Not allowed",
        404: "No such memory here",
        409: "Somebody else was first",
        412: "If-Match does not hold",
        422: "The input cannot be used",
    }
    problem = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    return {status: {"description": meaning[status], "content": problem} for status in statuses}


router = APIRouter(responses=says(401, 403, 422))
health = APIRouter()


def engine_of(request: Request) -> Engine:
    return cast(Engine, request.app.state.engine)


def _name(header: str | None, called: str) -> str | None:
    """The text of a header, which is UTF-8 for us and Latin-1 for the framework."""
    if header is None:
        return None
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise InvalidInput(f"{called} is not UTF-8.", code="name_invalid") from None


def may(right: Right) -> Callable[..., Coroutine[Any, Any, ScopedMemory]]:
    """The caller's memory, if the token has the right; who the caller is comes from the token alone."""

    async def caller(
        request: Request,
        x_lamina_session: Annotated[str | None, Header(description="The conversation.")] = None,
        x_lamina_run: Annotated[str | None, Header(description="The run, for the audit.")] = None,
    ) -> ScopedMemory:
        token: Token = request.state.token
        if right not in token.rights:
            raise Denied(
                f"This token does not have the right to {right}.",
                code="right_missing",
                hint=f"Ask the owner for a token with the right `{right}`.",
            )
        try:
            return engine_of(request).scope(
                user=token.user,
                agent=token.agent,
                role=token.role,
                session=_name(x_lamina_session, "X-Lamina-Session"),
                run=_name(x_lamina_run, "X-Lamina-Run"),
                via="http",
            )
        except InvalidInput as error:  # said again without the name, which may be anything
            raise InvalidInput(
                "X-Lamina-Session or X-Lamina-Run cannot be used as a name.",
                code=error.code,
                hint="Use 1 to 128 visible characters without spaces, in UTF-8.",
            ) from None

    return caller


async def known_id(id: Annotated[str, Path(examples=["user:ana:semantic:12"])]) -> str:
    """An id of the right form; any other is as unknown as one that is not there."""
    if not _ID.fullmatch(id):
        raise NotFound
    return id


Reader = Annotated[ScopedMemory, Depends(may(Right.READ))]
Writer = Annotated[ScopedMemory, Depends(may(Right.WRITE))]
Id = Annotated[str, Depends(known_id)]
IfMatch = Annotated[str | None, Header(description="The ETag it must still have; otherwise 412.")]


def _etag(revision: int | None) -> dict[str, str]:
    return {} if revision is None else {"ETag": f'"{revision}"'}


def answered(receipt: Receipt, *, created: bool = False) -> JSONResponse:
    """A receipt as a response; a denial is a problem with the denial's own code."""
    if receipt.decision is Outcome.DENIED:
        why, hint = [*receipt.warnings, "", ""][:2]
        raise Denied(why or "Policy does not allow this.", code=receipt.code, hint=hint)
    status, headers = _SUCCESS[receipt.decision], _etag(receipt.revision)
    if created and receipt.decision is Outcome.ADMITTED:
        status, headers["Location"] = 201, f"/v1/memories/{receipt.ids[0]}"
    return JSONResponse(receipt_body(receipt), status, headers=headers)


@router.post(
    "/v1/memories",
    status_code=201,
    response_model=ReceiptBody,
    responses={
        200: {"model": ReceiptBody, "description": "Known already"},
        202: {"model": ReceiptBody, "description": "Held until a person agrees"},
        **says(409),
    },
)
def remember(
    body: Remember,
    mind: Writer,
    idempotency_key: Annotated[
        str | None, Header(description="A repeated request with the same key is answered as the first was.")
    ] = None,
) -> JSONResponse:
    """Remember one thing, exactly as it is said."""
    details = body.model_dump(exclude={"text"}, exclude_none=True)
    if idempotency_key is not None:
        details["idempotency_key"] = idempotency_key
    return answered(mind.remember(body.text, **cast(Details, details)), created=True)


@router.get("/v1/memories/{id}", response_model=Memory, responses=says(404))
def read(memory_id: Id, mind: Reader) -> JSONResponse:
    """One memory, in whatever state it is; its ETag is its revision."""
    memory = mind.get(memory_id)
    return JSONResponse(plain(memory), headers=_etag(memory.revision))


@router.patch("/v1/memories/{id}", response_model=ReceiptBody, responses=says(404, 409, 412))
def revise(memory_id: Id, body: Revise, mind: Writer, if_match: IfMatch = None) -> JSONResponse:
    """Say a memory in new words; its id stays, its earlier words go to the history."""
    expect = body.expect
    bound = _precondition(mind, memory_id, if_match)
    if expect is None:
        expect = bound
    try:
        return answered(mind.revise(memory_id, body.text, expect=expect, reason=body.reason or ""))
    except Conflict as error:
        if bound is not None and body.expect is None and error.code == "revision_mismatch":
            raise _stale() from error
        raise


@router.delete("/v1/memories/{id}", response_model=ReceiptBody, responses=says(404, 412))
def forget(memory_id: Id, mind: Writer, if_match: IfMatch = None) -> JSONResponse:
    """Take a memory out of every answer; it can be restored within the undo window."""
    _precondition(mind, memory_id, if_match)
    return answered(mind.forget(memory_id))


@router.post("/v1/memories/{id}/restore", response_model=ReceiptBody, responses=says(404, 409))
def restore(memory_id: Id, mind: Writer, body: Nothing | None = None) -> JSONResponse:  # noqa: ARG001
    """Bring a forgotten memory back as it was."""
    return answered(mind.restore(memory_id))


@router.get("/v1/memories/{id}/history", response_model=HistoryBody, responses=says(404))
@router.get("/memory/{id}/history", name="history_alias", response_model=HistoryBody, responses=says(404))
def history(memory_id: Id, mind: Reader) -> JSONResponse:
    """Every step in the life of a memory, oldest first."""
    return JSONResponse({"items": plain(mind.history(memory_id))})


@router.get("/v1/memories/{id}/explain", response_model=Explanation, responses=says(404))
def explain(memory_id: Id, mind: Reader) -> JSONResponse:
    """Why a memory is there, told from what was recorded when it was decided."""
    return JSONResponse(plain(mind.explain(memory_id)))


@router.post("/v1/recall", response_model=Recollection)
def recall(body: Recall, mind: Reader) -> JSONResponse:
    """What is known about a question, best first, with reasons."""
    narrowing = body.model_dump(exclude={"query", "trace"}, exclude_none=True)
    return JSONResponse(plain(mind.recall(body.query, trace=body.trace, **cast(Narrowing, narrowing))))


@router.post("/v1/hear", response_model=HeardBody)
def hear(body: Hear, mind: Writer) -> JSONResponse:
    """One turn of a conversation: what lasts of it is kept, as the policy allows."""
    return JSONResponse(heard_body(mind.hear(body.text, reply=body.reply, tools=body.tools)))


@router.get("/v1/resolve", response_model=ValuesBody)
def resolve(asked: Annotated[Keys, Query()], mind: Reader) -> JSONResponse:
    """The values in force for these keys, or for all there are, with what each hides."""
    return JSONResponse({"values": plain(mind.resolve(asked.key))})


@router.post("/v1/context", response_model=Context)
def context(body: Ask, mind: Reader) -> JSONResponse:
    """The block an agent puts in its prompt; nothing that a tool or a document said is in it."""
    return JSONResponse(plain(mind.context(**body.model_dump())))


@router.post("/v1/memories/{id}/promote", response_model=ReceiptBody, responses=says(404, 409))
def promote(memory_id: Id, body: Promote, mind: Writer) -> JSONResponse:
    """Move a memory to a wider space, where the policy has a way for it."""
    return answered(mind.promote(memory_id, body.to, reason=body.reason or ""))


@router.get("/v1/phases", response_model=PhasesBody)
def phases(mind: Reader, space: OneSpace = Space.SESSION) -> JSONResponse:
    """The phases of one of the caller's spaces that are kept, oldest first."""
    return JSONResponse({"items": plain(mind.phases(space))})


@router.post("/v1/phases", status_code=201, response_model=Phase)
def start_phase(body: StartPhase, mind: Writer) -> JSONResponse:
    """Begin the next phase of a space; from then on a recall looks at that one only."""
    begun = mind.start_phase(body.space, name=body.name or "", reason=body.reason or "manual")
    return JSONResponse(plain(begun), 201)


@router.get("/v1/phases/diff", response_model=PhaseDiff, responses=says(404))
def phase_diff(asked: Annotated[Between, Query()], mind: Reader) -> JSONResponse:
    """What was added, deleted and replaced between the ends of two phases."""
    found = mind.phase_diff(asked.before, asked.after, asked.space)
    return JSONResponse({**plain(found), "summary_lines": list(found.summary_lines)})


@router.get("/v1/policy", response_model=dict[str, Any])
def policy(request: Request, mind: Reader) -> JSONResponse:  # noqa: ARG001 - asks for the right to read
    """The policy in force, as events carry it."""
    return JSONResponse(engine_of(request).ruleset.snapshot)


@router.get("/v1/trace/{seq}/explain", response_model=Verdict, responses=says(404))
def explain_event(seq: Annotated[int, Path(ge=1, le=2**62)], mind: Reader) -> JSONResponse:
    """Why a write was refused, which of two won, what was recalled: from the event that was recorded."""
    return JSONResponse(plain(mind.explain_event(seq)))


@router.post("/v1/memories/{id}/why-not", response_model=Verdict, responses=says(404))
def why_not(memory_id: Id, body: WhyNot, mind: Reader) -> JSONResponse:
    """Why a memory is not among the hits for a question, or that it is."""
    narrowing = body.model_dump(exclude={"query"}, exclude_none=True)
    return JSONResponse(plain(mind.why_not(body.query, memory_id, **cast(Narrowing, narrowing))))


@router.get("/v1/trace", response_model=TraceBody)
def trace(asked: Annotated[Last, Query()], mind: Reader) -> JSONResponse:
    """The newest trace events of the caller's shelves, oldest of them first."""
    return JSONResponse({"items": plain(mind.trace(asked.last))})


@router.get("/v1/status", response_model=StatusBody)
def status(request: Request, mind: Reader) -> JSONResponse:  # noqa: ARG001 - asks for the right to read
    """Who is asking, and for an administrator the state of the store in figures."""
    token: Token = request.state.token
    caller = {"user": token.user, "agent": token.agent, "role": token.role, "rights": token.rights}
    store = engine_of(request).status() if Right.ADMIN in token.rights else None
    return JSONResponse(plain({"version": VERSION, "caller": caller, "store": store}))


@health.get("/livez", response_model=HealthBody)
def livez() -> JSONResponse:
    """Whether the process answers."""
    return JSONResponse({"status": "ok", "checks": {}})


@health.get("/readyz", response_model=HealthBody, responses={503: {"model": HealthBody}})
@health.get("/health", name="health", response_model=HealthBody, responses={503: {"model": HealthBody}})
def readyz(request: Request) -> JSONResponse:
    """Whether the store answers and its index is current."""
    checks = _checks(engine_of(request))
    ready = set(checks.values()) == {"ok"}
    body = {"status": "ok" if ready else "unavailable", "checks": checks}
    return JSONResponse(body, 200 if ready else 503, headers={} if ready else {"Retry-After": "1"})


def _checks(engine: Engine) -> dict[str, str]:
    try:
        analyser = engine.database.read(lambda tx: Properties(tx).get("analyser"))
    except Exception:  # noqa: BLE001 - whatever the store's driver raises, we are not ready
        return {"store": "failing", "index": "unknown"}
    return {"store": "ok", "index": "ok" if analyser == str(ANALYSER_VERSION) else "stale"}


def _precondition(mind: ScopedMemory, memory_id: str, if_match: str | None) -> int | None:
    """The revision that If-Match holds for now; None when any will do. Refused with 412 when none does."""
    if if_match is None or if_match.strip() == "*":
        return None
    tags = [_ETAG.fullmatch(tag.strip()) for tag in if_match.split(",")]
    if not all(tags):
        raise InvalidInput(
            "If-Match holds no entity tags.", code="if_match_invalid", hint='Send an ETag as it was: "3".'
        )
    current = mind.get(memory_id).revision
    if not any(tag is not None and not tag[1] and tag[2] == str(current) for tag in tags):
        raise _stale()
    return current


def _stale() -> Exception:
    return refused(
        412,
        "revision_mismatch",
        "The memory is no longer at this revision.",
        "Read it again and decide anew.",
    )
