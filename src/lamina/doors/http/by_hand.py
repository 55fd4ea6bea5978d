"""What is no operation: health, who is asking, an export; and what HTTP adds to two operations."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from lamina.doors.http.answers import may_say, wire
from lamina.doors.http.caller import Administrator, Reader, engine_of
from lamina.doors.http.metrics import MEDIA_TYPE as METRICS
from lamina.doors.http.routes import Custom
from lamina.engine import Engine
from lamina.errors import Denied
from lamina.layers.relations import exported
from lamina.lifecycle.export import lines_of
from lamina.model import Right, Role, Token
from lamina.read.status import StoreStatus
from lamina.write.reindex import renewal

VERSION = version("lamina")
#: How long a request may wait for a change, and how often we look meanwhile.
LONGEST_WAIT = 30.0
_LOOK_EVERY = 0.25

Run = Callable[[], Awaitable[Any]]
router = APIRouter(responses=may_say("GET"))
health = APIRouter()


class WhoAsks(BaseModel):
    """Who the token says is asking."""

    user: str | None
    agent: str | None
    role: Role
    rights: list[Right]
    acts_for: list[str]


class StatusBody(BaseModel):
    """The server and its caller; `store` only for a token with the right `admin`, for it counts everyone."""

    version: str
    caller: WhoAsks
    store: StoreStatus | None


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
    receipt: dict[str, Any] | None = Field(None, description="Of a request that policy denied.")


@router.get("/v1/status", response_model=StatusBody)
def status(request: Request, memory: Reader) -> JSONResponse:  # noqa: ARG001 - asks for the right to read
    """Who is asking, and for an administrator the state of the store in figures."""
    token: Token = request.state.token
    caller = {name: getattr(token, name) for name in WhoAsks.model_fields}
    store = engine_of(request).status() if Right.ADMIN in token.rights else None
    return JSONResponse(wire({"version": VERSION, "caller": caller, "store": store}))


@router.get(
    "/v1/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
            "description": "A JSON object a line",
        }
    },
)
def export(memory: Reader) -> StreamingResponse:
    """Everything that is known about the caller's user, an object a line; the last one seals the others."""
    return StreamingResponse(lines_of(memory), media_type="application/x-ndjson")


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus's text form"}},
)
def metrics(request: Request, memory: Administrator) -> Response:  # noqa: ARG001 - asks for the right
    """What this server did, in numbers, for a token with the right `admin`: they count everyone.

    Where a server has several tenants, an administrator of its own one alone may see them.
    """
    if engine_of(request) is not request.app.state.engine:
        raise Denied("These numbers count other tenants, too.", code="tenant_other")
    return Response(request.app.state.metrics.page(), media_type=METRICS)


@health.get("/livez", response_model=HealthBody)
def livez() -> JSONResponse:
    """Whether the process answers."""
    return JSONResponse({"status": "ok", "checks": {}})


@health.get("/readyz", response_model=HealthBody, responses={503: {"model": HealthBody}})
@health.get("/health", name="health", response_model=HealthBody, responses={503: {"model": HealthBody}})
def readyz(request: Request) -> JSONResponse:
    """Whether the store answers and the server is not about to stop; how far a new index is."""
    checks = _checks(engine_of(request))
    checks |= {"server": "stopping"} if request.app.state.leaving.is_set() else {}
    ready = _all_ok(checks)
    body = {"status": "ok" if ready else "unavailable", "checks": checks}
    return JSONResponse(body, 200 if ready else 503, headers={} if ready else {"Retry-After": "1"})


def is_ready(engine: Engine) -> bool:
    """Whether the store answers."""
    return _all_ok(_checks(engine))


def _all_ok(checks: Mapping[str, str]) -> bool:
    """An index that is being made anew answers meanwhile."""
    return all(one == "ok" or one.startswith("renewing") for one in checks.values())


def _checks(engine: Engine) -> dict[str, str]:
    try:
        left = engine.database.read(renewal)
    except Exception:  # noqa: BLE001 - whatever the store's driver raises, we are not ready
        return {"store": "failing", "index": "unknown"}
    return {"store": "ok", "index": "ok" if left is None else f"renewing: {left[0]} of {left[1]} shelves"}


async def _changes(run: Run, extra: Mapping[str, Any]) -> Response:
    """What changed; with `wait`, the answer comes as soon as there is something to say."""
    loop = asyncio.get_running_loop()
    until = loop.time() + extra["wait"]
    while True:
        found = await run()
        left = until - loop.time()
        if found.changes or left <= 0:
            return JSONResponse(wire(found))
        await asyncio.sleep(min(_LOOK_EVERY, left))


async def _relations(run: Run, extra: Mapping[str, Any]) -> Response:
    graph = await run()
    if extra["format"] == "json":
        return JSONResponse(wire(graph))
    return PlainTextResponse(exported(graph, extra["format"]), media_type=_GRAPHVIZ)


_WAIT: Any = Field(0.0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for something to say.")
_GRAPHVIZ = "text/vnd.graphviz"
_FORMAT: Any = Field("json", description="json, or dot for Graphviz")
#: Operations to which HTTP adds something of its own.
CUSTOMS = {
    "changes": Custom(fields={"wait": (float, _WAIT)}, answer=_changes),
    "relations": Custom(fields={"format": (str, _FORMAT)}, answer=_relations, text=_GRAPHVIZ),
}
