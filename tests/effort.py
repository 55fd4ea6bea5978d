"""How often a test repeats itself: enough to notice in `make test`, everything in `make test-all`."""

from __future__ import annotations

import os

_ALL = os.environ.get("LAMINA_TEST_ALL") == "1"


def times(usual: int, all_of_them: int) -> int:
    """So many repetitions; read once, before a test of ours sees an environment without our settings."""
    return all_of_them if _ALL else usual
