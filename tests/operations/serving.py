"""A server in a thread, for whoever asks over a real socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from lamina.doors.http.app import create_app
from lamina.doors.http.server import listener_on, server_for
from lamina.engine import Engine


@contextmanager
def serving(engine: Engine, app: ASGIApp | None = None) -> Iterator[str]:
    """The address of a server of this memory, or of an application over it, for as long as it lasts."""
    with listener_on("127.0.0.1", 0) as listener:
        server = server_for(app or create_app(engine))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
