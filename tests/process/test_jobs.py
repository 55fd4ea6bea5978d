"""Jobs as processes: whoever holds a job may be killed at any time, and nothing is lost, doubled or stuck."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.clock import monotonic
from lamina.jobs.job import JobStatus
from lamina.jobs.registry import JOBS
from lamina.jobs.run import run_job
from lamina.testing import ManualClock
from lamina.text.decision_entries import Decision, DecisionFile, decision_id
from lamina.text.memory_page import MemoryPage
from lamina.workspace.locks import JOB_LOCK_DIR, locked

SUNDAY = datetime(2026, 3, 15, 12, tzinfo=UTC)
NOW = ("--now", SUNDAY.isoformat())

HOLDER = """
import sys
from pathlib import Path
from lamina.workspace.locks import JOB_LOCK_DIR, locked
with locked(Path(sys.argv[1]), "weekly-compound", 0, JOB_LOCK_DIR):
    print("in", flush=True)
    sys.stdin.read()
"""

#: Runs the compound and dies, as if by kill -9, at the nth call that touches a file, a lock or the store.
DYING = """
import os, sys
count, last = 0, int(sys.argv[2])
def hook(event, args):
    global count
    if event in ("open", "os.rename", "os.mkdir", "os.remove", "fcntl.flock", "os.truncate"):
        count += 1
        if count >= last and armed:
            os.kill(os.getpid(), 9)
armed = False
import lamina
from datetime import datetime
from lamina.clock import FixedClock
from lamina.jobs.run import run_job
with lamina.open(sys.argv[1], clock=FixedClock(datetime.fromisoformat(sys.argv[3]))) as engine:
    sys.addaudithook(hook)
    armed, count = True, 0
    run_job(engine, "weekly-compound", engine.now())
    armed = False
print(count)
"""


def cli(root: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "lamina", "--json", "-w", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def a_workspace(root: Path, count: int) -> None:
    """A workspace with so many decisions, of which the second half overrules the first."""
    with lamina.open(root, owner="ana"):
        pass
    file = DecisionFile.parse(b"")
    for n in range(count):
        words = f"Team {n % (count // 2)} deploys with tool number {'one' if n < count // 2 else 'two'}"
        at = f"2026-03-{10 + 2 * n // count:02}T10:00:00+00:00"
        file = file.add(
            Decision(
                id=decision_id(datetime.fromisoformat(at).date(), words),
                title=words,
                date=at,
                session_id="s",
                session_path="s.jsonl",
                message_range="1-1",
                conclusion=f"{words}.",
                why="w",
                finding="f",
                impact="i",
                confidence=0.9,
            )
        )
    (root / "memory").mkdir()
    (root / "memory/2026-03-11.md").write_bytes(file.to_bytes())
    (root / "MEMORY.md").write_bytes(b"# Mine\n\nmy own words\n")


def files(root: Path) -> dict[str, bytes]:
    found = [one for one in sorted(root.rglob("*.md")) if ".lamina" not in one.parts]
    return {str(one.relative_to(root)): one.read_bytes() for one in found}


def die(root: Path, at: int) -> int:
    """Run the compound until it dies at its nth step; its exit code."""
    command = [sys.executable, "-c", DYING, str(root), str(at), SUNDAY.isoformat()]
    return subprocess.run(command, capture_output=True, timeout=120, check=False).returncode


def killed_everywhere(tmp_path: Path, steps: list[int]) -> int:
    """Kill a run at each of these steps, in a workspace of its own; how many of the runs were killed."""
    a_workspace(tmp_path / "whole", 8)
    assert die(tmp_path / "whole", 1 << 30) == 0
    expected, kills = files(tmp_path / "whole"), 0
    for step in steps:
        root = tmp_path / f"at{step}"
        a_workspace(root, 8)
        kills += die(root, step) == -signal.SIGKILL
        with lamina.open(root, clock=ManualClock(SUNDAY)) as engine:
            assert run_job(engine, "weekly-compound", engine.now()).status in ("done", "unchanged")
            assert run_job(engine, "weekly-compound", engine.now()).status is JobStatus.UNCHANGED
            assert engine.status().dead_jobs == ()
        assert files(root) == expected
    return kills


def test_a_compound_killed_at_any_step_is_completed_by_the_next_run(tmp_path: Path) -> None:
    assert killed_everywhere(tmp_path, [5, 30, 55, 70, 85]) >= 3  # of about a hundred steps


@pytest.mark.slow
def test_a_compound_killed_at_fifty_steps_is_completed_by_the_next_run(tmp_path: Path) -> None:
    assert killed_everywhere(tmp_path, list(range(1, 100, 2))) >= 40


def killed_holders(root: Path, count: int) -> float:
    """Kill the holder of a job's lock so often; the longest time until the lock was free."""
    longest = 0.0
    for _ in range(count):
        command = [sys.executable, "-c", HOLDER, str(root)]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        with pytest.raises(lamina.Unavailable), locked(root, "weekly-compound", 0, JOB_LOCK_DIR):
            pass
        start = monotonic()
        holder.kill()
        with locked(root, "weekly-compound", 5, JOB_LOCK_DIR):
            longest = max(longest, monotonic() - start)
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    return longest


