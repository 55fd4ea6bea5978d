"""What stands before every page: Host and Origin, the cookie, forms with their secret, strict headers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lamina.doors.http.guard import Guard, Limits, content_type
from lamina.doors.http.problems import Problem, refused
from lamina.engine import Engine
from lamina.errors import Unauthenticated
from lamina.studio.sign_in import COOKIE, SignIns

_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",  # with `no-referrer` a browser sends forms with the Origin `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
#: A form may hold a text of a million characters, each nine bytes in an address.
LIMITS = Limits(body_bytes=64 * 2**20, body_seconds=120.0)
_LITTLE = Limits()

Told = Callable[[Problem, Scope], Response]


class PageGuard(Guard):
    """The guard of the API for browsers: a cookie says who asks, and what is refused is a page."""

    def __init__(self, app: ASGIApp, engine: Engine, hosts: Any, signed: SignIns, told: Told) -> None:
        super().__init__(app, engine, hosts, _LITTLE)
        self._signed = signed
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        await super().__call__(scope, receive, strict)

    async def check_caller(self, scope: Scope, headers: dict[str, str]) -> None:
        """Who asks is what the cookie says; a form must come from one of our own pages."""
        scope["state"]["session"] = None
        if cookie := cookie_of(headers):
            scope["state"]["session"] = await run_in_threadpool(self._signed.find, cookie)
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise refused(403, "origin_refused", "Forms of other web sites are not answered.")
            if content_type(headers) not in _FORMS:
                raise refused(415, "content_type", "Pages read forms only.")

    def limits_of(self, scope: Scope) -> Limits:
        """Whoever has signed in may bring a file; anybody else a form, which is given back and not used."""
        return LIMITS if scope["state"]["session"] is not None else _LITTLE

    def told(self, problem: Problem, scope: Scope) -> Response:
        return self._told(problem, scope)

    def count_failure(self, scope: Mapping[str, Any], error: Unauthenticated) -> None:
        """One more who could not sign in; whoever is signed in is never asked."""
        self.failed(dict(scope), error)


def cookie_of(headers: Mapping[str, str]) -> str:
    """The cookie that says who asks; empty where there is none that can be read."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
