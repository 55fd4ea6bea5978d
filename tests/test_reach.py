"""How far a verb reaches: the modules it crosses and how deep its calls go, so that a detour is noticed.

Ratchets: lower them where a fold makes the way shorter. The plan (decision 0018) asks for 30 modules in a
remember, 28 in a recall, 45 in a hear, and a depth of 16.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lamina
from lamina.scoped import ScopedMemory

OURS = f"{Path(lamina.__file__).parent}/"

#: Modules crossed and calls of ours inside each other, at most.
REACH = {
    "remember": (48, 19),
    "recall": (52, 20),
    "hear": (84, 28),
    "context": (58, 22),
}
VERBS: dict[str, Callable[[ScopedMemory, int], Any]] = {
    "remember": lambda memory, n: memory.remember(f"The kiln number {n} is fired on Tuesdays"),
    "recall": lambda memory, n: memory.recall(f"when is kiln {n} fired?"),
    "hear": lambda memory, n: memory.hear(f"Remember that box {n} stands in the hall"),
    "context": lambda memory, n: memory.context(f"fire kiln {n}"),
}


def reach_of(act: Callable[[], Any]) -> tuple[set[str], int]:
    """The modules whose functions were called, and the most of our calls inside each other."""
    crossed: set[str] = set()
    depth = deepest = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(OURS) or frame.f_code.co_name[0] == "<":
            return
        if event == "call":
            crossed.add(file.removeprefix(OURS))
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1

    sys.setprofile(watch)
    try:
        act()
    finally:
        sys.setprofile(None)
    return crossed, deepest


@pytest.mark.parametrize("verb", REACH)
def test_a_verb_reaches_no_further_than_it_did(verb: str, tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        memory = engine.scope(session="s")
        for number in range(3):  # what is loaded and read once is no part of the way
            for act in VERBS.values():
                act(memory, number)
        crossed, deepest = reach_of(lambda: VERBS[verb](memory, 7))
    modules, depth = REACH[verb]
    assert len(crossed) <= modules, sorted(crossed)
    assert deepest <= depth


def test_the_measure_sees_a_detour() -> None:
    def direct() -> None:
        lamina.model.quoted("what nobody quoted before")  # a name that was quoted is known by heart

    assert reach_of(direct) == ({"model/scope.py"}, 1)
    assert reach_of(lambda: None) == (set(), 0)
