"""Lamina behind a pooler that gives each transaction another connection, and without a server for a while.

The pooler is pgbouncer, where it is installed, with fewer connections than those who ask.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from starlette.testclient import TestClient

import lamina
from lamina import Unavailable
from lamina.doors.http.app import create_app
from lamina.storage.postgres import PostgresDatabase
from tests.process.test_postgres_versions import put_and_load
from tests.servers import OwnServer

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def pooled(postgres_database: str, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, through a pooler in transaction mode with two connections."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    parts, port = urlsplit(postgres_database), free_port()
    with psycopg.connect(postgres_database) as connection:
        host, server_port = connection.info.host, connection.info.port
        user, name = connection.info.user, connection.info.dbname
    owner = pwd.getpwuid(Path(host).stat().st_uid).pw_name if host.startswith("/") else "nobody"
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{name} = host={host} port={server_port} user={user}"
        f"{f' password={parts.password}' if parts.password else ''}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\nquery_wait_timeout = 120\n"
    )
    for path in (tmp_path, settings):
        path.chmod(0o755)
    pooler = subprocess.Popen(
        [PGBOUNCER, "-q", "-u", owner, str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"postgresql://{quote(user)}@127.0.0.1:{port}/{name}"
        for _ in range(200):
            try:
                psycopg.connect(url, connect_timeout=5).close()
                break
            except psycopg.OperationalError:
                assert pooler.poll() is None, "pgbouncer did not start"
                threading.Event().wait(0.02)
        yield url
    finally:
        pooler.terminate()
        pooler.wait(10)


def test_everything_works_behind_a_pooler_that_changes_connections(pooled: str) -> None:
    with lamina.open(pooled, owner="ana") as engine, lamina.open(pooled, owner="ana") as other:
        ana = engine.scope(session="monday")
        one = ana.remember("Ana likes tea").ids[0]
        ana.hear("Remember that I am allergic to peanuts.")
        said, failures = [f"note {word} of the day" for word in "abcdefgh"], []

        def write(text: str, memory: lamina.Engine) -> None:
            try:
                memory.scope(session="monday").remember(text)
                assert memory.scope(session="monday").recall(text).hits
            except lamina.LaminaError as error:
                failures.append(error)

        threads = [
            threading.Thread(target=write, args=(text, engine if number % 2 else other))
            for number, text in enumerate(said)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert {memory.text for memory in ana.list(limit=50).items} >= {*said, "Ana likes tea"}
        ana.forget(one)
        assert ana.context("peanuts").text
        assert other.rebuild()
        assert other.verify_audit().intact
        put_and_load(pooled)


def test_a_job_runs_once_at_a_time_behind_a_pooler(pooled: str) -> None:
    here, there = PostgresDatabase(pooled), PostgresDatabase(pooled)
    try:
        with here.alone("index") as holds:
            assert holds()
            with pytest.raises(Unavailable) as refused, there.alone("index"):
                pass
            assert refused.value.code == "job_running"
            with there.alone("insights") as also:
                assert also()
        with there.alone("index") as holds:
            assert holds()
    finally:
        here.close()
        there.close()


def test_a_server_that_is_away_is_told_within_a_second_and_found_again(own_postgres: OwnServer) -> None:
    with lamina.open(own_postgres.url, owner="ana") as engine:
        ana = engine.scope(session="monday")
        ana.remember("Ana likes tea")
        own_postgres.stop()
        for ask in (lambda: ana.recall("tea"), lambda: ana.remember("Ana likes milk")):
            before = time.monotonic()
            with pytest.raises(Unavailable) as refused:
                ask()
            assert refused.value.code == "store_unreachable"
            assert refused.value.retryable
            assert time.monotonic() - before < 10  # it was half a minute; the figure is in docs/benchmarks.md
        own_postgres.start()
        assert [hit.text for hit in ana.recall("tea")] == ["Ana likes tea"]


def test_readyz_does_not_wait_for_a_server_that_says_nothing(own_postgres: OwnServer) -> None:
    """A machine that stands still, or a network that swallows what is sent."""
    server = int((Path(own_postgres.server.pgdata) / "postmaster.pid").read_text().split()[0])
    with (
        lamina.open(own_postgres.url, owner="ana") as engine,
        TestClient(create_app(engine), base_url="http://127.0.0.1") as client,
    ):
        assert client.get("/readyz").status_code == 200
        listed = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        frozen = [server, *map(int, listed)]
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        try:
            for path in ("/readyz", "/api/health", "/readyz"):
                before = time.monotonic()
                assert client.get(path).status_code == 503
                assert time.monotonic() - before < 5  # the figure is in docs/benchmarks.md
        finally:
            for process in frozen:
                os.kill(process, signal.SIGCONT)
        for _ in range(200):
            if client.get("/readyz").status_code == 200:
                return
            time.sleep(0.1)
        raise AssertionError("it never came back")
