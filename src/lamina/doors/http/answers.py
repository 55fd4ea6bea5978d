"""What a client gets back: answers as JSON, the models that describe them, and statuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Union, get_args, get_origin, get_type_hints

from fastapi import Response
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel
from starlette.responses import JSONResponse

from lamina.doors.http.bodies import DESCRIBED
from lamina.doors.http.problems import MEDIA_TYPE, denied
from lamina.doors.search_body import MAY_LACK, search_body
from lamina.model import Outcome, Receipt, plain
from lamina.operations.operation import Operation, Route

_SUCCESS = {Outcome.ADMITTED: 200, Outcome.UNCHANGED: 200, Outcome.HELD: 202}
_MEANING = {
    400: "The body is not JSON",
    401: "No valid token",
    403: "Not allowed",
    404: "No such memory or person here",
    409: "Somebody else was first",
    412: "If-Match does not hold",
    413: "The body is too large",
    415: "The body is not said to be JSON",
    422: "The input cannot be used",
    429: "Too many requests without a valid token",
}
_EVERYWHERE = (401, 403, 404, 422, 429)
_WITH_BODY = (400, 413, 415)
_UNION = type(int | None)
Responses = dict[int | str, dict[str, Any]]


def says(*statuses: int) -> Responses:
    """Problems, as OpenAPI describes them."""
    problem = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    return {status: {"description": _MEANING[status], "content": problem} for status in statuses}


def may_say(method: str, *codes: int) -> Responses:
    """Every problem that a route may answer with."""
    with_body = _WITH_BODY if method in ("POST", "PATCH") else ()
    return says(*sorted({*_EVERYWHERE, *with_body, *codes}))


def responses_of(operation: Operation, route: Route) -> Responses:
    """What a route may answer with beside its status."""
    found = may_say(route.method, *route.codes)
    if operation.answer is Receipt:
        body = model_of(operation)
        found[202] = {"model": body, "description": "Held until a person agrees"}
        if route.status == 201:
            found[200] = {"model": body, "description": "Known already"}
    return found


def wire(value: Any) -> Any:
    """A value as JSON; a receipt without its events, so that a repeated request gets the same bytes."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {one.name: wire(getattr(value, one.name)) for one in fields(value)}
        if isinstance(value, Receipt):
            del named["events"]
        return named
    if isinstance(value, dict):
        return {str(name): wire(one) for name, one in value.items()}
    return [wire(one) for one in value] if isinstance(value, list | tuple) else plain(value)


def respond(route: Route, answer: Any) -> Response:
    """An answer as a response, as its route declares it."""
    if isinstance(answer, Receipt):
        return answered(answer, created=route.status == 201)
    if route.status == 204:
        return Response(status_code=204)
    headers = _etag(answer.revision) if route.etag else {}
    return JSONResponse(body_of(route, answer), route.status, headers=headers)


def body_of(route: Route, answer: Any) -> Any:
    """The JSON of an answer that is no receipt."""
    if route.camel:
        return search_body(answer)
    body = wire(answer)
    if route.shows:
        body |= {name: wire(getattr(answer, name)) for name in route.shows}
    name = route.under
    if name is None and isinstance(body, list):
        name = "items"
    return {name: body} if name else body


def answered(receipt: Receipt, *, created: bool = False) -> JSONResponse:
    """A receipt as a response; a denial is a problem with the denial's own code, and has the receipt."""
    if receipt.decision is Outcome.DENIED:
        raise denied(receipt, wire(receipt))
    status, headers = _SUCCESS[receipt.decision], _etag(receipt.revision)
    if created and receipt.decision is Outcome.ADMITTED:
        status, headers["Location"] = 201, f"/v1/memories/{receipt.ids[0]}"
    return JSONResponse(wire(receipt), status, headers=headers)


def _etag(revision: int | None) -> dict[str, str]:
    return {} if revision is None else {"ETag": f'"{revision}"'}


def model_of(operation: Operation) -> Any:
    """What describes the body of an operation's answer; None where it has none."""
    route, kind = operation.route, operation.answer
    if route is None or kind is NoneType:
        return None
    if operation.name in DESCRIBED:
        return DESCRIBED[operation.name]
    if route.camel:
        return _described(kind, True)
    inner = _shape(kind)
    name = route.under
    if name is None and get_origin(inner) is list:
        name = "items"
    title = "".join(map(str.title, operation.name.split("_"))) + "Body"
    if name:
        return _model(title, operation.summary, **{name: (inner, ...)})
    if route.shows:
        more: dict[str, Any] = {one: (_returned(kind, one), ...) for one in route.shows}
        return _model(title, operation.summary, **_fields(kind), **more)
    return inner


def _returned(kind: Any, name: str) -> Any:
    return _shape(get_type_hints(getattr(kind, name).fget)["return"])


def _model(name: str, doc: str, **named: Any) -> type[BaseModel]:
    made: type[BaseModel] = create_model(name, __doc__=doc, **named)
    return made


def _shape(kind: Any) -> Any:
    """A type as it goes over the wire: what holds a receipt is described anew, anything else is itself."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (tuple, list) and (origin is list or inner[1:] == (...,)):
        return list[_shape(inner[0])]  # type: ignore[misc]  # made at run time
    if origin is Union or isinstance(kind, _UNION):
        return Union[tuple(map(_shape, inner))]  # noqa: UP007 made at run time
    if origin in (dict, Mapping):
        return dict[inner[0], _shape(inner[1])]  # type: ignore[valid-type,misc]  # made at run time
    return _described(kind, False) if _holds_receipt(kind) else kind


def _holds_receipt(kind: Any) -> bool:
    if kind is Receipt:
        return True
    if is_dataclass(kind) and isinstance(kind, type):
        return any(map(_holds_receipt, get_type_hints(kind).values()))
    return any(map(_holds_receipt, get_args(kind)))


@cache
def _described(kind: Any, camel: bool) -> type[BaseModel]:
    config = ConfigDict(alias_generator=to_camel, populate_by_name=True) if camel else None
    made: type[BaseModel] = create_model(
        f"{kind.__name__}Body", __config__=config, __doc__=kind.__doc__, **_fields(kind, camel)
    )
    return made


def _fields(kind: Any, camel: bool = False) -> dict[str, Any]:
    """The fields of a dataclass for a model."""
    hints = get_type_hints(kind)
    absent = MAY_LACK if camel else ()
    shapes = {name: _camel(hint) if camel else _shape(hint) for name, hint in hints.items()}
    wanted = [one for one in fields(kind) if (kind, one.name) != (Receipt, "events")]
    return {one.name: (shapes[one.name], one.default if one.name in absent else ...) for one in wanted}


def _camel(kind: Any) -> Any:
    if get_origin(kind) is tuple:
        return list[_camel(get_args(kind)[0])]  # type: ignore[misc]  # made at run time
    return _described(kind, True) if isinstance(kind, type) and is_dataclass(kind) else kind
