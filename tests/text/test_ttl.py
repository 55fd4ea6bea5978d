"""A time to live is read exactly or refused; it is never quietly forever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lamina.errors import InvalidInput
from lamina.text.ttl import parse_time, parse_ttl

NOW = datetime(2026, 2, 7, 11, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "canonical", "lasts"),
    [
        ("90s", "90s", timedelta(seconds=90)),
        ("30m", "30m", timedelta(minutes=30)),
        (" 8H ", "8h", timedelta(hours=8)),
        ("007d", "7d", timedelta(days=7)),
        ("2w", "2w", timedelta(weeks=2)),
        ("36500d", "36500d", timedelta(days=36_500)),
    ],
)
def test_a_duration_counts_from_now(text: str, canonical: str, lasts: timedelta) -> None:
    assert parse_ttl(text, NOW) == (canonical, NOW + lasts)


@pytest.mark.parametrize("text", ["none", " None", "session_end", "SESSION_END"])
def test_none_and_session_end_name_no_moment(text: str) -> None:
    assert parse_ttl(text, NOW) == (text.strip().lower(), None)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2026-12-31", "2026-12-31T00:00:00Z"),
        ("2026-12-31T18:30", "2026-12-31T18:30:00Z"),
        ("2026-12-31 18:30:05", "2026-12-31T18:30:05Z"),
        ("2026-12-31t18:30:05z", "2026-12-31T18:30:05Z"),
        ("2026-12-31T18:30:05.25+07:00", "2026-12-31T11:30:05.250000Z"),
        ("2020-02-29", "2020-02-29T00:00:00Z"),
    ],
)
def test_an_iso_date_or_time_is_kept_as_utc(text: str, canonical: str) -> None:
    assert parse_ttl(text, NOW) == (canonical, datetime.fromisoformat(canonical))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "h",
        "8",
        "8x",
        "1.5h",
        "-8h",
        "+8h",
        "0h",
        "8 h",
        "8hh",
        "8h 30m",
        "๘h",
        "８h",
        "forever",
        "never",
        "36501d",
        "99999999999w",
        "9" * 5000 + "d",
        "31/12/2026",
        "12-31-2026",
        "2026-13-01",
        "2026-02-30",
        "2026-W07-1",
        "20260207",
        "2026-02-07T25:00",
        "0001-01-01T00:00+07:00",
        "9999-12-31T23:59:59-07:00",
        "8h\x00",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_ttl(text, NOW)
    assert refused.value.code == "ttl_invalid"
    assert refused.value.hint
    assert len(refused.value.message) < 200


def test_a_duration_that_leaves_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidInput):
        parse_ttl("100d", datetime(9999, 12, 1, tzinfo=UTC))


def test_now_may_be_in_any_zone() -> None:
    bangkok = NOW.astimezone(timezone(timedelta(hours=7)))
    assert parse_ttl("8h", bangkok) == parse_ttl("8h", NOW)


def test_a_time_that_cannot_be_read_is_no_time() -> None:
    assert parse_time("yesterday") is None
    assert parse_time("2026-02-07T11:00:00Z") == NOW
