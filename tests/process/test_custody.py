"""Whole memories: moved between databases, backed up and put back, rescued out of a broken file."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

import lamina
from lamina import Conflict, Damaged, NotFound
from lamina.__main__ import doors
from lamina.custody import back_up, move, put_back, rescue
from lamina.doors.cli.app import run
from lamina.lifecycle.tokens import authenticate, create_token

SAID = ["Ana drinks oat milk", "อานาชอบทำงานตอนเช้า", "安娜每週三晚上學書法"]

NOTES = "memory/2026-11-02.md"


def nothing(*_: int) -> None:
    """Nobody looks at the progress."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A memory with a little of everything in it."""
    root = tmp_path / "memory"
    with lamina.open(root, owner="ana") as engine:
        ana = engine.scope(session="monday")
        ids = [ana.remember(text).ids[0] for text in SAID]
        ana.revise(ids[0], "Ana drinks soy milk")
        ana.forget(ids[1])
        ana.hear("Remember that I am allergic to peanuts.")
        ana.remember("friendly", key="response.tone")
    (root / "memory").mkdir(exist_ok=True)
    (root / NOTES).write_text("# Notes\n\nThe kiln is fired on Thursdays.\n")
    return root


def story(target: Path | str, **settings: Any) -> dict[str, Any]:
    """What a memory says of itself: everything that is known, and how it came there."""
    with lamina.open(target, create=False, owner="ana", **settings) as engine:
        ana = engine.scope(session="monday")
        known = ana.list(limit=100, states=["active", "superseded", "soft_deleted"]).items
        return {
            "memories": [replace(memory, access_count=0, last_accessed_at=None) for memory in known],
            "histories": [ana.history(memory.id) for memory in known],
            "found": [hit.id for hit in ana.recall("peanuts")],
        }


