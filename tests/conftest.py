"""What every test may rely on: a home of its own; databases when it asks, where there are drivers."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.effort import memory_disk, times

# Rooms that hold no data are tested without a driver too (tests/test_without_drivers.py).
pytest_plugins = [] if "tests.no_drivers" in sys.modules else ["tests.servers", "tests.backends"]

_numbers = itertools.count(1)

# The same examples in every run: a test that fails for one person fails for all.
hypothesis.settings.register_profile(
    "lamina", derandomize=True, database=None, deadline=None, max_examples=times(25, 100)
)
hypothesis.settings.load_profile("lamina")


def pytest_configure() -> None:
    """Temporary files in memory: most of a test's time is a disk making commits durable, one at a time.

    Bytecode is kept, whatever the shell says: a process that a test starts would compile all of us anew.
    """
    if (disk := memory_disk()) is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", disk)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.fixture(autouse=True)
def lamina_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test, and no process it starts, sees the settings or the home of the person who runs it."""
    for name in [name for name in os.environ if name.startswith("LAMINA_")]:
        monkeypatch.delenv(name)
    # Numbered here, and gone afterwards: pytest looks through all of its folders for the next number.
    home = tmp_path_factory.mktemp(f"home-of-test-{next(_numbers)}", numbered=False)
    monkeypatch.setenv("LAMINA_HOME", str(home))
    yield home
    shutil.rmtree(home, ignore_errors=True)
