"""The HTTP server: where it listens, what it says at the start, and how it ends."""

from __future__ import annotations

import errno
import ipaddress
import json
import logging
import shlex
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from lamina.clock import monotonic
from lamina.documents.pace import Pace
from lamina.documents.settings import SearchSettings
from lamina.doors.binding import check_binding, further_hosts
from lamina.doors.http.app import create_app
from lamina.doors.http.connections import AT_A_TIME, Connection
from lamina.engine import Engine
from lamina.errors import ConfigError, LaminaError, Unavailable
from lamina.jobs.clockwork import jobs_beside
from lamina.records import dataclass
from lamina.write.store import Store

_LOG = logging.getLogger("lamina.http")
_LAST_PORT = 65_535
_GRACE_S = 10
_WATCH_S = 2.0
_TENANTS = 8  #: at whose jobs one look is taken
_SHELVES = 10  #: whose lists are made anew in one go
_SEAL_S = 3600  #: how often the ends of the audit's chains are sealed together


class _JsonLines(logging.Formatter):
    """One object a line, for programs that gather logs."""

    def format(self, record: logging.LogRecord) -> str:
        at = self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z")
        told = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["where"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def _logging(form: str) -> dict[str, Any]:
    """What went wrong here, to stderr; nothing in it sees a path, a query or a body."""
    plain = {"format": "%(asctime)s %(levelname)s %(message)s"}
    formatters = {"plain": plain, "json": {"()": _JsonLines}}
    if form not in formatters:
        raise ConfigError(f"There is no log format {form!r:.40}.", hint="Set `log_format` to plain or json.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": formatters,
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": level, "propagate": False}
            for name, level in (("uvicorn", "ERROR"), ("lamina", "WARNING"))
        },
        # In place of what a library put there: a handler that imports something when it tells of too many
        # open files ends the server (tests/doors/test_slow_clients.py).
        "root": {"handlers": ["stderr"], "level": "ERROR"},
    }


#: Calls back whenever a file below a folder may have changed, while it lasts.
Hints = Callable[[Path, Callable[[], None]], AbstractContextManager[None]]


class Site(Protocol):
    """What is served beside the API on the same port."""

    def link(self, url: str) -> str:
        """A link that lets the owner's browser in, once."""
        ...

    def around(self, api: ASGIApp, tools: ASGIApp | None) -> ASGIApp:
        """One application of the API, the tools and the pages."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a server has beside the API."""

    hints: Hints | None = None
    site: Callable[[Engine, Sequence[str]], Site] | None = None  #: pages for people
    tools: Callable[[Engine, int], ASGIApp] | None = None  #: for models, on the port that it is given
    open_link: Callable[[str], object] | None = None  #: shows the link to the person, where it can


_ALONE = Beside()


def serve(
    engine: Engine,
    token_file: Path,
    announce: Callable[[str], None],
    beside: Beside = _ALONE,
) -> None:
    """Serve the API on the configured host and port until SIGINT or SIGTERM; then finish what is under way.

    Raises ConfigError (`bind_refused`) for an address that others can reach while only the owner's own
    token exists, and ConfigError or Unavailable when the address cannot be had.
    """
    check_binding(engine)
    with listener_on(engine.config.host, engine.config.port) as listener:
        address, port = listener.getsockname()[:2]
        hosts = [engine.config.host, *further_hosts(engine)]
        app: ASGIApp = (api := create_app(engine, allowed_hosts=hosts))
        lines, url = _welcome(address, port, token_file)
        tools = None if beside.tools is None else beside.tools(engine, port)
        if beside.site is not None:
            site = beside.site(engine, hosts)
            app = site.around(app, tools)
            link = site.link(url)
            lines = [*lines, f"Open it, once:  {link}"]
        server = server_for(app, _logging(engine.config.log_format), lifespan=tools is not None)
        server.leaving, server.drain_s = api.state.leaving, engine.config.drain_seconds
        with (
            _stopped_by_signals(server),
            _watching(engine, beside.hints),
            jobs_beside(engine, _LOG.warning, partial(_in_turn, engine)),
        ):
            for line in [*lines, "Stop it with Ctrl+C."]:
                announce(line)
            if beside.site is not None and beside.open_link is not None:
                beside.open_link(link)
            server.run(sockets=[listener])


class Server(uvicorn.Server):
    """One that is told to stop says so first, where it has time for that, and answers meanwhile."""

    leaving: threading.Event | None = None  #: set from then on
    drain_s = 0.0  #: how long whoever sends requests gets to notice

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGTERM or self.leaving is None or self.leaving.is_set() or not self.drain_s:
            super().handle_exit(sig, frame)
            return
        self.leaving.set()
        timer = threading.Timer(self.drain_s, setattr, (self, "should_exit", True))
        timer.daemon = True
        timer.start()


