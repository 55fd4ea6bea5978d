"""For how long something holds, as people say it: "until Friday", "ช่วงนี้", "到月底", "just this once"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any

from lamina.language.due import due_in
from lamina.language.rulebook import packaged
from lamina.records import dataclass
from lamina.text.ttl import SESSION_END

#: How long something holds where somebody says that it will not last, and not how long.
VAGUE = timedelta(days=7)
_UNITS = {"minutes": "m", "hours": "h", "days": "d", "weeks": "w"}
_DAYS = {"fortnights": 14, "next_unit_week": 7, "next_unit_month": 30}
_UNTIL = re.compile(
    r"\b(?:until|till|til|'til|up to|through|by|before)\b|จนถึง|จนกว่า|ถึง|ภายใน|ก่อน|จน"
    r"|到|至|直到|截至|之前|以前|为止|前"
)
_DAY_OF_MONTH = re.compile(
    r"\b(?:until|till|til|through|up to|before|by) (?:the )?([0-9]{1,2})(?:st|nd|rd|th)\b"
    r"|(?:ถึง|ก่อน|จนถึง)(?:วัน)?ที่ ?([0-9]{1,2})(?![0-9])|(?:到|至)([0-9]{1,2})[号日]|([0-9]{1,2})[号日](?:之)?前"
)
#: How much of a sentence around the words that say so is looked at for a date.
_NEAR = 32


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A time to live as an entry has it, and where it was said."""

    ttl: str
    span: tuple[int, int]
    vague: bool = False


def lifetime_in(said: str, today: date) -> Lifetime | None:
    """For how long a folded text says that it holds; None where it says nothing of the sort."""
    found = list(_lifetimes(said, today))
    return min(found, key=lambda one: (one.vague, one.span[0]), default=None)


def _lifetimes(said: str, today: date) -> Iterator[Lifetime]:
    yield from _found(said, "session", SESSION_END)
    yield from _until_date(said, today)
    for name, end in _ends(today).items():
        yield from _found(said, name, end.isoformat())
    yield from _counted(said)
    if vague := _tables()["vague"].search(said):
        yield Lifetime((today + VAGUE + timedelta(days=1)).isoformat(), vague.span(), vague=True)


def _found(said: str, table: str, ttl: str) -> Iterator[Lifetime]:
    if found := _tables()[table].search(said):
        yield Lifetime(ttl, found.span())


def _until_date(said: str, today: date) -> Iterator[Lifetime]:
    for found in _DAY_OF_MONTH.finditer(said):
        day = int(next(one for one in found.groups() if one))
        if (coming := _coming(today, day)) is not None:
            yield Lifetime((coming + timedelta(days=1)).isoformat(), found.span())
    for until in _UNTIL.finditer(said):
        low = until.start() - (_NEAR if until[0] in ("之前", "以前", "为止", "前") else 0)
        near = said[max(0, low) : until.end() + _NEAR]
        if (day_named := due_in(near, today)) is not None:
            yield Lifetime((day_named + timedelta(days=1)).isoformat(), until.span())


def _coming(today: date, day: int) -> date | None:
    for ahead in range(62):
        if (one := today + timedelta(days=ahead)).day == day:
            return one
    return None


def _ends(today: date) -> dict[str, date]:
    """By name of a stretch, the first day after it."""
    sunday = today + timedelta(days=6 - today.weekday())
    month = (today.replace(day=28) + timedelta(days=4)).replace(day=1)
    return {
        "tomorrow": today + timedelta(days=2),
        "weekend": sunday + timedelta(days=1),
        "week": sunday + timedelta(days=1),
        "next_week": sunday + timedelta(days=8),
        "month": month,
        "year": date(today.year + 1, 1, 1),
        "day": today + timedelta(days=1),
    }


def _counted(said: str) -> Iterator[Lifetime]:
    for name, unit in _UNITS.items():
        if found := _tables()[name].search(said):
            yield Lifetime(f"{_number(found)}{unit}", found.span())
    for found in _tables()["months"].finditer(said):
        yield Lifetime(f"{30 * _number(found)}d", found.span())
    yield from _found(said, "next_unit_hour", "1h")
    for name, days in _DAYS.items():
        yield from _found(said, name, f"{days}d")


def _number(found: re.Match[str]) -> int:
    said = next(text for text in found.groups() if text)
    return max(1, min(999, int(said))) if said.isdigit() else _data()["numbers"]["words"].get(said, 1)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(packaged("spoken_times"))


@cache
def _tables() -> dict[str, re.Pattern[str]]:
    words = sorted(_data()["numbers"]["words"], key=len, reverse=True)
    number = rf"(?<![0-9])([0-9]{{1,3}}|(?<![a-z])(?:{'|'.join(words)}))"
    return {
        name: re.compile("|".join(phrase.replace("{n}", number) for phrase in table["phrases"]))
        for name, table in _data().items()
        if name != "numbers"
    }
