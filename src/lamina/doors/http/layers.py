"""The routes of the five layers, in the shapes of the reference: user model, procedures, episodes, learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from lamina.doors.http.problems import refused
from lamina.doors.http.routes import VERSION, Reader, Writer, engine_of, says
from lamina.errors import Denied, InvalidInput
from lamina.layers.layers import Learned
from lamina.model import Hit, Layer, Outcome, Receipt
from lamina.ranking.tiers import is_likely
from lamina.scoped import ScopedMemory

router = APIRouter(prefix="/api", responses=says(401, 403, 422))

_KINDS = {"decision": "principle", "procedure": "pattern", "episode": "retro", "insight": "pattern"}
#: What `write_mode = "selected"` still takes: what cannot change what others rely on.
_SELECTED = frozenset({"episodic", "usage"})
_ANYBODY = "default"
_CONSULTED = 300


class Loose(BaseModel):
    """Bodies of the reference's clients: fields we do not know are no error, and say nothing to us."""

    model_config = ConfigDict(extra="ignore")


class Updates(Loose):
    """What to merge into a user model: under `updates`, or flat."""

    model_config = ConfigDict(extra="allow")

    userId: str | None = None  # noqa: N815 the reference's name
    updates: dict[str, Any] | None = None


class NewProcedure(Loose):
    """What to do when."""

    trigger: str
    procedure: Annotated[list[str], Field(max_length=50)]
    source: str = "explicit"


class Used(Loose):
    """Which procedure was followed, and how it went."""

    id: str
    outcome: str = "success"


class NewEpisode(Loose):
    """What happened."""

    summary: str
    userId: str | None = None  # noqa: N815
    groupId: str | None = None  # noqa: N815
    topics: Annotated[list[str], Field(max_length=20)] = []
    outcome: str = "unknown"
    durationMs: int | None = None  # noqa: N815


class Learn(Loose):
    """What to learn."""

    pattern: str | None = None
    source: str | None = None
    concepts: list[str] | str = []
    origin: str | None = None
    project: str | None = None
    cwd: str | None = None
    layer: str | None = None
    resolution: str = "warn"


def _own(mind: ScopedMemory, user: str | None) -> None:
    """Whose memory it is follows from the token; a client may name that user, or leave it out."""
    if user == "":
        hint = "Give a name, or leave the field out."
        raise InvalidInput("`userId` is given and empty.", code="name_invalid", hint=hint)
    if user not in (None, _ANYBODY, mind.scope.user):
        hint = "Leave `userId` out, or use that user's token."
        raise Denied("This token is not that user's.", code="user_other", hint=hint)


def _may_write(request: Request, what: str) -> None:
    mode = engine_of(request).config.write_mode
    if mode == "none" or (mode == "selected" and what not in _SELECTED):
        hint = "The owner can change the setting `write_mode`."
        raise Denied(f"Writing is set to `{mode}` here.", code="write_mode", hint=hint)


def _kept(receipt: Receipt) -> Receipt:
    if receipt.decision is Outcome.DENIED:
        why, hint = [*receipt.warnings, "", ""][:2]
        raise Denied(why or "Policy does not allow this.", code=receipt.code, hint=hint)
    return receipt


@router.get("/user-model", response_model=dict[str, Any])
def user_model(mind: Reader, userId: str | None = None) -> JSONResponse:  # noqa: N803
    """What is known about the user; what is not has defaults."""
    _own(mind, userId)
    return JSONResponse(mind.layers.user_model.get())


@router.post("/user-model", response_model=dict[str, Any])
def update_user_model(request: Request, body: Updates, mind: Writer) -> JSONResponse:
    """Merge into the user model; what is not mentioned stays, and lists grow."""
    _may_write(request, "user_model")
    _own(mind, body.userId)
    partial = body.updates if body.updates is not None else dict(body.model_extra or {})
    receipts = mind.layers.user_model.update(partial)
    model = mind.layers.user_model.get()
    waiting = [{"code": one.code, "ids": list(one.ids)} for one in receipts if one.decision is Outcome.HELD]
    denied = [_kept(one) for one in receipts]
    return JSONResponse({"success": bool(denied) or not partial, "model": model, "pending": waiting})


