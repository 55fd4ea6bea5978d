"""Lamina runs on PostgreSQL 14 and newer, and says so plainly where a server is older.

Every server that can be found takes part: the one that tests start, or LAMINA_TEST_POSTGRES, and those that
this file starts itself: of the system's packages, and out of the folders in LAMINA_TEST_POSTGRES_PROGRAMS.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from psycopg import sql

import lamina
from lamina import Damaged
from lamina.integrations.langgraph import CheckpointSaver
from lamina.lifecycle.tokens import create_token
from lamina.storage.postgres import OLDEST, check_version, protection
from lamina.testing import ManualClock

GIVEN = [Path(one) for one in os.environ.get("LAMINA_TEST_POSTGRES_PROGRAMS", "").split(":") if one]
PACKAGED = [path for path in sorted(Path("/usr/lib/postgresql").glob("*/bin")) if (path / "initdb").is_file()]
PROGRAMS = {"/".join(path.parts[-2:]): path for path in [*PACKAGED, *GIVEN]}


def unprivileged() -> str | None:
    """Who runs a server when we are root, whom PostgreSQL refuses."""
    if os.getuid() != 0:
        return None
    names = {one.pw_name for one in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


@contextmanager
def started(programs: Path) -> Iterator[str]:
    """A server out of these programs, with nothing in it, that nobody else can reach."""
    user, folder = unprivileged(), tempfile.mkdtemp(prefix="lamina-pg-", dir="/tmp")

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(programs / program), *arguments],
            check=True,
            timeout=120,
            user=user,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    try:
        if user is not None:
            shutil.chown(folder, user)
        data, only_here = f"{folder}/data", f"-c listen_addresses='' -c fsync=off -k {folder}"
        run("initdb", "-D", data, "-U", "boss", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-D", data, "-w", "-o", only_here, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql://boss@/postgres?host={quote(folder, safe='')}"
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["own", *PROGRAMS])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database on each server in turn."""
    if request.param == "own":
        yield request.getfixturevalue("postgres_database")
        return
    with started(PROGRAMS[request.param]) as url:
        yield url


