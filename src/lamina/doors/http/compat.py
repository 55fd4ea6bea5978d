"""Names that programs know from elsewhere: another route, other names of fields, the answer in another shape.

What an alias does is an operation of the catalogue; only `/runs/…`, `/api/search` and `/api/consult` put
something together that no operation is.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from lamina.doors.http.answers import may_say, wire
from lamina.doors.http.bodies import (
    ApiHealthBody,
    ApiLearnedBody,
    ConsultedBody,
    FoundEpisodesBody,
    FoundProceduresBody,
    LearnedProcedureBody,
    RecordedEpisodeBody,
    ResetModelBody,
    SearchedBody,
    UpdatedModelBody,
    UsedProcedureBody,
    UserModelBody,
)
from lamina.doors.http.by_hand import VERSION, health, is_ready
from lamina.doors.http.caller import USER_FIELD, Reader, engine_of, may
from lamina.doors.http.problems import denied, refused
from lamina.doors.http.requests import Body as StrictBody
from lamina.doors.http.requests import ClosedFields, model_of
from lamina.doors.http.routes import Custom, add_route
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.layers.layers import Learned
from lamina.lifecycle.consent import proposal_of
from lamina.model import Hit, Kind, Layer, Memory, Outcome, Receipt, Right, plain
from lamina.operations.asking import request_of
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import routed
from lamina.ranking.tiers import is_likely
from lamina.read.query import Bullet, Queried
from lamina.read.shelves import loaded
from lamina.records import dataclass
from lamina.scoped import ScopedMemory

#: What `write_mode = "selected"` still takes: what cannot change what others rely on.
_SELECTED = frozenset({"episodic", "usage"})
_CONSULTED = 300
_MOST = 1000  #: hits that a search pages through
#: A folder of a checkout has its project's name in its path.
_CHECKOUT = re.compile(r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[\w.-]+/[\w.-]+")
ALERT = 10  #: how many guesses may wait before somebody should look

Asker = Annotated[ScopedMemory, Depends(may(Right.READ, by_field=True))]
Writer = Annotated[ScopedMemory, Depends(may(Right.WRITE, by_field=True))]
Person = Annotated[ScopedMemory, Depends(may(Right.CONSENT))]
RunId = Annotated[str, Path(max_length=128, examples=["r1"])]
_WHOSE = "The token's own user by default; a service's token names one of its people."
Whose = Annotated[str | None, Query(alias=USER_FIELD, description=_WHOSE)]  # `may` reads it


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another name for an operation, what its fields are called there, and how its answer is told."""

    route: str
    operation: str
    fields: Mapping[str, str] = field(default_factory=dict)  #: their name to ours
    tells: Callable[[Any], Any]
    body: type[BaseModel]  #: what describes it
    writes: str = ""  #: what the setting `write_mode` calls it


class Loose(ClosedFields):
    """Bodies of the reference's clients: fields we do not know are no error, and say nothing to us."""

    model_config = ConfigDict(extra="ignore")


class FlatUpdates(BaseModel):
    """What to merge into a user model: under `updates`, or flat."""

    model_config = ConfigDict(extra="allow")

    userId: str | None = None  # noqa: N815 the reference's name
    updates: dict[str, Any] | None = None


class LearnBody(BaseModel):
    """What to learn."""

    model_config = ConfigDict(extra="ignore")

    userId: str | None = None  # noqa: N815 the reference's name
    pattern: str | None = None
    source: str | None = None
    concepts: list[str] | str = []
    origin: str | None = None
    project: str | None = None
    cwd: str | None = None
    layer: str | None = None
    resolution: str = "warn"


class Chosen(StrictBody):
    """Which guess, by its key."""

    key: str
    reason: str | None = None


class PendingItem(BaseModel):
    """A guess about a person that waits for that person's yes or no."""

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


class RunPendingBody(BaseModel):
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


def _kept(receipt: Receipt) -> Receipt:
    if receipt.decision is Outcome.DENIED:
        raise denied(receipt, wire(receipt))
    return receipt


def _listed(found: list[Any]) -> dict[str, Any]:
    return {"results": [one.to_plain() for one in found], "total": len(found)}


