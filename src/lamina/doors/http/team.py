"""The routes for a team of agents: one query with filters, what changed, and how much was done."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from lamina.doors.http.models import Body, Few
from lamina.doors.http.routes import Reader, says
from lamina.model import Delta, plain
from lamina.read.query import Bullet
from lamina.read.stats import Stats

#: How long a request may wait for a change, and how often we look meanwhile.
LONGEST_WAIT = 30.0
_LOOK_EVERY = 0.25

router = APIRouter(responses=says(401, 403, 422))


class MemoryQuery(Body):
    """One query of an agent (IS-6)."""

    query: str = Field(examples=["deployment plan context"])
    agent: str | None = Field(None, description="Must be the token's own agent.")
    categories: Annotated[list[str], Few] = Field([], description="Only these; all in reach if none.")
    filters: dict[str, Any] = Field({}, description="What the store narrows by; see the reference.")
    top_k: Annotated[int, Field(ge=1, le=64)] = 3
    returns: str = Field("bullets", alias="return", description="bullets or full")
    budget_tokens: Annotated[int, Field(ge=0, le=2**31)] = 512
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class Since(BaseModel):
    """From where on, and how long to wait for something."""

    model_config = ConfigDict(extra="forbid")

    since: str = Field("", max_length=200, description="The cursor of the last answer; everything if none.")
    wait: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0.0


class Lately(BaseModel):
    """How far back, and by what time to count."""

    model_config = ConfigDict(extra="forbid")

    by: str = Field("day", description="hour or day")
    days: Annotated[int, Field(ge=1, le=90)] = 7


@router.post("/memory/query", response_model=list[Bullet])
def memory_query(body: MemoryQuery, mind: Reader) -> JSONResponse:
    """A few memories for the step at hand; what is outside the agent's allowlist is refused by name."""
    found = mind.query(
        body.query,
        agent=body.agent,
        categories=body.categories,
        filters=body.filters,
        top_k=body.top_k,
        returns=body.returns,
        budget_tokens=body.budget_tokens,
        threshold=body.threshold,
    )
    items = [plain(one) for one in found.bullets]
    if body.returns == "bullets":
        items = [{name: value for name, value in one.items() if name != "metadata"} for one in items]
    sizes = {"X-Lamina-Tokens": str(found.tokens), "X-Lamina-Left-Out": str(found.left_out)}
    return JSONResponse(items, headers=sizes)


@router.get("/v1/changes", response_model=Delta)
async def changes(asked: Annotated[Since, Query()], mind: Reader) -> JSONResponse:
    """What changed since a cursor; with `wait`, the answer comes as soon as there is something to say."""
    loop = asyncio.get_running_loop()
    until = loop.time() + asked.wait
    while True:
        found = await run_in_threadpool(mind.changes, asked.since)
        left = until - loop.time()
        if found.changes or left <= 0:
            return JSONResponse(plain(found))
        await asyncio.sleep(min(_LOOK_EVERY, left))


@router.get("/v1/stats", response_model=Stats)
def stats(asked: Annotated[Lately, Query()], mind: Reader) -> JSONResponse:
    """What was done in the caller's memory lately, counted, and what there is by category and state."""
    return JSONResponse(plain(mind.stats(by=asked.by, days=asked.days)))
