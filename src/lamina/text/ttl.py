"""How long a memory lives: the texts a person may write for it, and the moment each comes to."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from lamina.errors import InvalidInput
from lamina.late import regex
from lamina.model import Space, iso

NEVER = "none"
SESSION_END = "session_end"

_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_LONGEST = timedelta(days=36_500)
_DURATION = regex(r"([0-9]{1,12})([smhdw])")
# Narrower than datetime.fromisoformat, which also reads week dates and bare digits such as 20260207.
_TIME = regex(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    re.IGNORECASE,
)


def parse_time(text: str) -> datetime | None:
    """The moment an ISO-8601 date or time (year first) names, in UTC; None when it names none.

    A time without an offset is UTC; a date alone is its first moment.
    """
    text = text.strip()
    if not _TIME.fullmatch(text):
        return None
    try:
        at = datetime.fromisoformat(text.upper())
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_ttl(text: str, now: datetime) -> tuple[str, datetime | None]:
    """The canonical text of a time to live and the moment it ends, counted from `now` (aware).

    `none` and `session_end` name no moment. Raises InvalidInput (`ttl_invalid`) for everything that is not
    `none`, `session_end`, a whole number of s, m (minutes), h, d or w up to 100 years, or an ISO date or
    time.
    """
    wanted = text.strip().lower()
    if wanted in (NEVER, SESSION_END):
        return wanted, None
    if (duration := _DURATION.fullmatch(wanted)) is not None:
        return _relative(int(duration[1]), duration[2], now)
    if (at := parse_time(wanted)) is not None:
        return iso(at), at
    raise InvalidInput(
        "This time to live cannot be read.",  # not repeated: it ends up in reports about a person's file
        code="ttl_invalid",
        hint="Write none, session_end, a duration such as 90s, 30m, 8h, 7d or 2w, or a date like 2030-12-31.",
    )


def _relative(count: int, unit: str, now: datetime) -> tuple[str, datetime]:
    if 0 < count <= _LONGEST // _UNITS[unit]:
        try:
            return f"{count}{unit}", now.astimezone(UTC) + count * _UNITS[unit]
        except OverflowError:
            pass  # a clock set near the year 9999: no such moment, as for a duration that is too long
    raise InvalidInput(
        f"A time to live of {count}{unit} is outside what can be kept.",
        code="ttl_invalid",
        hint="Write a duration from 1s to 100 years, or none to keep it for good.",
    )


def check_ttl(ttl: str, space: Space) -> str:
    """The time to live, if a memory of this space can have it."""
    if ttl == SESSION_END and space is not Space.SESSION:
        raise InvalidInput(
            "Only what belongs to a session ends with it.",
            code="ttl_invalid",
            hint="Keep it in the session space, or choose another time to live.",
        )
    return ttl
