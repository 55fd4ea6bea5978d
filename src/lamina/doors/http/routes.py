"""Every route of the catalogue: a request into an operation, and what it came to into a response."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Response
from starlette.concurrency import run_in_threadpool

from lamina.doors.http.answers import model_of, respond, responses_of
from lamina.doors.http.caller import may
from lamina.doors.http.problems import refused
from lamina.doors.http.requests import Body as StrictBody
from lamina.doors.http.requests import ClosedFields, Fields, typed
from lamina.doors.http.requests import model_of as model_of_request
from lamina.errors import Conflict, InvalidInput, NotFound
from lamina.operations.asking import request_of
from lamina.operations.operation import Door, Operation, Parameter, Route
from lamina.records import dataclass
from lamina.scoped import ScopedMemory

_ETAG = re.compile(r'(W/)?"([\x21\x23-\x7e]{0,64})"')
_IN_PATH = re.compile(r"\{(\w+)\}")
_BODY, _IF_MATCH, _MEMORY = "body", "if_match", "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """What HTTP alone adds to an operation: fields of its own, and another way to answer."""

    fields: Fields
    #: `(run, extra) -> response`; `run` carries the operation out and may be asked again
    answer: Callable[[Callable[[], Awaitable[Any]], Mapping[str, Any]], Awaitable[Response]]
    model: Any = None  #: what describes its answer, where that is another
    text: str = ""  #: the media type of an answer that is a text, where it may be one


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, taken apart."""

    memory: ScopedMemory
    values: dict[str, Any]  #: by the operation's own names
    extra: dict[str, Any]  #: fields that only HTTP has
    if_match: str | None


def routes_of(operations: Iterable[Operation], customs: Mapping[str, Custom]) -> APIRouter:
    """A route for every operation that has one."""
    router = APIRouter()
    for one in operations:
        if one.route is not None and Door.HTTP not in one.but:
            add_route(router, one, one.route, customs.get(one.name))
    return router


def add_route(
    router: APIRouter, operation: Operation, route: Route, custom: Custom | None = None, name: str = ""
) -> None:
    """One route; the operation's own, or another name for it."""
    responses = responses_of(operation, route)
    if custom is not None and custom.text:
        responses[route.status] = {"content": {custom.text: {"schema": {"type": "string"}}}}
    router.add_api_route(
        route.path,
        endpoint_of(operation, route, custom),
        methods=[route.method],
        name=name or operation.name,
        status_code=route.status,
        response_model=(custom and custom.model) or model_of(operation),
        responses=responses,
    )


def endpoint_of(operation: Operation, route: Route, custom: Custom | None) -> Callable[..., Any]:
    """The function behind a route; what it takes, the framework reads from its signature."""
    more = {} if custom is None else dict(custom.fields)
    arguments = _arguments(operation, route, more)

    def endpoint(**given: Any) -> Response:
        asked = _asked(operation, given, more)
        return respond(route, _run(operation, route, asked))

    async def awaited(**given: Any) -> Response:
        asked = _asked(operation, given, more)

        async def run() -> Any:
            return await run_in_threadpool(_run, operation, route, asked)

        assert custom is not None  # noqa: S101 - chosen below for nothing else
        return await custom.answer(run, asked.extra)

    made: Any = endpoint if custom is None else awaited
    made.__signature__ = Signature(arguments)
    made.__name__, made.__doc__ = operation.name, operation.words
    made.names = _names(operation, more)
    return made  # type: ignore[no-any-return]


def _names(operation: Operation, more: Iterable[str]) -> dict[str, str]:
    """The fields at this door by every name that they have at some door."""
    found = {name: name for name in more}
    for one in operation.at(Door.HTTP):
        if not one.about.header:
            found |= dict.fromkeys((*one.about.also, one.name, one.wire), one.wire)
    return found


