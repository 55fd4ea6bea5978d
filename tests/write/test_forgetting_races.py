"""Forgetting beside others who write: whoever was first, in the end it is forgotten, and history says how."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from lamina.engine import Engine
from lamina.errors import LaminaError
from lamina.model import Outcome, State
from tests.backends import Place

ROUNDS = 8


def together(*works: Callable[[], object]) -> list[object]:
    """What each returned or raised, begun at one moment."""
    gate = threading.Barrier(len(works))
    came: list[object] = [None] * len(works)

    def run(place: int) -> None:
        gate.wait()
        try:
            came[place] = works[place]()
        except LaminaError as error:
            came[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(works))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return came


def said(number: int) -> str:
    return f"The spare key of cottage {number} hangs behind the blue barrel"


def active(engine: Engine, text: str) -> list[str]:
    return [one.id for one in engine.scope().list(limit=500).items if one.text == text]


@pytest.mark.parametrize("first", ["forget", "remember"])
def test_in_either_order_it_is_gone(engine: Engine, first: str) -> None:
    ana, planner = engine.scope(), engine.scope(agent="planner", speaks_for=False, session="s")
    one = ana.remember(said(0)).ids[0]
    if first == "forget":
        ana.forget(one)
        assert planner.remember(said(0), space="session").code == "refused_stays"
    else:
        assert planner.remember(said(0), space="session").decision is Outcome.ADMITTED
        ana.forget(one)
    assert active(engine, said(0)) == []


def test_a_forget_beside_a_remember_leaves_nothing(place: Place) -> None:
    engine = place.open()
    ana, planner = engine.scope(), engine.scope(agent="planner", speaks_for=False, session="s")
    for number in range(ROUNDS):
        one = ana.remember(said(number)).ids[0]
        together(
            lambda one=one: ana.forget(one),
            lambda number=number: planner.remember(said(number), space="session"),
        )
        assert active(engine, said(number)) == []
        assert not [hit for hit in planner.recall(said(number)) if hit.text == said(number)]
    assert engine.verify_audit().findings == ()


def test_a_restore_beside_a_forget_ends_as_history_says(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    for number in range(ROUNDS):
        one = ana.remember(said(number)).ids[0]
        ana.forget(one)
        together(lambda one=one: ana.restore(one), lambda one=one: ana.forget(one))
        last = ana.history(one)[-1].decision["code"]
        memory = ana.get(one)
        assert memory.state is (State.ACTIVE if last == "restored" else State.SOFT_DELETED)
        assert (active(engine, said(number)) != []) == (last == "restored")
    assert engine.verify_audit().findings == ()