def _learnt_procedure(receipt: Receipt) -> dict[str, Any]:
    return {"success": True, "id": _kept(receipt).ids[0], "merged": receipt.code == "merged"}


#: The five layers in the names of their reference.
ALIASES = (
    Alias(route="GET /api/user-model", operation="user_model", body=UserModelBody, tells=dict),
    Alias(
        route="DELETE /api/user-model",
        operation="reset_user_model",
        body=ResetModelBody,
        tells=lambda count: {"success": True, "removed": count},
        writes="user_model",
    ),
    Alias(
        route="GET /api/procedural",
        operation="find_procedures",
        fields={"q": "task", "limit": "limit"},
        body=FoundProceduresBody,
        tells=_listed,
    ),
    Alias(
        route="POST /api/procedural",
        operation="learn_procedure",
        fields={"trigger": "trigger", "procedure": "steps", "source": "source"},
        body=LearnedProcedureBody,
        tells=_learnt_procedure,
        writes="procedural",
    ),
    Alias(
        route="POST /api/procedural/usage",
        operation="used_procedure",
        fields={"id": "memory_id", "outcome": "outcome"},
        body=UsedProcedureBody,
        tells=lambda procedure: {"success": True, **procedure.to_plain()},
        writes="usage",
    ),
    Alias(
        route="GET /api/episodic",
        operation="find_episodes",
        fields={"q": "topic", "limit": "limit"},
        body=FoundEpisodesBody,
        tells=_listed,
    ),
    Alias(
        route="POST /api/episodic",
        operation="record_episode",
        fields={
            "summary": "summary",
            "topics": "topics",
            "outcome": "outcome",
            "groupId": "group",
            "durationMs": "duration_ms",
        },
        body=RecordedEpisodeBody,
        tells=lambda receipt: {"success": True, "id": _kept(receipt).ids[0]},
        writes="episodic",
    ),
)


def routes() -> APIRouter:
    """Every name that is not ours."""
    found = APIRouter()
    history = routed("GET /memory/{id}/history", codes=(404,))
    add_route(found, OPERATIONS["history"], history, name="history_alias")
    bullets = Custom(fields={}, answer=_bullets, model=list[Bullet] | dict[str, Any])
    add_route(found, OPERATIONS["query"], routed("POST /memory/query"), bullets, name="memory_query")
    for one in ALIASES:
        _add(found, one)
    found.include_router(router)
    return found


async def _bullets(run: Callable[[], Awaitable[Any]], _: Mapping[str, Any]) -> Response:
    """The bullets alone, with the sizes in headers; `metadata` only where the whole was asked for.

    Asked with `changes_since`, an object of `delta` and `bullets`.
    """
    found: Queried = await run()
    items = [wire(one) for one in found.bullets]
    for item in items:
        if item["metadata"] is None:
            del item["metadata"]
    sizes = {"X-Lamina-Tokens": str(found.tokens), "X-Lamina-Left-Out": str(found.left_out)}
    whole = {"delta": wire(found.delta), "bullets": items} if found.delta is not None else items
    return JSONResponse(whole, headers=sizes)


def _add(router: APIRouter, alias: Alias) -> None:
    operation, (method, path) = OPERATIONS[alias.operation], alias.route.split(" ")
    ours = {one.name: one for one in operation.parameters}
    taken = [
        replace(ours[name], about=replace(ours[name].about, wire=theirs))
        for theirs, name in alias.fields.items()
    ]
    user: Any = Field(None, description=_WHOSE)
    model = model_of(operation, taken, Loose, {USER_FIELD: (str | None, user)})
    said = model if method == "POST" else Annotated[model, Query()]

    def endpoint(request: Request, memory: ScopedMemory, asked: Loose) -> JSONResponse:
        if alias.writes:
            may_write(request, alias.writes)
        values = {name: one for name, one in asked.given().items() if name != USER_FIELD}
        return JSONResponse(alias.tells(operation.run(memory, request_of(operation, values))))

    kinds = {
        "request": Request,
        "memory": Annotated[ScopedMemory, Depends(may(operation.right, by_field=True))],
        "asked": said,
    }
    made: Any = endpoint
    made.__signature__ = Signature(
        [Argument(name, Argument.KEYWORD_ONLY, annotation=kind) for name, kind in kinds.items()]
    )
    made.__doc__ = operation.words
    codes = operation.route.codes if operation.route else ()
    router.add_api_route(
        path,
        made,
        methods=[method],
        name=f"api_{alias.operation}",
        response_model=alias.body,
        responses=may_say(method, *codes),
    )


