"""How much a test does: enough to show a promise, or everything under `make test-all`; and where."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

#: Read once, before a test of ours sees an environment without our settings.
_ALL = os.environ.get("LAMINA_TEST_ALL") == "1"


def times(usual: T, all_of_them: T) -> T:
    """So many repetitions, or so many of the cases that a promise is about."""
    return all_of_them if _ALL else usual


def memory_disk() -> str | None:
    """Where to keep what only tests need: a new database takes 15 ms in memory and 25 to 370 ms on disk."""
    disk = Path("/dev/shm")
    if disk.is_dir() and os.access(disk, os.W_OK) and shutil.disk_usage(disk).free > 4 * 2**30:
        return str(disk)
    return None  # in a container it is often 64 MB: the usual place for temporary files, then
