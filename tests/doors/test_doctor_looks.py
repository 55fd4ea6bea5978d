"""`doctor` looks instead of believing (X-7) and mends what is derived; a store that is gone is said to be."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg
import pytest

import lamina
from lamina import Damaged
from lamina.__main__ import doors
from lamina.doors.cli.app import run

SAID = ("The kiln is fired on Thursdays", "เตาเผาทำงานวันพฤหัส", "窯每週四燒一次", "医生每天骑自行车上班")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], str]:
    """A memory whose index of words was emptied: how the command line is told of it, and its store."""
    url = request.getfixturevalue("postgres_store") if request.param == "postgres" else ""
    with lamina.open(tmp_path / "memory", owner="ana", **({"store": url} if url else {})) as engine:
        for text in SAID:
            engine.scope().remember(text)
    words = ["-w", str(tmp_path / "memory"), *(["--store", url] if url else [])]
    statements = ("DELETE FROM posting", "DELETE FROM fresh")
    if url:
        with psycopg.connect(url, options="-c search_path=lamina") as server:
            for statement in statements:
                server.execute(statement.encode())
    else:
        with apsw.Connection(str(tmp_path / "memory/.lamina/memory.db")) as file:
            for statement in statements:
                file.execute(statement)
    return words, url


def test_an_emptied_index_is_found_and_mended(
    place: tuple[list[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = place
    assert run(doors(), [*words, "doctor"]) == 1
    told = capsys.readouterr().out
    assert "4 of 4 memories that were looked up are not found" in told
    assert "lamina doctor --fix" in told
    assert run(doors(), [*words, "doctor", "--fix"]) == 0
    told = capsys.readouterr().out
    assert "fixed: 4 memories were indexed again" in told
    assert "4 of them looked up by a word and found" in told
    assert run(doors(), [*words, "recall", "kiln"]) == 0
    assert "fired on Thursdays" in capsys.readouterr().out


@pytest.mark.parametrize("left", [None, b""], ids=["gone", "empty"])
def test_a_store_that_is_gone_is_said_to_be_gone(tmp_path: Path, left: bytes | None) -> None:
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        engine.scope().remember("friendly", key="response.tone")
    for file in (tmp_path / "memory/.lamina").glob("memory.db*"):
        file.unlink()
    if left is not None:
        (tmp_path / "memory/.lamina/memory.db").write_bytes(left)
    with pytest.raises(Damaged) as gone:
        lamina.open(tmp_path / "memory")
    assert gone.value.code == "store_gone"
    assert [file.stat().st_size for file in (tmp_path / "memory/.lamina").glob("memory.db")] == [0] * (
        left == b""
    )
    assert run(doors(), ["-w", str(tmp_path / "memory"), "init"]) == 0
    with lamina.open(tmp_path / "memory") as engine:
        assert engine.scope().resolve(["response.tone"])["response.tone"].value == "friendly"


def test_another_tenant_of_a_workspace_begins_as_before(tmp_path: Path) -> None:
    for tenant in ("default", "acme"):
        with lamina.open(tmp_path / "memory", owner="ana", tenant=tenant) as engine:
            engine.scope().remember("The kiln is fired on Thursdays")


@pytest.mark.parametrize("table", ["memory", "history", "audit", "property", "shelf", "schema_migration"])
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_a_table_that_is_gone_is_named_with_the_command_to_run(
    backend: str,
    table: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = request.getfixturevalue("postgres_store") if backend == "postgres" else ""
    with lamina.open(tmp_path / "memory", owner="ana", **({"store": url} if url else {})) as engine:
        engine.scope().remember(SAID[0])
    if url:
        with psycopg.connect(url, options="-c search_path=lamina") as server:
            server.execute(f"DROP TABLE {table} CASCADE".encode())
    else:
        with apsw.Connection(str(tmp_path / "memory/.lamina/memory.db")) as file:
            file.execute(f"DROP TABLE {table}")
    words = ["-w", str(tmp_path / "memory"), *(["--store", url] if url else [])]
    for command in (
        ["status"],
        ["recall", "kiln"],
        ["remember", "Ana likes tea"],
        ["audit", "verify"],
        ["doctor"],
    ):
        run(doors(), [*words, *command])
        told = "".join(capsys.readouterr())
        assert "unexpected" not in told, command
        assert "could not be checked (" not in told, command
    assert table in told
    assert "lamina rescue" in told
