"""What stands before every route: request ids, Host and Origin, tokens, content type and size."""

from __future__ import annotations

import asyncio
import re
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lamina.clock import monotonic, random_token
from lamina.doors.http.metrics import Metrics
from lamina.doors.http.problems import Problem, Refused, answer, log, logged, refused, unexpected
from lamina.engine import Engine
from lamina.errors import LaminaError, Unauthenticated
from lamina.language.secrets.privacy import find_secrets
from lamina.model import Token
from lamina.records import dataclass

#: The only paths that answer without a token; they tell nothing about anybody's memory.
OPEN_PATHS = frozenset({"/livez", "/readyz", "/health", "/api/health", "/openapi.json"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_WITH_BODY = frozenset({"POST", "PATCH"})  # no route of ours knows PUT, which is a 405 whatever it holds
MEM0 = "/compat/mem0"  #: where mem0's clients are answered, who put and delete with bodies, too
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - refused as a Host, not bound

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BEARER = re.compile(r"(?:bearer|token) +([\x21-\x7e]{1,2048})", re.IGNORECASE)
_DEFAULT_PORT = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a client may ask of us."""

    body_bytes: int = 2 * 2**20
    body_seconds: float = 30.0
    failures_per_minute: int = 5
    addresses: int = 1024  #: how many of them are watched; beyond, the one quiet for longest is let go


@dataclass(slots=True)
class Failures:
    """How often each address failed to say who it is, within the last minute."""

    limits: Limits
    _seen: OrderedDict[str, list[datetime]] = field(default_factory=OrderedDict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def note(self, address: str, now: datetime) -> int:
        """Count one failure; returns 0, or the seconds to wait when there have been too many."""
        minute = timedelta(minutes=1)
        with self._mutex:
            recent = [at for at in self._seen.pop(address, []) if timedelta(0) <= now - at < minute]
            full = len(recent) >= self.limits.failures_per_minute
            self._seen[address] = recent if full else [*recent, now]
            while len(self._seen) > self.limits.addresses:
                self._seen.popitem(last=False)
        return max(1, ceil((recent[0] + minute - now).total_seconds())) if full else 0


class Guard:
    """Pure ASGI middleware: what it refuses, no route ever sees."""

    def __init__(
        self,
        app: ASGIApp,
        engine: Engine,
        allowed_hosts: Iterable[str],
        limits: Limits,
        metrics: Metrics | None = None,
        leaving: threading.Event | None = None,
    ) -> None:
        self._app = app
        self._leaving = leaving
        self._metrics = metrics
        self._engine = engine
        self._hosts = LOOPBACK | ({host.lower().strip("[]") for host in allowed_hosts} - _WILDCARDS)
        self._limits = limits
        self._failures = Failures(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        asked = headers.get("x-request-id", "")
        ours = not _REQUEST_ID.fullmatch(asked) or find_secrets(asked)  # it goes into the log
        request_id = random_token(12) if ours else asked
        scope.setdefault("state", {})["request_id"] = request_id
        leaving = self._leaving is not None and self._leaving.is_set()
        sender, begun = _Sender(send, scope["state"], last=leaving), monotonic()
        try:
            await self._answered(scope, headers, receive, sender)
        finally:
            if self._metrics is not None:
                route = getattr(scope.get("route"), "path", "")
                self._metrics.note(scope["method"], route, sender.status, monotonic() - begun)

    async def _answered(
        self, scope: Scope, headers: dict[str, str], receive: Receive, sender: _Sender
    ) -> None:
        request_id = scope["state"]["request_id"]
        try:
            await self._check(scope, headers)
            body = await self._body(scope, headers, receive)
            if body is not None:
                await self._app(scope, _replayed(body, receive), sender)
            return
        except Refused as error:
            problem = error.problem
        except LaminaError as error:
            problem = logged(error, request_id)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client learns nothing of it
            # Frames only: the message of an error nobody foresaw may hold what a client sent.
            frames = "".join(traceback.format_tb(error.__traceback__))
            log.error("request %s failed: %s\n%s", request_id, type(error).__name__, frames)
            problem = unexpected()
        if not sender.started:
            await self.told(problem, scope)(scope, receive, sender)

    def told(self, problem: Problem, scope: Scope) -> Response:
        """A refusal as this door's clients read it."""
        return answer(problem, scope["state"]["request_id"])

    async def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        """Raises Refused unless the request is meant for us and says who sent it."""
        self._check_host(scope, headers)
        if "origin" in headers and not _same_host(headers["origin"], headers["host"]):
            raise refused(403, "origin_refused", "Requests from other web sites are not answered.")
        await self.check_caller(scope, headers)

    async def check_caller(self, scope: Scope, headers: dict[str, str]) -> None:
        """Raises Refused or Unauthenticated unless it is known who asks, in a form that is read here."""
        if scope["path"] in OPEN_PATHS:
            return  # they know GET alone, and a body is a 405 whatever it holds
        scope["state"]["engine"], scope["state"]["token"] = await self._token(scope, headers)
        if _has_body(scope, headers) and content_type(headers) != "application/json":
            raise refused(
                415,
                "content_type",
                "Bodies are read as JSON only.",
                "Send the header Content-Type: application/json.",
            )

    def _check_host(self, scope: Scope, headers: dict[str, str]) -> None:
        """A name that is not ours is a rebound one; the address a request came in on cannot be rebound."""
        host = _split_host(headers.get("host", ""))
        own = (scope.get("server") or ("",))[0]
        if host is None or (host[0] not in self._hosts and (host[0] != own or own in _WILDCARDS)):
            raise refused(
                421,
                "host_refused",
                "This server does not answer to that name.",
                "Use its own address as Host.",
            )

    async def _token(self, scope: Scope, headers: dict[str, str]) -> tuple[Engine, Token]:
        """The caller's token, looked up each time, and the memory of its tenant; a good one passes however
        often others failed."""
        given = _BEARER.fullmatch(headers.get("authorization", "").strip(" "))
        try:
            if given is None:
                raise Unauthenticated(
                    "A token is needed.", hint="Send the header Authorization: Bearer lam_…"
                )
            return await run_in_threadpool(self._engine.recognise, given[1])
        except Unauthenticated as error:
            self.failed(scope, error)
            raise

    def failed(self, scope: Scope, error: Unauthenticated) -> None:
        """Count one who did not say who they are; Refused with 429 when there were too many."""
        address = (scope.get("client") or ("",))[0]
        if wait := self._failures.note(address, self._engine.now()):
            detail = "Too many requests without a valid token."
            problem = Problem(status=429, code="too_many_failures", detail=detail)
            raise Refused(replace(problem, headers={"Retry-After": str(wait)})) from error

    def limits_of(self, scope: Scope) -> Limits:  # noqa: ARG002 - other guards look at it
        """How much this request may bring."""
        return self._limits

    async def _body(self, scope: Scope, headers: dict[str, str], receive: Receive) -> bytes | None:
        """The whole body, never more of it than allowed; None when the client went away."""
        if not _has_body(scope, headers):
            return b""
        limits = self.limits_of(scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > limits.body_bytes:
            raise _too_large(limits)
        parts = bytearray()
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts += message.get("body", b"")
                    if len(parts) > limits.body_bytes:
                        raise _too_large(limits)
                    if not message.get("more_body", False):
                        return bytes(parts)
        except TimeoutError:
            raise refused(408, "too_slow", "The body did not arrive in time.") from None


def _too_large(limits: Limits) -> Refused:
    """Made where it is raised: a variable there would hold what was read until garbage is collected."""
    return refused(413, "too_large", f"A body has at most {limits.body_bytes} bytes.")


def _has_body(scope: Scope, headers: dict[str, str]) -> bool:
    if scope["method"] in _WITH_BODY:
        return True
    theirs = scope["path"].startswith(f"{MEM0}/") and scope["method"] in ("PUT", "DELETE")
    return theirs and headers.get("content-length", "0") != "0"


class _Sender:
    """Sends, with the headers that every response has."""

    def __init__(self, send: Send, state: Mapping[str, Any], *, last: bool = False) -> None:
        self.started = False
        self._state = state  #: of the request
        self._last = last  #: whether the next request should come over another connection
        self.status = 499  # the client went away before it was answered
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._state["request_id"]
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
            if self._last:
                headers["Connection"] = "close"
            engine = self._state.get("engine")
            if engine is not None and engine.revision:
                headers["X-Lamina-Revision"] = engine.revision
        await self._send(message)


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; one that is sent twice is joined, and so matches nothing that we look for."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def content_type(headers: dict[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _split_host(header: str) -> tuple[str, str | None] | None:
    parts = _HOST.fullmatch(header)
    if parts is None:
        return None
    return (parts[1] or parts[2]).lower(), parts[3]


def _same_host(origin: str, host: str) -> bool:
    """Whether a page of this origin was served by us; another port is somebody else."""
    scheme, separator, rest = origin.lower().partition("://")
    default = _DEFAULT_PORT.get(scheme)
    page, ours = _split_host(rest), _split_host(host)
    if not separator or default is None or page is None or ours is None:
        return False
    return (page[0], page[1] or default) == (ours[0], ours[1] or default)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What the application reads: the body that was checked, then whatever the client does next."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again
