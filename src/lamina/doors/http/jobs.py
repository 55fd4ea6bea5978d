"""The routes about work that may wait: what there is, and running one now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse

from lamina.doors.http.models import Body
from lamina.doors.http.routes import Reader, engine_of, says
from lamina.doors.http.runs import Admin
from lamina.jobs.job import JobReport
from lamina.jobs.run import Asked, JobLine, list_jobs, run_job
from lamina.jobs.writer import Writer
from lamina.model import plain

router = APIRouter(responses=says(401, 403, 422))

Name = Annotated[str, Path(max_length=64, examples=["consolidate"])]

#: How a run gets the language model of the settings, None where there is none.
OpenWriter = Callable[[], Writer | None]


def no_writer() -> None:
    """For a server that was given none."""


class JobsBody(BaseModel):
    """Every job with its newest run."""

    items: list[JobLine]


class RunJob(Body):
    """How to run it."""

    dry_run: bool = False
    agree: bool = False


@router.get("/v1/jobs", response_model=JobsBody)
def jobs(request: Request, mind: Reader) -> JSONResponse:  # noqa: ARG001 - asks for the right to read
    """Every job: when it is due, and what became of it last time."""
    engine = engine_of(request)
    return JSONResponse({"items": plain(list_jobs(engine, engine.now()))})


@router.post("/v1/jobs/{name}/run", response_model=JobReport, responses=says(404))
def run(request: Request, name: Name, mind: Admin, body: RunJob | None = None) -> JSONResponse:  # noqa: ARG001
    """Run a job now and wait for it; only with the right `admin`, because it works for everybody."""
    engine, asked = engine_of(request), body or RunJob()
    how = Asked(dry_run=asked.dry_run, agreed=asked.agree, writer=request.app.state.open_writer())
    return JSONResponse(plain(run_job(engine, name, engine.now(), how)))
