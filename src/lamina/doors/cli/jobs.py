"""The commands for work that may wait: job list, job run, job start."""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.exits import Failure
from lamina.doors.cli.output import Output

if TYPE_CHECKING:
    from lamina.jobs.job import JobReport
    from lamina.jobs.run import JobLine

commands = Commands()

job = commands.group("job", "Work that may wait: list it, run one, run all when due.")


@job.command("list")
def list_jobs(ctx: typer.Context) -> int:
    """Every job: when it is due, and what became of it last time."""
    call = call_of(ctx)
    with call.engine() as engine:
        lines = call.doors.list_jobs(engine, engine.now())
    return call.answer({"jobs": lines}, _listed(call.out, lines))


def _listed(out: Output, lines: Sequence[JobLine]) -> Iterator[str]:
    rows = [
        (
            line.job,
            line.state,
            "" if line.next_at is None else f"next {line.next_at:%Y-%m-%d %H:%M} UTC",
            line.summary,
        )
        for line in lines
    ]
    yield from out.table([[out.text(cell) for cell in row] for row in rows])
    for line in lines:
        for problem in line.problems:
            yield f"{out.style(line.job, 'yellow')}: {out.text(problem)}"


@job.command("run")
def run_job(
    ctx: typer.Context,
    name: Annotated[str, Argument(metavar="NAME", help="Which job; `lamina job list` has their names.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would change; change nothing.")] = False,
    yes: Annotated[bool, Option("--yes", help="Agree to what the job would otherwise leave to you.")] = False,
    scheduled: Annotated[
        bool, Option("--scheduled", help="Only if there was no success for its last time yet.")
    ] = False,
) -> int:
    """Run a job now."""
    call = call_of(ctx)
    with call.engine() as engine, _stopped_hard_after(call.doors.job_time(engine, name)):
        report = call.doors.run_job(engine, name, scheduled=scheduled, dry_run=dry_run, agreed=yes)
    return call.answer(report, _told(call.out, report, dry_run), _failure(report))


@contextmanager
def _stopped_hard_after(seconds: float) -> Iterator[None]:
    """A run that does not stop itself in time is ended by a watchdog that needs nothing of Python to work.

    It may hang in a place where no exception reaches it; with the process its locks are free.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        os.close(nowhere)


def _told(out: Output, report: JobReport, dry_run: bool) -> Iterator[str]:
    yield f"{report.job}: {report.status}" + (", if this were no dry run" if dry_run else "")
    for line in (*report.changes, *report.notes):
        yield f"  {out.text(line)}"
    if report.diff:
        yield from (out.text(line) for line in report.diff.split("\n"))


def _failure(report: JobReport) -> Failure | None:
    if report.status.value not in ("failed", "dead"):
        return None
    return Failure(code=report.code, message=report.notes[-1], hint="`lamina job list` says what comes next.")


@job.command()
def start(ctx: typer.Context) -> int:
    """Run every job when it is due, until interrupted; a missed one is caught up once."""
    call = call_of(ctx)
    with call.engine() as engine:
        clockwork = call.doors.clockwork(engine, call.out.note)
        ends = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, lambda *_: clockwork.over.set()) for one in ends}
        try:
            call.out.note("Jobs run when they are due. Stop with Ctrl+C.")
            clockwork.run()
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
    return call.answer({"stopped": True}, ["The jobs have stopped."])
