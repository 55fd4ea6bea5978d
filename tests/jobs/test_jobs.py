"""Jobs run alone, on time, once, on their own files; on every backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina.clock import monotonic
from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput, NotFound, Unavailable
from lamina.jobs.job import Job, JobStatus, Task
from lamina.jobs.registry import JOBS
from lamina.jobs.run import MOST_ATTEMPTS, Asked, due_jobs, list_jobs, run_job
from lamina.jobs.schedule import Schedule, parse_schedules
from lamina.jobs.writer import Asking
from lamina.storage.small_tables import Run, Runs
from lamina.testing import ScriptedWriter
from lamina.workspace.files import read_file, replace_file
from lamina.workspace.grant import matches
from tests.backends import Place

BY_CLOCK = Asked(scheduled=True)
DAILY = parse_schedules("x 03:00")["x"]


def a_job(work: Callable[[Task], object], schedule: Schedule = DAILY, **rest: object) -> dict[str, Job]:
    """A table with one job in it."""
    return {"x": Job(name="x", summary="", work=work, schedule=schedule, **{"timeout_s": 60, **rest})}  # type: ignore[arg-type]


def nothing(_: Task) -> None:
    """A job with nothing to do."""


def elsewhere(engine: Engine, name: str, jobs: Mapping[str, Job]) -> JobStatus:
    """What another worker is told that wants to run a job now."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run_job, engine, name, engine.now(), jobs=jobs).result().status


def note(task: Task) -> None:
    task.files.change("memory/x.md", lambda old: old or f"{task.until.isoformat()}\n".encode())


def test_a_job_runs_once_for_each_time_it_is_due(workspace: Place) -> None:
    engine, jobs = workspace.open(), a_job(note, may_write=("memory/*.md",))
    first = run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
    again = run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
    assert (first.status, first.changes) == (JobStatus.DONE, ("memory/x.md: made",))
    assert again.status is JobStatus.SKIPPED
    workspace.clock.advance(days=1)
    assert run_job(engine, "x", engine.now(), BY_CLOCK, jobs).status is JobStatus.UNCHANGED


def test_asked_for_by_a_person_it_runs_again_and_finds_nothing_to_do(workspace: Place) -> None:
    engine, jobs = workspace.open(), a_job(note, may_write=("memory/*.md",))
    found = [run_job(engine, "x", engine.now(), jobs=jobs).status for _ in range(2)]
    assert found == [JobStatus.DONE, JobStatus.UNCHANGED]


def test_missed_times_are_caught_up_by_one_run_that_covers_them_all(place: Place) -> None:
    stretches: list[tuple[datetime, datetime]] = []
    jobs = a_job(lambda task: stretches.append((task.since, task.until)))
    place.clock.at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    engine = place.open()
    assert due_jobs(engine, engine.now(), jobs) == []  # seen for the first time: it begins with its next time
    place.clock.advance(days=5)
    assert due_jobs(engine, engine.now(), jobs) == ["x"]
    run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
    assert stretches == [(datetime(2026, 5, 1, 3, tzinfo=UTC), datetime(2026, 5, 6, 3, tzinfo=UTC))]
    assert due_jobs(engine, engine.now(), jobs) == []


def test_of_two_workers_one_runs_the_job(place: Place) -> None:
    one, other = place.open(), place.open()
    seen: list[JobStatus] = []
    jobs = a_job(lambda _: seen.append(elsewhere(other, "x", a_job(nothing))))
    assert run_job(one, "x", one.now(), jobs=jobs).status is JobStatus.UNCHANGED
    assert seen == [JobStatus.BUSY]
    assert elsewhere(other, "x", a_job(nothing)) is JobStatus.UNCHANGED


def test_a_job_does_not_run_beside_one_that_it_excludes(workspace: Place) -> None:
    one, other = workspace.open(), workspace.open()
    seen: list[JobStatus] = []
    jobs = {
        **a_job(lambda _: seen.append(elsewhere(other, "y", jobs)), excludes=("y",)),
        "y": Job(name="y", summary="", work=nothing, schedule=DAILY, timeout_s=60, excludes=("x",)),
    }
    run_job(one, "x", one.now(), jobs=jobs)
    assert seen == [JobStatus.BUSY]
    assert elsewhere(other, "y", jobs) is JobStatus.UNCHANGED


