"""A memory on a server: every verb of the catalogue, with the answers and errors of an open memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_origin
from urllib.parse import quote, urlencode

from lamina.doors.client.transport import ServerAnswer, Transport
from lamina.doors.client.verbs import bound, operation_named
from lamina.doors.search_body import search_answer
from lamina.errors import (
    Conflict,
    Denied,
    InvalidInput,
    LaminaError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from lamina.model import Receipt, from_plain, plain
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation, Parameter, Route

_PROBLEM = "application/problem+json"
_ERRORS: Mapping[int, type[LaminaError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Denied,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    412: Conflict,
    413: InvalidInput,
    422: InvalidInput,
    429: Unavailable,
    503: Unavailable,
}
#: Whose status is another than that of their kind.
_ERROR_OF_CODE: Mapping[str, type[LaminaError]] = {"idempotency_mismatch": Conflict}


class Remote:
    """A server's memory. Safe to share between threads; close it, or use it in a `with` statement."""

    def __init__(self, url: str, token: str, *, timeout_s: float = 60.0) -> None:
        self._transport = Transport(url, token, timeout_s)

    def scope(
        self, *, user: str | None = None, session: str | None = None, run: str | None = None, **who: Any
    ) -> RemoteMemory:
        """The memory of the token's user, or of one of the people whom a service's token acts for.

        Who speaks, the token alone says.
        """
        if who:
            raise InvalidInput(
                f"A token says who is asking; {', '.join(sorted(who))} cannot be said here.",
                code="who_by_token",
                hint="Connect with the token of that user or agent.",
            )
        named = {"X-Lamina-User": user, "X-Lamina-Session": session, "X-Lamina-Run": run}
        headers = {name: _sendable(value) for name, value in named.items() if value is not None}
        return RemoteMemory(self._transport, headers)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemoteMemory:
    """One user's memory on a server: the verbs of the catalogue that HTTP has."""

    def __init__(self, transport: Transport, headers: Mapping[str, bytes]) -> None:
        self._transport = transport
        self._headers = headers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = operation_named(name)
        if (route := _route(operation)) is None:
            raise AttributeError(f"{name!r} is not remote: {operation.but.get(Door.HTTP, 'it has no route')}")

        def verb(*args: Any, **named: Any) -> Any:
            return self._ask(operation, route, bound(operation, args, named))

        verb.__name__, verb.__doc__ = name, operation.words
        return verb

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(one.python_name for one in OPERATIONS.values() if _route(one))]

    def _ask(self, operation: Operation, route: Route, values: dict[str, Any]) -> Any:
        here = {one.name: one for one in operation.at(Door.HTTP)}
        for name in values.keys() - here.keys():
            raise InvalidInput(f"`{name}` cannot be said to a server.", code="field_unknown")
        said = [(here[name], plain(value)) for name, value in values.items()]
        path, said = _path(route, said)
        headers = {one.about.header: _sendable(value) for one, value in said if one.about.header}
        rest = {one.wire: value for one, value in said if not one.about.header}
        body = None
        if route.method in ("POST", "PATCH"):
            body = rest
        elif rest:
            told = {name: _texts(value) for name, value in rest.items()}
            path = f"{path}?{urlencode(told, doseq=True, errors='replace')}"
        answer = self._transport.ask(route.method, path, body, {**self._headers, **headers})
        return _answer(operation, route, answer)


def _sendable(value: Any) -> bytes:
    """A value for a header, which is one line of UTF-8."""
    if not isinstance(value, str) or not value.isprintable():  # a lone surrogate is not printable either
        raise InvalidInput("A name or a key has visible characters only.", code="name_invalid")
    return value.encode()


def _route(operation: Operation) -> Route | None:
    return None if Door.HTTP in operation.but else operation.route


Given = list[tuple[Parameter, Any]]


def _path(route: Route, said: Given) -> tuple[str, Given]:
    """The path with what stands in it, and what is left to say."""
    named = {one.wire: value for one, value in said}
    in_path = re.findall(r"\{(\w+)\}", route.path)
    for name in in_path:
        if not named.get(name):
            raise InvalidInput(f"`{name}` is needed here.", code="field_missing")
        if "/" in str(named[name]):
            raise NotFound  # nothing that can be named has one
    path = re.sub(r"\{(\w+)\}", lambda part: quote(str(named[part[1]]), ":,@~", errors="replace"), route.path)
    return path, [(one, value) for one, value in said if one.wire not in in_path]


def _texts(value: Any) -> Any:
    """A value for a query."""
    if isinstance(value, list):
        return [_texts(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else value


def _answer(operation: Operation, route: Route, said: ServerAnswer) -> Any:
    if said.status == 204:
        return None
    body = said.json()
    try:
        if said.status >= 300 or said.kind == _PROBLEM:
            return _problem(operation, said.status, body)
        name = route.under
        if name is None and get_origin(operation.answer) in (list, tuple):
            name = "items"
        data = search_answer(body) if route.camel else body[name] if name else body
        return from_plain(operation.answer, data)
    except (KeyError, TypeError, ValueError) as error:
        raise Unavailable(
            "The server's answer is not understood.", code="answer_unknown", hint="Is it of another version?"
        ) from error


def _problem(operation: Operation, status: int, body: Any) -> Any:
    """The receipt of what policy denied, where an open memory gives one; else the error is raised."""
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        raise Unavailable(
            f"What answered (status {status}) is not a Lamina server.",
            code="server_unknown",
            hint="Check the address.",
        )
    if operation.answer is Receipt and "receipt" in body:
        return from_plain(Receipt, body["receipt"])
    code, errors = body["code"], body.get("errors") or ()
    wrong = [f"{one.get('field', '')}: {one.get('message', '')}" for one in errors]
    if code == InvalidInput.default_code and errors:
        code = _code(operation, errors[0]) or code
    kind = _ERROR_OF_CODE.get(code) or _ERRORS.get(status, LaminaError)
    raise kind(
        " ".join([str(body.get("detail", "")), *wrong]),
        code=code,
        hint=str(body.get("hint") or ""),
        retryable=kind is Unavailable,
    )


def _code(operation: Operation, error: Mapping[str, Any]) -> str | None:
    """What an open memory would call the fault in a field; None where the field is missing or unknown."""
    place = str(error.get("field", "")).split(".")
    if error.get("code") in ("missing", "extra_forbidden") or len(place) < 2:
        return None
    return next((one.fault for one in operation.parameters if one.wire == place[1]), None)
