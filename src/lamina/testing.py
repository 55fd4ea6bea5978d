"""Fakes for programs that build on Lamina: public, typed, and used by our own tests."""

from __future__ import annotations

from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any

from lamina.errors import Unavailable
from lamina.jobs.writer import Asking, Cost, Written
from lamina.records import dataclass


@dataclass(slots=True)
class ManualClock:
    """Time that moves only when it is told to."""

    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def advance(self, **amount: float) -> datetime:
        """Move forward by `days`, `hours`, `minutes`, `seconds`; returns the new time."""
        self.at += timedelta(**amount)
        return self.at


@dataclass(slots=True)
class ScriptedWriter:
    """A Writer that gives the answers it was given, in order, and keeps what it was asked."""

    answers: list[Any]
    asked: list[Asking] = field(default_factory=list)

    def write(self, asking: Asking) -> Written:
        """The next answer, at a token for every four characters; Unavailable when there is none."""
        if not self.answers:
            raise Unavailable("The script is over.", code="writer_unavailable")
        self.asked.append(asking)
        value = self.answers.pop(0)
        sizes = (len(asking.instructions) + len(asking.material)) // 4, len(str(value)) // 4
        return Written(value, Cost(calls=1, input_tokens=sizes[0], output_tokens=sizes[1]))