def test_a_failing_job_is_tried_again_later_and_later_and_then_given_up(place: Place) -> None:
    def fails(task: Task) -> None:
        raise Unavailable("The moon is down.", code="moon_down")

    engine, jobs = place.open(), a_job(fails)
    place.clock.at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    due_jobs(engine, engine.now(), jobs)
    place.clock.at = datetime(2026, 5, 2, 3, tzinfo=UTC)
    waits = []
    for _ in range(MOST_ATTEMPTS):
        assert due_jobs(engine, engine.now(), jobs) == ["x"]
        report = run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
        assert due_jobs(engine, engine.now(), jobs) == []
        if report.next_at is not None:
            waits.append((report.next_at - engine.now()).total_seconds() / 60)
            place.clock.at = report.next_at
    assert (report.status, report.code, waits) == (JobStatus.DEAD, "moon_down", [1, 5, 30, 120])
    assert engine.status().dead_jobs == ("x",)
    assert list_jobs(engine, engine.now(), jobs)[0].problems == ("dead (moon_down) for 2026-05-02 03:00 UTC",)

    mended = a_job(nothing)
    place.clock.advance(days=1)
    assert due_jobs(engine, engine.now(), mended) == ["x"]
    assert run_job(engine, "x", engine.now(), BY_CLOCK, mended).status is JobStatus.UNCHANGED
    assert engine.status().dead_jobs == ()


def test_a_run_that_was_cut_off_counts_as_tried_and_is_taken_up(place: Place) -> None:
    class Cut(BaseException):
        """What a kill looks like from inside: nothing catches it."""

    def cut(task: Task) -> None:
        raise Cut

    engine, jobs = place.open(), a_job(cut, timeout_s=100)
    due_jobs(engine, engine.now(), jobs)
    place.clock.advance(days=1)
    with pytest.raises(Cut):
        run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
    assert due_jobs(engine, engine.now(), jobs) == []  # somebody may still be at it
    place.clock.advance(seconds=100)
    assert due_jobs(engine, engine.now(), jobs) == ["x"]
    assert run_job(engine, "x", engine.now(), BY_CLOCK, a_job(nothing)).attempts == 2


def test_a_job_past_its_time_stops_at_its_next_step_and_frees_its_lock(workspace: Place) -> None:
    def slow(task: Task) -> None:
        end = monotonic() + 0.05
        while monotonic() < end:
            pass
        note(task)

    engine = workspace.open()
    report = run_job(engine, "x", engine.now(), jobs=a_job(slow, timeout_s=0.05, may_write=("memory/*.md",)))
    assert (report.status, report.code) == (JobStatus.FAILED, "job_timeout")
    assert engine.root is not None
    assert not (engine.root / "memory/x.md").exists()
    jobs = a_job(note, may_write=("memory/*.md",))
    assert run_job(engine, "x", engine.now(), jobs=jobs).status is JobStatus.DONE


def test_a_dry_run_says_what_would_change_and_changes_nothing(workspace: Place) -> None:
    engine, jobs = workspace.open(), a_job(note, may_write=("memory/*.md",))
    before = workspace.tables()
    report = run_job(engine, "x", engine.now(), Asked(dry_run=True), jobs)
    assert "+++ b/memory/x.md" in report.diff
    assert workspace.tables() == before
    assert engine.root is not None
    assert not (engine.root / "memory/x.md").exists()


def cheat_with_the_desk(task: Task) -> None:
    task.files.change("MEMORY.md", lambda _: b"mine\n")


def cheat_behind_its_back(task: Task) -> None:
    assert task.store.root is not None
    replace_file(task.store.root, "MEMORY.md", b"mine\n", None)


def cheat_as_another_job(task: Task) -> None:
    run_job(task.store, "x", task.now, jobs=a_job(cheat_behind_its_back, may_write=("MEMORY.md",)))


@pytest.mark.parametrize(
    ("cheat", "code"),
    [
        (cheat_with_the_desk, "not_your_file"),
        (cheat_behind_its_back, "not_your_file"),
        (cheat_as_another_job, "job_within_job"),
    ],
)
def test_a_job_that_writes_a_file_of_another_is_refused(
    workspace: Place, cheat: Callable[[Task], None], code: str
) -> None:
    engine = workspace.open()
    report = run_job(engine, "x", engine.now(), jobs=a_job(cheat, may_write=("memory/####-##-##.md",)))
    assert (report.status, report.code) == (JobStatus.FAILED, code)
    assert engine.root is not None
    assert not (engine.root / "MEMORY.md").exists()


#: The document's prohibitions (2.1 and 3.4): what each job must not write, whatever its code says.
FORBIDDEN = [
    ("micro-sync", "MEMORY.md"),
    ("micro-sync", "second-brain/summaries/2026-01-01-wrapup.md"),
    ("micro-sync", "memory/archive/weekly-2026-01.md"),
    ("daily-wrap-up", "MEMORY.md"),
    ("daily-wrap-up", "memory/2026-01-01.md"),
    ("weekly-compound", "memory/2026-01-01.md"),
    ("weekly-compound", "second-brain/summaries/2026-01-01-wrapup.md"),
    ("weekly-compound", "lamina.toml"),
    ("index", "MEMORY.md"),
    ("insights", "MEMORY.md"),
    ("lifecycle", "memory/2026-01-01.md"),
]


@pytest.mark.parametrize(("name", "file"), FORBIDDEN)
def test_no_job_of_ours_can_write_what_the_document_forbids_it(tmp_path: Path, name: str, file: str) -> None:
    def cheat(task: Task) -> None:
        assert task.store.root is not None
        replace_file(task.store.root, file, b"mine\n", read_file(task.store.root, file))

    with lamina.open(tmp_path / "w") as engine:
        report = run_job(engine, name, engine.now(), jobs={name: replace(JOBS[name], work=cheat)})
    assert (report.status, report.code) == (JobStatus.FAILED, "not_your_file")


def test_only_the_weekly_compound_may_write_the_entry_point() -> None:
    assert [one.name for one in JOBS.values() if matches("MEMORY.md", one.may_write)] == ["weekly-compound"]


def test_micro_sync_cannot_even_read_the_entry_point(tmp_path: Path) -> None:
    peek = replace(JOBS["micro-sync"], work=lambda task: task.files.read("MEMORY.md"))
    with lamina.open(tmp_path / "w") as engine:
        report = run_job(engine, "micro-sync", engine.now(), jobs={"micro-sync": peek})
    assert report.code == "not_your_file"


def test_expiry_comes_round_every_six_hours(workspace: Place) -> None:
    engine, clock = workspace.open(), workspace.clock
    jobs = {"lifecycle": JOBS["lifecycle"]}
    engine.scope().layers.episodes.record("Moved the shop")
    run_job(engine, "lifecycle", engine.now())
    clock.advance(hours=6)
    assert due_jobs(engine, engine.now(), jobs) == ["lifecycle"]
    clock.advance(days=90)
    assert run_job(engine, "lifecycle", engine.now()).changes == ("1 episodes reduced to a line",)
    assert due_jobs(engine, engine.now(), jobs) == []


def test_a_clock_that_stood_ahead_puts_no_job_off(workspace: Place) -> None:
    engine, clock = workspace.open(), workspace.clock
    jobs = {"lifecycle": JOBS["lifecycle"]}
    run_job(engine, "lifecycle", engine.now())
    clock.advance(days=3650)
    run_job(engine, "lifecycle", engine.now(), Asked(scheduled=True))
    clock.advance(days=-3650, hours=6)
    for _ in range(2):
        assert due_jobs(engine, engine.now(), jobs) == ["lifecycle"]
        assert list_jobs(engine, engine.now(), jobs)[0].last_at == clock.now() - timedelta(hours=6)
        run_job(engine, "lifecycle", engine.now(), Asked(scheduled=True))
        assert due_jobs(engine, engine.now(), jobs) == []
        clock.advance(hours=6)


def test_no_job_rewrites_what_nobody_changed(workspace: Place) -> None:
    """P-1: the decay of 300,000 memories was rewritten under the writer's lock. No job touches their rows."""
    engine, clock = workspace.open(), workspace.clock
    for number in range(12):
        engine.scope().remember(f"Ana owns bicycle number {number}")
    before = workspace.tables()["memory"]
    clock.advance(days=40)
    for name in JOBS:
        assert run_job(engine, name, engine.now()).status in (JobStatus.DONE, JobStatus.UNCHANGED)
    engine.indexed()
    workspace.open()
    assert workspace.tables()["memory"] == before


def test_a_job_of_an_earlier_version_is_no_trouble(workspace: Place) -> None:
    """A setting may still name `decay`, and an old store may hold a dead letter of it."""
    engine = workspace.open(schedule="decay off; index every 10m")
    at = engine.now()
    dead = Run(job="decay", slot_at=at, until=at, state="dead", attempts=5, started_at=at, report={})
    engine.database.write(lambda tx: Runs(tx).put(dead))
    assert "decay" not in [line.job for line in list_jobs(engine, at)]
    assert engine.status().dead_jobs == ()
    with pytest.raises(NotFound) as unknown:
        run_job(engine, "decay", at)
    assert unknown.value.code == "job_unknown"


def test_a_search_writes_no_file(workspace: Place) -> None:
    engine = workspace.open()
    assert engine.root is not None
    replace_file(engine.root, "memory/2026-01-01.md", "# บันทึก\n\nเราใช้ LanceDB 作為向量庫\n".encode(), None)
    engine.scope().recall("LanceDB")
    files = {path: path.read_bytes() for path in engine.root.rglob("*.md") if path.is_file()}
    for question in ("LanceDB", "向量庫", "บันทึก"):
        engine.scope().recall(question)
    assert {path: path.read_bytes() for path in engine.root.rglob("*.md") if path.is_file()} == files


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md", "Memory.MD"])
def test_a_job_that_must_not_know_a_file_cannot_read_it(workspace: Place, name: str) -> None:
    engine = workspace.open()
    seen: list[str] = []

    def peek(task: Task) -> None:
        for read in (task.files.read, lambda one: read_file(task.store.root or Path(), one)):
            with pytest.raises(Denied) as caught:
                read(name)
            seen.append(caught.value.code)

    run_job(engine, "x", engine.now(), jobs=a_job(peek, may_not_read=("MEMORY.md",)))
    assert seen == ["not_your_file"] * 2


def test_what_cannot_be_run_is_said(engine: Engine) -> None:
    with pytest.raises(NotFound) as unknown:
        run_job(engine, "nonsense", engine.now())
    assert unknown.value.code == "job_unknown"
    with pytest.raises(InvalidInput) as untried:
        run_job(engine, "x", engine.now(), Asked(dry_run=True), a_job(nothing, writes_store=True))
    assert untried.value.code == "no_dry_run"
    if engine.root is None:
        with pytest.raises(InvalidInput) as rootless:
            run_job(engine, "x", engine.now(), jobs=a_job(note, needs_files=True))
        assert rootless.value.code == "job_needs_workspace"


def test_the_rows_of_a_job_that_runs_often_do_not_pile_up(place: Place) -> None:
    engine, jobs = place.open(), a_job(nothing, Schedule(every_s=300))
    for _ in range(130):
        place.clock.at += timedelta(seconds=300)
        run_job(engine, "x", engine.now(), BY_CLOCK, jobs)
    assert len(place.tables()["job_run"]) == 100


def test_what_a_day_may_cost_is_counted_over_restarts_and_is_free_again_tomorrow(place: Place) -> None:
    asking = Asking(prompt="summary-2", material="", schema={"type": "boolean"})
    jobs = a_job(lambda task: task.writer and task.writer.write(asking))

    def codes(engine: Engine, times: int) -> list[str]:
        asked = Asked(writer=ScriptedWriter([True] * times))
        return [run_job(engine, "x", engine.now(), asked, jobs).code for _ in range(times)]

    first = codes(place.open(writer_daily_calls=3), 2)
    place.close()
    engine = place.open(writer_daily_calls=3)
    assert first + codes(engine, 2) == ["", "", "", "writer_day_limit"]
    place.clock.advance(days=1)
    assert codes(engine, 1) == [""]
    assert codes(place.open(writer_daily_tokens=1), 1) == ["writer_day_limit"]