def may_write(request: Request, what: str) -> None:
    """Denied where the setting `write_mode` does not let this be written."""
    mode = engine_of(request).config.write_mode
    if mode == "none" or (mode == "selected" and what not in _SELECTED):
        hint = "The owner can change the setting `write_mode`."
        raise Denied(f"Writing is set to `{mode}` here.", code="write_mode", hint=hint)


router = APIRouter(responses=may_say("GET"))


def _of_run(memory: ScopedMemory, run_id: str) -> list[Memory]:
    found = [one for one in memory.pending() if one.provenance.run_id == run_id]
    return sorted(found, key=lambda one: one.key or "")


def _item(memory: ScopedMemory, guess: Memory) -> dict[str, Any]:
    proposal = proposal_of(memory, guess)
    return {
        "pending_key": f"memory.pending.{guess.key}",
        "target_key": guess.key,
        "value": guess.text,
        "priority": guess.priority,
        "confidence": guess.confidence,
        "source": "user_inferred",
        "updated_at": plain(guess.updated_at),
        "care": proposal.care,
        "signals": proposal.signals,
        "proposed_by": proposal.proposed_by,
        "expires_at": plain(guess.expires_at),
    }


def _chosen(memory: ScopedMemory, run_id: str, key: str) -> Memory:
    wanted = key.removeprefix("memory.pending.")
    found = [one for one in _of_run(memory, run_id) if one.key == wanted]
    if not found:
        raise NotFound("Nothing like that waits in this run.")
    return found[-1]


@router.get("/runs/{run_id}/memory/pending", name="run_pending", response_model=RunPendingBody)
def run_pending(run_id: RunId, memory: Reader) -> JSONResponse:
    """What was guessed in a run and waits for the person's yes or no."""
    return JSONResponse({"items": [_item(memory, one) for one in _of_run(memory, run_id)]})


@router.post("/runs/{run_id}/memory/confirm", response_model=DecidedBody, responses=may_say("POST", 404))
def run_confirm(run_id: RunId, body: Chosen, memory: Person) -> JSONResponse:
    """Keep what was guessed; the token needs the right `consent`, and its role must be the user's."""
    guess = _chosen(memory, run_id, body.key)
    for receipt in memory.confirm(guess.key, reason=body.reason or ""):
        _kept(receipt)
    return JSONResponse({"status": "confirmed", "item": _item(memory, guess)})


@router.post("/runs/{run_id}/memory/reject", response_model=DecidedBody, responses=may_say("POST", 404))
def run_reject(run_id: RunId, body: Chosen, memory: Person) -> JSONResponse:
    """Drop what was guessed; the token needs the right `consent`, and its role must be the user's."""
    guess = _chosen(memory, run_id, body.key)
    memory.reject(guess.key)
    return JSONResponse({"status": "rejected", "item": _item(memory, guess)})


@router.get("/runs/{run_id}/memory/metrics", response_model=MetricsBody)
def run_metrics(run_id: RunId, memory: Reader) -> JSONResponse:
    """How much waits in a run, and whether that is too much."""
    count = len(_of_run(memory, run_id))
    body = {"pending_count": count, "pending_alert_threshold": ALERT, "pending_backlog_alert": count >= ALERT}
    return JSONResponse(body)


@router.post("/api/user-model", response_model=UpdatedModelBody, responses=may_say("POST"))
def api_update_user_model(request: Request, body: FlatUpdates, memory: Writer) -> JSONResponse:
    """Merge into the user model; what is not mentioned stays, and lists grow."""
    may_write(request, "user_model")
    partial = body.updates if body.updates is not None else dict(body.model_extra or {})
    receipts = memory.layers.user_model.update(partial)
    model = memory.layers.user_model.get()
    waiting = [{"code": one.code, "ids": list(one.ids)} for one in receipts if one.decision is Outcome.HELD]
    kept = [_kept(one) for one in receipts]
    return JSONResponse({"success": bool(kept) or not partial, "model": model, "pending": waiting})


