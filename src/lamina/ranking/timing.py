"""What a question says about time, in three languages: a period it is about, or that the newest counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from lamina.late import late, read_rules, regex
from lamina.records import dataclass

with late():
    import calendar

#: A year from here on is counted from the Buddha.
_BUDDHIST = 2400
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_DAY = timedelta(days=1)
_LONGER = {"day": 1, "week": 7, "month": 31, "year": 366}  #: days that lead from one into the next
_DIGIT = regex(r"\d")
_LONGEST = 500  #: characters of a text in which a time is looked for


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, from its start up to its end."""

    start: datetime
    end: datetime

    def meets(self, other: Period) -> bool:
        """Whether they have a moment in common."""
        return self.start < other.end and other.start < self.end

    def nearness(self, at: datetime) -> float:
        """1 inside, falling to 0 at a distance of the period's own length, at least three days."""
        if self.start <= at < self.end:
            return 1.0
        away = self.start - at if at < self.start else at - self.end
        return max(0.0, round(1.0 - away / max(self.end - self.start, 3 * _DAY), 6))


@dataclass(frozen=True, slots=True)
class Timing:
    """What a question says about time."""

    period: Period | None = None
    latest: bool = False  #: the newest answer is the right one
    when: bool = False  #: the answer is a time
    number: bool = False  #: the answer is a number
    bare: bool = False  #: it asks for nothing but what was then
    ahead: bool = False  #: the period is still to come


class _Sayings:
    """Patterns of several languages; a text of ASCII alone is only asked for those that are."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._all = regex("|".join(patterns))
        self._ascii = regex("|".join(filter(str.isascii, patterns)) or "(?!)")
        self._known = lru_cache(maxsize=4096)(self._said_in)  # what is found is asked each time it is found

    def said_in(self, text: str) -> bool:
        """Whether one of them is in a text; case does not count."""
        return self._known(text) if len(text) <= _LONGEST else self._said_in(text)

    def _said_in(self, text: str) -> bool:
        folded = text.casefold()
        return (self._ascii if folded.isascii() else self._all).search(folded) is not None


@dataclass(frozen=True, slots=True)
class _Rules:
    rules: tuple[tuple[str, int, re.Pattern[str]], ...]
    hints: tuple[str, ...]  #: a text without any of these, and without a digit, names no time
    intent: dict[str, _Sayings]
    bare: re.Pattern[str]
    words: dict[str, dict[str, Any]]


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    data = read_rules("lamina.ranking", "time.toml")
    names: dict[str, dict[str, Any]] = {
        "month": {one: int(number) for number, all_ in data["months"].items() for one in all_},
        "weekday": {one: int(number) for number, all_ in data["weekdays"].items() for one in all_},
        "u": {one: unit for unit, all_ in data["units"].items() for one in all_},
        "n": data["numbers"],
    }
    parts = {name: _alternatives(name, known) for name, known in names.items()}
    parts["n"] = parts["n"].replace("(?P<n>", r"(?P<n>\d{1,3}|")

    def pattern(source: str) -> re.Pattern[str]:
        for name, part in parts.items():
            source = source.replace("{" + name + "}", part)
        return regex(source)

    intent = {name: _Sayings(all_) for name, all_ in data["intent"].items()}
    bare = regex("|".join(data["intent"]["bare"]))
    rules = tuple(
        (rule["form"], int(rule.get("from", 0)), pattern(source))
        for rule in data["rule"]
        for source in rule["patterns"]
    )
    return _Rules(rules, tuple(data["hints"]), intent, bare, names)


def _alternatives(name: str, known: dict[str, Any]) -> str:
    longest_first = sorted(known, key=lambda one: (-len(one), one))
    return f"(?P<{name}>{'|'.join(longest_first)})"


def timing(question: str, now: datetime) -> Timing:
    """What the question says about time, seen from `now`; several periods become the stretch they span."""
    return _timing(question, _day_of(now))


def _day_of(now: datetime) -> datetime:
    """Its midnight: what people say of time reaches no deeper."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


@lru_cache(maxsize=1024)  # how deep to look, and what to look for, are asked of one question
def _timing(question: str, now: datetime) -> Timing:
    rules, asked = _rules(), question.casefold()
    whole, left = _named(asked, now)
    bare = whole is not None and not re.search(r"\w", rules.bare.sub(" ", left))
    ahead = whole is not None and whole.start > now
    said = {name: rules.intent[name].said_in(asked) for name in ("latest", "when", "number")}
    return Timing(whole, bare=bare, ahead=ahead, **said)


def told_of(text: str, at: datetime) -> Period | None:
    """The time that a text names, seen from when it was said: "yesterday" is the day before that."""
    return _told_on(text[:_LONGEST], _day_of(at))


@lru_cache(maxsize=8192)  # what is found is asked each time it is found
def _told_on(text: str, day: datetime) -> Period | None:
    return _named(text.casefold(), day)[0]


