"""What a reading or a write asked for the last times it began like this, asked for at once the next time.

Over a network the wait for each answer is what a question costs. Most of what one asks for does not depend on
its words but on who asks: so it can travel with the first query. A reading is one snapshot, so an answer that
came early is the same answer; in a write it is one until the write changes a table that it came out of. One
that nobody wants is not looked at.
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
#: Values that differ from one time to the next and that the caller may tell before it asks.
_TOLD = frozenset({"now", "terms", "identity", "key", "tick"})
_OPEN = object()  #: in the place of a value that will be another one the next time
_CHANGES = re.compile(r"\b(INSERT|UPDATE|DELETE|nextval|setval|lamina)\b")
_TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)")
#: What the server itself counts along with a table.
_BESIDE = {"memory": "memory_count", "operational": "operational_count"}


def only_reads(sql: str) -> bool:
    """Whether a query changes nothing, so that it may be asked early and twice."""
    return sql.startswith(("SELECT", "WITH")) and _CHANGES.search(sql) is None


def asked_for(name: str, values: Values) -> Asked:
    """A query and its values as something to look up."""
    return name, tuple((one, _frozen(values[one])) for one in sorted(values))


def tables_of(sql: str) -> frozenset[str]:
    """The tables that a query reads or changes."""
    named = _TABLES.findall(sql)
    return frozenset([*named, *(_BESIDE[one] for one in named if one in _BESIDE)])


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
class _Wait:
    """A query that had to be waited for, and what was asked for after it while it still held."""

    first: Asked
    followed: dict[Asked, Values] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)  #: tables of which an answer from then is worth nothing


@dataclass(slots=True)
class Foresight:
    """One reading or write: what it waited for, and the answers that are there or on their way."""

    habits: Habits
    told: dict[str, Any] = field(default_factory=dict)  #: values by the names that queries have for them
    waits: list[_Wait] = field(default_factory=list)
    answers: dict[Asked, Any] = field(default_factory=dict)

    def wait_for(self, asked: Asked) -> Iterator[tuple[str, Values]]:
        """This has to be waited for; what will probably be asked for after it can come along."""
        name, given = self._untold(asked)
        kind = f"{self.told.get('about', '')}/{name}"
        # What a message reads again after a change goes on otherwise than the first time.
        again = sum(one.first[0].startswith(f"{kind}/") and one.first[1] == given for one in self.waits)
        first = (f"{kind}/{again}", given)
        self.waits.append(_Wait(first))
        for (name, known), values in self.habits.after(first).items():
            open_ = {one for one, value in known if value is _OPEN}
            if open_ <= self.told.keys():
                yield name, {**values, **{one: self.told[one] for one in open_}}

    def ask(self, asked: Asked, values: Values, tables: frozenset[str]) -> None:
        """Something is asked for, wherever its answer comes from."""
        for wait in self.waits:
            if not wait.changed & tables:
                wait.followed[self._untold(asked)] = values

    def _untold(self, asked: Asked) -> Asked:
        """The same, whenever it is asked, about whatever words, and about whatever this is about."""
        return asked[0], tuple(
            (name, _OPEN if name in _TOLD or (name in self.told and self.told[name] == value) else value)
            for name, value in asked[1]
        )

    def change(self, tables: frozenset[str], of: Mapping[str, frozenset[str]]) -> None:
        """Some tables change now; `of` are those of each query."""
        for wait in self.waits:
            wait.changed |= tables
        self.answers = {one: answer for one, answer in self.answers.items() if not of[one[0]] & tables}

    def end(self) -> None:
        """It is over, and went well."""
        for wait in self.waits:
            self.habits.learn(wait.first, wait.followed)

    def give_up(self) -> bool:
        """Something that was asked for early cannot be read; whether anything was."""
        known = [wait.first for wait in self.waits if self.habits.after(wait.first)]
        for first in known:
            self.habits.forget(first)
        return bool(known)
