"""Everything of one person's is gone, nothing of anybody else's has changed, and the audit holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lamina import Denied
from lamina.errors import Unauthenticated
from lamina.integrations.langgraph import CheckpointSaver
from lamina.lifecycle.erase import erase
from lamina.lifecycle.export import export
from lamina.lifecycle.tokens import authenticate, create_token
from lamina.storage.ends import STAYS, TABLES
from tests.imports.test_exchange import lived

if TYPE_CHECKING:
    from lamina.engine import Engine
    from tests.backends import Place

#: Tables whose rows are nobody's: what jobs did for the whole store.
NOBODYS = {"job_run"}
SECRETS = ("lactose", "กาแฟดำ", "里斯本", "喜歡喝茶", "short and dry", "Kyoto", "trains", "quay")


def lives(engine: Engine, user: str, tmp_path: Path) -> Any:
    """Rows of a user's in as many tables as there are doors."""
    mind = engine.scope(user=user)
    mind.remember(f"{user} moors at the third quay", idempotency_key="k")
    mind.recall("quay")
    mind.hear("remember that the third quay is closed")
    engine.scope(user=user, session="s1").remember("the quay in this session", space="session")
    mind.propose("quayside", "user.place", 0.9)
    mind.allow("0123456789abcdef01234567")
    export(mind, tmp_path / f"export-{user}")
    _, text = create_token(engine, user, user=user)
    _checkpoint(engine, user)
    engine.count_now()
    return text


def _checkpoint(engine: Engine, user: str) -> None:
    saver = CheckpointSaver(engine.database, user=user)
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}}
    state: Any = {
        "v": 4,
        "ts": "2026-01-01T00:00:00+00:00",
        "id": "1",
        "channel_values": {"said": "quay" * 400},
        "channel_versions": {"said": "1"},
        "versions_seen": {},
        "updated_channels": None,
    }
    put = saver.put(config, state, {"source": "loop", "step": 1, "parents": {}}, {"said": "1"})
    saver.put_writes(put, [("said", "quay again")], "task")


def test_everything_of_one_person_goes_and_nothing_of_another_changes(place: Place, tmp_path: Path) -> None:
    engine = place.open()
    lived(engine)
    mine, theirs = (lives(engine, user, tmp_path) for user in ("ana", "bo"))
    engine.scope(user="ana").remember("The jetty is shared", space="project")
    engine.close()
    engine = place.open()
    before = place.tables()

    receipt = erase(engine.scope(user="ana"), "ana")

    assert receipt.clean, receipt.found
    assert (receipt.shared, receipt.erased["exports"]) == (1, 1)
    after = place.tables()
    shared = {json.loads(row)[1] for row in after["shelf"] if "project:main" in row}
    for table, rows in after.items():
        if table not in ("audit", "property", "counter"):
            kept = [row for row in before[table] if _of(row, "bo") or "jetty" in row]
            assert set(kept) <= set(rows), table
        if table not in STAYS:
            left = [row for row in rows if _of(row, "ana") and "project:main" not in row]
            if table == "memory_count":  # who said what is shared is counted where it stays
                left = [row for row in left if json.loads(row)[1] not in shared]
            assert left == [], table
    said = [text for text in SECRETS if text != "quay"]
    files = place.files()
    assert [(path.name, text) for path, data in files.items() for text in said if text.encode() in data] == []
    assert not (tmp_path / "export-ana").exists()
    assert (tmp_path / "export-bo" / "memories.jsonl").exists()
    assert engine.verify_audit().findings == ()
    assert {hit.id for hit in engine.scope(user="ana").recall("quay").hits} <= {"project:main:semantic:1"}
    assert engine.scope(user="bo").recall("third quay").hits
    assert authenticate(engine, theirs).user == "bo"
    with pytest.raises(Unauthenticated):
        authenticate(engine, mine)


def _of(row: str, user: str) -> bool:
    values = [value for value in json.loads(row) if isinstance(value, str)]
    starts = [f"{start}{user}" for start in ("user:", "documents:", "allowed:")]
    starts += [f"session:{user},", f"{user},", f"{user}/"]
    return any(value == user or value.startswith(tuple(starts)) for value in values)


