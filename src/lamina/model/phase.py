"""A phase: a named stretch of a shelf's life."""

from __future__ import annotations

from datetime import datetime

from lamina.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase of one shelf; what was remembered in it carries its id."""

    number: int
    name: str | None
    reason: str  #: `auto`, `manual`, or what the caller gave
    started_tick: int
    started_at: datetime

    @property
    def id(self) -> str:
        return f"phase-{self.number}"
