"""How often a test repeats itself: enough to notice in `make test`, everything in `make test-all`."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

_ALL = os.environ.get("LAMINA_TEST_ALL") == "1"


def times(usual: T, all_of_them: T) -> T:
    """So much of something; read once, before a test of ours sees an environment without our settings."""
    return all_of_them if _ALL else usual
