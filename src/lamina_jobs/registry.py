"""The one table of jobs: what each does, when, how long at most, beside whom not, and what it may write."""

from __future__ import annotations

from collections.abc import Mapping

from lamina_jobs.compound import compound
from lamina_jobs.job import Job
from lamina_jobs.schedule import parse_schedules

#: In the time zone of the settings; the setting `schedule` has the last word.
TIMES = parse_schedules(
    "micro-sync 10:00 13:00 16:00 19:00 22:00; daily-wrap-up 03:10; weekly-compound sun 04:30;"
    "consolidate 02:30; insights 05:10; decay every 6h; lifecycle every 6h; index every 5m"
)

_ALL: tuple[Job, ...] = (
    Job(
        name="weekly-compound",
        summary="Rewrites MEMORY.md: what is worth reading each time goes in, the rest to the archive.",
        work=compound,
        schedule=TIMES["weekly-compound"],
        timeout_s=600,
        excludes=("daily-wrap-up",),
        may_write=("MEMORY.md", "memory/archive/*.md"),
        needs_files=True,
    ),
)

#: Each file has one writer. `needs_files` is for jobs that make no sense without a workspace, `writes_store`
#: for those whose effect is in the store, which therefore have no dry run.
JOBS: Mapping[str, Job] = {job.name: job for job in _ALL}