@router.delete("/user-model", response_model=dict[str, Any])
def reset_user_model(request: Request, mind: Writer, userId: str | None = None) -> JSONResponse:  # noqa: N803
    """Forget everything in the user model; it can be restored like anything forgotten."""
    _may_write(request, "user_model")
    _own(mind, userId)
    return JSONResponse({"success": True, "removed": mind.layers.user_model.reset()})


@router.get("/procedural", response_model=dict[str, Any])
def procedures(mind: Reader, q: str = "", limit: Annotated[int, Query(ge=1, le=50)] = 3) -> JSONResponse:
    """What to do for a task, best first; without a task, the newest."""
    found = [one.to_plain() for one in mind.layers.procedures.find(q, limit)]
    return JSONResponse({"results": found, "total": len(found)})


@router.post("/procedural", response_model=dict[str, Any])
def learn_procedure(request: Request, body: NewProcedure, mind: Writer) -> JSONResponse:
    """Keep a procedure; one whose trigger means the same is extended instead."""
    _may_write(request, "procedural")
    receipt = _kept(mind.layers.procedures.learn(body.trigger, body.procedure, body.source))
    return JSONResponse({"success": True, "id": receipt.ids[0], "merged": receipt.code == "merged"})


@router.post("/procedural/usage", response_model=dict[str, Any], responses=says(404))
def procedure_used(request: Request, body: Used, mind: Writer) -> JSONResponse:
    """Note that a procedure was followed and how it went."""
    _may_write(request, "usage")
    return JSONResponse({"success": True, **mind.layers.procedures.used(body.id, body.outcome).to_plain()})


@router.get("/episodic", response_model=dict[str, Any])
def episodes(
    mind: Reader,
    q: str = "",
    userId: str | None = None,  # noqa: N803
    limit: Annotated[int, Query(ge=1, le=100)] = 5,
) -> JSONResponse:
    """What happened: about a topic, best first; without one, the most recent."""
    _own(mind, userId)
    found = [one.to_plain() for one in mind.layers.episodes.find(q, limit)]
    return JSONResponse({"results": found, "total": len(found)})


@router.post("/episodic", response_model=dict[str, Any])
def record_episode(request: Request, body: NewEpisode, mind: Writer) -> JSONResponse:
    """Keep what happened for 90 days, longer where it is found again."""
    _may_write(request, "episodic")
    _own(mind, body.userId)
    happened = {"topics": body.topics, "outcome": body.outcome, "group": body.groupId}
    receipt = _kept(mind.layers.episodes.record(body.summary, duration_ms=body.durationMs, **happened))  # type: ignore[arg-type]
    return JSONResponse({"success": True, "id": receipt.ids[0]})


@router.post("/learn", response_model=dict[str, Any])
def learn(request: Request, body: Learn, mind: Writer) -> JSONResponse:
    """Learn something: in the layer named, else the semantic one with its file."""
    _may_write(request, body.layer or "semantic")
    if not (body.pattern or "").strip():
        raise refused(400, "pattern_missing", "Missing required field: pattern")
    concepts = body.concepts.split(",") if isinstance(body.concepts, str) else body.concepts
    named = [one.strip() for one in concepts if one.strip()]
    lesson: Any = {**body.model_dump(exclude={"pattern", "concepts", "cwd"}), "concepts": named}
    return JSONResponse(learned_body(mind, mind.layers.learn(body.pattern or "", **lesson)))


def learned_body(mind: ScopedMemory, learned: Learned) -> dict[str, Any]:
    """With the fields of the document and of its running code."""
    receipt = _kept(learned.receipt)
    known = receipt.ids[0] if receipt.ids else None
    body: dict[str, Any] = {"success": True, "id": known, "documentId": known, "file": learned.file}
    body |= {"layer": learned.layer.value, "code": receipt.code}
    if learned.layer is Layer.USER_MODEL:
        body["model"] = mind.layers.user_model.get()
    if learned.suggested is not None:
        body["suggestedLayer"] = learned.suggested.value
    if learned.warning is not None:
        body["warning"] = learned.warning.to_plain()
    return body


