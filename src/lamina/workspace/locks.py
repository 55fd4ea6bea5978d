"""One writer at a time for each file of a workspace, across threads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lamina.errors import Unavailable
from lamina.workspace.files import ensure_folder, explained, flat_name

LOCK_DIR = ".lamina/locks"
JOB_LOCK_DIR = "memory/.locks"
_POLL_S = 0.01


@contextmanager
def locked(root: Path, name: str, timeout_s: float = 10.0, folder: str = LOCK_DIR) -> Iterator[None]:
    """Nobody else is inside for this root and name; the lock ends with the block or with the process.

    Not re-entrant: a thread that asks again for what it holds times out. Raises Unavailable (`file_locked`)
    when the lock is not free within `timeout_s`.
    """
    ensure_folder(root, folder)
    # A lock object for each call: two threads that shared one would both be let in. The lock file is not the
    # data file: editors replace that one, and a lock does not follow.
    lock = FileLock(
        root / folder / f"{flat_name(name)}.lock",
        mode=0o600,
        is_singleton=False,
        poll_interval=_POLL_S,
        fallback_to_soft=False,
    )
    try:
        lock.acquire(timeout=max(0.0, timeout_s))
    except Timeout:
        raise Unavailable(
            f"{name} is being written by somebody else; nothing was changed.",
            code="file_locked",
            hint="Try again in a moment.",
            retryable=True,
        ) from None
    except OSError as error:
        raise explained(f"the lock of {name}", error) from error
    try:
        yield
    finally:
        lock.release()