def test_the_lock_of_a_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    assert killed_holders(tmp_path, 5) < 5


@pytest.mark.slow
def test_two_hundred_killed_holders_leave_no_lock_behind(tmp_path: Path) -> None:
    assert killed_holders(tmp_path, 200) < 5


def test_every_job_run_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    a_workspace(tmp_path / "w", 8)
    clock = ManualClock(SUNDAY)
    with lamina.open(tmp_path / "w", clock=clock) as engine:
        engine.scope(session="a").hear("We decided to use LanceDB for the vector store from now on.")
        clock.advance(hours=1)
        for name in (*JOBS, *JOBS):  # one job's output is another's input: the second round is settled
            assert run_job(engine, name, engine.now()).status in ("done", "unchanged")
        before = files(tmp_path / "w")
        found = {name: run_job(engine, name, engine.now()) for name in JOBS}
    assert {name: one.status for name, one in found.items()} == dict.fromkeys(JOBS, JobStatus.UNCHANGED)
    assert files(tmp_path / "w") == before


def test_the_command_line_lists_tries_and_runs_jobs(tmp_path: Path) -> None:
    a_workspace(tmp_path / "w", 4)
    listed = cli(tmp_path / "w", *NOW, "job", "list")["data"]["jobs"]
    assert [one["job"] for one in listed] == list(JOBS)
    tried = cli(tmp_path / "w", *NOW, "job", "run", "weekly-compound", "--dry-run")
    assert "+++ b/MEMORY.md" in tried["data"]["diff"]
    done = cli(tmp_path / "w", *NOW, "job", "run", "weekly-compound")
    assert done["data"]["status"] == "done"
    assert len(MemoryPage.parse((tmp_path / "w/MEMORY.md").read_bytes()).items) == 2
    again = cli(tmp_path / "w", *NOW, "job", "run", "weekly-compound", "--scheduled")
    assert again["data"]["status"] == "skipped"


@pytest.mark.parametrize("verb", [["job", "start"], ["serve"]], ids=["job start", "serve"])
def test_what_is_due_is_run_until_it_is_told_to_end(tmp_path: Path, verb: list[str]) -> None:
    """L-6: `serve` does it without being asked to, so that a `next_at` that it shows does not pass unrun."""
    root = tmp_path / "w"
    with lamina.open(root, owner="ana", clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC))) as engine:
        for name in JOBS:
            assert run_job(engine, name, engine.now()).status in ("done", "unchanged")  # long ago
    command = [sys.executable, "-m", "lamina", "-w", str(root), *verb]
    others = "; ".join(f"{name} off" for name in JOBS if name != "lifecycle")
    settings = {**os.environ, "LAMINA_SCHEDULE": others, "LAMINA_PORT": "0"}
    service = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stop = threading.Timer(60, service.kill)
    stop.start()
    try:
        with lamina.open(root) as engine:
            pause = threading.Event()
            while (run := list_run(engine))[1] == 1 or run[0] != "done":
                assert service.poll() is None
                pause.wait(0.05)
        service.send_signal(signal.SIGTERM)
        out, _ = service.communicate(timeout=60)
    finally:
        stop.cancel()
        service.kill()
        service.communicate()
    assert service.returncode == 0
    assert verb == ["serve"] or out == b"The jobs have stopped.\n"


def list_run(engine: Any) -> tuple[str, int]:
    """The state of the newest run of `lifecycle`, and how many runs of it there are."""
    rows = engine.database.read(lambda tx: tx.all("newest_job_runs", now=2**60))
    newest = next(row for row in rows if row[0] == "lifecycle")
    return newest[3], 1 if newest[1] < 1_780_000_000_000_000 else 2
