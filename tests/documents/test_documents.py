"""The index of documents says what the files say, no more and no less, and nobody else sees it."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from importlib import import_module
from pathlib import Path

import pytest

from lamina.documents.index import Library
from lamina.documents.pace import Pace
from lamina.doors.canary import canary
from lamina.engine import Engine
from lamina.storage.documents import Documents, Found
from tests.backends import Place

DECISION = "## Decision: keep SQLite\n- id: DECISION-20260110-sqlite\n- status: active\n"


def write(place: Place, path: str, text: str) -> Path:
    assert place.folder is not None
    file = place.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def library(engine: Engine) -> Library:
    assert engine.library is not None
    return engine.library


def indexed(engine: Engine) -> dict[str, Found]:
    """Every passage of the index by its id."""
    return {one.id: one for one in engine.database.read(lambda tx: list(Documents(tx).all()))}


def test_the_default_files_are_indexed_by_tier_and_others_are_not(workspace: Place) -> None:
    engine = workspace.open()
    for path in ("MEMORY.md", "memory/2026-01-10.md", "memory/projects/a.md", "memory/archive/w.md"):
        write(workspace, path, "# T\ntext\n")
    write(workspace, "second-brain/specs/x.md", "# Not asked for\ntext\n")
    write(workspace, "memory/.locks/x.md", "hidden\n")

    found = library(engine).index(engine.now())

    assert found.documents == {"archive": 1, "hot": 1, "warm": 2}
    assert (found.files, found.passages, found.dirty) == (4, 4, 0)
    assert engine.status().documents == found


def test_a_passage_keeps_its_id_where_its_words_stay(workspace: Place) -> None:
    engine = workspace.open()
    write(workspace, "memory/2026-01-10.md", f"# Day\none\n\n{DECISION}\n## Last\nthree\n")
    library(engine).index(engine.now())
    before = indexed(engine)
    assert list(before) == [f"doc:memory/2026-01-10.md#{n}" for n in (1, 2, 3)]

    write(workspace, "memory/2026-01-10.md", f"# Day\nnew words\nhere\n\n{DECISION}\n## Last\nthree\n")
    library(engine).sync(engine.now())

    after = indexed(engine)
    assert list(after) == [f"doc:memory/2026-01-10.md#{n}" for n in (2, 3, 4)]
    moved = after["doc:memory/2026-01-10.md#2"]
    assert moved.slot == before[moved.id].slot
    assert moved.passage.start_line == before[moved.id].passage.start_line + 1
    assert after["doc:memory/2026-01-10.md#4"].passage.text == "# Day\nnew words\nhere"


def test_a_touched_file_is_not_indexed_again_and_a_moved_one_keeps_its_place(workspace: Place) -> None:
    engine = workspace.open()
    file = write(workspace, "memory/2026-01-10.md", "# Day\nwords\n")
    library(engine).index(engine.now())
    (before,) = indexed(engine).values()

    os.utime(file, ns=(1, 1))
    assert library(engine).sync(engine.now()).dirty == 0
    file.rename(file.with_name("2026-01-12.md"))
    library(engine).sync(engine.now())

    (after,) = indexed(engine).values()
    assert (after.id, after.slot) == ("doc:memory/2026-01-12.md#1", before.slot)
    assert str(after.passage.date) == "2026-01-12"


def test_a_deleted_file_is_let_go_and_a_missing_disk_is_not_believed(workspace: Place) -> None:
    engine = workspace.open()
    files = [write(workspace, f"memory/n{n}.md", f"# N\nnumber {n}\n") for n in range(10)]
    library(engine).index(engine.now())

    files[0].unlink()
    assert library(engine).sync(engine.now()).is_paused is False
    assert len(indexed(engine)) == 9

    for file in files[1:5]:
        file.unlink()
    paused = library(engine).sync(engine.now())
    assert (paused.is_paused, paused.gone, len(indexed(engine))) == (True, 4, 9)

    write(workspace, "memory/n1.md", "# N\nnumber 1\n")  # one comes back
    assert library(engine).sync(engine.now()).gone == 3
    agreed = library(engine).index(engine.now(), agreed=True)
    assert (agreed.is_paused, agreed.gone, len(indexed(engine))) == (False, 0, 6)


def test_another_process_sees_what_this_one_indexed(workspace: Place) -> None:
    one, other = workspace.open(), workspace.open()
    write(workspace, "MEMORY.md", "# M\nfirst\n")
    library(one).sync(one.now())
    assert library(other).status().dirty == 0
    write(workspace, "MEMORY.md", "# M\nsecond thought\n")
    library(other).sync(other.now())
    assert library(one).sync(one.now()).dirty == 0
    assert [found.passage.text for found in indexed(one).values()] == ["# M\nsecond thought"]


def test_a_secret_in_a_file_stays_in_the_file_and_nowhere_else(workspace: Place) -> None:
    engine = workspace.open()
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    file = write(workspace, "memory/2026-01-10.md", f"# Day\nfine\ntoken {secret} of the bot\nfine, too\n")

    found = library(engine).index(engine.now())

    assert found.hidden == ("memory/2026-01-10.md:3",)
    (passage,) = indexed(engine).values()
    assert passage.passage.end_line == 4
    assert secret in file.read_text()
    assert not any(secret in row for rows in workspace.tables().values() for row in rows)


def test_what_is_outside_or_a_link_is_refused_and_said(workspace: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("# A\nfrom outside\n")
    engine = workspace.open(extra_paths=f"{outside}, ../outside, notes:*.md")
    write(workspace, "notes/deep/b.md", "# B\nnot in the pattern\n")
    write(workspace, "notes/c.md", "# C\nin the pattern\n")
    assert workspace.folder is not None
    (workspace.folder / "notes" / "link.md").symlink_to(outside / "a.md")
    (workspace.folder / "memory").symlink_to(outside)

    found = library(engine).index(engine.now())

    assert list(indexed(engine)) == ["doc:notes/c.md#1"]
    assert set(found.skipped) == {"memory", "notes/link.md"}
    assert len(found.notes) == 2
    allowed = workspace.open(extra_paths=str(outside), document_roots=str(outside))
    library(allowed).index(allowed.now(), agreed=True)
    assert list(indexed(allowed)) == [f"doc:{outside}/a.md#1"]


@pytest.mark.parametrize(
    "settings",
    [
        {"agents": {"defaults": {"memorySearch": {"provider": "openai", "extraPaths": ["./second-brain"]}}}},
        {"memory": {"backend": "qmd", "qmd": {"paths": [{"name": "b", "path": "./second-brain"}]}}},
        {"memory": {"search": {"extraPaths": [{"path": "second-brain", "pattern": "**/*.md"}]}}},
    ],
)
def test_openclaws_settings_bring_in_the_second_brain(
    settings: dict[str, object], tmp_path: Path, lamina_home: Path
) -> None:
    place = Place(variant="sqlite", folder=tmp_path / "w", url=None, home=lamina_home)
    engine = place.open()
    write(place, "openclaw.json", json.dumps({**settings, "channels": {}}))
    write(place, "second-brain/specs/x.md", "# Spec\npipeline\n")
    write(place, "second-brain/devlogs/y.md", "# Log\nworked\n")
    write(place, "MEMORY.md", "# M\nindex\n")

    assert library(engine).index(engine.now()).documents == {"cold": 2, "hot": 1}
    place.close()


def test_the_limits_of_the_documents_own_example_are_in_force(tmp_path: Path, lamina_home: Path) -> None:
    place = Place(variant="sqlite", folder=tmp_path / "w", url=None, home=lamina_home)
    engine = place.open()
    qmd = {
        "includeDefaultMemory": False,
        "update": {"interval": "10m", "debounceMs": 5000},
        "limits": {"maxResults": 4, "timeoutMs": 2000},
        "paths": [7],
    }
    write(place, "openclaw.json", json.dumps({"memory": {"citations": "off", "qmd": qmd, "dreams": {}}}))
    write(place, "MEMORY.md", "# M\nindex\n")

    found = library(engine).settings

    assert (found.citations, found.max_results, found.timeout_s) == ("off", 4, 2.0)
    assert (found.interval_s, found.debounce_s) == (600, 5)
    assert library(engine).index(engine.now()).files == 0
    assert len(found.notes) == 2  # the path that is none, and `memory.dreams`
    write(place, "openclaw.json", "{not json")
    assert library(engine).index(engine.now()).files == 1
    place.close()


def test_a_search_does_not_index_while_the_weekly_job_is_at_work(workspace: Place) -> None:
    engine = workspace.open()
    lock = write(workspace, "memory/.locks/weekly-compound.lock", "")
    write(workspace, "MEMORY.md", "# M\nindex\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = library(engine).sync(engine.now())
        assert (waiting.weekly_job, waiting.dirty) == (True, 1)
    assert library(engine).sync(engine.now()).dirty == 0


def test_rebuild_makes_the_documents_anew_with_their_ids(workspace: Place) -> None:
    engine = workspace.open()
    write(workspace, "MEMORY.md", f"# M\nindex\n\n{DECISION}")
    engine.scope().remember("Ana likes tea")
    library(engine).index(engine.now())
    before = {id_: one.passage for id_, one in indexed(engine).items()}
    for shelf, *_ in engine.database.read(lambda tx: tx.all("all_shelves")):
        engine.database.write(lambda tx, shelf=shelf: tx.run("drop_postings", shelf=shelf))

    assert engine.rebuild() == 1

    assert {id_: one.passage for id_, one in indexed(engine).items()} == before
    assert None not in {one.slot for one in indexed(engine).values()}


def test_a_canary_in_each_script_proves_that_the_index_lives_and_leaves_nothing(workspace: Place) -> None:
    engine = workspace.open()
    before = workspace.tables()
    assert canary(engine) == dict.fromkeys(("en", "zh-Hant", "zh-Hans", "th", "mixed"), True)
    assert workspace.tables() == before


def test_a_server_looks_after_changes_have_settled_and_every_few_minutes() -> None:
    pace = Pace(debounce_s=15, interval_s=300, now=0)
    pace.notice(10)
    pace.notice(20)
    assert [at for at in range(0, 700, 5) if pace.is_due(at)] == [35, 335, 635]


def test_a_refresh_in_the_background_waits_for_the_weekly_job(workspace: Place) -> None:
    engine = workspace.open()
    lock = write(workspace, "memory/.locks/weekly-compound.lock", "")
    write(workspace, "MEMORY.md", "# M\nindex\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        library(engine).refresh(engine.now())
        assert not indexed(engine)
    library(engine).refresh(engine.now())
    assert len(indexed(engine)) == 1


def test_the_system_hints_that_a_document_changed(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    noticed = threading.Event()
    (tmp_path / "memory").mkdir()
    with import_module("lamina.documents.hints").hints(tmp_path, noticed.set):
        for number in range(200):  # the watch begins at a moment that nobody tells
            (tmp_path / "memory" / "a.md").write_text(f"{number}\n")
            if noticed.wait(0.05):
                break
    assert noticed.is_set()


def test_searches_at_the_same_time_do_not_trip_over_each_other(workspace: Place) -> None:
    engine = workspace.open()
    for number in range(8):
        write(workspace, f"memory/n{number}.md", f"# N\nnumber {number}\n")
    failed: list[Exception] = []

    def look(number: int) -> None:
        try:
            write(workspace, f"memory/n{number}.md", f"# N\nanother {number}\n")
            for _ in range(5):
                library(engine).sync(engine.now())
                library(engine).refresh(engine.now())
        except Exception as error:  # noqa: BLE001 whatever it is, the test says so
            failed.append(error)

    threads = [threading.Thread(target=look, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert library(engine).index(engine.now()).dirty == 0
    assert sorted(one.passage.text for one in indexed(engine).values()) == [
        f"# N\n{'another' if n < 4 else 'number'} {n}" for n in sorted(range(8), key=lambda n: (n > 3, n))
    ]
