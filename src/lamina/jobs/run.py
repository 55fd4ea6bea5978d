"""Runs one job: alone, on time, on its own files, and with a row that says what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from lamina.errors import InvalidInput, LaminaError, NotFound, Unavailable
from lamina.jobs.desk import Desk
from lamina.jobs.job import Deadline, Job, JobReport, JobStatus, Task
from lamina.jobs.purse import DayPurse
from lamina.jobs.registry import GONE, JOBS
from lamina.jobs.schedule import Schedule, parse_schedules, zone_of
from lamina.jobs.writer import Budgeted, Writer
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Run, Runs
from lamina.workspace.grant import granted
from lamina.workspace.locks import JOB_LOCK_DIR, locked
from lamina.write.store import Store

#: How long to wait after each failure; after the last one the run is a dead letter.
BACK_OFF = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120))
MOST_ATTEMPTS = len(BACK_OFF) + 1
_ELSEWHERE = ("file_locked", "job_running")
_STRETCH = timedelta(days=1)  #: what a job takes care of that has no schedule, or was never run

Jobs = Mapping[str, Job]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a run was asked for."""

    scheduled: bool = False  #: by the clock: what was done for its time is not done again
    dry_run: bool = False  #: say what would change, and change nothing
    agreed: bool = False  #: a person agrees to what needs their word
    writer: Writer | None = None


@dataclass(frozen=True, slots=True)
class _Slot:
    """The time a run is for, and the stretch that it takes care of."""

    at: datetime
    since: datetime
    until: datetime


def run_job(
    store: Store, name: str, now: datetime, asked: Asked | None = None, jobs: Jobs = JOBS
) -> JobReport:
    """Run a job once, if nobody else is running it or one that it excludes.

    A scheduled run does nothing when there was a success for its time; any other does its work again, which
    changes nothing when nothing is left to do. What goes wrong in the work is in the report, and is tried
    again later. Raises NotFound for an unknown job and InvalidInput for a job that cannot be run this way.
    """
    asked = asked or Asked()
    job = job_named(store, name, jobs)
    if asked.dry_run and job.writes_store:
        message = f"{name} works on the store, so there is no trying it without effect."
        raise InvalidInput(message, code="no_dry_run")
    if job.needs_files and store.root is None:
        raise InvalidInput(
            f"{name} works on files, and there is no workspace.",
            code="job_needs_workspace",
            hint="Name one with --workspace.",
        )
    slot = _slot(store, job, now, asked)
    try:
        with granted(job.grant), _alone(store, job) as still_alone:
            return _run_alone(store, job, slot, now, asked, still_alone)
    except Unavailable as error:
        if error.code not in _ELSEWHERE:
            raise
        return JobReport(
            job=name, status=JobStatus.BUSY, slot_at=slot.at, until=slot.until, notes=(error.message,)
        )


def job_named(store: Store, name: str, jobs: Jobs = JOBS) -> Job:
    """The job of that name with the schedule that the settings give it."""
    if name not in jobs:
        raise NotFound(f"There is no job {name!r:.60}.", code="job_unknown", hint=f"Jobs: {', '.join(jobs)}.")
    return replace(jobs[name], schedule=schedules(store, jobs)[name])


def schedules(store: Store, jobs: Jobs = JOBS) -> dict[str, Schedule]:
    """When each job is due: as the settings say, else as the job does; ConfigError for a job that is none."""
    given = parse_schedules(store.config.schedule)
    if unknown := sorted(given.keys() - jobs.keys() - GONE):
        raise NotFound(
            f"The setting `schedule` names {unknown[0]!r:.60}, which is not a job.",
            code="job_unknown",
            hint=f"Jobs: {', '.join(jobs)}.",
        )
    return {name: given.get(name, job.schedule) for name, job in jobs.items()}


