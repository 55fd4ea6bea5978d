"""The day that somebody names: "by Friday", "ภายในวันศุกร์", "下周一前"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from lamina.language.rulebook import packaged

_DATA: dict[str, Any] = tomllib.loads(packaged("due"))


def _names(table: str) -> str:
    """A group for each name of a table: `weekdays_4`."""
    return "|".join(f"(?P<{table}_{value}>{names})" for value, names in _DATA[table].items())


_WORDS = "(?<![a-z])(?:{})(?![a-z])"
_ISO = re.compile(r"(?<![0-9])(20[0-9]{2})-([0-9]{2})-([0-9]{2})(?![0-9])")
_CHINESE = re.compile(r"(?<![0-9])([0-9]{1,2})月([0-9]{1,2})[日号]")
_WEEKDAY = re.compile(
    _WORDS.format(f"(?P<before>{_DATA['next_week']['before']})?(?:{_names('weekdays')})")
    + f"(?P<after>{_DATA['next_week']['after']})?"
)
_MONTH = _names("months").replace(".", "\\.")
_DAY_MONTH = re.compile(_WORDS.format(rf"(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? ?(?:{_MONTH})"))
_MONTH_DAY = re.compile(_WORDS.format(rf"(?:{_MONTH}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"))
_NEAR = re.compile(_WORDS.format(_names("days")))
_END = re.compile(_WORDS.format(_names("ends")))


def due_in(said: str, today: date) -> date | None:
    """The last day that a folded text names, as seen from the day it was said on; None when it names none.

    A weekday is the next one, today included, and with "next" that of the week after this one. A day of a
    month is the next such day.
    """
    return max(_days(said, today), default=None)


def _days(said: str, today: date) -> Iterator[date]:
    for found in _ISO.finditer(said):
        yield from _real(int(found[1]), int(found[2]), int(found[3]))
    for found in _CHINESE.finditer(said):
        yield from _coming(today, int(found[1]), int(found[2]))
    for found in (*_DAY_MONTH.finditer(said), *_MONTH_DAY.finditer(said)):
        yield from _coming(today, _value(found), int(found["day"]))
    for found in _NEAR.finditer(said):
        yield today + timedelta(days=_value(found))
    for found in _WEEKDAY.finditer(said):
        week = today - timedelta(days=today.weekday())
        if found["before"] or found["after"]:
            yield week + timedelta(days=7 + _value(found))
        else:
            yield today + timedelta(days=(_value(found) - today.weekday()) % 7)
    for found in _END.finditer(said):
        if found.lastgroup == "ends_week":
            yield today + timedelta(days=(4 - today.weekday()) % 7)
        else:
            yield (today.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _value(found: re.Match[str]) -> int:
    named = next(name for name, text in found.groupdict().items() if text and name[-1].isdigit())
    return int(named.rpartition("_")[2])


def _coming(today: date, month: int, day: int) -> Iterator[date]:
    for year in (today.year, today.year + 1):
        for found in _real(year, month, day):
            if found >= today:
                yield found
                return


def _real(year: int, month: int, day: int) -> list[date]:
    try:
        return [date(year, month, day)]
    except ValueError:
        return []
