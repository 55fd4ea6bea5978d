"""Faults at sampled points of every kind of work; `make faults` has all of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.audit.chain import SETTLED_EVERY
from lamina.workspace.files import end_overwriting, overwrite_lines, read_lines
from tests.effort import times
from tests.faults.disk import PAGE, Disk, put_down
from tests.faults.layer import Fault
from tests.faults.trial import Bench, Said
from tests.faults.works import WORKS, Step, Work, absent, active

ROOT = Path(__file__).parents[2]
SEED = os.environ.get("LAMINA_TEST_SEED", "20261117")
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which file is meant")


def ran(*options: str) -> str:
    command = [sys.executable, "-m", "tests.faults", "--seed", SEED, "--jobs", "1", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_no_promise_is_broken_by_a_fault_at_any_of_some_points() -> None:
    told = ran(*times(["--brief"], ["--sample", "4"]))
    assert "0 promises broken" in told
    assert "| kill | torn | error | full | clock | cut |" in told


def test_no_promise_is_broken_by_a_connection_that_is_lost(postgres_store: str) -> None:
    told = ran(
        "--sample", str(times(2, 8)), "--works", "remember", "--kinds", "lost",
        "--postgres", postgres_store,
    )  # fmt: skip
    assert "| remember (PostgreSQL) |" in told


def struck(bench: Bench, work: Work, fault: Fault) -> tuple[Said, list[str]]:
    with bench.place(work) as place:
        said = bench.act(work, place, fault, 1)
        return said, bench.check(work, place, said, 1)


def test_what_breaks_a_promise_is_told(tmp_path: Path) -> None:
    """The harness itself can fail: on a write that is acknowledged and not kept, on an error of no kind."""

    def forgetful(world: object) -> None:
        return None

    def clumsy(world: object) -> None:
        raise KeyError("oops")

    bench = Bench(tmp_path)
    kept = Work("kept", [Step(forgetful, absent("tea"), active("Ana likes tea"))])
    assert "acknowledged and is not there" in str(struck(bench, kept, Fault("none")))
    rough = Work("rough", [Step(clumsy, absent("tea"), absent("tea"))])
    assert "KeyError" in str(struck(bench, rough, Fault("none"))[0].wrong)


def test_a_manifest_that_was_cut_off_is_none(tmp_path: Path) -> None:
    work, bench = WORKS["export"], Bench(tmp_path)
    with bench.place(work) as place:
        points = bench.act(work, place, Fault("none"), 0).points
    at = [number for number, what in enumerate(points, 1) if "manifest.json" in what]
    assert len(at) >= 4  # made, written, synced, named
    for kind in ("kill", "torn"):
        for number in at:
            said, problems = struck(bench, work, Fault(kind, number))
            assert (said.killed, problems) == (True, [])


def test_a_store_that_cannot_be_begun_on_a_failing_disk_says_so(tmp_path: Path) -> None:
    """SQLite changes its journal at the end of a pragma, where an error is lost if nobody reads that far."""
    work, bench = WORKS["begin"], Bench(tmp_path)
    with bench.place(work) as place:
        points = bench.act(work, place, Fault("none"), 0).points
    at = [number for number, what in enumerate(points, 1) if what.endswith("memory.db-journal")][:5]
    assert len(at) == 5
    for number in at:
        said, problems = struck(bench, work, Fault("error", number))
        assert (said.wrong, problems, said.told) == ([], [], ["disk_failure"])


@pytest.mark.parametrize(
    ("kind", "lasting"), [("kill", False), ("torn", False), ("error", True), ("full", False)]
)
def test_a_fault_strikes_where_it_is_told_to(tmp_path: Path, kind: str, lasting: bool) -> None:
    work = WORKS["remember"]
    bench = Bench(tmp_path)
    with bench.place(work) as place:
        points = bench.act(work, place, Fault("none"), 0).points
    at = next(number for number, what in enumerate(points, 1) if what == "write memory.db-wal")
    said, problems = struck(bench, work, Fault(kind, at, lasting))
    assert said.struck == f"{at} (write memory.db-wal)"
    assert said.killed is (kind in ("kill", "torn"))
    assert bool(said.told) is (kind in ("error", "full"))
    assert problems == []
    assert {what.split()[0] for what in points} >= {
        "sql",
        "write",
        "sync",
        "create",
        "rename",
        "unlink",
        "mkdir",
    }


def synced(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def test_what_the_disk_loses_is_what_was_not_synced(tmp_path: Path) -> None:
    root = tmp_path / "disk"
    (root / "old").mkdir(parents=True)
    (root / "old" / "x").write_bytes(b"1")
    disk = Disk(root)
    (root / "a").mkdir()
    (root / "a" / "b").write_bytes(b"x")
    (root / "old" / "x").rename(root / "old" / "y")
    assert disk.left() == {"old": None, "old/x": b"1"}
    disk.file_synced(root / "a" / "b")
    disk.folder_synced(root / "a")
    assert disk.left() == {"old": None, "old/x": b"1"}
    disk.folder_synced(root)
    disk.folder_synced(root / "old")
    assert disk.left() == {"a": None, "a/b": b"x", "old": None, "old/y": b"1"}
    (root / "a" / "b").write_bytes(b"xyz")
    left = {disk.left(random.Random(seed))["a/b"] for seed in range(40)}
    assert left == {b"x", b"xyz", b"x\0\0"}
    put_down(disk.left(), tmp_path / "after")
    assert (tmp_path / "after" / "old" / "y").read_bytes() == b"1"


def test_no_power_cut_leaves_half_an_old_line_and_half_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, log = tmp_path / "disk", "runs/log.jsonl"
    (root / "runs").mkdir(parents=True)
    old = [(b"a%d words " % number).ljust(PAGE * 2 // 3, b"x") for number in range(7)]
    new = [line if number % 3 == 0 else b"gone".ljust(len(line)) for number, line in enumerate(old)]
    (root / log).write_bytes(b"\n".join(old) + b"\n")
    disk, cuts, chance = Disk(root), [], random.Random(SEED)

    def watched(real: Callable[..., Any], sync: bool) -> Callable[..., Any]:
        def struck(fd: int, *given: object) -> Any:
            if not Path(f"/proc/self/fd/{fd}").readlink().is_relative_to(root):
                return real(fd, *given)
            cuts.extend(disk.left(chance) for _ in range(8))
            done = real(fd, *given)
            if sync:
                disk.synced(fd)
            return done

        return struck

    for name in ("pwrite", "write", "ftruncate", "fsync"):
        monkeypatch.setattr(os, name, watched(getattr(os, name), name == "fsync"))
    overwrite_lines(root, log, lambda line: new[old.index(line)])
    cuts.append(disk.left())
    monkeypatch.undo()

    seen, torn = set(), 0
    for number, left in enumerate(cuts):
        place = tmp_path / str(number)
        put_down(left, place)
        torn += not set((place / log).read_bytes().split(b"\n")) <= {*old, *new, b""}
        end_overwriting(place)
        lines = list(read_lines(place, log))
        assert lines in (old, new)
        seen.add(lines == new)
        overwrite_lines(place, log, lambda line: new[old.index(line)] if line in old else line)
        assert list(read_lines(place, log)) == new
    assert seen == {False, True}
    assert torn > 5, "no cut tore a line, so nothing was tried"


def test_at_no_moment_is_half_a_key_or_half_an_anchor_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    disk, seen, sync = Disk(root), [], os.fsync

    def watched(fd: int) -> None:
        sync(fd)
        if Path(f"/proc/self/fd/{fd}").readlink().is_relative_to(root):
            disk.synced(fd)
            seen.append(disk.left())

    monkeypatch.setattr(os, "fsync", watched)
    with lamina.open(
        root / "w", owner="ana", environment={"LAMINA_HOME": str(root / "deep" / "home")}
    ) as engine:
        for number in range(SETTLED_EVERY + 3):
            engine.scope().remember(f"thing {number}")
        last = engine.status().audit_records

    assert len(seen) > 15
    keys = {data for tree in seen for name, data in tree.items() if name.endswith("audit.key")}
    anchors = {data for tree in seen for name, data in tree.items() if name.endswith(".anchor")}
    assert {len(data or b"") for data in keys} == {32}
    assert len(keys) == 1
    assert {len(data or b"") for data in anchors} == {151}
    assert sorted(int((data or b"")[:20]) for data in anchors) == [0, SETTLED_EVERY, last]
