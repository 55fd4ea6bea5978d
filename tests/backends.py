"""Every backend, same promises: what asks for a `place` runs on all of the ways to keep a memory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from psycopg import sql

import lamina
from lamina.engine import Engine
from lamina.model import CHAIN, AuditRecord
from lamina.scoped import ScopedMemory
from lamina.storage.ledger import CHAINS, LaneOrder
from lamina.storage.logs import AuditLog, Change, Changes
from lamina.testing import ManualClock
from tests.effort import times

VARIANTS = ("sqlite", "postgres", "workspace_on_postgres")

#: Modules with long tables of what people say or ask. It is understood before a database is asked: SQLite has
#: each row, PostgreSQL every fifth, and in `make test-all` each.
_TABLES_OF_WORDS = {
    "lifecycle/test_consent.py",
    "hear/test_core_memory.py",
    "hear/test_corrections.py",
    "write/test_governance.py",
    "layers/test_layers.py",
    "read/test_list.py",
    "write/test_noes.py",
    "read/test_other_words.py",
    "read/test_prompt.py",
    "write/test_reserved.py",
    "write/test_stays_forgotten.py",
    "hear/test_understanding.py",
    "security/test_who.py",
}
#: What goes through a whole fortnight: once in a folder, and in `make test-all` with PostgreSQL as well.
_DEAR = ("jobs/test_fortnight.py::test_the_fortnight_gives_the_same_files_everywhere",)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the rows of long tables that PostgreSQL need not have; whoever names a test gets it."""
    tables: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if "/".join(item.path.parts[-2:]) in _TABLES_OF_WORDS:
            name, _, case = item.nodeid.partition("[")
            if "postgres" in case:
                tables[name].append(item)
    every = times(5, 1)
    left = {item for table in tables.values() if len(table) > 3 for item in set(table) - set(table[::every])}
    dear = [item for item in items if "postgres" in item.nodeid and any(one in item.nodeid for one in _DEAR)]
    left |= times({*dear}, set[pytest.Item]())
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=sorted(left, key=lambda item: item.nodeid))


@dataclass
class Place:
    """Where one test keeps its memories, and how to look behind the engine's back."""

    variant: str
    folder: Path | None  #: the workspace
    url: str | None  #: the PostgreSQL database
    home: Path
    clock: ManualClock = field(default_factory=ManualClock)
    engines: list[Engine] = field(default_factory=list)
    understanding: bool = True  #: whether the trained model listens

    def open(self, **settings: Any) -> Engine:
        """One more engine on the same memories, as ana unless said otherwise."""
        settings = {"owner": "ana", "clock": self.clock, "understanding": self.understanding, **settings}
        if self.folder is None:
            engine = lamina.open(str(self.url), **settings)
        elif self.url is None:
            engine = lamina.open(self.folder, **settings)
        else:
            engine = lamina.open(self.folder, store=self.url, **settings)
        self.engines.append(engine)
        return engine

    def close(self) -> None:
        for engine in self.engines:
            engine.close()
        self.engines.clear()

    @property
    def profile(self) -> Path:
        assert self.folder is not None
        return self.folder / "PROFILE.md"

    def tables(self) -> dict[str, list[str]]:
        """Every row of every table as text, read without the engine."""
        return _postgres_rows(self.url) if self.url is not None else _sqlite_rows(self.databases())

    def audit(self) -> list[AuditRecord]:
        """The whole chain, oldest first, as the newest engine reads it."""
        return self.engines[-1].database.read(lambda tx: list(AuditLog(tx).after(0)))

    def nth(self, number: int, lane: str = "user:ana") -> int:
        """The number of the nth record about somebody; on PostgreSQL it says which chain it is in."""
        return number if self.url is None else LaneOrder(CHAINS).chain(lane) * CHAIN + number

    def changes(self, thread: str) -> list[Change]:
        return self.engines[-1].database.read(lambda tx: Changes(tx).since(thread, 0, 10_000))

    def databases(self) -> list[Path]:
        assert self.folder is not None
        return sorted((self.folder / ".lamina").rglob("*.db"))

    def files(self) -> dict[Path, bytes]:
        """The bytes of every file that the memory could have written."""
        roots = [self.home] if self.folder is None else [self.home, self.folder]
        found = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file()]
        return {path: path.read_bytes() for path in found}


def _postgres_rows(url: str | None) -> dict[str, list[str]]:
    assert url is not None
    with psycopg.connect(url) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'lamina' ORDER BY 1"
            )
        ]
        select = sql.SQL("SELECT * FROM lamina.{}")
        return {
            name: sorted(
                _shown(row) for row in connection.execute(select.format(sql.Identifier(name))).fetchall()
            )
            for name in names
        }


def _sqlite_rows(paths: list[Path]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
            for (name,) in names.fetchall():
                rows = connection.execute(f'SELECT * FROM "{name}"').fetchall()
                found.setdefault(str(name), []).extend(sorted(map(_shown, rows)))
        finally:
            connection.close()
    return found


def _shown(row: Any) -> str:
    values = [bytes(value).hex() if isinstance(value, bytes | memoryview) else value for value in row]
    return json.dumps(values, ensure_ascii=False)


# Files are shown by the first and PostgreSQL by the second; `workspace` is for what needs both together.
@pytest.fixture(params=times(VARIANTS[:2], VARIANTS))
def place(request: pytest.FixtureRequest, tmp_path: Path, lamina_home: Path) -> Iterator[Place]:
    """An empty memory on each backend in turn."""
    yield from a_place(request, tmp_path, lamina_home, request.param)


@pytest.fixture(params=("sqlite", "workspace_on_postgres"))
def workspace(request: pytest.FixtureRequest, tmp_path: Path, lamina_home: Path) -> Iterator[Place]:
    """An empty workspace, with its store inside and on PostgreSQL."""
    yield from a_place(request, tmp_path, lamina_home, request.param)


def a_place(request: pytest.FixtureRequest, tmp_path: Path, home: Path, variant: str) -> Iterator[Place]:
    url = None if variant == "sqlite" else request.getfixturevalue("postgres_store")
    folder = None if variant == "postgres" else tmp_path / "w"
    place = Place(variant=variant, folder=folder, url=url, home=home)
    # A module whose subject is what rules and gates do says so; what the model hears is another matter.
    place.understanding = getattr(request.module, "UNDERSTANDING", True)
    try:
        yield place
    finally:
        place.close()


@pytest.fixture
def engine(place: Place) -> Engine:
    return place.open()


@pytest.fixture
def ana(engine: Engine) -> ScopedMemory:
    """The owner's own voice."""
    return engine.scope()


@pytest.fixture
def clock(place: Place) -> ManualClock:
    return place.clock
