"""A request that is repeated is answered as it was the first time, and does nothing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lamina import Conflict, InvalidInput, Outcome

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place


def test_a_repeated_request_gets_the_same_answer_and_leaves_no_trace(place: Place) -> None:
    mind = place.open().scope()
    for details in ({}, {"key": "tone"}):
        first = mind.remember("friendly", idempotency_key=f"r{details}", **details)  # type: ignore[arg-type]
        before = place.tables()
        place.clock.advance(minutes=5)

        again = mind.remember("friendly", idempotency_key=f"r{details}", **details)  # type: ignore[arg-type]

        assert again == replace(first, events=())
        assert place.tables() == before


def test_the_answer_survives_reopening(place: Place) -> None:
    first = place.open().scope().remember("Ana likes tea", idempotency_key="r1")
    place.close()

    again = place.open().scope().remember("Ana likes tea", idempotency_key="r1")

    assert (again.decision, again.ids) == (Outcome.ADMITTED, first.ids)


def test_a_repeated_request_does_not_bring_back_what_was_forgotten_since(ana: ScopedMemory) -> None:
    first = ana.remember("Ana likes tea", idempotency_key="r1").ids[0]
    ana.forget(first)

    assert ana.remember("Ana likes tea", idempotency_key="r1").ids == (first,)
    assert not ana.recall("tea").hits


def test_the_same_key_for_another_request_is_a_conflict_and_changes_nothing(place: Place) -> None:
    mind = place.open().scope()
    mind.remember("Ana likes tea", idempotency_key="r1")
    before = place.tables()

    for text, details in (("milk", {}), ("Ana likes tea", {"importance": 5}), ("x", {"key": "tone"})):
        with pytest.raises(Conflict) as told:
            mind.remember(text, idempotency_key="r1", **details)  # type: ignore[arg-type]
        assert told.value.code == "idempotency_mismatch"

    assert place.tables() == before


def test_a_refusal_is_repeated_too(place: Place) -> None:
    mind = place.open().scope()
    first = mind.remember("my password is hunter2secret99", idempotency_key="r1")
    before = place.tables()

    again = mind.remember("my password is hunter2secret99", idempotency_key="r1")

    assert (again.decision, again.code) == (first.decision, first.code)
    assert place.tables() == before


def test_two_callers_may_use_the_same_key(engine: Engine) -> None:
    callers = ({"user": "ana"}, {"user": "bob"}, {"agent": "planner"}, {"user": "bob", "agent": "planner"})

    ids = {engine.scope(**who).remember(f"tea of {who}", idempotency_key="r1").ids[0] for who in callers}

    assert len(ids) == 4


def test_a_key_is_recognised_for_a_day_and_free_after(place: Place) -> None:
    place.open().scope().remember("Ana likes tea", idempotency_key="r1")
    place.close()
    place.clock.advance(hours=24)
    assert place.open().scope().remember("Ana likes tea", idempotency_key="r1").decision is Outcome.ADMITTED
    place.close()
    place.clock.advance(microseconds=1)

    assert place.open().scope().remember("Ana likes milk", idempotency_key="r1").decision is Outcome.ADMITTED


def test_a_failed_request_may_be_repeated(ana: ScopedMemory) -> None:
    with pytest.raises(InvalidInput):
        ana.remember("", idempotency_key="r1")

    assert ana.remember("Ana likes tea", idempotency_key="r1").decision is Outcome.ADMITTED


def test_a_key_that_cannot_be_kept_is_refused(ana: ScopedMemory) -> None:
    for key in ("", "x" * 201, "a\x00b", 7):
        with pytest.raises(InvalidInput):
            ana.remember("Ana likes tea", idempotency_key=key)  # type: ignore[arg-type]
    assert not ana.recall("tea").hits
