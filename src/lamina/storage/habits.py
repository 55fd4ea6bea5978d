"""What a reading asked for the last times it began like this, asked for at once the next time.

Over a network the wait for each answer is what a question costs. Most of what one asks for does not depend on
its words but on who asks: so it can travel with the first query. It is the same snapshot, so an answer that
came early is the same answer; one that nobody wants is not looked at.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from lamina.records import dataclass

_BEGINNINGS = 2000  #: of so many it is known how they go on
_MOST = 64  #: queries that travel with the first
Asked = tuple[str, tuple[tuple[str, Any], ...]]  #: a query by its name, and its values in the order of names
Values = Mapping[str, Any]
_CHANGES = re.compile(r"\b(INSERT|UPDATE|DELETE|nextval|setval)\b")


def only_reads(sql: str) -> bool:
    """Whether a query changes nothing, so that it may be asked early and twice."""
    return sql.startswith(("SELECT", "WITH")) and _CHANGES.search(sql) is None


def asked_for(name: str, values: Values) -> Asked:
    """A query and its values as something to look up."""
    return name, tuple((one, _frozen(values[one])) for one in sorted(values))


def timeless(asked: Asked) -> Asked:
    """The same, whenever it is asked."""
    return asked[0], tuple((name, None if name == "now" else value) for name, value in asked[1])


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(slots=True)
class Habits:
    """How readings go on; shared by all threads of a process."""

    _last: dict[Asked, dict[Asked, Values]] = field(default_factory=dict)
    _usual: dict[Asked, dict[Asked, Values]] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def after(self, first: Asked) -> dict[Asked, Values]:
        """What usually follows a first query: what followed it the last two times."""
        return self._usual.get(first, {})

    def learn(self, first: Asked, followed: Mapping[Asked, Values]) -> None:
        with self._mutex:
            before = self._last.pop(first, {})
            self._last[first] = dict(followed)
            self._usual[first] = {one: followed[one] for one in list(followed)[:_MOST] if one in before}
            while len(self._last) > _BEGINNINGS:
                oldest = next(iter(self._last))
                del self._last[oldest]
                self._usual.pop(oldest, None)

    def forget(self, first: Asked) -> None:
        with self._mutex:
            self._last.pop(first, None)
            self._usual.pop(first, None)


@dataclass(slots=True)
class Foresight:
    """One reading: what it began with, what it asked for, and the answers that are there or on their way.

    A write begins with a reading; with its first change that is over.
    """

    habits: Habits
    now: int | None = None  #: what `now` will be in its queries, where that is known before
    first: Asked | None = None
    followed: dict[Asked, Values] = field(default_factory=dict)
    answers: dict[Asked, Any] = field(default_factory=dict)
    over: bool = False

    def expected(self) -> Iterator[tuple[str, Values]]:
        """What will probably be asked for; told once, with the first query."""
        for (name, _), values in self.habits.after(timeless(self.first)).items() if self.first else ():
            if "now" not in values:
                yield name, values
            elif self.now is not None:
                yield name, {**values, "now": self.now}

    def ask(self, asked: Asked, values: Values) -> None:
        if asked != self.first:
            self.followed[timeless(asked)] = values

    def end(self) -> None:
        """The reading is over, and went well."""
        if self.first is not None and not self.over:
            self.habits.learn(timeless(self.first), self.followed)
        self.over = True
        self.answers.clear()

    def give_up(self) -> bool:
        """Something that was asked for early cannot be read; whether anything was."""
        if self.first is None or not self.habits.after(timeless(self.first)):
            return False
        self.habits.forget(timeless(self.first))
        return True