def version_of(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.info.server_version


def test_everything_that_a_store_does_works_on_every_server_that_is_found(database: str) -> None:
    version = version_of(database)
    if version < OLDEST:
        pytest.skip(f"version {version // 10000} is older than what is supported")
    for _ in range(2):  # the second time the schema is there
        with lamina.open(database, owner="ana", clock=ManualClock()) as engine:
            ana = engine.scope(session="monday")
            one = ana.remember("Ana likes tea").ids[0]
            ana.remember("อานาชอบทำงานตอนเช้า")
            ana.remember("friendly", key="tone")
            ana.hear("Remember that I am allergic to peanuts.")
            assert ana.recall("tea").hits[0].id == one
            assert ana.recall("peanuts").hits
            assert ana.context("tea").text
            ana.revise(one, "Ana likes green tea")
            ana.forget(one)
            assert one not in {hit.id for hit in ana.recall("tea")}
            ana.restore(one)
            create_token(engine, "laptop")
            assert engine.rebuild()
            assert engine.verify_audit().findings == ()
            ana.forget(one)
        put_and_load(database)


def put_and_load(url: str) -> None:
    """A LangGraph checkpoint with what was written on top of it: functions of the server put it."""
    with CheckpointSaver.from_url(url, user="ana") as saver:
        made = empty_checkpoint()
        made["channel_values"], made["channel_versions"] = (
            {"log": ["x" * 900], "n": 1},
            {"log": "1", "n": "1"},
        )
        thread: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        at = saver.put(thread, made, {"step": 1}, made["channel_versions"])
        saver.put_writes(at, [("log", "y"), ("n", 2)], "task")
        saver.put_writes(at, [("__resume__", "yes")], "task")
        found = saver.get_tuple(thread)
        assert found is not None
        assert found.checkpoint["channel_values"] == made["channel_values"]
        assert [one[2] for one in found.pending_writes or ()] == ["yes", "y", 2]


def test_the_application_role_cannot_change_the_audit_on_any_server(database: str) -> None:
    for tenant in ("acme", "globex"):
        with lamina.open(database, owner="ana", tenant=tenant) as engine:
            engine.scope().remember(f"canary {tenant}")
    with psycopg.connect(database, options="-c search_path=lamina") as connection:
        connection.execute("SELECT set_config('role', 'lamina_app', true)")
        connection.execute("SELECT set_config('lamina.tenant', 'acme', true)")
        texts = connection.execute("SELECT text FROM memory").fetchall()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE audit SET reason = 'x'")

    assert texts == [("canary acme",)]


def test_a_login_that_may_create_roles_sets_the_store_up_on_every_server(database: str) -> None:
    """No superuser: whoever makes the role has to be able to become it."""
    with psycopg.connect(database, autocommit=True) as boss:
        if boss.execute("SELECT 1 FROM pg_roles WHERE rolname = 'lamina_app'").fetchone():
            pytest.skip("the role is there already, made by another test on this server")
        name = urlsplit(database).path.removeprefix("/")
        boss.execute("CREATE ROLE carol LOGIN CREATEROLE")
        boss.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO carol").format(sql.Identifier(name)))
    url = database.replace("boss@", "carol@")
    if url == database:
        pytest.skip("this server lets nobody else in without a password")

    for _ in range(2):
        with lamina.open(url, owner="ana") as engine:
            engine.scope().remember("Ana likes tea")
            assert engine.scope().recall("tea").hits
        put_and_load(url)


@pytest.mark.parametrize(
    ("version", "asked"),
    [(140000, "'MEMBER'"), (150018, "'MEMBER'"), (160000, "'SET'"), (180006, "'SET'")],
)
def test_a_server_is_asked_about_roles_in_words_that_it_knows(version: int, asked: str) -> None:
    """Before 16 there is no `SET`, and asking for it stops the start."""
    text = protection(version).decode()

    assert f"pg_has_role(current_user, 'lamina_app', {asked})" in text
    assert "{{" not in text


def test_the_oldest_server_is_let_in_and_the_one_before_is_not() -> None:
    check_version(140000)
    with pytest.raises(Damaged) as told:
        check_version(139999)
    assert told.value.code == "postgres_too_old"


def old_server(listening: socket.socket, seen: list[bytes]) -> None:
    """The first words of a PostgreSQL 13: it lets anybody in and says its version."""
    with listening, listening.accept()[0] as client:
        while True:
            size, code = struct.unpack("!II", client.recv(8))
            seen.append(client.recv(size - 8) if size > 8 else b"")
            if code == 196608:  # protocol 3.0; what comes before asks for encryption
                break
            client.sendall(b"N")

        def said(kind: bytes, body: bytes) -> bytes:
            return kind + struct.pack("!I", len(body) + 4) + body

        hello = [(b"R", struct.pack("!I", 0)), (b"S", b"server_version\x0013.14\x00"), (b"Z", b"I")]
        client.sendall(b"".join(said(kind, body) for kind, body in hello))
        while data := client.recv(4096):
            seen.append(data)


def test_an_older_server_is_named_and_nothing_is_asked_of_it() -> None:
    listening, seen = socket.create_server(("127.0.0.1", 0)), list[bytes]()
    url = f"postgresql://ana@127.0.0.1:{listening.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
    server = threading.Thread(target=old_server, args=(listening, seen))
    server.start()

    with pytest.raises(Damaged) as told:
        lamina.open(url)
    server.join(30)

    assert told.value.code == "postgres_too_old"
    assert "13" in told.value.message
    assert "14" in told.value.message
    assert told.value.hint
    assert seen[1:] == [b"X\x00\x00\x00\x04"]  # good-bye, and no question before it
