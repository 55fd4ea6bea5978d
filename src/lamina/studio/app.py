"""Studio as an application: its pages behind their guard, beside the API and the tools on the same port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from lamina.doors.http import problems
from lamina.doors.http.answers import wire
from lamina.doors.http.app import document
from lamina.doors.http.problems import Problem, Refused, logged, refused
from lamina.engine import Engine
from lamina.errors import Denied, LaminaError, Unauthenticated
from lamina.late import files
from lamina.studio import words as language
from lamina.studio.guard import PageGuard, cookie_of
from lamina.studio.rendering import rendered
from lamina.studio.routes import NAVIGATION, OWN_PATHS, SCREENS
from lamina.studio.sign_in import COOKIE, LONGEST, SignIns, same_secret
from lamina.studio.visit import Screen, StudioPage, Visit, files_of, form_of

_STATIC = {"studio.js": "text/javascript", "studio.css": "text/css", "lamina.svg": "image/svg+xml"}
#: A page waits so long for something new, looking so often.
_WAIT_S, _LOOK_S = 25.0, 0.5


class Studio:
    """The pages of one server."""

    def __init__(self, engine: Engine, hosts: Iterable[str] = ()) -> None:
        self._engine = engine
        self.signed = SignIns(engine)
        pages = Router(
            routes=[*self._open_routes(), *self._screens()], redirect_slashes=False, default=_nowhere
        )
        handled = dict.fromkeys((LaminaError, Refused, HTTPException), self._on_error)
        made = ExceptionMiddleware(pages, handled)
        self._guard = PageGuard(made, engine, tuple(hosts), self.signed, self._problem)

    def link(self, url: str) -> str:
        """A link that signs the owner in, once."""
        return f"{url}/sign-in?{urlencode({'code': self.signed.new_code()})}"

    def around(self, api: ASGIApp, tools: ASGIApp | None = None) -> ASGIApp:
        """One application: tools at /mcp, pages for people, and the API for everybody else."""

        async def front(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await (tools or api)(scope, receive, send)
            elif tools is not None and scope["path"] == "/mcp":
                await tools(scope, receive, send)
            elif scope["type"] == "http" and _is_for_people(scope):
                await self._guard(scope, receive, send)
            else:
                await api(scope, receive, send)

        return front

    # What needs no session.

    def _open_routes(self) -> list[Route]:
        return [
            Route("/sign-in", self._sign_in, methods=["GET", "POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
            Route("/static/{name}", self._static),
            Route("/favicon.ico", self._static),
            Route("/docs", self._docs),
            Route("/live", self._live),
        ]

    async def _sign_in(self, request: Request) -> Response:
        if request.state.session is not None:
            return RedirectResponse("/", 303)
        code, token = str(request.query_params.get("code", "")), ""
        if request.method == "POST":
            token = form_of(await request.body()).get("token", [""])[0].strip()
        if not code and not token:
            return self._plain(request, "sign_in.html", "sign_in", problem=None, kept="")
        try:
            if token:
                cookie = await run_in_threadpool(self.signed.with_token, token)
            else:
                cookie = self.signed.with_code(code)
        except (Unauthenticated, Denied) as error:
            self._guard.count_failure(request.scope, Unauthenticated(error.message, code=error.code))
            return self._plain(request, "sign_in.html", "sign_in", 401, problem=error.code, kept="")
        # A page and no redirect: after one that another site began, a strict cookie would not be sent.
        answer = self._plain(request, "welcome.html", "signed_in")
        answer.headers.append("set-cookie", _cookie(cookie, request))
        return answer

    async def _sign_out(self, request: Request) -> Response:
        _check_form(request, form_of(await request.body()))
        self.signed.end(cookie_of(request.headers))
        answer = RedirectResponse("/sign-in", 303)
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer

    async def _static(self, request: Request) -> Response:
        name = request.path_params.get("name", "lamina.svg")
        if name not in _STATIC:
            raise HTTPException(404)
        data = (files(__package__) / "static" / name).read_bytes()
        return Response(data, media_type=_STATIC[name], headers={"Cache-Control": "no-cache"})

    async def _docs(self, request: Request) -> Response:
        """The API as a page that needs nothing from elsewhere."""
        api = await run_in_threadpool(_api)
        return self._plain(request, "docs.html", "docs", api=api)

    # Screens.

    def _screens(self) -> list[Route]:
        found = []
        for name, screen in SCREENS.items():
            method, _, path = name.partition(" ")
            found.append(Route(path, self._endpoint(screen), methods=[method], name=name))
        return found

    def _endpoint(self, screen: Screen) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(self._shown, screen, request, body)

        return endpoint

    def _shown(self, screen: Screen, request: Request, body: bytes) -> Response:
        sent, files = form_of(b""), files_of(b"", "")[1]
        if request.method == "POST":
            kind = request.headers.get("content-type", "")
            if kind.lower().startswith("multipart/"):
                sent, files = files_of(body, kind)
            else:
                sent = form_of(body)
            request.state.typed = sent.get("text", [""])[0]
        _check_session(request)
        if request.method == "POST":
            _check_form(request, sent)
        visit = Visit(
            request=request,
            engine=self._engine.of(request.state.session.tenant),
            session=request.state.session,
            words=_words(request),
            sent=sent,
            files=files,
        )
        page = screen(visit)
        return page if isinstance(page, Response) else self._page(visit, page)

    def _page(self, visit: Visit, page: StudioPage) -> Response:
        request = visit.request
        if _wants_json(request):
            return JSONResponse(wire(dict(page.data)), page.status)
        waiting = len(visit.ask("pending"))
        html = rendered(
            page.template,
            t=visit.words,
            languages=language.LANGUAGES,
            navigation=NAVIGATION,
            here="/" + request.url.path.split("/")[1],
            address=_address(request),
            title=page.title,
            csrf=visit.session.csrf,
            notices=visit.session.told(),
            waiting=waiting,
            user=visit.session.user,
            now=self._engine.now(),
            sensitive=visit.is_sensitive,
            live_cursor=visit.memory.cursor(),
            **page.data,
            **page.more,
        )
        return _html(html, page.status, request)

    def _plain(
        self, request: Request, template: str, title: str, status: int = 200, **values: Any
    ) -> Response:
        """A page for whoever has not signed in."""
        html = rendered(
            template,
            t=_words(request),
            languages=language.LANGUAGES,
            address=_address(request),
            title=title,
            navigation=(),
            **values,
        )
        return _html(html, status, request)

    async def _live(self, request: Request) -> Response:
        """What changed since a cursor, as soon as there is something; the page is told and asks again."""
        _check_session(request)
        session = request.state.session
        engine = await run_in_threadpool(self._engine.of, session.tenant)
        memory = engine.scope(user=session.user, via="studio")
        loop = asyncio.get_running_loop()
        until, cursor = loop.time() + _WAIT_S, str(request.query_params.get("since", ""))
        while True:
            delta = await run_in_threadpool(memory.changes, cursor)
            if delta.cursor != cursor or loop.time() >= until or await request.is_disconnected():
                waiting = len(await run_in_threadpool(memory.pending))
                return JSONResponse(
                    {"cursor": delta.cursor, "waiting": waiting, "changes": wire(delta.changes)}
                )
            await asyncio.sleep(_LOOK_S)

    # What goes wrong.

    async def _on_error(self, request: Request, error: Exception) -> Response:
        if isinstance(error, Refused):
            return self._problem(error.problem, request.scope)
        if isinstance(error, HTTPException):
            detail = "There is no such page."
            return self._problem(
                Problem(status=error.status_code, code="page_unknown", detail=detail), request.scope
            )
        assert isinstance(error, LaminaError)  # noqa: S101 - registered for nothing else
        return self._problem(logged(error, request.state.request_id), request.scope)

    def _problem(self, problem: Problem, scope: Scope) -> Response:
        """A page for people, the problem itself for programs; what was typed is on the page, not lost."""
        request = Request(scope)
        if _wants_json(request):
            return problems.answer(problem, scope["state"]["request_id"])
        typed = scope["state"].get("typed", "")
        if problem.code == "signed_out":
            return self._plain(request, "sign_in.html", "sign_in", 401, problem="signed_out", kept=typed)
        return self._plain(
            request,
            "problem.html",
            "problem",
            problem.status,
            problem=problem,
            typed=typed,
            request_id=scope["state"]["request_id"],
        )


async def _nowhere(*_: Any) -> None:
    raise HTTPException(404)


def _is_for_people(scope: Scope) -> bool:
    """Pages are for whoever reads HTML or carries our cookie; a program gets JSON from the API, as ever."""
    first = "/" + scope["path"].split("/")[1] if scope["path"] != "/" else "/"
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    browser = "text/html" in headers.get("accept", "")
    if first in OWN_PATHS:
        return browser or first in ("/static", "/favicon.ico") or bool(cookie_of(headers))
    return browser and "authorization" not in headers and first not in _PROGRAMS


@cache
def _api() -> dict[str, Any]:
    return document()


_PROGRAMS = ("/v1", "/api", "/admin", "/runs", "/livez", "/readyz", "/health", "/metrics", "/openapi.json")


def _check_session(request: Request) -> None:
    if request.state.session is None:
        raise Unauthenticated("Sign in to see this page.", code="signed_out")


def _check_form(request: Request, sent: dict[str, list[str]]) -> None:
    session = request.state.session
    given = request.headers.get("x-csrf") or sent.get("csrf", [""])[0]
    if session is None or not same_secret(session.csrf, given):
        raise refused(
            403,
            "form_stale",
            "This form is not from a page of this sign-in.",
            "Go back, reload the page and send it again.",
        )


def _words(request: Request) -> language.StudioWords:
    asked = str(request.query_params.get("lang", ""))
    remembered = request.cookies.get(language.COOKIE, "")
    return language.tables()[
        language.language_of(asked, remembered, request.headers.get("accept-language", ""))
    ]


def _address(request: Request) -> str:
    """This page without the language it was asked in, to be asked for in another."""
    pairs = [
        (name, value) for name, value in request.query_params.multi_items() if name not in ("lang", "code")
    ]
    return request.url.path + "?" + (urlencode(pairs) + "&" if pairs else "")


def _wants_json(request: Request) -> bool:
    """The twin of a page: by `?as=json`, or for whoever reads JSON and no HTML."""
    accepted = request.headers.get("accept", "")
    return request.query_params.get("as") == "json" or (
        "application/json" in accepted and "text/html" not in accepted
    )


def _html(html: str, status: int, request: Request) -> Response:
    answer = Response(html, status, media_type="text/html; charset=utf-8")
    asked = str(request.query_params.get("lang", ""))
    if asked in language.LANGUAGES:
        year = 365 * 24 * 3600
        answer.set_cookie(language.COOKIE, asked, max_age=year, path="/", httponly=True, samesite="strict")
    return answer


def _cookie(value: str, request: Request) -> str:
    made = SimpleCookie({COOKIE: value})
    morsel = made[COOKIE]
    morsel["path"], morsel["httponly"], morsel["samesite"] = "/", True, "Strict"
    morsel["max-age"] = int(LONGEST.total_seconds())
    if request.url.scheme == "https":
        morsel["secure"] = True
    return morsel.OutputString()