def test_who_was_erased_begins_anew_with_an_audit_that_holds(place: Place) -> None:
    engine = place.open()
    lived(engine)
    erase(engine.scope(), "ana")
    mind = engine.scope()
    receipt = mind.remember("อนากลับมาแล้ว")
    mind.remember("warm", key="response.tone")
    mind.revise(receipt.ids[0], "Ana is back")

    assert int(receipt.ids[0].rpartition(":")[2]) > 1  # no id is given twice, or the audit could not tell
    assert mind.recall("Ana back").hits[0].text == "Ana is back"
    assert [one.text for one in mind.keyed()] == ["warm"]
    assert engine.verify_audit().findings == ()
    engine.close()
    again = place.open()
    assert [one.text for one in again.scope().keyed()] == ["warm"]
    assert again.verify_audit().findings == ()


def test_only_the_person_or_an_administrator_erases(place: Place) -> None:
    engine = place.open()
    engine.scope().remember("Ana likes tea")
    for caller in (engine.scope(agent="planner"), engine.scope(user="bo"), engine.scope(role="tool")):
        with pytest.raises(Denied):
            erase(caller, "ana")
    assert engine.scope().recall("tea").hits
    assert erase(engine.scope(user="root", role="admin"), "ana").clean
    assert engine.scope().recall("tea").hits == ()


def test_names_that_look_alike_are_other_people(place: Place) -> None:
    engine = place.open()
    others = ["ana2", "an", "ana,x", "ana-b", "~ana", "Ana"]
    for user in ("ana", *others):
        engine.scope(user=user, session="s").remember(f"{user} was here by boat", space="session")
        engine.scope(user=user).remember(f"{user} was here")
    erase(engine.scope(), "ana")
    for user in others:
        assert [hit.text for hit in engine.scope(user=user).recall("was here")] == [f"{user} was here"]
        assert len(engine.scope(user=user, session="s").recall("was here").hits) == 2
    assert engine.verify_audit().findings == ()


def test_there_is_no_table_that_erasing_does_not_know(place: Place) -> None:
    """Whoever adds a table says here, in `TABLES` or `STAYS`, what erasing a person does to it."""
    engine = place.open()
    engine.scope().remember("Ana likes tea")
    assert set(place.tables()) <= {*TABLES, *STAYS, *NOBODYS}


def test_a_crash_inside_a_line_of_the_audits_file_leaves_no_alarm_and_no_words(
    workspace: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = workspace.open()
    assert workspace.folder is not None
    engine.scope(user="bob", run="r1").remember("the third quay is closed")
    real = os.pwrite

    def half(fd: int, data: bytes, at: int) -> int:
        if not data.startswith(b'{"'):  # the anchor's
            return real(fd, data, at)
        real(fd, data[: len(data) // 2], at)
        raise KeyboardInterrupt

    with monkeypatch.context() as crash:
        crash.setattr(os, "pwrite", half)
        with pytest.raises(KeyboardInterrupt):
            erase(engine.scope(user="bob"), "bob")
    assert "mirror_edited" in {one.what for one in engine.verify_audit().findings}

    again = workspace.open()
    assert again.verify_audit().findings == ()
    assert erase(again.scope(user="bob"), "bob").clean
    assert again.verify_audit().findings == ()
    (log,) = workspace.folder.glob(".lamina/runs/r1/*.jsonl")
    assert b"quay" not in log.read_bytes()
    assert (workspace.folder / ".lamina/overwriting").read_bytes() == b""


def test_a_page_of_the_audits_file_that_never_reached_the_disk_is_no_alarm(workspace: Place) -> None:
    engine = workspace.open()
    assert workspace.folder is not None
    mind = engine.scope(run="r1")
    for number in range(12):
        mind.remember(f"berth {number} is for {'long ' * 40} boats")
    (log,) = workspace.folder.glob(".lamina/runs/r1/*.jsonl")
    whole = log.read_bytes()
    log.write_bytes(whole[:4096] + b"\0" * 1000 + whole[5096:])
    assert "mirror_edited" in {one.what for one in engine.verify_audit().findings}

    again = workspace.open()
    assert again.verify_audit().findings == ()
    seen = [json.loads(line)["seq"] for line in log.read_bytes().splitlines() if line.strip()]
    assert sorted(seen) == [json.loads(line)["seq"] for line in whole.splitlines()]
