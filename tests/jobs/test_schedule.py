"""A job is due at the times its schedule names, each day once, whatever the clocks of its time zone do."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina.config import knobs
from lamina.errors import ConfigError
from lamina.jobs.registry import JOBS
from lamina.jobs.schedule import Schedule, parse_schedules, zone_of

BERLIN, BANGKOK = zone_of("Europe/Berlin"), zone_of("Asia/Bangkok")


def slots(schedule: Schedule, since: datetime, until: datetime, zone: str) -> list[datetime]:
    found, at = [], since
    while (at := schedule.next(at, zone_of(zone)) or until) < until:
        found.append(at)
    return found


def test_times_are_those_of_the_time_zone() -> None:
    schedule = parse_schedules("micro-sync 10:00 13:00")["micro-sync"]
    now = datetime(2026, 3, 4, 6, 30, tzinfo=UTC)  # 13:30 in Bangkok
    assert schedule.last(now, BANGKOK) == datetime(2026, 3, 4, 6, 0, tzinfo=UTC)
    assert schedule.next(now, BANGKOK) == datetime(2026, 3, 5, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize("month", [3, 10])
def test_a_night_with_a_clock_change_has_each_time_exactly_once(month: int) -> None:
    """Clocks in Berlin skip 02:30 on 29 March 2026 and show it twice on 25 October."""
    schedule = parse_schedules("wrap-up 02:30")["wrap-up"]
    stretch = datetime(2026, month, 20, tzinfo=UTC), datetime(2026, month, 31, tzinfo=UTC)
    found = slots(schedule, *stretch, "Europe/Berlin")
    days = [at.astimezone(BERLIN).date() for at in found]
    assert days == sorted(set(days))
    assert len(days) == 11


def test_a_year_of_every_schedule_has_no_gap_and_no_double() -> None:
    year = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    named = parse_schedules("a 10:00 22:00; b sun 04:30; c every 6h; d off")
    assert [len(slots(named[one], *year, "America/New_York")) for one in "abcd"] == [730, 52, 1459, 0]


def test_the_examples_of_the_guide_and_of_the_settings_can_be_read() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/jobs.md").read_text("utf-8")
    told = [re.findall(r'^schedule = "(.*)"$', guide, re.M)[0], knob_examples()]
    for text in told:
        assert parse_schedules(text).keys() <= JOBS.keys()


def knob_examples() -> str:
    doc = next(doc for name, _, doc, _ in knobs() if name == "schedule")
    return doc.split("`")[1]


def test_the_last_time_is_never_after_now_and_never_older_than_the_rhythm() -> None:
    schedule = Schedule(every_s=300)
    at = datetime(2026, 1, 1, 0, 4, 59, 999999, tzinfo=UTC)
    assert schedule.last(at, BERLIN) == datetime(2026, 1, 1, tzinfo=UTC)
    assert schedule.last(at + timedelta(microseconds=1), BERLIN) == datetime(2026, 1, 1, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["a", "a every 0m", "a 25:00", "a mon", "a every 5", "a 10:00+07:00"])
def test_a_schedule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_schedules(text)
    assert caught.value.code == "schedule_invalid"


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "Europe"])
def test_an_unknown_time_zone_is_refused(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        zone_of(name)
    assert caught.value.code == "timezone_unknown"
