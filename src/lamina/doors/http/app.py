"""The HTTP API as an application: the routes, behind the guard, with problems for answers when one fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from lamina.doors.http import problems
from lamina.doors.http.guard import OPEN_PATHS, Guard, Limits
from lamina.doors.http.jobs import OpenWriter, no_writer
from lamina.doors.http.jobs import router as jobs
from lamina.doors.http.layers import router as layers
from lamina.doors.http.lifecycle import router as lifecycle
from lamina.doors.http.merging import router as merging
from lamina.doors.http.models import ProblemBody
from lamina.doors.http.relations import router as relations
from lamina.doors.http.routes import VERSION, health, router
from lamina.doors.http.runs import router as runs
from lamina.doors.http.search import router as search
from lamina.doors.http.team import router as team
from lamina.engine import Engine

_ABOUT = (
    "Memory for AI agents that its owner can read, govern and prove."
    " Who is asking follows from the token and from nothing in a request."
)


def create_app(
    engine: Engine,
    *,
    allowed_hosts: Iterable[str] = (),
    limits: Limits | None = None,
    open_writer: OpenWriter = no_writer,
) -> FastAPI:
    """The API over an open memory; it answers to loopback names and to `allowed_hosts`, and to no other.

    `open_writer` gives a job the language model it may ask.
    """
    app = _bare_app()
    app.state.engine = engine
    app.state.open_writer = open_writer
    app.add_middleware(Guard, engine=engine, allowed_hosts=tuple(allowed_hosts), limits=limits or Limits())
    return app


def document() -> dict[str, Any]:
    """The OpenAPI document; it depends on no store."""
    return _bare_app().openapi()


def _bare_app() -> FastAPI:
    app = FastAPI(
        title="Lamina",
        version=VERSION,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_name,
    )
    app.include_router(router)
    app.include_router(runs)
    app.include_router(team)
    app.include_router(relations)
    app.include_router(merging)
    app.include_router(lifecycle)
    app.include_router(jobs)
    app.include_router(search)
    app.include_router(layers)
    app.include_router(health)
    problems.install(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _operation_name(route: APIRoute) -> str:
    return route.name


def _described(app: FastAPI) -> dict[str, Any]:
    """The framework's document with what it cannot know: the guard's token, and our problems."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = found["components"]["schemas"]
        problem = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(problem.pop("$defs"))
        schemas["ProblemBody"] = problem
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, operations in found["paths"].items():
            for operation in operations.values():
                operation["security"] = [] if path in OPEN_PATHS else [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema
