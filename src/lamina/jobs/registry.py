"""The one table of jobs: what each does, when, how long at most, beside whom not, and what it may write."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.jobs import micro_sync, wrap_up
from lamina.jobs.compound import compound
from lamina.jobs.consolidate import consolidation
from lamina.jobs.insights import insights
from lamina.jobs.job import Job, Task
from lamina.jobs.schedule import parse_schedules
from lamina.lifecycle.consent import lapse_guesses
from lamina.lifecycle.fading import after_indexing, expire_episodes, soften
from lamina.lifecycle.purge import purge_due

#: In the time zone of the settings; the setting `schedule` has the last word.
TIMES = parse_schedules(
    "micro-sync 10:00 13:00 16:00 19:00 22:00; daily-wrap-up 03:10; weekly-compound sun 04:30;"
    "lifecycle every 6h; index every 5m; consolidate 03:40; insights every 6h"
)


def _lifecycle(task: Task) -> None:
    if count := expire_episodes(task.store):
        task.changes.append(f"{count} episodes reduced to a line")
    if count := lapse_guesses(task.store):
        task.changes.append(f"{count} guesses that nobody decided")
    if count := soften(task.store, task.check):
        task.changes.append(f"{count} unused memories put aside")
    if count := purge_due(task.store, task.check):
        task.changes.append(f"{count} memories purged")


def _index(task: Task) -> None:
    if (library := task.store.library) is not None:
        before = library.status().dirty
        library.index(task.now)
        after_indexing(task.store)
        task.changes += [f"{before} files indexed"] if before else []


_ALL: tuple[Job, ...] = (
    Job(
        name="micro-sync",
        summary="Keep what was decided, as entries in memory/YYYY-MM-DD.md.",
        work=micro_sync.micro_sync,
        schedule=TIMES["micro-sync"],
        timeout_s=300,
        needs_files=True,
        may_write=micro_sync.MAY_WRITE,
        may_not_read=("MEMORY.md",),
    ),
    Job(
        name="daily-wrap-up",
        summary="Sum up the day that is over in second-brain/summaries.",
        work=wrap_up.daily_wrap_up,
        schedule=TIMES["daily-wrap-up"],
        timeout_s=600,
        needs_files=True,
        excludes=("weekly-compound",),
        may_write=wrap_up.MAY_WRITE,
    ),
    Job(
        name="weekly-compound",
        summary="Rewrite MEMORY.md: what is worth reading each time.",
        work=compound,
        schedule=TIMES["weekly-compound"],
        timeout_s=600,
        needs_files=True,
        excludes=("daily-wrap-up",),
        may_write=("MEMORY.md", "memory/archive/*.md"),
    ),
    Job(
        name="lifecycle",
        summary="Put aside what nobody uses, and purge what is due.",
        work=_lifecycle,
        schedule=TIMES["lifecycle"],
        timeout_s=600,
        writes_store=True,
    ),
    Job(
        name="index",
        summary="Index the files that changed.",
        work=_index,
        schedule=TIMES["index"],
        timeout_s=240,
        writes_store=True,
        needs_files=True,
        excludes=("weekly-compound",),
    ),
    Job(
        name="consolidate",
        summary="Make one memory of those that say the same, within a day's limits.",
        work=consolidation,
        schedule=TIMES["consolidate"],
        timeout_s=600,
        writes_store=True,
    ),
    Job(
        name="insights",
        summary="Make out, with a language model, how a person works; once a day each.",
        work=insights,
        schedule=TIMES["insights"],
        timeout_s=300,
        writes_store=True,
    ),
)

#: Each file has one writer. `needs_files` is for jobs that make no sense without a workspace, `writes_store`
#: for those whose effect is in the store, which therefore have no dry run.
JOBS: Mapping[str, Job] = {job.name: job for job in _ALL}

#: Jobs of earlier versions that nothing needs any more; a setting may still give them a time.
GONE = frozenset({"decay"})
