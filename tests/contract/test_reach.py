"""How far a verb goes: how many of our modules it passes, and how deep. A ratchet; it follows what is there.

The plan (30, 28 and 45 modules, 16 deep) is not met: most of what a write passes is the gates, the seals, the
encoder and the index, each a module of its own, and the analyser of words alone is seven calls deep.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

import lamina

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory

OURS = str(Path(lamina.__file__).parent)
VERBS: dict[str, tuple[int, int, Callable[[ScopedMemory, int], Any]]] = {
    "remember": (56, 22, lambda memory, number: memory.remember(f"Ana has {number} bees")),
    "recall": (47, 19, lambda memory, _: memory.recall("how many bees?")),
    "hear": (119, 36, lambda memory, number: memory.hear(f"I prefer {number} cups of tea")),
    "context": (49, 22, lambda memory, _: memory.context("plan tea")),
}


def passed(act: Callable[[], Any]) -> tuple[set[str], int]:
    """Our modules in which a call ran, and how many calls of ours were open at once."""
    modules: set[str] = set()
    stack: list[bool] = []
    deepest = 0

    def follow(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        name = frame.f_code.co_filename
        if event == "call":
            ours = name.startswith(OURS) and not name.endswith("testing.py")
            stack.append(ours)
            if ours:
                modules.add(name)
                deepest = max(deepest, sum(stack))
        elif event == "return" and stack:
            stack.pop()

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        act()
    finally:
        sys.setprofile(before)
    return modules, deepest


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_goes_no_further_than_it_did(ana: ScopedMemory, verb: str) -> None:
    most, deep, act = VERBS[verb]
    act(ana, 1)
    modules, deepest = passed(lambda: act(ana, 2))
    assert len(modules) <= most, sorted(modules)
    assert deepest <= deep


def test_the_measure_sees_a_call() -> None:
    modules, deepest = passed(lambda: lamina.Scope(user="ana"))
    assert len(modules) >= 1
    assert deepest >= 1
