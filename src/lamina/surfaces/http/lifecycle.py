"""The routes about how a memory ends: pins."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse

from lamina.surfaces.http.models import Nothing, ReceiptBody
from lamina.surfaces.http.routes import Id, Writer, answered, says

router = APIRouter(responses=says(401, 403, 422))


@router.post("/v1/memories/{id}/pin", response_model=ReceiptBody, responses=says(404))
def pin(memory_id: Id, mind: Writer, body: Nothing | None = None) -> JSONResponse:  # noqa: ARG001
    """Keep a memory through every clean-up."""
    return answered(mind.pin(memory_id))


@router.post("/v1/memories/{id}/unpin", response_model=ReceiptBody, responses=says(404))
def unpin(memory_id: Id, mind: Writer, body: Nothing | None = None) -> JSONResponse:  # noqa: ARG001
    """Let a memory age again like any other."""
    return answered(mind.unpin(memory_id))
