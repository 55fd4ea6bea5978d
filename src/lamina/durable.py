"""What a power cut leaves: bytes and names are on the disk before anybody relies on them; and locks that die
with their holder.

A file's bytes are there once the file is synced, and its name once the folder is; the name of a new folder is
in the folder above it.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from lamina.clock import monotonic, pause, random_token

_POLL_S = 0.01  #: between two looks at whether a lock is free


def settle(fd: int) -> None:
    """Waits until the disk has it; on macOS fsync alone leaves it in the drive's own cache."""
    if (full := getattr(fcntl, "F_FULLFSYNC", None)) is not None:
        with suppress(OSError):  # not every file system has it; fsync below is then what there is
            fcntl.fcntl(fd, full)
            return
    os.fsync(fd)


def lock(path: Path, timeout_s: float) -> int:
    """Take the lock that a file stands for: an open file that has it until `unlock`, or its process dies.

    Each call asks for itself, so that threads of one process exclude each other, too. Raises TimeoutError
    where somebody else has it all the time, and what the system raises.
    """
    until = monotonic() + timeout_s
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with suppress(BlockingIOError, PermissionError):  # somebody else has it
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(fd).st_nlink:  # else the file was taken away, and others look at another one
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if monotonic() >= until:
            raise TimeoutError
        pause(_POLL_S)


def unlock(fd: int) -> None:
    """Give a lock back, whoever else was given the open file meanwhile."""
    try:
        fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def settle_folder(folder: Path) -> None:
    """Waits until the disk has the names in a folder."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        settle(fd)
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    """A folder and those above it, as far as they are missing: each private and with a lasting name."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    with suppress(FileExistsError):  # another process was faster
        folder.mkdir(mode=0o700)
    settle_folder(folder.parent)


def put_file(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Make a private file, whole or not at all; without `replace` one that is there stays as it is."""
    draft = path.with_name(f"{path.name}.{random_token(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            settle(file.fileno())
        if replace:
            draft.rename(path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    settle_folder(path.parent)
