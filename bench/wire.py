"""A wire between a client and PostgreSQL that counts round trips and can be made long.

A round trip is counted when the client sends something after the server has answered: statements that travel
together count once, however many they are. `delay_s` is how long every byte is on its way, each way.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

_CHUNK = 1 << 16


@dataclass
class Wire:
    """What went over it so far."""

    url: str  #: what a client connects to instead of the server
    delay_s: float = 0.0
    trips: int = 0
    ends: list[socket.socket] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def count(self) -> None:
        with self._mutex:
            self.trips += 1

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """How many round trips the block took, in a list of one number when it is over."""
        told, before = [0], self.trips
        yield told
        told[0] = self.trips - before


@contextmanager
def wire_to(url: str, delay_s: float = 0.0) -> Iterator[Wire]:
    """A wire to the server behind a URL; it is cut at the end."""
    parts = urlsplit(url)
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    target, port = given.pop("host", None), given.pop("port", None)
    listener = socket.create_server(("127.0.0.1", 0))
    user = f"{parts.username}{f':{parts.password}' if parts.password else ''}@" if parts.username else ""
    near = parts._replace(
        netloc=f"{user}127.0.0.1:{listener.getsockname()[1]}",
        query=urlencode({**given, "sslmode": "disable"}),
    )
    wire = Wire(near.geturl(), delay_s)
    where = (target, parts.port or int(port or 5432), parts.hostname)
    threading.Thread(target=_accept, args=(listener, where, wire), daemon=True).start()
    try:
        yield wire
    finally:
        for one in (listener, *wire.ends):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _accept(listener: socket.socket, where: tuple[str | None, int, str | None], wire: Wire) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        folder, port, host = where
        if folder and folder.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{folder}/.s.PGSQL.{port}")
        else:
            server = socket.create_connection((folder or host or "127.0.0.1", port))
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire.ends += [client, server]
        turn = {"client": False}
        _carry(client, server, wire, turn, asks=True)
        _carry(server, client, wire, turn, asks=False)


def _carry(
    source: socket.socket, sink: socket.socket, wire: Wire, turn: dict[str, bool], *, asks: bool
) -> None:
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()

    def read() -> None:
        data = b"."
        while data:
            try:
                data = source.recv(_CHUNK)
            except OSError:
                data = b""
            if asks and data and not turn["client"]:
                wire.count()
            if data:
                turn["client"] = asks
            waiting.put((time.monotonic() + wire.delay_s, data))

    def write() -> None:
        while True:
            due, data = waiting.get()
            if (wait := due - time.monotonic()) > 0:
                time.sleep(wait)
            try:
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)
            except OSError:
                with contextlib.suppress(OSError):
                    source.close()
                return

    for work in (read, write):
        threading.Thread(target=work, daemon=True).start()
