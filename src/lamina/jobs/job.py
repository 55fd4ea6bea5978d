"""What a job is, what it gets when it runs, and what it has to say afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from lamina.clock import monotonic
from lamina.errors import Unavailable
from lamina.jobs.desk import Desk
from lamina.jobs.schedule import Schedule
from lamina.jobs.writer import Budgeted, Cost
from lamina.records import dataclass
from lamina.workspace.grant import Grant
from lamina.write.store import Store


class JobStatus(StrEnum):
    """What a run came to."""

    DONE = "done"  #: it ran to its end and changed something
    UNCHANGED = "unchanged"  #: it ran to its end, and everything was as it should be
    SKIPPED = "skipped"  #: it had run for this time already
    BUSY = "busy"  #: it, or a job that it excludes, is running elsewhere
    FAILED = "failed"  #: it will be tried again
    DEAD = "dead"  #: it has been tried often enough


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """One run of a job; `changes` has a line for each thing that is different now, or would be."""

    job: str
    status: JobStatus
    slot_at: datetime  #: when it was due
    until: datetime  #: the end of the stretch it took care of
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)
    diff: str = ""  #: of a dry run: what would change in the files
    cost: Cost = field(default_factory=Cost)
    code: str = ""  #: of what went wrong
    attempts: int = 1
    next_at: datetime | None = None  #: when it is tried again


class Deadline:
    """The end of the time that a run has; measured by a clock that no one sets back."""

    def __init__(self, job: str, seconds: float) -> None:
        self._job, self._seconds, self._end = job, seconds, monotonic() + seconds

    def left_s(self) -> float:
        """How long there is still; never negative."""
        return max(0.0, self._end - monotonic())

    def check(self) -> None:
        """Raises Unavailable (`job_timeout`) once the time is up."""
        if self.left_s() <= 0:
            raise Unavailable(
                f"{self._job} took longer than its {self._seconds:g} s and was stopped.",
                code="job_timeout",
                hint="It is tried again later.",
                retryable=True,
            )


@dataclass(slots=True, kw_only=True)
class Task:
    """One run of a job, as its work sees it.

    The stretch from `since` to `until` is what no successful run has taken care of yet. Files are read and
    written through `files` and in no other way. Work that loops calls `check` in each round.
    """

    store: Store
    now: datetime
    slot_at: datetime  #: when it was due; a summary of a day is about the day before this
    since: datetime
    until: datetime
    zone: ZoneInfo
    files: Desk
    writer: Budgeted | None
    deadline: Deadline
    agreed: bool = False  #: whether a person agreed to what needs their word
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)  #: what it counts, by name

    def check(self) -> None:
        """Stop here when the time is up."""
        self.deadline.check()

    @property
    def dry_run(self) -> bool:
        return self.files.dry_run

    @property
    def cost(self) -> Cost:
        return Cost() if self.writer is None else self.writer.cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that may wait: when, for how long at most, beside whom not, and what it may write.

    `work` gets a Task, does its work once and may do it again without harm; it adds to `task.changes` a line
    for each change that is not one of a file (those are added by themselves).
    """

    name: str
    summary: str
    work: Callable[[Task], Any]
    schedule: Schedule
    timeout_s: float
    excludes: tuple[str, ...] = ()
    may_write: tuple[str, ...] = ()
    may_not_read: tuple[str, ...] = ()
    writes_store: bool = False  #: then it cannot be tried without effect
    needs_files: bool = False  #: then it does not run on a store without a workspace

    @property
    def grant(self) -> Grant:
        return Grant(self.name, self.may_write, self.may_not_read)
