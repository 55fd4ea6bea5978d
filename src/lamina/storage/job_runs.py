"""The runs of jobs as rows: what was due, what became of it, and what is tried again."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from lamina.model import canonical
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import from_micros, micros, moment, to_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One time that a job was due."""

    job: str
    slot_at: datetime
    until: datetime
    state: str  #: seen, running, done, failed, dead, settled
    attempts: int
    started_at: datetime
    ended_at: datetime | None = None
    next_at: datetime | None = None
    code: str = ""
    report: dict[str, Any]


class Runs:
    """The runs of one tenant's jobs inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def at(self, job: str, slot_at: datetime) -> Run | None:
        return self._tx.only(_run, "job_run_at", job=job, slot_at=micros(slot_at))

    def newest(self, now: datetime) -> dict[str, Run]:
        """The last time that each job was due."""
        return {run.job: run for run in self._tx.each(_run, "newest_job_runs", now=micros(now))}

    def covered_until(self, job: str) -> datetime | None:
        """Up to where successful runs have done their work."""
        row = self._tx.one("covered_until", job=job)
        return None if row is None else from_micros(row[0])

    def dead(self) -> list[Run]:
        """Those that were tried often enough."""
        return self._tx.each(_run, "dead_jobs")

    def put(self, run: Run) -> None:
        self._tx.run(
            "put_job_run",
            job=run.job,
            slot_at=micros(run.slot_at),
            until_at=micros(run.until),
            state=run.state,
            attempts=run.attempts,
            started_at=micros(run.started_at),
            ended_at=to_micros(run.ended_at),
            next_at=to_micros(run.next_at),
            code=run.code,
            report=canonical(run.report),
        )

    def succeeded(self, run: Run) -> None:
        """Keep a success; it makes up for the failures before it."""
        self.put(run)
        self._tx.run("settle_job_runs", job=run.job, slot_at=micros(run.slot_at))
        self._tx.run("drop_old_job_runs", job=run.job)


def _run(row: Row) -> Run:
    job, slot_at, until_at, state, attempts, started_at, ended_at, next_at, code, report = row
    return Run(
        job=job,
        slot_at=moment(slot_at),
        until=moment(until_at),
        state=state,
        attempts=attempts,
        started_at=moment(started_at),
        ended_at=from_micros(ended_at),
        next_at=from_micros(next_at),
        code=code,
        report=json.loads(report),
    )
