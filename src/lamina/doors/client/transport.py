"""Requests to a server over connections that stay open, and what it says when it cannot be reached."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import urlsplit

from lamina.clock import monotonic
from lamina.errors import ConfigError, Unavailable
from lamina.records import dataclass

#: How long a connection may have been quiet to be used again; servers close it a little later.
_QUIET_S = 3.0
_MOST_IDLE = 8
_CONNECTIONS: Mapping[str, type[http.client.HTTPConnection]] = {
    "http": http.client.HTTPConnection,
    "https": http.client.HTTPSConnection,
}


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server answered."""

    status: int
    kind: str  #: its media type
    body: bytes

    def json(self) -> Any:
        """The body; Unavailable where it is no JSON, for then it is not Lamina that answered."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            raise Unavailable(
                f"What answered (status {self.status}) is not a Lamina server.",
                code="server_unknown",
                hint="Check the address.",
            ) from None


@dataclass(slots=True)
class Transport:
    """A server at an address; safe to share between threads."""

    url: str
    token: str
    timeout_s: float = 60.0
    revision: str = ""  #: what the last answer was not older than; the next one, of any server, is not either
    _idle: list[tuple[http.client.HTTPConnection, float]] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in _CONNECTIONS or not parts.hostname or parts.query or parts.username:
            raise ConfigError(
                "That is not an address of a server.",
                code="url_invalid",
                hint="Write it like http://127.0.0.1:8765.",
            )
        if not self.token or not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise ConfigError(
                "That is not a token.",
                code="token_invalid",
                hint="Give what `lamina token create` showed.",
            )

    def ask(self, method: str, path: str, body: Any, headers: Mapping[str, bytes]) -> ServerAnswer:
        """One request and its answer; Unavailable where there is none."""
        content = (
            None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
        sent: dict[str, str | bytes] = {"Authorization": f"Bearer {self.token}", **headers}
        if self.revision:
            sent["X-Lamina-Revision"] = self.revision
        if method in ("POST", "PATCH"):
            sent["Content-Type"] = "application/json"
        connection = self._taken()
        try:
            connection.request(method, urlsplit(self.url).path.rstrip("/") + path, content, sent)
            answer = connection.getresponse()
            said = ServerAnswer(answer.status, answer.headers.get_content_type(), answer.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unavailable(
                "The server cannot be reached.",
                code="server_unreachable",
                hint="Is `lamina serve` running there? Whether a change was made is not known.",
                retryable=True,
            ) from error
        except BaseException:  # an interrupt leaves a connection with half an answer on it
            connection.close()
            raise
        self.revision = answer.headers.get("X-Lamina-Revision") or self.revision
        self._give_back(connection, answer.will_close)
        return said

    def close(self) -> None:
        """Let every connection go; another request opens one again."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _taken(self) -> http.client.HTTPConnection:
        while True:
            with self._mutex:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                parts = urlsplit(self.url)
                return _CONNECTIONS[parts.scheme](parts.hostname or "", parts.port, timeout=self.timeout_s)
            if monotonic() - kept[1] < _QUIET_S:
                return kept[0]
            kept[0].close()

    def _give_back(self, connection: http.client.HTTPConnection, closed: bool) -> None:
        with self._mutex:
            if not closed and len(self._idle) < _MOST_IDLE:
                self._idle.append((connection, monotonic()))
                return
        connection.close()
