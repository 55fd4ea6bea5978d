"""A bar that fills up on stderr; a module of its own because loading it takes longer than most commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def shown(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar while this lasts; the function says how much of how much is done."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