def server_for(app: ASGIApp, log_config: dict[str, Any] | None = None, *, lifespan: bool = False) -> Server:
    """A server for the application that logs no request and believes no forwarding header."""
    return Server(
        uvicorn.Config(
            app,
            http=Connection,
            backlog=AT_A_TIME,
            ws="none",
            lifespan="on" if lifespan else "off",
            access_log=False,
            log_config=log_config,
            log_level="error",  # no request is told of, not even one that is none: a flood fills no disk
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
    )


def listener_on(host: str, port: int) -> socket.socket:
    """A socket that accepts connections there from now on; port 0 is any free one."""
    if port > _LAST_PORT:
        raise ConfigError(f"There is no port {port}.", hint=f"Choose one from 0 to {_LAST_PORT}.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"The host {host!r:.80} is not known here.", code="host_invalid", hint="Use 127.0.0.1."
        ) from error
    # IPv4 first, which is what a name usually means to a client. Without the protocol named, asyncio does not
    # switch Nagle's algorithm off, and every answer takes 40 ms.
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from error
    return listener


def _explained(error: OSError, host: str, port: int) -> LaminaError:
    if error.errno == errno.EADDRINUSE:
        return Unavailable(
            f"Port {port} is in use.",
            code="port_in_use",
            hint="Stop what listens there, or choose another with --port (0 picks a free one).",
        )
    if error.errno == errno.EACCES:
        return ConfigError(
            f"Port {port} is not yours to use.", code="port_refused", hint="Choose one above 1023."
        )
    return ConfigError(
        f"{host!r:.80} is not an address of this machine.", code="host_invalid", hint="Use 127.0.0.1."
    )


def _welcome(address: str, port: int, token_file: Path) -> tuple[list[str], str]:
    """What to tell whoever started it, and the address to reach it at."""
    lines = []
    ip = ipaddress.ip_address(address)
    if ip.is_unspecified:
        lines.append("Lamina listens on every address of this machine, without encryption.")
        address = "127.0.0.1" if ip.version == 4 else "::1"
    url = f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
    token = f"$(cat {shlex.quote(str(token_file))})"
    told = [f"Lamina serves {url}", f'Try it:  curl -H "Authorization: Bearer {token}" {url}/v1/status']
    return [*lines, *told], url


@contextmanager
def _watching(engine: Engine, hints: Hints | None) -> Iterator[None]:
    """Take in what a person changes in the files, count what was found, and make vectors that are missing,
    while nobody asks.

    Documents are looked at some seconds after a hint that one changed, and every few minutes without any.
    """
    over = threading.Event()
    settings = SearchSettings() if engine.library is None else engine.library.settings
    pace = Pace(settings.debounce_s, settings.interval_s, monotonic())

    def watch() -> None:
        sealed = monotonic()
        while not over.wait(_WATCH_S):
            seals = monotonic() - sealed >= _SEAL_S
            sealed = monotonic() if seals else sealed
            with suppress(LaminaError):  # the next use meets the same trouble, and says so
                engine.sync()
                if engine.library is not None and pace.is_due(monotonic()):
                    engine.library.refresh(engine.now())
                    engine.indexed()
            for one in (engine, *(() if engine.tenants is None else engine.tenants.open_now())):
                with suppress(LaminaError):  # the same
                    _tended(one, over, seals=seals)

    watcher = threading.Thread(target=watch, name="lamina-watch", daemon=True)
    watcher.start()
    watched = engine.root if hints is not None and engine.library is not None else None
    try:
        with (
            nullcontext()
            if hints is None or watched is None
            else hints(watched, lambda: pace.notice(monotonic()))
        ):
            yield
    finally:
        over.set()
        watcher.join()


def _tended(engine: Engine, over: threading.Event, *, seals: bool) -> None:
    """Write down what readings left, and make what is missing of the index and of vectors."""
    engine.flush()
    if seals:
        engine.seal_ends()
    while not engine.renew_index(_SHELVES) and not over.is_set():  # others write in between
        pass
    while engine.embed_in_turn() and not over.is_set():  # more wait, and nothing stops us
        pass


def _in_turn(engine: Engine) -> Iterator[Store]:
    """The memories whose jobs are looked at now: the server's own, and a few of other tenants each time."""
    yield engine
    if engine.tenants is not None:
        yield from engine.tenants.some(_TENANTS)


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """SIGINT and SIGTERM end the server and nothing more, so that the caller still closes the store.

    The server raises the signal that stopped it again when it is done; here it finds a handler that only
    asks it to stop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        server.should_exit = True

    before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
