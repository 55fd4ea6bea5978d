"""What goes wrong, as RFC 9457 problems: one mapping from errors to statuses, and nothing of the input."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from lamina.errors import (
    ConfigError,
    Conflict,
    Damaged,
    Denied,
    InvalidInput,
    LaminaError,
    NotFound,
    Unauthenticated,
    Unavailable,
    nearest,
)
from lamina.language.secrets.privacy import redacted
from lamina.model import Receipt
from lamina.operations.operation import Door
from lamina.operations.wording import worded_for
from lamina.records import dataclass

MEDIA_TYPE = "application/problem+json"

log = logging.getLogger("lamina.http")

_STATUS: Mapping[type[LaminaError], int] = {
    InvalidInput: 422,
    ConfigError: 500,
    NotFound: 404,
    Denied: 403,
    Unauthenticated: 401,
    Conflict: 409,
    Unavailable: 503,
    Damaged: 500,
    LaminaError: 500,
}
_STATUS_OF_CODE = {"idempotency_mismatch": 422}
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="lamina"'},
    503: {"Retry-After": "1"},
}
_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_HIDDEN = "The server could not do this; its log has more under this request id."
#: What the caller is told although it is the server's fault: that what they asked for is damaged.
_TOLD = {"row_damaged"}
#: Where the engine's words repeat the input or speak of the command line, ours: detail and hint.
_IN_OUR_WORDS = {
    "not_found": ("There is no such memory here.", "POST /v1/recall finds the ids of what is known."),
    "idempotency_mismatch": (
        "This Idempotency-Key was used for another request.",
        "Use a new key for a new request.",
    ),
    "space_unknown": (
        "There is no such space here to remember this for.",
        "Name the session in the header X-Lamina-Session, or choose another space.",
    ),
}
_ROUTING = {
    400: ("body_unreadable", "The body cannot be read as JSON.", "Send one JSON object, in UTF-8."),
    404: ("route_unknown", "There is no such route.", "/docs shows every route."),
    405: (
        "method_not_allowed",
        "This route does not know this method.",
        "The header Allow names those that it knows.",
    ),
}
#: Names that may be repeated to whoever sent them: those of our fields, and what looks like one.
_NAME = re.compile(r"[a-z_]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One refusal as a client reads it."""

    status: int
    code: str
    detail: str
    hint: str = ""
    errors: Sequence[Mapping[str, str]] = ()
    receipt: Mapping[str, Any] | None = None  #: of a request that policy denied
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """Carries a problem to whoever answers the request."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.code)


def refused(status: int, code: str, detail: str, hint: str = "") -> Refused:
    return Refused(Problem(status=status, code=code, detail=detail, hint=hint))


def denied(receipt: Receipt, body: Mapping[str, Any]) -> Refused:
    """A receipt that says no, as a problem with its code; the receipt goes with it."""
    why, hint = [*receipt.warnings, "", ""][:2]
    problem = problem_of(Denied(why or "Policy does not allow this.", code=receipt.code, hint=hint))
    shown = {**body, "warnings": [redacted(one) for one in receipt.warnings]}
    return Refused(replace(problem, receipt=shown))


def problem_of(error: LaminaError) -> Problem:
    """The one place where our errors become statuses; faults of the server keep their words to themselves."""
    status = _STATUS_OF_CODE.get(error.code)
    if status is None:
        status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    detail, hint = _IN_OUR_WORDS.get(error.code, (error.message, error.hint))
    if status == 500 and error.code not in _TOLD:
        detail, hint = _HIDDEN, ""
    return Problem(
        status=status,
        code=error.code,
        detail=redacted(detail),
        hint=redacted(worded_for(Door.HTTP, hint)),
        headers=_HEADERS.get(status, {}),
    )


def logged(error: LaminaError, request_id: str) -> Problem:
    """The problem of an error; what is the server's fault is logged under the request's id."""
    problem = problem_of(error)
    if problem.status >= 500:
        log.error("request %s: %s (%s)", request_id, redacted(error.message), error.code)
    return problem


def answer(problem: Problem, request_id: str) -> JSONResponse:
    """The problem as a response."""
    body: dict[str, Any] = {
        "type": f"urn:lamina:problem:{problem.code}",
        "title": _TITLES.get(problem.status, "Error"),
        "status": problem.status,
        "detail": problem.detail,
        "instance": f"urn:lamina:request:{request_id}",
        "code": problem.code,
        "request_id": request_id,
    }
    if problem.hint:
        body["hint"] = problem.hint
    if problem.errors:
        body["errors"] = list(problem.errors)
    if problem.receipt is not None:
        body["receipt"] = problem.receipt
    return JSONResponse(body, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def unexpected() -> Problem:
    """What a client learns of a fault nobody foresaw."""
    return Problem(status=500, code="internal", detail=_HIDDEN)


def install(app: FastAPI) -> None:
    """Everything the framework and the engine raise becomes a problem."""
    app.add_exception_handler(Refused, _on_refused)
    app.add_exception_handler(LaminaError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


async def _on_refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)  # noqa: S101 - registered for nothing else
    return answer(error.problem, request.state.request_id)


async def _on_ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, LaminaError)  # noqa: S101 - registered for nothing else
    return answer(logged(error, request.state.request_id), request.state.request_id)


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        hint = "Names and texts stand in double quotes."
        problem = Problem(status=400, code="json_invalid", detail="The body is not valid JSON.", hint=hint)
        return answer(problem, request.state.request_id)
    problem = Problem(
        status=422,
        code="invalid_input",
        detail="The request has fields that are missing, unknown or wrong.",
        hint="`errors` names them; /openapi.json says what each may be.",
        errors=[_told(one, _known(request)) for one in found[:20]],
    )
    return answer(problem, request.state.request_id)


def _known(request: Request) -> Mapping[str, str]:
    """The fields of the route that was asked, each by every name that it goes by somewhere."""
    names: Mapping[str, str] = getattr(getattr(request.scope.get("route"), "endpoint", None), "names", {})
    return names


def _told(error: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, str]:
    """Where and why, never what: the value may be a secret, and so may a name that is none of ours."""
    place = [part if _NAME.fullmatch(part) else "?" for part in map(_part, error["loc"])]
    message = error["msg"]
    if error["type"] == "extra_forbidden":
        message = _nearest(str(error["loc"][-1]), known)
    return {"field": ".".join(place), "code": error["type"], "message": message}


def _nearest(name: str, known: Mapping[str, str]) -> str:
    if near := nearest(name.lower(), known):
        return f"There is no such field. Did you mean `{known[near]}`?"
    fields = sorted(set(known.values()))
    return f"There is no such field; there are {', '.join(fields)}." if fields else "It takes no fields."


def _part(part: object) -> str:
    return "item" if isinstance(part, int) else str(part).lower().replace("-", "_")


def _is_at(path: str, template: str) -> bool:
    """Whether a path is one of those that a template such as `/v1/memories/{id}` stands for."""
    parts, wanted = path.split("/"), template.split("/")
    return len(parts) == len(wanted) and all(
        one == other or other.startswith("{") for one, other in zip(parts, wanted, strict=True)
    )


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    code, detail, hint = _ROUTING.get(
        error.status_code, ("http_error", "The request cannot be answered.", "")
    )
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the framework names the methods of the first route with this path alone
        known = request.app.openapi()["paths"].items()
        fit = [every for path, every in known if _is_at(request.url.path, path)]
        headers |= {"Allow": ", ".join(sorted({name.upper() for one in fit for name in one}))} if fit else {}
    problem = Problem(status=error.status_code, code=code, detail=detail, hint=hint, headers=headers)
    return answer(problem, request.state.request_id)