@router.post("/api/learn", response_model=ApiLearnedBody, responses=may_say("POST"))
def api_learn(request: Request, body: LearnBody, memory: Writer) -> JSONResponse:
    """Learn something: in the layer named, else the semantic one with its file."""
    may_write(request, body.layer or "semantic")
    if not (body.pattern or "").strip():
        raise refused(400, "pattern_missing", "Missing required field: pattern")
    concepts = body.concepts.split(",") if isinstance(body.concepts, str) else body.concepts
    named = [one.strip() for one in concepts if one.strip()]
    given = body.model_dump(exclude={"userId", "pattern", "concepts", "cwd", "project"})
    lesson: Any = {**given, "concepts": named, "project": _project(body.project, body.cwd)}
    return JSONResponse(learned_body(memory, memory.layers.learn(body.pattern or "", **lesson)))


def learned_body(memory: ScopedMemory, learned: Learned) -> dict[str, Any]:
    """With the fields of the document and of its running code."""
    receipt = _kept(learned.receipt)
    known = receipt.ids[0] if receipt.ids else None
    body: dict[str, Any] = {"success": True, "id": known, "documentId": known, "file": learned.file}
    body |= {"layer": learned.layer.value, "code": receipt.code}
    if learned.layer is Layer.USER_MODEL:
        body["model"] = memory.layers.user_model.get()
    if learned.suggested is not None:
        body["suggestedLayer"] = learned.suggested.value
    if learned.warning is not None:
        body["warning"] = learned.warning.to_plain()
    return body


def _layers(named: str | None) -> list[Layer]:
    """No layer, or `all`, means all of them."""
    if named is None or named.strip() in ("", "all"):
        return []
    try:
        return [Layer(one.strip()) for one in named.split(",") if one.strip()]
    except ValueError:
        hint = f"Choose among: {', '.join(Layer)}, all."
        raise InvalidInput("That is not a layer.", code="layer_invalid", hint=hint) from None


class Mode(StrEnum):
    """Which retrievers find and order what is found."""

    HYBRID = "hybrid"
    FTS = "fts"
    VECTOR = "vector"


class Type(StrEnum):
    """What the reference calls the sorts of things that are kept."""

    ALL = "all"
    PRINCIPLE = "principle"
    PATTERN = "pattern"
    LEARNING = "learning"
    RETRO = "retro"
    PREFERENCE = "preference"


_LEGS = {Mode.FTS: "lexical", Mode.VECTOR: "meaning"}
_TYPES = {
    Kind.DECISION: Type.PRINCIPLE,
    Kind.CONSTRAINT: Type.PRINCIPLE,
    Kind.INSTRUCTION: Type.PRINCIPLE,
    Kind.PROCEDURE: Type.PATTERN,
    Kind.INSIGHT: Type.PATTERN,
    Kind.EPISODE: Type.RETRO,
    Kind.PREFERENCE: Type.PREFERENCE,
}


@dataclass(frozen=True, slots=True)
class OracleHit:
    """A hit, and what the reference says of it beside what a hit says."""

    hit: Hit
    type: Type
    concepts: tuple[str, ...]
    project: str | None

    def to_plain(self) -> dict[str, Any]:
        """As the reference's search shows it."""
        hit = self.hit
        source = "hybrid" if len(hit.ranks) > 1 else "vector" if "meaning" in hit.ranks else "fts"
        return {
            "id": hit.id,
            "type": self.type,
            "content": hit.text,
            "source_file": hit.source.path,
            "concepts": list(self.concepts),
            "project": self.project,
            "source": source,
            "score": hit.score,
            "memoryLayer": hit.layer.value,
            "createdAt": hit.at.isoformat(),
            "reasons": list(hit.reasons),
            "uncertainty": hit.uncertainty,
        }


