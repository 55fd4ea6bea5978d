"""Two writers and forty readers at the same time: nobody fails, nobody is locked out."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bench.crowd import crowd
from tests.backends import Place, place  # noqa: F401 the fixture: every backend


def _unharmed(place: Place, is_over: Callable[[int], bool]) -> None:  # noqa: F811
    found = crowd(place.open, is_over)
    assert found["errors"] == []
    assert found["recorded"] == found["written"] > 0
    engine = place.open()
    assert engine.verify_audit().intact
    assert engine.status().meaning.missing == 0


def test_nobody_fails_while_two_write_and_forty_read(place: Place) -> None:  # noqa: F811
    _unharmed(place, lambda rounds: rounds >= 4)


@pytest.mark.slow
def test_nobody_fails_for_a_minute(place: Place) -> None:  # noqa: F811
    end = time.perf_counter() + 60
    _unharmed(place, lambda _: time.perf_counter() > end)
