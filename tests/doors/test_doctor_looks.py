"""`doctor` looks instead of believing (X-7) and mends what is derived; a store that is gone is said to be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import psycopg
import pytest

import lamina
from lamina import Damaged
from lamina.__main__ import doors
from lamina.doors.cli.app import run
from lamina.errors import LaminaError

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


def test_counts_that_are_not_what_there_is_are_found_and_counted_anew(
    place: tuple[list[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a trigger was gone for a while, or somebody wrote other numbers."""
    words, url = place
    run(doors(), [*words, "rebuild"])
    forged = "UPDATE memory_count SET count = count + 5"
    if url:
        with psycopg.connect(url, options="-c search_path=lamina") as server:
            server.execute(forged.encode())
    else:
        with apsw.Connection(str(tmp_path / "memory/.lamina/memory.db")) as file:
            file.execute(forged)
            file.execute("DROP TRIGGER memory_recounted")
    capsys.readouterr()
    assert run(doors(), [*words, "doctor"]) == 1
    told = capsys.readouterr().out
    assert "1 counts of memories are not what there is" in told
    assert url or "the trigger memory_recounted is missing" in told
    run(doors(), [*words, "doctor", "--fix"])
    assert "because of: index" in (told := capsys.readouterr().out)
    assert "4 memories, all indexed" in told
    run(doors(), [*words, "list"])
    assert "4 memories\n" in capsys.readouterr().out


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


def _overwritten(file: Path) -> None:
    file.write_bytes(bytes(range(1, 256)) * 8)


def _one_line_changed(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"Thursdays", b"Saturdays"))


def _twice(file: Path) -> None:
    file.write_bytes(file.read_bytes() * 2)


@pytest.mark.parametrize("spoil", [_overwritten, _one_line_changed, _twice])
def test_the_audits_files_are_written_again_where_only_they_are_damaged(
    spoil: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        for text in SAID:
            engine.scope().remember(text)
    spoil(tmp_path / "memory/.lamina/runs/main/memory_audit.jsonl")
    words = ["-w", str(tmp_path / "memory")]
    assert run(doors(), [*words, "audit", "verify"]) == 1
    assert "The store is as it was sealed" in (told := "".join(capsys.readouterr()))
    assert "lamina doctor --fix" in told
    assert run(doors(), [*words, "doctor", "--fix"]) == 0
    assert "because of: audit files" in capsys.readouterr().out
    assert run(doors(), [*words, "audit", "verify"]) == 0


def test_a_forged_store_is_not_written_over_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        engine.scope().remember(SAID[0])
    file = tmp_path / "memory/.lamina/runs/main/memory_audit.jsonl"
    _one_line_changed(file)
    left = file.read_bytes()
    with apsw.Connection(str(tmp_path / "memory/.lamina/memory.db")) as store:
        store.execute("UPDATE history SET actor = 'user:eve'")
    assert run(doors(), ["-w", str(tmp_path / "memory"), "doctor", "--fix"]) == 1
    assert "lamina audit verify" in capsys.readouterr().out
    assert file.read_bytes() == left


def test_a_workspace_that_no_longer_says_whose_it_is_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-w", str(tmp_path / "memory")]
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        engine.scope().remember(SAID[0])
    (tmp_path / "memory/lamina.toml").unlink()
    run(doors(), [*words, "doctor"])
    assert "lamina init --owner NAME" in capsys.readouterr().out
    assert run(doors(), [*words, "init", "--owner", "ana"]) == 0
    assert run(doors(), [*words, "recall", "kiln"]) == 0
    assert "fired on Thursdays" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("memory/lamina.toml", "cannot be read. Check that it is a UTF-8 file"),
        ("home/keys/audit.key", "`lamina rescue` saves what is in the store without it"),
        ("memory/.lamina/locks/PROFILE.md.lock", "may be moved away"),
        ("memory/.lamina/runs/main/memory_audit.jsonl", "may be moved away"),
        ("memory/.lamina/workspace-id", "Put a copy of the file itself in its place"),
        ("memory/.lamina/memory.db", "`lamina re"),
    ],
)
def test_what_is_no_file_is_never_waited_for_and_named_with_what_to_do(
    name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_HOME", str(tmp_path / "home"))
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        engine.scope().remember("friendly", key="response.tone")
    (tmp_path / name).unlink(missing_ok=True)
    if name.endswith((".toml", ".key", ".jsonl")):
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).mkdir()
    with pytest.raises(LaminaError) as told, lamina.open(tmp_path / "memory") as engine:
        engine.scope().remember("gentle", key="response.tone")
    assert says in str(told.value)