def _arguments(operation: Operation, route: Route, more: Fields) -> list[Argument]:
    """What the framework looks for: the caller, the path, headers, and a body or a query."""
    in_path = _IN_PATH.findall(route.path)
    here = operation.at(Door.HTTP)
    path = [one for one in here if one.wire in in_path]
    headers = [one for one in here if one.about.header]
    rest = [one for one in here if one not in path and one not in headers]
    found = [_argument(_MEMORY, Annotated[ScopedMemory, Depends(may(operation.right))])]
    found += [_argument(one.name, _path(one)) for one in path]
    found.append(_said(operation, rest, route.method in ("POST", "PATCH"), more))
    found += [_argument(one.name, _header(one), None) for one in headers]
    if route.if_match:
        about = "The ETag it must still have; otherwise 412."
        found.append(_argument(_IF_MATCH, Annotated[str | None, Header(description=about)], None))
    return found


def _argument(name: str, kind: Any, default: Any = Argument.empty) -> Argument:
    return Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=default)


def _path(parameter: Parameter) -> Any:
    about = parameter.about
    examples = [about.example] if about.example else None
    return Annotated[typed(parameter), Path(alias=parameter.wire, description=about.help, examples=examples)]


def _header(parameter: Parameter) -> Any:
    about = parameter.about
    return Annotated[str | None, Header(alias=about.header, description=about.help)]


def _said(operation: Operation, rest: list[Parameter], in_body: bool, more: Fields) -> Argument:
    """The body, which may be missing where no field is needed; or the query."""
    base = StrictBody if in_body else ClosedFields
    model = model_of_request(operation, rest, base, more)
    if not in_body:
        return _argument(_BODY, Annotated[model, Query()])
    if any(one.required for one in rest):
        return _argument(_BODY, model)
    return _argument(_BODY, Annotated[model | None, Body()], None)


def _asked(operation: Operation, given: dict[str, Any], more: Fields) -> _Asked:
    memory, said, if_match = given.pop(_MEMORY), given.pop(_BODY), given.pop(_IF_MATCH, None)
    values = {name: value for name, value in given.items() if value is not None}
    values |= {} if said is None else said.given()
    extra = {name: getattr(said, name) for name in more}
    forms = {one.name: one.about.form for one in operation.parameters if one.about.form}
    for name, form in forms.items():
        if name in given and not re.fullmatch(form, given[name]):
            raise NotFound
    return _Asked(
        memory, {name: value for name, value in values.items() if name not in more}, extra, if_match
    )


def _run(operation: Operation, route: Route, asked: _Asked) -> Any:
    """Carry it out, unless If-Match does not hold."""
    values = dict(asked.values)
    if not route.if_match:
        return operation.run(asked.memory, request_of(operation, values))
    bound = _precondition(asked.memory, values["memory_id"], asked.if_match)
    expects = any(one.name == "expect" for one in operation.parameters)
    is_ours = bound is not None and expects and values.get("expect") is None
    if is_ours:
        values["expect"] = bound
    try:
        return operation.run(asked.memory, request_of(operation, values))
    except Conflict as error:
        if is_ours and error.code == "revision_mismatch":
            raise _stale() from error
        raise


def _precondition(memory: ScopedMemory, named: str, if_match: str | None) -> int | None:
    """The revision that If-Match holds for now; None when any will do. Refused with 412 when none does."""
    if if_match is None or if_match.strip() == "*":
        return None
    tags = [_ETAG.fullmatch(tag.strip()) for tag in if_match.split(",")]
    if not all(tags):
        raise InvalidInput(
            "If-Match holds no entity tags.", code="if_match_invalid", hint='Send an ETag as it was: "3".'
        )
    current = memory.get(memory.id_of(named)).revision
    if not any(tag is not None and not tag[1] and tag[2] == str(current) for tag in tags):
        raise _stale()
    return current


def _stale() -> Exception:
    return refused(
        412,
        "revision_mismatch",
        "The memory is no longer at this revision.",
        "Read it again and decide again.",
    )
