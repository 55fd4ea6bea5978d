"""How much a test does: enough to show a promise, or everything under `make test-all`."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

#: Read once, before a test of ours sees an environment without our settings.
_ALL = os.environ.get("LAMINA_TEST_ALL") == "1"


def times(usual: T, all_of_them: T) -> T:
    """So many repetitions, or so many of the cases that a promise is about."""
    return all_of_them if _ALL else usual
