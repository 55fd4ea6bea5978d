"""A server in a thread, for whoever asks over a real socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lamina.doors.http.app import create_app
from lamina.doors.http.server import listener_on, server_for
from lamina.engine import Engine


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    """The address of a server of this memory, for as long as it lasts."""
    with listener_on("127.0.0.1", 0) as listener:
        server = server_for(create_app(engine))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
