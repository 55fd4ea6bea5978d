"""The routes about a run: what waits for its person's word, and the administrator's channel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import JSONResponse

from lamina.doors.http.models import Compact, Decide, DecidedBody, MetricsBody, PendingBody
from lamina.doors.http.routes import Reader, Writer, engine_of, may, says
from lamina.errors import NotFound
from lamina.lifecycle.consent import proposal_of
from lamina.model import Memory, plain
from lamina.model.token import Right
from lamina.scoped import ScopedMemory

ALERT = 10  #: how many guesses may wait before somebody should look

router = APIRouter(responses=says(401, 403, 422))

Run = Annotated[str, Path(max_length=128, examples=["r1"])]
Person = Annotated[ScopedMemory, Depends(may(Right.CONSENT))]
Admin = Annotated[ScopedMemory, Depends(may(Right.ADMIN))]


def _of_run(mind: ScopedMemory, run_id: str) -> list[Memory]:
    found = [one for one in mind.pending() if one.provenance.run_id == run_id]
    return sorted(found, key=lambda one: one.key or "")


def _item(mind: ScopedMemory, memory: Memory) -> dict[str, Any]:
    told = proposal_of(mind, memory)
    return {
        "pending_key": f"memory.pending.{memory.key}",
        "target_key": memory.key,
        "value": memory.text,
        "priority": memory.priority,
        "confidence": memory.confidence,
        "source": "user_inferred",
        "updated_at": plain(memory.updated_at),
        "care": told.care,
        "signals": told.signals,
        "proposed_by": told.proposed_by,
        "expires_at": plain(memory.expires_at),
    }


def _chosen(mind: ScopedMemory, run_id: str, key: str) -> Memory:
    wanted = key.removeprefix("memory.pending.")
    found = [one for one in _of_run(mind, run_id) if one.key == wanted]
    if not found:
        raise NotFound("Nothing like that waits in this run.")
    return found[-1]


@router.get("/runs/{run_id}/memory/pending", response_model=PendingBody)
def pending(run_id: Run, mind: Reader) -> JSONResponse:
    """What was guessed in a run and waits for the person's word."""
    return JSONResponse({"items": [_item(mind, one) for one in _of_run(mind, run_id)]})


@router.post("/runs/{run_id}/memory/confirm", response_model=DecidedBody, responses=says(404))
def confirm(run_id: Run, body: Decide, mind: Person) -> JSONResponse:
    """Keep what was guessed; the token needs the right `consent`, and its role must be the user's."""
    memory = _chosen(mind, run_id, body.key)
    mind.confirm(memory.key, reason=body.reason or "")
    return JSONResponse({"status": "confirmed", "item": _item(mind, memory)})


@router.post("/runs/{run_id}/memory/reject", response_model=DecidedBody, responses=says(404))
def reject(run_id: Run, body: Decide, mind: Person) -> JSONResponse:
    """Drop what was guessed; the token needs the right `consent`, and its role must be the user's."""
    memory = _chosen(mind, run_id, body.key)
    mind.reject(memory.key)
    return JSONResponse({"status": "rejected", "item": _item(mind, memory)})


@router.get("/runs/{run_id}/memory/metrics", response_model=MetricsBody)
def metrics(run_id: Run, mind: Reader) -> JSONResponse:
    """How much waits in a run, and whether that is too much."""
    count = len(_of_run(mind, run_id))
    body = {"pending_count": count, "pending_alert_threshold": ALERT, "pending_backlog_alert": count >= ALERT}
    return JSONResponse(body)


@router.post("/v1/compact", response_model=dict[str, int])
def compact(body: Compact, mind: Writer) -> JSONResponse:
    """Put aside what is past its time, lines in files too."""
    return JSONResponse({"removed": mind.compact(body.space)})


@router.post("/admin/policy/reload", response_model=dict[str, Any])
def reload_policy(request: Request, mind: Admin) -> JSONResponse:
    """Put POLICY.md as it is now in force; only with the right `admin`, and nothing of it is shown."""
    engine = engine_of(request)
    made = engine.accept_policy(engine.scope(user=mind.scope.user, role="admin", via="http").scope)
    return JSONResponse({"status": "reloaded", "policy_entry_count": len(made.entries or {})})
