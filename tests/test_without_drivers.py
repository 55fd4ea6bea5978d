"""The rooms that hold no data are tested without a database driver, a server or a framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import PURE

HERE = Path(__file__).parent
ROOMS = sorted(f"tests/{room}" for room in PURE if (HERE / room).is_dir())


def without_drivers(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.no_drivers", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)


def test_they_can_be_read_without_one() -> None:
    assert "tests/text" in ROOMS
    done = without_drivers("--collect-only", *ROOMS)
    assert done.returncode == 0, done.stdout[-2000:]


def test_what_needs_one_is_noticed() -> None:
    done = without_drivers("--collect-only", "tests/storage/test_damage.py")
    assert "import of apsw halted" in done.stdout or "import of psycopg halted" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_they_hold_without_one() -> None:
    done = without_drivers(*ROOMS)
    assert done.returncode == 0, done.stdout[-2000:]
