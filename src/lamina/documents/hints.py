"""Changes of files as the system tells of them: a hint to look soon, never the only way to find out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from watchfiles import watch


@contextmanager
def hints(root: Path, notice: Callable[[], None]) -> Iterator[None]:
    """Calls `notice()` whenever a markdown file below `root` may have changed."""
    over = threading.Event()

    def listen() -> None:
        found = watch(
            root,
            stop_event=over,
            watch_filter=lambda _, path: path.endswith(".md"),
            rust_timeout=500,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        try:
            for _ in found:
                notice()
        except (OSError, RuntimeError):
            return  # the system offers no more watches: the look every few minutes is what there is

    listener = threading.Thread(target=listen, name="lamina-hints", daemon=True)
    listener.start()
    try:
        yield
    finally:
        over.set()
        listener.join(5)
