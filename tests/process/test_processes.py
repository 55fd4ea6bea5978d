"""Many writers at once: every write is there, numbered without gaps, and nobody is told to go away."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Conflict, LaminaError, NotFound
from lamina.engine import Engine
from lamina.storage.memories import Memories
from lamina.text.entries import EntryFile

WRITER = r"""
import json, os, random, sys
from pathlib import Path
import lamina, lamina.opening
me, writes, keyed, out, target, settings = sys.argv[1:]
me, writes, keyed, settings = int(me), int(writes), int(keyed), json.loads(settings)
sys.stdin.readline()  # everybody starts at once
report = {"acknowledged": {}, "keys": {}, "errors": []}
try:
    with lamina.open(target, owner="ana", **settings) as engine:
        mind = engine.scope(session=f"s{me}")
        turns = ["keyed"] * keyed + ["plain"] * (writes - keyed)
        random.Random(me).shuffle(turns)
        for number, turn in enumerate(turns):
            text = f"writer {me} thing {number} tea"
            try:
                key = f"shared.{number % 5}" if number % 4 == 0 else f"w{me}.n{number}"
                details = {"key": key} if turn == "keyed" else {}
                receipt = mind.remember(text, **details)
                report["acknowledged"][receipt.ids[0]] = text
                if details and not key.startswith("shared"):
                    report["keys"][key] = text
            except BaseException as error:
                report["errors"].append(f"{type(error).__name__}: {error}")
except BaseException as error:
    report["errors"].append(f"open or close: {type(error).__name__}: {error}")
Path(out).write_text(json.dumps(report))
"""


def run_writers(
    folder: Path, target: str, settings: dict[str, float], count: int, writes: tuple[int, int]
) -> list[dict[str, Any]]:
    """So many processes at once on one memory that is not there yet; returns what each was told."""
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                WRITER,
                str(me),
                *map(str, writes),
                str(folder / f"{me}.json"),
                target,
                json.dumps(settings),
            ],
            stdin=subprocess.PIPE,
        )
        for me in range(count)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    for process in processes:
        assert process.wait(200) == 0
    return [json.loads((folder / f"{me}.json").read_text()) for me in range(count)]


def check(engine: Engine, reports: list[dict[str, Any]]) -> dict[str, str]:
    """Nothing lost, nothing twice, no gaps, the proof holds; returns every acknowledged id and its text."""
    assert [report["errors"] for report in reports] == [[] for _ in reports]
    acknowledged = {one: text for report in reports for one, text in report["acknowledged"].items()}
    assert len(acknowledged) == sum(len(report["acknowledged"]) for report in reports)
    stored = engine.database.read(lambda tx: Memories(tx).load(list(acknowledged)))
    assert {one: memory.text for one, memory in stored.items()} == acknowledged
    numbers = defaultdict(list)
    for one in acknowledged:
        shelf, number = one.rsplit(":", 1)
        numbers[shelf].append(int(number))
    for shelf, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), shelf
    report = engine.verify_audit()
    assert report.findings == ()
    status = engine.status()
    assert (status.pending_operations, status.problems) == (0, ())
    return acknowledged


def test_eight_processes_write_to_one_new_workspace_and_nothing_is_lost(tmp_path: Path) -> None:
    started, folder = time.monotonic(), tmp_path / "w"

    # How long a writer waits for the file is no part of this: on a busy machine its turn comes late.
    reports = run_writers(tmp_path, str(folder), {"lock_timeout_s": 150}, 8, (200, 20))

    took = time.monotonic() - started
    with lamina.open(folder, owner="ana") as engine:
        acknowledged = check(engine, reports)
        assert len(acknowledged) == 8 * 200
        file = EntryFile.parse((folder / "PROFILE.md").read_bytes())
        keys = {key: text for report in reports for key, text in report["keys"].items()}
        in_file = {entry.canonical: entry.value for entry in file.entries}
        assert file.problems == ()
        assert {key: value for key, value in in_file.items() if not key.startswith("shared")} == keys
        assert len(engine.scope().recall("tea", k=1000)) == 1000
    sys.stdout.write(f"\nsqlite: 8 processes x 200: {len(acknowledged)} acknowledged, 0 lost, {took:.1f} s\n")


def test_four_processes_write_to_one_new_postgresql_store_and_nothing_is_lost(
    tmp_path: Path, postgres_store: str
) -> None:
    started = time.monotonic()

    reports = run_writers(tmp_path, postgres_store, {}, 4, (100, 20))

    took = time.monotonic() - started
    with lamina.open(postgres_store, owner="ana") as engine:
        assert len(check(engine, reports)) == 4 * 100
    sys.stdout.write(f"\npostgres: 4 processes x 100: 400 acknowledged, 0 lost, {took:.1f} s\n")


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_eight_threads_share_commits_and_a_failing_request_disturbs_nobody(
    tmp_path: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    target = tmp_path / "w" if backend == "sqlite" else request.getfixturevalue("postgres_store")
    told: list[dict[str, str]] = [{} for _ in range(8)]
    failures: list[list[str]] = [[] for _ in range(8)]
    started = time.monotonic()
    with lamina.open(target, owner="ana") as engine:
        base = engine.scope().remember("everybody's").ids[0]
        engine.scope().revise(base, "everybody's, revised")
        start = threading.Barrier(8)

        def busy(me: int) -> None:
            mind, pick = engine.scope(session=f"s{me}"), random.Random(me)
            owner = engine.scope()
            start.wait()
            for number in range(100):
                text = f"thread {me} thing {number}"
                try:
                    match pick.randrange(5):
                        case 0:
                            owner.revise(base, text, expect=1)  # somebody was first, always
                        case 1:
                            mind.forget(f"user:ana:semantic:{9_000 + number}")
                        case _:
                            told[me][mind.remember(text).ids[0]] = text
                except LaminaError as error:
                    failures[me].append(type(error).__name__)

        threads = [threading.Thread(target=busy, args=(me,)) for me in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - started
        reports = [{"acknowledged": one, "errors": []} for one in told]
        reports.append({"acknowledged": {base: "everybody's, revised"}, "errors": []})
        acknowledged = check(engine, reports)
    failed = sum(map(len, failures))

    assert len(acknowledged) + failed == 801
    assert failed > 200
    assert {name for one in failures for name in one} == {Conflict.__name__, NotFound.__name__}
    with lamina.open(target, owner="ana") as engine:
        check(engine, reports)
    figures = f"{len(acknowledged)} acknowledged, 0 lost, {failed} refused, {took:.1f} s"
    sys.stdout.write(f"\n{backend}: 8 threads x 100: {figures}\n")
