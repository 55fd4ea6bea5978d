"""The routes about what says the same: merge, unmerge."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from lamina.doors.http.models import Body, ReceiptBody
from lamina.doors.http.routes import Id, Writer, answered, says

router = APIRouter(responses=says(401, 403, 422))


class Merging(Body):
    """Which memories become one."""

    ids: Annotated[list[str], Field(min_length=2, max_length=10)]
    reason: str = ""


class Unmerging(Body):
    """Why a merge is undone."""

    reason: str = ""


@router.post("/v1/merge", response_model=ReceiptBody, responses=says(404))
def merge(body: Merging, mind: Writer) -> JSONResponse:
    """Make one memory of several that say the same; 403 with `values_differ` where they do not."""
    return answered(mind.merge(body.ids, reason=body.reason))


@router.post("/v1/memories/{id}/unmerge", response_model=ReceiptBody, responses=says(404, 409))
def unmerge(memory_id: Id, mind: Writer, body: Unmerging | None = None) -> JSONResponse:
    """Take a memory apart again that was merged, or bring back what a newer value replaced."""
    return answered(mind.unmerge(memory_id, reason=body.reason if body else ""))
