"""The routes over documents: a search with citations, and the lines that a citation names."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import JSONResponse

from lamina.documents.results import Corpus
from lamina.documents.settings import Citations
from lamina.doors.http.routes import Reader, says
from lamina.doors.search_body import search_body

router = APIRouter(responses=says(401, 403, 422))


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class SearchHitBody(_Wire):
    """One thing found, to be cited."""

    id: str
    source: str
    path: str | None
    start_line: int | None
    end_line: int | None
    score: float
    snippet: str
    heading: str | None
    date: str | None
    status: str | None
    uncertainty: str
    why: str
    citation: str | None
    reasons: list[str]


class SearchBody(_Wire):
    """Results, best first; `stale`, `warning` and `action` are there only when the index is behind."""

    results: list[SearchHitBody]
    uncertainty: str
    searched: list[str]
    partial: bool
    cut: list[str]
    stale: bool | None = None
    warning: str | None = None
    action: str | None = None


class LinesBody(_Wire):
    """Some lines of a document."""

    path: str
    text: str
    start: int
    total: int


class Search(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=20_000)]
    max_results: Annotated[int | None, Field(ge=1, le=100)] = None
    corpus: Corpus = Corpus.ALL
    archive: bool = False
    citations: Citations | None = None
    timeout_ms: Annotated[int | None, Field(ge=0, le=600_000)] = None


class Lines(BaseModel):
    """Which lines of which document."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1, max_length=4000)]
    start: Annotated[int, Field(ge=1, le=2**31)] = 1
    lines: Annotated[int, Field(ge=1, le=2000)] = 200


@router.get("/v1/search", response_model=SearchBody)
def memory_search(asked: Annotated[Search, Query()], mind: Reader) -> JSONResponse:
    """What documents and memories say about a question: where it stands, when, and how sure that is."""
    found = mind.search(
        asked.query,
        max_results=asked.max_results,
        corpus=asked.corpus,
        archive=asked.archive,
        citations=asked.citations,
        timeout_ms=asked.timeout_ms,
    )
    return JSONResponse(search_body(found))


@router.get("/v1/documents", response_model=LinesBody, responses=says(404))
def read_document(asked: Annotated[Lines, Query()], mind: Reader) -> JSONResponse:
    """Some lines of one of the caller's documents as the file has them now, without secrets."""
    return JSONResponse(search_body(mind.read_document(asked.path, start=asked.start, lines=asked.lines)))
