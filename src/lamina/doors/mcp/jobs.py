"""The tool about work that may wait: what there is, and what became of it; it starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lamina.doors.mcp.lifecycle import LifecycleTools
from lamina.doors.mcp.shapes import Shape
from lamina.doors.mcp.traits import Session, tool
from lamina.jobs.run import list_jobs
from lamina.model.token import Right


class JobShape(Shape):
    """A job and its newest run."""

    job: str
    summary: str
    state: str
    last_at: datetime | None = None
    next_at: datetime | None = None
    problems: list[str]
    cost: Mapping[str, Any]


class JobList(Shape):
    """Every job, in the order of the table."""

    jobs: list[JobShape]


class JobTools(LifecycleTools):
    """Part of `Tools`."""

    __slots__ = ()

    @tool("Jobs", reads=True)
    def memory_jobs(self, session: Session = "") -> JobList:
        """The memory's background work: when each job runs next, and how its last run went.

        Use it when the user asks why something was not summed up, merged or put aside yet. It starts nothing.
        """
        engine = self.caller.mind(Right.READ, session).engine
        return JobList.of({"jobs": list_jobs(engine, engine.now())})
