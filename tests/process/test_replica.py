"""A real PostgreSQL that follows another: what is read from it, what is refused, what a start writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from fastapi.testclient import TestClient

import lamina
from bench.wire import wire_to
from lamina import Unavailable
from lamina.doors.http.app import create_app
from lamina.lifecycle.tokens import create_token
from lamina.storage.migrate import load_migrations
from lamina.storage.postgres import PostgresDatabase, apply_steps, missing_steps
from lamina.testing import ManualClock

FOUND = [one.parent for one in sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup"))]
WAIT_S = 60


@dataclass
class Pair:
    """A server that is written to, and one that follows it."""

    first: str
    second: str

    def follow(self, follows: bool) -> None:
        """Let the second go on, or stand still as a replica that lags does."""
        with psycopg.connect(self.second, autocommit=True) as server:
            server.execute(f"SELECT pg_wal_replay_{'resume' if follows else 'pause'}()".encode())

    def caught_up(self) -> None:
        """Wait until the second has what the first has now."""
        with psycopg.connect(self.first, autocommit=True) as server:
            row = server.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
        assert row is not None
        with psycopg.connect(self.second, autocommit=True) as server:
            for _ in range(WAIT_S * 10):
                asked = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn, pg_sleep(0.1)"
                if (seen := server.execute(asked, row).fetchone()) and seen[0]:
                    return
        pytest.fail("the replica does not follow")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    if not FOUND:
        pytest.skip("no PostgreSQL with pg_basebackup is installed")
    user = "postgres" if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="lamina-pair-", dir="/tmp"))
    folder.chmod(0o777)
    one, two = folder / "one", folder / "two"

    def run(program: str, *arguments: str) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(
            [str(FOUND[-1] / program), *arguments],
            check=True,
            timeout=120,
            user=user,
            cwd=folder,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
        )

    def start(data: Path, port: int) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c port={port} -c fsync=off"
        run("pg_ctl", "-D", str(data), "-w", "-o", options, "start")

    def url(port: int) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}&port={port}"

    try:
        run(
            "initdb", "-D", str(one), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        start(one, 5433)
        run(
            "pg_basebackup",
            "-h",
            str(folder),
            "-p",
            "5433",
            "-U",
            "postgres",
            "-D",
            str(two),
            "-R",
            "-c",
            "fast",
        )
        start(two, 5434)
        yield Pair(url(5433), url(5434))
    finally:
        for data in (two, one):
            if (data / "postmaster.pid").exists():
                run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def test_questions_are_read_from_the_replica_and_never_before_what_was_written_here(pair: Pair) -> None:
    tenant = {"tenant": "reading", "owner": "ana", "clock": ManualClock()}
    with (
        wire_to(pair.first) as near,
        wire_to(pair.second) as far,
        lamina.open(near.url, replica_url=far.url, **tenant) as engine,
    ):
        ana = engine.scope()
        ana.remember("Ana likes green tea")
        pair.caught_up()
        with near.counted() as asked, far.counted() as there:
            assert ana.recall("tea").hits
        assert there[0] > asked[0]
        pair.follow(False)
        try:
            ana.remember("Ana likes brown bread")
            # The replica stands still, so the answer comes from where it was written.
            assert ana.recall("brown bread").hits[0].text == "Ana likes brown bread"
            with lamina.open(pair.second, **tenant) as behind:
                assert "Ana likes brown bread" not in [one.text for one in behind.scope().list().items]
        finally:
            pair.follow(True)
        pair.caught_up()
        with near.counted() as asked, far.counted() as there:
            assert ana.recall("brown bread").hits[0].text == "Ana likes brown bread"
        assert there[0] > asked[0]


def test_what_another_process_wrote_is_in_the_answer_of_who_was_told_of_it(pair: Pair) -> None:
    """Two servers with a replica each: the second is given the revision of what was written at the first."""
    tenant = {"tenant": "revision", "owner": "ana", "clock": ManualClock()}
    with (
        wire_to(pair.first) as near,
        lamina.open(pair.first, replica_url=pair.second, **tenant) as writer,
        lamina.open(near.url, replica_url=pair.second, **tenant) as reader,
    ):
        writer.scope().remember("Ana likes green tea")
        pair.caught_up()
        assert reader.scope().recall("tea").hits
        pair.follow(False)
        try:
            writer.scope().remember("Ana likes brown bread")
            assert "brown" not in str(reader.scope().list().items)  # it never heard of it
            told = reader.not_older_than(writer.revision)
            assert told.scope().recall("brown bread").hits[0].text == "Ana likes brown bread"
            assert "brown" in str(told.scope().list().items)
            assert "brown" in told.scope().context("bread").text
            assert told.revision == writer.revision  # and whoever reads there can say it to a third
            assert "brown" not in str(reader.scope().list().items)  # nobody else is held to it
        finally:
            pair.follow(True)
        pair.caught_up()
        with near.counted() as asked:
            assert "brown" in str(told.scope().list().items)
        assert asked[0] == 0  # the replica has it now
        with pytest.raises(lamina.InvalidInput):
            reader.not_older_than("yesterday")


def test_over_http_an_answer_says_its_revision_and_a_request_gives_it_back(pair: Pair) -> None:
    tenant = {"tenant": "headers", "owner": "ana"}
    with (
        lamina.open(pair.first, replica_url=pair.second, **tenant) as one,
        lamina.open(pair.first, replica_url=pair.second, **tenant) as other,
    ):
        secret = {"Authorization": f"Bearer {create_token(one, 'laptop')[1]}"}
        first, second = (TestClient(create_app(engine)) for engine in (one, other))
        pair.caught_up()
        pair.follow(False)
        try:
            made = first.post("/v1/memories", json={"text": "Ana likes brown bread"}, headers=secret)
            told = {**secret, "X-Lamina-Revision": made.headers["X-Lamina-Revision"]}
            assert second.get("/v1/memories", headers=secret).json()["items"] == []
            assert len(second.get("/v1/memories", headers=told).json()["items"]) == 1
            again = second.get("/v1/memories", headers=told).headers["X-Lamina-Revision"]
            assert again == made.headers["X-Lamina-Revision"]
            bad = second.get("/v1/memories", headers={**secret, "X-Lamina-Revision": "9"})
            assert (bad.status_code, bad.json()["code"]) == (422, "revision_invalid")
        finally:
            pair.follow(True)


def test_a_replica_that_is_away_is_not_missed(pair: Pair) -> None:
    tenant = {"tenant": "away", "owner": "ana", "clock": ManualClock()}
    nowhere = "postgresql://nobody@127.0.0.1:9/none?connect_timeout=1"
    with lamina.open(pair.first, replica_url=nowhere, **tenant) as engine:
        engine.scope().remember("Ana likes green tea")
        assert engine.scope().recall("tea").hits


def test_a_store_on_a_replica_opens_and_says_what_it_cannot_do(pair: Pair) -> None:
    tenant = {"tenant": "following", "owner": "ana", "clock": ManualClock()}
    with lamina.open(pair.first, **tenant) as engine:
        one = engine.scope().remember("Ana likes green tea").ids[0]
    pair.caught_up()

    with lamina.open(pair.second, **tenant) as engine:
        ana = engine.scope()
        assert ana.recall("tea").hits
        assert [memory.id for memory in ana.list().items] == [one]
        assert "tea" in ana.context("tea").text
        assert engine.verify_audit().findings == ()
        with pytest.raises(Unavailable) as refused:
            ana.remember("Ana likes milk")
    assert refused.value.code == "store_read_only"


def test_a_start_writes_nothing_where_there_is_nothing_to_write(pair: Pair) -> None:
    tenant = {"tenant": "starting", "owner": "ana", "clock": ManualClock()}
    with lamina.open(pair.first, **tenant) as engine:
        engine.scope().remember("Ana likes tea")
    query = (
        "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables WHERE schemaname = 'lamina'"
    )

    def written() -> int:
        with psycopg.connect(pair.first, autocommit=True) as server:
            row = server.execute(query).fetchone()
        return int(row[0]) if row else 0

    before = written()
    lamina.open(pair.first, **tenant).close()

    assert written() == before


def test_a_schema_that_is_behind_is_refused_until_somebody_brings_it_up_to_date(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, made = load_migrations("postgres"), list[str]()
    with monkeypatch.context() as older:
        older.setattr("lamina.storage.postgres.load_migrations", lambda _: steps[:-1])
        PostgresDatabase(postgres_database).close()

    with pytest.raises(Unavailable) as refused:
        lamina.open(postgres_database, owner="ana", migrate="manual")
    assert refused.value.code == "migration_pending"
    assert [one.version for one in missing_steps(postgres_database)] == [steps[-1].version]
    apply_steps(postgres_database, made.append)

    assert made == [f"{steps[-1].version:04} {steps[-1].name}"]
    assert missing_steps(postgres_database) == []
    with lamina.open(postgres_database, owner="ana", migrate="manual") as engine:
        assert engine.scope().remember("Ana likes tea").ids


def test_a_migration_that_is_killed_goes_on_where_it_was(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, made = load_migrations("postgres"), list[str]()

    class Killed(BaseException):
        """As the process is."""

    def told(step: str) -> None:
        made.append(step)
        if len(made) == 7:
            raise Killed

    with pytest.raises(Killed):
        apply_steps(postgres_database, told)
    with psycopg.connect(postgres_database, autocommit=True, options="-c search_path=lamina") as server:
        server.execute("CREATE INDEX memory_turns ON memory (tenant)")  # as one that was being made
        server.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memory_turns'::regclass")
    apply_steps(postgres_database, made.append)

    assert made == [f"{one.version:04} {one.name}" for one in steps]
    with lamina.open(postgres_database, owner="ana", migrate="manual") as engine:
        assert engine.scope().remember("Ana likes tea").ids
        assert engine.database.check() == []
