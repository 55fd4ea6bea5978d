"""The HTTP API as an application: the routes, behind the guard, with problems for answers when one fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from lamina.doors.http import by_hand, compat, mem0, problems
from lamina.doors.http.by_hand import CUSTOMS, VERSION, ProblemBody
from lamina.doors.http.guard import OPEN_PATHS, Guard, Limits
from lamina.doors.http.metrics import Metrics
from lamina.doors.http.routes import routes_of
from lamina.engine import Engine
from lamina.operations.catalogue import OPERATIONS

_ABOUT = (
    "Memory for AI agents that its owner can read, govern and prove."
    " Who is asking follows from the token and from nothing in a request."
)


def create_app(
    engine: Engine,
    *,
    allowed_hosts: Iterable[str] = (),
    limits: Limits | None = None,
) -> FastAPI:
    """The API over an open memory; it answers to loopback names and to `allowed_hosts`, and to no other."""
    app = _bare_app()
    app.state.engine, app.state.metrics, app.state.leaving = engine, Metrics(engine), threading.Event()
    app.add_middleware(
        Guard,
        engine=engine,
        allowed_hosts=tuple(allowed_hosts),
        limits=limits or Limits(),
        metrics=app.state.metrics,
        leaving=app.state.leaving,
    )
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
    for one in _routers(tuple(one.run for one in OPERATIONS.values())):
        app.include_router(one)
    problems.install(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


@cache
def _routers(_: tuple[Callable[..., Any], ...]) -> list[APIRouter]:
    """The routes of the operations that there are now; making their models takes longest of all."""
    derived = routes_of(OPERATIONS.values(), CUSTOMS)
    return [derived, by_hand.router, compat.routes(), mem0.router, by_hand.health]


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
