"""The routes about how a memory ends: pins, purge, export, erase."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.responses import JSONResponse, StreamingResponse

from lamina.doors.http.models import Body, Nothing, ReceiptBody
from lamina.doors.http.routes import Id, Reader, Writer, answered, may, says
from lamina.lifecycle.erase import EraseReceipt, erase
from lamina.lifecycle.export import lines_of
from lamina.lifecycle.purge import PurgeReceipt, purge, verify_purge
from lamina.model import plain
from lamina.model.token import Right
from lamina.scoped import ScopedMemory

router = APIRouter(responses=says(401, 403, 422))
Person = Annotated[ScopedMemory, Depends(may(Right.CONSENT))]


class Purge(Body):
    """How to purge."""

    now: bool = Field(False, description="Also where it could still be restored.")


class Erase(Body):
    """Whose memories to erase."""

    user: str = Field(min_length=1, max_length=128, description="The name, said once more to be sure.")


@router.post("/v1/memories/{id}/pin", response_model=ReceiptBody, responses=says(404))
def pin(memory_id: Id, mind: Writer, body: Nothing | None = None) -> JSONResponse:  # noqa: ARG001
    """Keep a memory through every clean-up."""
    return answered(mind.pin(memory_id))


@router.post("/v1/memories/{id}/unpin", response_model=ReceiptBody, responses=says(404))
def unpin(memory_id: Id, mind: Writer, body: Nothing | None = None) -> JSONResponse:  # noqa: ARG001
    """Let a memory age again like any other."""
    return answered(mind.unpin(memory_id))


@router.post("/v1/memories/{id}/purge", response_model=list[PurgeReceipt], responses=says(404, 409))
def purge_memory(memory_id: Id, mind: Person, body: Purge) -> JSONResponse:
    """Take a memory out of every place for good; needs the right `consent` and the person's own role."""
    return JSONResponse(plain(purge(mind, memory_id, now=body.now)))


@router.get("/v1/memories/{id}/purge", response_model=PurgeReceipt, responses=says(404))
def check_purge(memory_id: Id, mind: Person) -> JSONResponse:
    """Look at every place again for a memory that was purged."""
    return JSONResponse(plain(verify_purge(mind, memory_id)))


@router.get(
    "/v1/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "A JSON object a line"}},
)
def export(mind: Reader) -> StreamingResponse:
    """Everything that is known about the caller's user, an object a line; the last one seals the others."""
    return StreamingResponse(lines_of(mind), media_type="application/x-ndjson")


@router.post("/v1/erase", response_model=EraseReceipt)
def erase_user(body: Erase, mind: Person) -> JSONResponse:
    """Take out everything of one person's: the token's own user, or as an administrator anybody."""
    return JSONResponse(plain(erase(mind, body.user)))
