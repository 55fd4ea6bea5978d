"""Learning by doing (L-4): what was done the same way three times is put before its person as a procedure."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.engine import Engine
from lamina.language.doing import steps_of

SHIP = [
    {"tool": "bash", "input": {"command": "pytest -q tests"}, "exit_code": 0},
    {"tool": "bash", "input": {"command": "git tag v1"}, "exit_code": 0},
    {"tool": "deploy", "input": {"action": "production"}},
]


def waiting(engine: Engine) -> list[str]:
    return [one.text for one in engine.scope().pending() if one.key.startswith("procedure.")]


def ship(engine: Engine, day: int, said: str = "ship the website", tools: Any = None) -> None:
    engine.scope(session=f"day{day}").hear(said, reply="Done.", tools=SHIP if tools is None else tools)


def test_what_worked_three_times_the_same_way_waits_as_a_procedure(engine: Engine) -> None:
    ship(engine, 1)
    ship(engine, 2)
    assert waiting(engine) == []
    ship(engine, 3)
    (guess,) = waiting(engine)
    assert guess.splitlines() == [
        "ship the website",
        "1. bash pytest -q tests",
        "2. bash git tag v1",
        "3. deploy production",
    ]
    engine.scope().confirm()
    (known,) = engine.scope().layers.procedures.find("how do we ship the website?")
    assert known.source == "repeated_pattern"


def test_what_failed_once_or_was_another_task_or_was_forgotten_does_not_count(engine: Engine) -> None:
    ship(engine, 1)
    ship(engine, 2, tools=[SHIP[0], {**SHIP[1], "exit_code": 1}, SHIP[2]])
    ship(engine, 3, said="plan the summer party")
    ship(engine, 4)
    assert waiting(engine) == []


@pytest.mark.parametrize(
    "tools",
    [
        [],
        [{"tool": "bash", "command": "ls"}],
        [{"tool": "a", "error": "no"}, {"tool": "b"}],
        [{"tool": "a", "status": "failed"}, {"tool": "b"}],
        [{"tool": "a"}, {"result": 3}],
        [{"tool": f"t{number}"} for number in range(20)],
    ],
)
def test_a_turn_without_clear_steps_teaches_nothing(tools: list[dict[str, Any]]) -> None:
    assert steps_of(tools) == ()


def test_a_step_done_twice_in_a_row_is_one_step() -> None:
    assert steps_of([{"tool": "a"}, {"tool": "a"}, {"name": "b", "args": {"path": "x y z w"}}]) == (
        "a",
        "b x y z",
    )
