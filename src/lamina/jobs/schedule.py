"""When a job is due: clock times in a time zone, or every so often; the last such moment, and the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from lamina.errors import ConfigError
from lamina.records import dataclass

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = "Write it like `micro-sync 10:00 13:00; weekly-compound sun 04:30; index every 5m; insights off`."


@dataclass(frozen=True, slots=True)
class Schedule:
    """Either clock times (on some days of the week, or on all) or a rhythm; neither means never."""

    times: tuple[time, ...] = ()
    days: tuple[int, ...] = ()  #: 0 is Monday; empty means every day
    every_s: int = 0

    def last(self, now: datetime, zone: ZoneInfo) -> datetime | None:
        """The newest moment not after `now` at which it was due, in UTC; None when it never is."""
        return max((at for at in self._around(now, zone) if at <= now), default=None)

    def next(self, now: datetime, zone: ZoneInfo) -> datetime | None:
        """The first moment after `now` at which it is due, in UTC; None when it never is."""
        return min((at for at in self._around(now, zone) if at > now), default=None)

    def _around(self, now: datetime, zone: ZoneInfo) -> Iterator[datetime]:
        if self.every_s:
            since = int((now - _EPOCH).total_seconds()) // self.every_s * self.every_s
            yield from (_EPOCH + timedelta(seconds=since + step) for step in (0, self.every_s))
        today = now.astimezone(zone).date()
        for day in (today + timedelta(days=ahead) for ahead in range(-8, 9)):
            if not self.days or day.weekday() in self.days:
                yield from (_in_utc(day, at, zone) for at in self.times)


def parse_schedules(text: str) -> dict[str, Schedule]:
    """The schedules that a setting names, by job; ConfigError says which part cannot be read."""
    found = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, *words = part.split()
        found[name] = _schedule(part, words)
    return found


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name, or ConfigError."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder, a name that is a path, a name that is not known
        raise ConfigError(
            f"There is no time zone {name!r:.60}.",
            code="timezone_unknown",
            hint="Use a name such as Asia/Bangkok or UTC.",
        ) from None


def _schedule(part: str, words: list[str]) -> Schedule:
    if words == ["off"]:
        return Schedule()
    if rhythm := re.fullmatch(r"every ([1-9]\d{0,3})([mhd])", " ".join(words)):
        return Schedule(every_s=int(rhythm[1]) * _UNITS[rhythm[2]])
    days = tuple(_DAYS.index(word) for word in words if word in _DAYS)
    try:
        times = tuple(sorted(time.fromisoformat(word.zfill(5)) for word in words if word not in _DAYS))
    except ValueError:
        times = ()
    if not times or any(at.tzinfo for at in times):
        raise ConfigError(f"The schedule `{part[:80]}` cannot be read.", code="schedule_invalid", hint=_FORM)
    return Schedule(times=times, days=days)


def _in_utc(day: date, at: time, zone: ZoneInfo) -> datetime:
    """A local time as a moment: one that the clocks skip is as long after midnight as if they did not, one
    that they show twice is the first of the two; so each day has each time exactly once.
    """
    return datetime.combine(day, at, zone).astimezone(UTC)