def _found(memory: ScopedMemory, question: str, layers: list[Layer]) -> list[OracleHit]:
    """Everything that a question finds, best first; a lesson with the concept `principle` is one."""
    hits = memory.recall(question, k=_MOST, layers=layers).hits
    known = {one.id: one for one in loaded(memory, [hit.id for hit in hits])}
    found = []
    for hit in hits:
        kept = known.get(hit.id)
        concepts = () if kept is None else kept.tags
        type_ = Type.PRINCIPLE if Type.PRINCIPLE in concepts else _TYPES.get(hit.kind, Type.LEARNING)
        project = None if kept is None else kept.meta.get("project")
        found.append(OracleHit(hit, type_, concepts, project))
    return found


def _project(named: str | None, cwd: str | None) -> str | None:
    """The project that is named, or the one whose checkout the folder is in."""
    checkout = _CHECKOUT.search(cwd or "")
    return named or (checkout and checkout[0])


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search is narrowed to; each field is a field of its query."""

    q: str
    layer: str | None = None
    type: Type = Type.ALL
    limit: Annotated[int, Query(ge=1, le=100)] = 10
    offset: Annotated[int, Query(ge=0, le=900)] = 0
    mode: Mode = Mode.HYBRID
    project: str | None = None
    cwd: str | None = None


@router.get("/api/search", response_model=SearchedBody)
def api_search(
    memory: Asker,
    asked: Annotated[Searched, Depends()],
    user: Whose = None,  # noqa: ARG001 read with the token
) -> JSONResponse:
    """What is known about a question: in all layers or some, of a type, by one retriever or by all.

    With `project`, or a `cwd` in its checkout, what belongs to that project or to none.
    """
    found = _found(memory, asked.q, _layers(asked.layer))
    if (project := _project(asked.project, asked.cwd)) is not None:
        found = [one for one in found if one.project in (None, project)]
    if asked.type is not Type.ALL:
        found = [one for one in found if one.type is asked.type]
    if (leg := _LEGS.get(asked.mode)) is not None:
        found = sorted((one for one in found if leg in one.hit.ranks), key=lambda one: one.hit.ranks[leg])
    body = {
        "results": [one.to_plain() for one in found[asked.offset : asked.offset + asked.limit]],
        "total": len(found),
        "offset": asked.offset,
        "limit": asked.limit,
        "mode": asked.mode,
        "query": asked.q,
    }
    return JSONResponse(body)


@router.get("/api/consult", response_model=ConsultedBody)
def api_consult(
    memory: Asker,
    q: str,
    context: str = "",
    limit: Annotated[int, Query(ge=1, le=10)] = 3,
    user: Whose = None,  # noqa: ARG001 read with the token
) -> JSONResponse:
    """Principles and patterns for a decision, and what they come to in a sentence."""
    found = [one for one in _found(memory, f"{q} {context}".strip(), []) if is_likely(one.hit.scores)]
    principles = [one for one in found if one.type is Type.PRINCIPLE][:limit]
    patterns = [one for one in found if one.type in (Type.PATTERN, Type.LEARNING)][:limit]
    first = next(iter([*principles, *patterns]), None)
    guidance = (
        "Nothing was found that bears on that."
        if first is None
        else f"Based on what is known: {first.hit.text[:_CONSULTED]}"
    )
    body = {
        "decision": q,
        "context": context,
        "principles": [_consulted(one) for one in principles],
        "patterns": [_consulted(one) for one in patterns],
        "guidance": guidance,
    }
    return JSONResponse(body)


def _consulted(found: OracleHit) -> dict[str, Any]:
    result = found.to_plain()
    kept = {name: result[name] for name in ("id", "source_file", "score", "source")}
    return {**kept, "content": found.hit.text[:_CONSULTED]}


@health.get("/api/health", response_model=ApiHealthBody, responses={503: {"model": ApiHealthBody}})
def api_health(request: Request) -> JSONResponse:
    """Whether the store answers and its index is current; needs no token."""
    engine = engine_of(request)
    ready = is_ready(engine)
    body = {"status": "ok" if ready else "unavailable", "server": "lamina", "version": VERSION}
    return JSONResponse({**body, "port": engine.config.port}, 200 if ready else 503)
