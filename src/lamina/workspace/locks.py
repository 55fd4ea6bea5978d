"""One writer at a time for each file of a workspace, across threads and processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lamina.durable import lock, unlock
from lamina.errors import Conflict, Unavailable
from lamina.workspace.files import ensure_folder, explained, flat_name, read_file, replace_file

#: How often a change is made again because somebody saved at that moment.
_ATTEMPTS = 20

LOCK_DIR = ".lamina/locks"
JOB_LOCK_DIR = "memory/.locks"


@contextmanager
def locked(root: Path, name: str, timeout_s: float = 10.0, folder: str = LOCK_DIR) -> Iterator[None]:
    """Nobody else is inside for this root and name; the lock ends with the block or with the process.

    Not re-entrant: a thread that asks again for what it holds times out. Whoever leaves and comes back lets
    the one in first who waits. Raises Unavailable (`file_locked`) when its turn does not come, or the lock
    is not free, within `timeout_s`.
    """
    ensure_folder(root, folder)
    # The lock file is not the data file: editors replace that one, and a lock does not follow.
    place = root / folder / flat_name(name)
    try:
        turn = lock(place.with_name(f"{place.name}.next"), timeout_s)
        try:
            held = lock(place.with_name(f"{place.name}.lock"), timeout_s)
        finally:
            unlock(turn)
    except TimeoutError:
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
        unlock(held)


def change_file(
    root: Path, name: str, edit: Callable[[bytes | None], bytes], wait_s: float, check: Callable[[], None]
) -> tuple[bytes | None, bytes] | None:
    """Make a file what `edit` makes of it, under its lock; what it was and is, None where that is the same.

    `edit` gets the file as it is at that moment, None where there is none, and once more if a person saves
    just then; so it is a function of its argument and nothing else. `check` is asked right before a
    replacement. Raises Conflict for a file that keeps changing.
    """
    with locked(root, name, wait_s):
        for _ in range(_ATTEMPTS):
            before = read_file(root, name)
            after = edit(before)
            if after == (before or b""):
                return None
            check()
            try:
                replace_file(root, name, after, expected=before)
            except Conflict:
                continue  # a person saved this very moment: the change is made to what they saved
            return before, after
    raise Conflict(f"{name} keeps changing.", code="file_changed", hint="Try again.", retryable=True)
