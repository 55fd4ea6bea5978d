"""Time and chance: the only module that may ask the system for either."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from lamina.late import late
from lamina.records import dataclass

with late():
    import secrets


class Clock(Protocol):
    """Tells the time; tests and replays bring their own."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still, for `--now` and replays."""

    at: datetime

    def now(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the engine may not make up by itself."""

    clock: Clock


def random_token(size: int = 32) -> str:
    """An unguessable URL-safe string, for secrets and temporary names; never for ids of memories."""
    return secrets.token_urlsafe(size)


def random_key() -> bytes:
    """A 256-bit key."""
    return secrets.token_bytes(32)


def monotonic() -> float:
    """Seconds that only go forward, for measuring how long something took."""
    return time.perf_counter()


def pause(seconds: float) -> None:
    """Wait, before something that failed is tried again."""
    time.sleep(seconds)
