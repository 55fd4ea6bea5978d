"""Fakes for programs that build on Lamina: public, typed, and used by our own tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


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
