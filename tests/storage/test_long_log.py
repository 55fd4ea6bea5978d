"""SQLite's log that has grown long is folded in beside the writers, and no commit is denied for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lamina
from lamina.storage import sqlite

#: Another process that folds the log has this byte of the index of the log to itself.
_FOLDING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as index:
    fcntl.lockf(index, fcntl.LOCK_EX, 1, 121)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_commit_stands_while_another_process_folds_the_log(
    tmp_path: Path, lamina_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        mind = engine.scope()
        mind.remember("The kettle is on the stove")
        index = next((tmp_path / "w").rglob("*.db-shm"))
        monkeypatch.setattr(sqlite, "LONGEST_LOG", 1)
        with subprocess.Popen(
            [sys.executable, "-c", _FOLDING, str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            kept = mind.remember("Dinner is at eight")
            other.communicate("")
        assert mind.get(kept.ids[0]).text == "Dinner is at eight"
        assert mind.remember("Supper is at nine").ids
