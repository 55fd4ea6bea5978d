"""The routes about which memories belong together."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, PlainTextResponse, Response

from lamina.doors.http.models import Body
from lamina.doors.http.routes import Reader, Writer, says
from lamina.layers.relations import RELATED, Graph, Relation, Relations, exported
from lamina.model import plain

router = APIRouter(responses=says(401, 403, 404, 422))


class Wanted(BaseModel):
    """Which part of the graph, and how."""

    model_config = ConfigDict(extra="forbid")

    of: str = Field("", max_length=4000, description="Only what this memory is linked to.")
    depth: Annotated[int, Field(ge=1, le=5)] = 1
    format: str = Field("json", description="json, or dot for Graphviz")


class Ends(BaseModel):
    """Which edge."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    from_id: str = Field(alias="from", max_length=4000)
    to_id: str = Field(alias="to", max_length=4000)
    type: str = RELATED


class Link(Body):
    """Two memories that belong together."""

    from_id: str = Field(alias="from", examples=["user:ana:semantic:1"])
    to_id: str = Field(alias="to", examples=["user:ana:semantic:2"])
    type: str = Field(RELATED, description="Letters, digits, _ and -.")
    strength: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0


@router.get("/v1/relations", response_model=Graph)
def relations(asked: Annotated[Wanted, Query()], mind: Reader) -> Response:
    """The edges between the caller's memories, or those around one; `format=dot` for Graphviz."""
    linked = Relations(mind)
    graph = linked.of(asked.of, asked.depth) if asked.of else linked.graph()
    if asked.format == "json":
        return JSONResponse(plain(graph))
    return PlainTextResponse(exported(graph, asked.format), media_type="text/vnd.graphviz")


@router.post("/v1/relations", response_model=Relation, status_code=201)
def link(body: Link, mind: Writer) -> JSONResponse:
    """Say that two memories belong together; both must be the caller's to read."""
    return JSONResponse(plain(Relations(mind).link(body.from_id, body.to_id, body.type, body.strength)), 201)


@router.delete("/v1/relations", response_model=Relation)
def unlink(asked: Annotated[Ends, Query()], mind: Writer) -> JSONResponse:
    """Take an edge away, whichever way round it is."""
    return JSONResponse(plain(Relations(mind).unlink(asked.from_id, asked.to_id, asked.type)))