def due_jobs(store: Store, now: datetime, jobs: Jobs = JOBS) -> list[str]:
    """The jobs that should run now. One that was never seen begins with its next time, not with the last."""
    zone = zone_of(store.config.timezone)
    slots = {name: schedule.last(now, zone) for name, schedule in schedules(store, jobs).items()}
    newest = store.database.read(lambda tx: Runs(tx).newest(now))
    fresh = {name: at for name, at in slots.items() if at is not None and name not in newest}
    if fresh:
        store.database.write(lambda tx: _seen(tx, fresh))
    runnable = (name for name in jobs if store.root is not None or not jobs[name].needs_files)
    return [
        name
        for name in runnable
        if (at := slots[name]) is not None
        and name in newest
        and _is_due(newest[name], at, now, timedelta(seconds=jobs[name].timeout_s))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """A job as a list of jobs shows it."""

    job: str
    summary: str
    state: str  #: of its newest run; `waiting` when there is none
    last_at: datetime | None
    next_at: datetime | None  #: when it is due or tried again
    problems: tuple[str, ...]  #: why its newest run failed, and its dead letters
    cost: Mapping[str, Any]


def list_jobs(store: Store, now: datetime, jobs: Jobs = JOBS) -> list[JobLine]:
    """Every job with its newest run, in the order of the table."""
    zone = zone_of(store.config.timezone)
    newest, dead = store.database.read(lambda tx: (Runs(tx).newest(now), Runs(tx).dead()))
    lines = []
    for name, schedule in schedules(store, jobs).items():
        run = newest.get(name)
        retried = run.next_at if run is not None and run.state == "failed" else None
        bad = [one for one in dead if one.job == name]
        bad += [run] if retried and run is not None else []
        lines.append(
            JobLine(
                job=name,
                summary=jobs[name].summary,
                state="waiting" if run is None or run.state == "seen" else run.state,
                last_at=None if run is None else run.ended_at,
                next_at=retried or schedule.next(now, zone),
                problems=tuple(map(_problem, bad)),
                cost={} if run is None else run.report.get("cost", {}),
            )
        )
    return lines


def _problem(run: Run) -> str:
    return f"{run.state} ({run.code}) for {run.slot_at:%Y-%m-%d %H:%M} UTC"


def _seen(transaction: Transaction, fresh: Mapping[str, datetime]) -> None:
    for name, at in fresh.items():
        Runs(transaction).put(
            Run(job=name, slot_at=at, until=at, state="seen", attempts=0, started_at=at, report={})
        )


def _is_due(newest: Run, slot: datetime, now: datetime, timeout: timedelta) -> bool:
    if newest.state == "running":
        return newest.started_at + timeout <= now  # its runner is gone, or another would be in its way
    if newest.state == "failed":
        return newest.next_at is not None and newest.next_at <= now
    return newest.slot_at < slot


def _slot(store: Store, job: Job, now: datetime, asked: Asked) -> _Slot:
    zone = zone_of(store.config.timezone)
    last = job.schedule.last(now, zone)
    before = None if last is None else job.schedule.last(last - timedelta(microseconds=1), zone)
    at, since = last or now, before or now - _STRETCH
    covered = store.database.read(lambda tx: Runs(tx).covered_until(job.name))
    # The first run of all looks back a whole day: nobody took care of the morning.
    return _Slot(at, min(since, covered or now - _STRETCH), at if asked.scheduled else now)


@contextmanager
def _alone(store: Store, job: Job) -> Iterator[Callable[[], bool]]:
    """Its own lock and those of the jobs it excludes, in one order for all, in workspace and store."""
    with ExitStack() as held:
        asks = []
        for name in sorted({job.name, *job.excludes}):
            if store.root is not None:
                held.enter_context(locked(store.root, name, 0, JOB_LOCK_DIR))
            asks.append(held.enter_context(store.database.alone(name)))
        yield lambda: all(ask() for ask in asks)


def _run_alone(
    store: Store, job: Job, slot: _Slot, now: datetime, asked: Asked, still_alone: Callable[[], bool]
) -> JobReport:
    task = _task(store, job, slot, now, asked, still_alone)
    if asked.dry_run:
        job.work(task)
        return replace(_report(job, slot, task), diff=task.files.diff())
    same = store.database.read(lambda tx: Runs(tx).at(job.name, slot.at))
    newest = store.database.read(lambda tx: Runs(tx).newest(now).get(job.name))
    if asked.scheduled and same is not None and same.state in ("done", "settled"):
        return JobReport(job=job.name, status=JobStatus.SKIPPED, slot_at=slot.at, until=slot.until)
    failures = newest.attempts if newest is not None and newest.state in ("running", "failed") else 0
    run = Run(
        job=job.name,
        slot_at=slot.at,
        until=slot.until,
        state="running",
        attempts=failures + 1,
        started_at=now,
        report={},
    )
    if asked.scheduled and failures >= MOST_ATTEMPTS:  # the last attempt was cut off
        return _failed(store, replace(run, attempts=failures), job, "job_stopped", "It was cut off.", task)
    store.database.write(lambda tx: Runs(tx).put(run))
    try:
        job.work(task)
        report = replace(_report(job, slot, task), attempts=run.attempts)
    except LaminaError as error:
        return _failed(store, run, job, error.code, str(error), task)
    except Exception as error:  # noqa: BLE001 whatever a job meets, its row says so and the others run on
        return _failed(store, run, job, "unexpected", f"Something unexpected: {type(error).__name__}.", task)
    done = replace(run, state="done", ended_at=store.now(), report=_plain(report))
    store.database.write(lambda tx: Runs(tx).succeeded(done))
    return report


def _task(
    store: Store, job: Job, slot: _Slot, now: datetime, asked: Asked, still_alone: Callable[[], bool]
) -> Task:
    deadline = Deadline(job.name, job.timeout_s)

    def check() -> None:
        deadline.check()
        if not still_alone():
            raise Unavailable(
                f"{job.name} lost its lock; it writes nothing more.", code="job_lock_lost", retryable=True
            )

    return Task(
        store=store,
        now=now,
        slot_at=slot.at,
        since=slot.since,
        until=slot.until,
        zone=zone_of(store.config.timezone),
        files=Desk(store.root, check, dry_run=asked.dry_run, wait_s=store.config.lock_timeout_s),
        writer=None if asked.writer is None else Budgeted(asked.writer, purse=DayPurse(store)),
        deadline=deadline,
        agreed=asked.agreed,
    )


def _report(job: Job, slot: _Slot, task: Task) -> JobReport:
    changes = (*task.files.changes, *task.changes)
    return JobReport(
        job=job.name,
        status=JobStatus.DONE if changes else JobStatus.UNCHANGED,
        slot_at=slot.at,
        until=slot.until,
        changes=changes,
        notes=tuple(task.notes),
        figures=task.figures,
        cost=task.cost,
    )


def _failed(store: Store, run: Run, job: Job, code: str, why: str, task: Task) -> JobReport:
    is_dead = run.attempts >= MOST_ATTEMPTS
    ended_at = store.now()
    report = JobReport(
        job=job.name,
        status=JobStatus.DEAD if is_dead else JobStatus.FAILED,
        slot_at=run.slot_at,
        until=run.until,
        changes=(*task.files.changes, *task.changes),
        notes=(*task.notes, why),
        figures=task.figures,
        cost=task.cost,
        code=code,
        attempts=run.attempts,
        next_at=None if is_dead else ended_at + BACK_OFF[run.attempts - 1],
    )
    ended = replace(run, state=report.status.value, ended_at=ended_at, next_at=report.next_at)
    kept = replace(ended, code=code, report=_plain(report))
    store.database.write(lambda tx: Runs(tx).put(kept))
    return report


def _plain(report: JobReport) -> dict[str, Any]:
    """What a row keeps of a report: the counts of what changed, not what it says."""
    count = len(report.changes)
    return {
        "status": report.status.value,
        "changes": count,
        "cost": report.cost,
        "notes": report.notes,
        "figures": report.figures,
    }