def _named(text: str, now: datetime) -> tuple[Period | None, str]:
    """The stretch that all the times in a text span, and the text without them."""
    if not any(hint in text for hint in _rules().hints) and _DIGIT.search(text) is None:
        return None, text
    periods: list[Period] = []
    for form, back, pattern in _rules().rules:
        all_found = list(pattern.finditer(text))
        for found in all_found:
            if (period := _period(form, back, found, now)) is not None:
                periods.append(period)
        text = pattern.sub(" ", text) if all_found else text
    whole = Period(min(p.start for p in periods), max(p.end for p in periods)) if periods else None
    return whole, text


def says_when(text: str) -> bool:
    """Whether a text names a time."""
    return _rules().intent["dated"].said_in(text)


def fits(asked: Timing, text: str) -> bool:
    """Whether a text says a thing of the sort that is asked for: some time, some number."""
    intent = _rules().intent
    if asked.when and not intent["timed"].said_in(text):
        return False
    return not asked.number or intent["counted"].said_in(text)


def says_changed(text: str) -> bool:
    """Whether a statement says that something is not as it was."""
    return _change()["changed"].said_in(text)


def asks_before(question: str) -> bool:
    """Whether a question asks how it was, and not how it is."""
    return _change()["before"].said_in(question)


@lru_cache(maxsize=1)
def _change() -> dict[str, _Sayings]:
    data = read_rules("lamina.ranking", "change.toml")
    return {name: _Sayings(patterns) for name, patterns in data.items()}


def _period(form: str, back: int, found: re.Match[str], now: datetime) -> Period | None:
    today = _day_of(now)
    groups = found.groupdict()
    try:
        match form:
            case "date" | "month" | "year":
                return _calendar(form, groups, today)
            case "days":
                return Period(today - back * _DAY, today - (back - 1) * _DAY)
            case "weekday":
                day = today - ((today.weekday() - _value("weekday", groups) - 1) % 7 + 1) * _DAY
                return Period(day, day + _DAY)
            case "weekday_ahead":
                day = today + ((_value("weekday", groups) - today.weekday() - 1) % 7 + 1) * _DAY
                return Period(day, day + _DAY)
            case "weekday_of_week":
                day = _first_of("week", today) - (7 * back - _value("weekday", groups)) * _DAY
                return Period(day, day + _DAY)
            case "weekend":
                saturday = today - (today.weekday() + 2) * _DAY
                return Period(saturday, saturday + 2 * _DAY)
            case _:
                return _relative(form, groups, today)
    except (ValueError, OverflowError):
        return None  # the thirtieth of February, the year 9999 and the like


def _relative(form: str, groups: dict[str, str | None], today: datetime) -> Period:
    unit = _value("u", groups)
    if form == "next":
        start = _after(unit, _first_of(unit, today))
        return Period(start, _after(unit, start))
    if form in ("previous", "current"):
        start = _first_of(unit, today)
        before = Period(_first_of(unit, start - _DAY), start)
        return before if form == "previous" else Period(start, today + _DAY)
    said = groups["n"] or "1"
    half = 0.5 if groups.get("half") or groups.get("half2") else 0.0
    days = ((float(said) if said.isdecimal() else float(_value("n", groups))) + half) * _DAYS[unit]
    begin = today - timedelta(days=round(days))
    if form == "past":
        return Period(begin, today + _DAY)
    slack = timedelta(days=round(min(days * 0.25, _DAYS[unit] * 0.5)))  # people round
    return Period(begin - slack, begin + slack + _DAY)


def _calendar(form: str, groups: dict[str, str | None], today: datetime) -> Period:
    number, named = groups.get("m"), groups.get("month")
    month = int(number) if number else (_value("month", groups) if named else 1)
    day = int(groups.get("d") or 1)
    said = groups.get("y")
    year = int(said) if said else today.year
    year -= 543 if year >= _BUDDHIST else 0
    start = today.replace(year=year, month=month, day=day)
    if said is None and start > today:
        start = start.replace(year=year - 1)
    if form == "date":
        return Period(start, start + _DAY)
    if form == "month":
        return Period(start, start + calendar.monthrange(start.year, start.month)[1] * _DAY)
    return Period(start, start.replace(year=start.year + 1))


def _first_of(unit: str, day: datetime) -> datetime:
    match unit:
        case "day":
            return day
        case "week":
            return day - day.weekday() * _DAY
        case "month":
            return day.replace(day=1)
        case _:
            return day.replace(month=1, day=1)


def _after(unit: str, first: datetime) -> datetime:
    """The first day of the week, month or year after the one that begins here."""
    return _first_of(unit, first + _LONGER[unit] * _DAY)


def _value(name: str, groups: dict[str, str | None]) -> Any:
    said = groups[name] or ""
    known = _rules().words[name]
    if said in known:
        return known[said]
    return next(value for one, value in known.items() if re.fullmatch(one, said))
