"""The events of the contract's scenarios, byte for byte, wherever and however they are run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.goldens.make import HERE, SCENARIOS, opened, told

ROOT = Path(__file__).parents[2]
RUNS = 20


def golden(name: str) -> str:
    return (HERE / f"{name}.json").read_text("utf-8")


def made(out: Path, seed: int, *more: str) -> dict[str, str]:
    out.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT), "TZ": "Asia/Bangkok"}
    command = [sys.executable, "-m", "tests.goldens.make", "--out", str(out), *more]
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    return {name: (out / f"{name}.json").read_text("utf-8") for name in SCENARIOS}


def test_no_golden_is_without_a_scenario() -> None:
    assert {path.stem for path in HERE.glob("*.json")} == set(SCENARIOS)


@pytest.mark.parametrize("runs", [3, pytest.param(RUNS, marks=pytest.mark.slow)])
def test_runs_with_other_hash_seeds_and_threads_tell_the_same(tmp_path: Path, runs: int) -> None:
    """The first with one scenario after the other, the rest with all of them at once."""
    for seed in range(runs):
        texts = made(tmp_path / str(seed), seed, *(["--together"] if seed else []))
        assert texts == {name: golden(name) for name in SCENARIOS}


def test_postgresql_tells_the_same(tmp_path: Path, postgres_database: str) -> None:
    for name, text in made(tmp_path / "out", 7, "--together", "--store", postgres_database).items():
        assert text == golden(name)


def test_two_sessions_of_one_user_and_other_users_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight conversations at once: each tells what it tells when they take turns."""
    monkeypatch.chdir(tmp_path)
    who = [(f"user{number % 4}", f"session{number}") for number in range(8)]
    (tmp_path / "apart").mkdir()
    with opened(tmp_path / "apart", "") as engine:
        expected = [told(engine, "memory_governance", *one) for one in who]
    with opened(tmp_path, "") as engine, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda one: told(engine, "memory_governance", *one), who))
    assert texts == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("memory_trace", {"recall", "write", "border_check", "phase_started", "denied", "forget", "deleted"}),
        ("memory_governance", {"conflict", "denied", "forget", "deleted"}),
        ("memory_spaces", {"promoted", "promotion_denied"}),
        ("memory_phase", {"phase_started", "phase_diff", "conflict"}),
        ("trilingual", {"promoted", "denied", "conflict"}),
    ],
)
def test_a_golden_shows_what_its_scenario_is_about(name: str, expected: set[str]) -> None:
    steps = json.loads(golden(name))["steps"]
    kinds = {event["type"].removeprefix("memory_") for step in steps for event in step["events"]}
    assert expected <= kinds
    assert "hunter2" not in "".join(json.dumps(step["events"]) for step in steps)
