"""How often a test repeats itself: enough to notice in `make test`, everything in `make test-all`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")

#: Read once, before a test of ours sees an environment without our settings.
_ALL = os.environ.get("LAMINA_TEST_ALL") == "1"


def times(usual: int, all_of_them: int) -> int:
    """So many repetitions."""
    return all_of_them if _ALL else usual


def some(usual: Sequence[_T], all_of_them: Sequence[_T]) -> Sequence[_T]:
    """The cases that show a promise, or everything that it is said of."""
    return all_of_them if _ALL else usual