def _layers(named: str | None) -> list[Layer]:
    """No layer means what is known; `all` means all of them."""
    if named is None or not named.strip():
        return [Layer.SEMANTIC]
    if named.strip() == "all":
        return []
    try:
        return [Layer(one.strip()) for one in named.split(",") if one.strip()]
    except ValueError:
        hint = f"Choose among: {', '.join(Layer)}, all."
        raise InvalidInput("That is no layer.", code="layer_invalid", hint=hint) from None


@router.get("/search", response_model=dict[str, Any])
def search(
    mind: Reader,
    q: str,
    layer: str | None = None,
    type: str = "all",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    offset: Annotated[int, Query(ge=0, le=900)] = 0,
    mode: str = "hybrid",
) -> JSONResponse:
    """What is known about a question; `layer` is one, several with commas, or `all`, and else semantic."""
    found = mind.recall(q, k=min(1000, offset + limit), layers=_layers(layer))
    shown = [hit for hit in found.hits if type in ("all", _type(hit))]
    results = [_result(hit) for hit in shown[offset : offset + limit]]
    body = {
        "results": results,
        "total": len(shown),
        "offset": offset,
        "limit": limit,
        "mode": mode,
        "query": q,
    }
    return JSONResponse(body)


def _type(hit: Hit) -> str:
    return _KINDS.get(hit.kind, "learning")


def _result(hit: Hit) -> Mapping[str, Any]:
    source = "hybrid" if len(hit.ranks) > 1 else "vector" if "meaning" in hit.ranks else "fts"
    return {
        "id": hit.id,
        "type": _type(hit),
        "content": hit.text,
        "source_file": hit.source.path,
        "concepts": [],
        "project": None,
        "source": source,
        "score": hit.score,
        "memoryLayer": hit.layer.value,
        "createdAt": hit.at.isoformat(),
        "reasons": list(hit.reasons),
        "uncertainty": hit.uncertainty,
    }


@router.get("/consult", response_model=dict[str, Any])
def consult(
    mind: Reader, q: str, context: str = "", limit: Annotated[int, Query(ge=1, le=10)] = 3
) -> JSONResponse:
    """Principles and patterns for a decision, and what they come to in a sentence."""
    asked = f"{q} {context}".strip()
    principles = mind.recall(
        asked, k=limit, layers=[Layer.SEMANTIC], kinds=["decision", "constraint", "instruction"]
    )
    patterns = mind.recall(
        asked,
        k=limit,
        layers=[Layer.SEMANTIC, Layer.PROCEDURAL],
        kinds=["fact", "correction", "procedure", "insight"],
    )
    both = {"principles": principles, "patterns": patterns}
    found = {name: [hit for hit in one if is_likely(hit.scores)] for name, one in both.items()}
    short = {name: [_consulted(hit) for hit in hits] for name, hits in found.items()}
    first = next((hit for hits in found.values() for hit in hits), None)
    guidance = (
        "Nothing was found that bears on that."
        if first is None
        else f"Based on what is known: {first.text[:_CONSULTED]}"
    )
    return JSONResponse({"decision": q, "context": context, **short, "guidance": guidance})


def _consulted(hit: Hit) -> dict[str, Any]:
    result = _result(hit)
    kept = {name: result[name] for name in ("id", "source_file", "score", "source")}
    return {**kept, "content": hit.text[:_CONSULTED]}


@router.get("/health", response_model=dict[str, Any])
def api_health(request: Request) -> JSONResponse:
    """Whether the memory answers; needs no token."""
    body = {"status": "ok", "server": "lamina", "version": VERSION, "port": engine_of(request).config.port}
    return JSONResponse(body)