@pytest.mark.parametrize("there", ["sqlite", "postgres"])
def test_a_moved_store_tells_the_same_story_and_its_tokens_still_open_it(
    workspace: Path, there: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with lamina.open(workspace) as engine:
        _, text = create_token(engine, "laptop")
    url = (
        f"sqlite:///{tmp_path}/there.db"
        if there == "sqlite"
        else request.getfixturevalue("postgres_database")
    )
    before = story(workspace)
    done = move(workspace, {}, url, nothing)
    assert done.intact
    assert done.tables["memory"].rows == len(before["memories"])
    assert story(workspace, store=url) == before
    with lamina.open(workspace, store=url) as engine:
        assert authenticate(engine, text).label == "laptop"
    back = f"sqlite:///{tmp_path}/back.db"
    assert move(workspace, {"store": url}, back, nothing).rows >= done.rows
    assert story(workspace, store=back)["histories"] == before["histories"]


def test_a_store_that_holds_something_is_not_filled(workspace: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/there.db"
    with lamina.open(url, owner="ana") as engine:
        engine.scope().remember("somebody else's")
    with pytest.raises(Conflict) as refused:
        move(workspace, {}, url, nothing)
    assert refused.value.code == "store_not_empty"
    with lamina.open(url, owner="ana") as engine:
        assert [one.text for one in engine.scope().list(limit=10).items] == ["somebody else's"]


def test_what_was_backed_up_comes_back_to_the_byte(workspace: Path, tmp_path: Path) -> None:
    before, profile = story(workspace), (workspace / "PROFILE.md").read_bytes()
    done = back_up(workspace, {}, tmp_path / "backup.tar.gz", with_key=False, tell=nothing)
    assert (tmp_path / "backup.tar.gz").stat().st_mode & 0o777 == 0o600
    shutil.rmtree(workspace)
    again = put_back(tmp_path / "backup.tar.gz", tmp_path / "again", {}, nothing)
    assert again.intact
    assert (again.rows, again.files) == (done.rows, done.files)
    assert (tmp_path / "again" / "PROFILE.md").read_bytes() == profile
    assert (tmp_path / "again" / NOTES).exists()
    assert story(tmp_path / "again") == before


def test_a_backup_of_postgres_is_the_same_file_and_comes_back_to_postgres(
    postgres_database: str, tmp_path: Path
) -> None:
    with lamina.open(postgres_database, owner="ana", tenant="acme") as engine:
        for text in SAID:
            engine.scope().remember(text)
    backup = tmp_path / "backup.tar.gz"
    back_up(
        None,
        {"store": postgres_database, "tenant": "acme", "owner": "ana"},
        backup,
        with_key=False,
        tell=nothing,
    )
    other = {"store": f"sqlite:///{tmp_path}/there.db", "owner": "ana"}
    assert put_back(backup, None, other, nothing).intact
    with lamina.open(other["store"], owner="ana", tenant="acme") as engine:
        assert {one.text for one in engine.scope().list(limit=10).items} == set(SAID)


def test_a_backup_with_its_key_opens_in_another_home(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(workspace, {}, tmp_path / "with", with_key=True, tell=nothing)
    back_up(workspace, {}, tmp_path / "without", with_key=False, tell=nothing)
    monkeypatch.setenv("LAMINA_HOME", str(tmp_path / "elsewhere"))
    assert put_back(tmp_path / "with", tmp_path / "one", {}, nothing).intact
    monkeypatch.setenv("LAMINA_HOME", str(tmp_path / "third"))
    with pytest.raises(lamina.ConfigError) as refused:
        put_back(tmp_path / "without", tmp_path / "two", {}, nothing)
    assert refused.value.code == "audit_key_other"


@pytest.mark.parametrize("at", [0.0, 0.3, 0.6, 0.95])
def test_a_backup_that_rotted_is_not_put_back(workspace: Path, tmp_path: Path, at: float) -> None:
    backup = tmp_path / "backup"
    back_up(workspace, {}, backup, with_key=False, tell=nothing)
    data = bytearray(backup.read_bytes())
    data[int(len(data) * at)] ^= 0x41
    backup.write_bytes(data)
    with pytest.raises(Damaged) as refused:
        put_back(backup, tmp_path / "again", {}, nothing)
    assert refused.value.code == "backup_damaged"
    assert not (tmp_path / "again").exists()


def test_nothing_is_overwritten(workspace: Path, tmp_path: Path) -> None:
    back_up(workspace, {}, tmp_path / "backup", with_key=False, tell=nothing)
    for ask in (
        lambda: back_up(workspace, {}, tmp_path / "backup", with_key=False, tell=nothing),
        lambda: put_back(tmp_path / "backup", workspace, {}, nothing),
        lambda: rescue(workspace, {}, workspace),
    ):
        with pytest.raises(Conflict):
            ask()
    with pytest.raises(NotFound):
        put_back(tmp_path / "nowhere", tmp_path / "again", {}, nothing)


def broken(workspace: Path, *statements: str) -> None:
    with apsw.Connection(str(workspace / ".lamina/memory.db")) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statements", "saved", "left"),
    [
        (("UPDATE memory SET text = CAST(x'ff41' AS TEXT) WHERE text LIKE 'Ana%'",), 5, 0),
        (("DROP TABLE history",), 5, 0),
        (("DROP TABLE memory",), 5, 1),
        (("DROP TABLE property", "UPDATE schema_migration SET hash = 'other'"), 5, 0),
    ],
)
def test_what_no_other_command_opens_is_rescued(
    workspace: Path, tmp_path: Path, statements: tuple[str, ...], saved: int, left: int
) -> None:
    broken(workspace, *statements)
    done = rescue(workspace, {}, tmp_path / "out")
    assert done.memories >= saved
    assert len((tmp_path / "out/left-out.jsonl").read_text().splitlines()) >= left
    lines = [json.loads(line) for line in (tmp_path / "out/memories.jsonl").read_text().splitlines()]
    assert {"安娜每週三晚上學書法", "friendly"} <= {line["text"] for line in lines}
    assert "friendly" in (tmp_path / "out/memories.md").read_text()


def test_what_stands_on_good_pages_is_rescued_from_a_file_with_bad_ones(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "memory", owner="ana", embedder="none") as engine:
        ana = engine.scope()
        for number in range(300):
            ana.remember(f"note {number} " + "of some length, so that it takes a page with its like " * 4)
    file = tmp_path / "memory/.lamina/memory.db"
    with apsw.Connection(str(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        bad = [
            page
            for (page,) in connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'memory' AND pagetype = 'leaf' ORDER BY pageno"
            )
        ][5:8]
        (size,) = next(connection.execute("PRAGMA page_size"))
    with file.open("r+b") as raw:
        for page in bad:
            raw.seek((page - 1) * size)
            raw.write(b"\xa5" * size)
    done = rescue(tmp_path / "memory", {}, tmp_path / "out")
    texts = {
        json.loads(line)["text"][:9].strip()
        for line in (tmp_path / "out/memories.jsonl").read_text().splitlines()
    }
    assert done.memories == 300  # what its own row does not tell, its history does
    assert len(texts) > 250


@pytest.mark.parametrize("what", ["the header", "the first page", "the mark", "what follows the header"])
def test_a_store_without_its_first_page_is_rescued_by_its_other_pages(
    workspace: Path, tmp_path: Path, what: str
) -> None:
    with lamina.open(workspace, owner="ana") as engine:
        long = engine.scope().remember("a long note " * 1200).ids[0]  # goes on on further pages
    whole = rescue(workspace, {}, tmp_path / "whole")
    file = workspace / ".lamina/memory.db"
    begin, end = {
        "the header": (0, 100),
        "the first page": (0, 4096),
        "the mark": (0, 16),
        "what follows the header": (100, 4000),
    }[what]
    with file.open("r+b") as raw:
        raw.seek(begin)
        raw.write(bytes(end - begin))
    with pytest.raises(Damaged):
        lamina.open(workspace, owner="ana")
    done = rescue(workspace, {}, tmp_path / "out")
    assert (done.memories, done.steps, done.left_out) == (whole.memories, whole.steps, 1)
    kept = {
        name: {
            line["id"]: line
            for line in map(json.loads, (tmp_path / name / "memories.jsonl").read_text().splitlines())
        }
        for name in ("whole", "out")
    }
    assert kept["out"] == kept["whole"]
    assert kept["out"][long]["text"] == "a long note " * 1200


@pytest.mark.parametrize(
    "damage",
    ["none", "DROP TABLE memory", "UPDATE memory SET provenance = '{' WHERE text LIKE 'Ana drinks%'"],
)
def test_what_was_rescued_is_brought_into_a_new_memory(workspace: Path, tmp_path: Path, damage: str) -> None:
    before = {memory.id: memory for memory in story(workspace)["memories"]}
    if damage != "none":
        broken(workspace, damage)
    done = rescue(workspace, {}, tmp_path / "out")
    assert list(done.people) == ["ana"]
    with lamina.open(tmp_path / "new", owner="ana") as engine:
        arrived = engine.scope().import_files([done.people["ana"]])
        assert not arrived.refused, arrived
        ana, after = engine.scope(session="monday"), story(tmp_path / "new")
        forgotten = (
            {SAID[1]} if damage == "DROP TABLE memory" else set()
        )  # it is archived: no step says until when
        assert {one.text for one in after["memories"]} == {one.text for one in before.values()} - forgotten
        assert after["found"]
        soy = next(one for one in after["memories"] if one.text == "Ana drinks soy milk")
        assert soy.state == "active"
        assert engine.verify_audit().findings == ()
        if damage == "none":
            assert [step.new_text for step in ana.history(soy.id)] == [SAID[0], "Ana drinks soy milk"]
            same = {one.id: (one.text, one.state, one.authority, one.created_at) for one in before.values()}
            keyed = {one.id for one in before.values() if one.key}
            now = {one.id: (one.text, one.state, one.authority, one.created_at) for one in after["memories"]}
            assert {name: now[name] for name in now.keys() - keyed} == {
                name: same[name] for name in same.keys() - keyed
            }


def test_what_was_written_last_is_rescued_out_of_the_log(workspace: Path, tmp_path: Path) -> None:
    with lamina.open(workspace, owner="ana") as engine:
        engine.scope().remember("The newest of all.")
        for file in (workspace / ".lamina").glob("memory.db*"):  # as a cut leaves them
            (tmp_path / file.name).write_bytes(file.read_bytes())
    for file in tmp_path.glob("memory.db*"):
        (workspace / ".lamina" / file.name).write_bytes(file.read_bytes())
    assert (workspace / ".lamina/memory.db-wal").stat().st_size
    with (workspace / ".lamina/memory.db").open("r+b") as raw:
        raw.write(bytes(100))
    rescue(workspace, {}, tmp_path / "out")
    assert "The newest of all." in (tmp_path / "out/memories.md").read_text()


def test_the_commands_say_what_they_did(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["-w", str(workspace)]
    assert run(doors(), [*place, "backup", str(tmp_path / "b.tgz")]) == 0
    assert "read back and equal" in capsys.readouterr().out
    assert run(doors(), ["restore-backup", str(tmp_path / "b.tgz"), str(tmp_path / "again")]) == 0
    assert "The audit is intact." in capsys.readouterr().out
    assert run(doors(), [*place, "--json", "move", f"sqlite:///{tmp_path}/there.db"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["intact"] is True
    assert run(doors(), [*place, "rescue", str(tmp_path / "saved")]) == 0
    assert "memories with" in capsys.readouterr().out
    assert run(doors(), [*place, "backup", str(tmp_path / "b.tgz")]) == 5
    with tarfile.open(tmp_path / "b.tgz") as tar:
        assert "audit.key" not in tar.getnames()


def test_a_store_without_a_table_is_not_backed_up_and_the_table_is_named(
    workspace: Path, tmp_path: Path
) -> None:
    broken(workspace, "DROP TABLE history")
    with pytest.raises(Damaged, match="history") as refused:
        back_up(workspace, {}, tmp_path / "backup", with_key=False, tell=nothing)
    assert "lamina rescue" in refused.value.hint
    assert not (tmp_path / "backup").exists()


def test_settings_that_cannot_be_read_keep_nobody_from_what_was_said(workspace: Path, tmp_path: Path) -> None:
    (workspace / "lamina.toml").write_text("owner = = 3\n[[")
    assert rescue(workspace, {}, tmp_path / "out").memories >= 5


def test_a_rescue_of_nothing_says_so(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / ".lamina/memory.db").write_bytes(b"no store at all")
    assert run(doors(), ["-w", str(workspace), "rescue", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert told.startswith("No memory could be read.")
    assert "1 place could not be read: left-out.jsonl says which and why." in told
