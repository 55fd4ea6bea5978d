"""The anchor survives what a crash can do to it, and losing it hides nothing that anything else tells."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import psycopg
import pytest

from lamina.testing import ManualClock

if TYPE_CHECKING:
    from lamina.engine import Engine
    from tests.backends import Place

#: What may be left of an anchor, by name.
LEFT = {
    "missing": None,
    "empty": b"",
    "zeros": bytes(151),
    "half": b"00000000000000000003 4f1c",
    "garbled": b"\xff\xfe\x00" * 50,
    "without its end": b"0" * 20 + b" " + b"a" * 64 + b" " + b"b" * 64,
}


def anchor_of(home: Path) -> Path:
    (found,) = (home / "anchors").iterdir()
    return found


def lose(home: Path, left: bytes | None) -> None:
    if left is None:
        anchor_of(home).unlink()
    else:
        anchor_of(home).write_bytes(left)


def live(engine: Engine, count: int = 3) -> list[str]:
    told = engine.status().audit_records
    return [engine.scope(run=f"r{n}").remember(f"thing {n} after {told}").ids[0] for n in range(count)]


def run_sql(place: Place, *statements: str) -> None:
    """Statements of somebody who is past the triggers."""
    if place.url is not None:
        with psycopg.connect(place.url, options="-c search_path=lamina") as server:
            for statement in statements:
                server.execute(statement.encode())
        return
    connection = apsw.Connection(str(place.databases()[0]))
    for name in ("audit_never_changes", "audit_never_shrinks"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("left", LEFT)
def test_a_lost_anchor_is_made_anew_and_the_chain_says_so_for_good(place: Place, left: str) -> None:
    live(place.open())
    place.close()
    lose(place.home, LEFT[left])

    for _ in range(3):
        engine = place.open()
        live(engine)
        place.clock.advance(days=1)
        report = engine.verify_audit()
        place.close()

    assert report.findings == ()
    (note,) = report.notes
    # The record is in the store's own chain, which nothing else was in where people have chains of theirs.
    seq, after = (
        (4, "after record 3") if place.url is None else (1, "after record 0 of the store's own chain")
    )
    assert (note.what, note.seq) == ("anchor_renewed", seq)
    assert after in note.detail
    assert f"{ManualClock().now():%Y-%m-%d}" in note.detail


def test_the_renewed_anchor_finds_what_is_cut_off_after_it(place: Place) -> None:
    live(place.open())
    place.close()
    lose(place.home, b"")
    live(place.open())
    place.close()

    run_sql(place, f"DELETE FROM audit WHERE seq > {place.nth(5)}")

    assert "truncated" in {one.what for one in place.open().verify_audit().findings}


def test_what_was_cut_off_is_told_by_the_history_although_the_anchor_is_empty(place: Place) -> None:
    """And so the anchor is not made anew: neither now nor after more was written."""
    live(place.open())
    place.close()
    run_sql(
        place,
        f"DELETE FROM audit WHERE seq = {place.nth(3)}",
        f"UPDATE property SET value = '{place.nth(2)}' WHERE name LIKE 'mirrored_seq%'",
    )
    lose(place.home, b"")

    for _ in range(2):
        engine = place.open()
        found = engine.verify_audit()
        assert "truncated" in {one.what for one in found.findings}
        assert found.notes == ()
        live(engine)
        place.close()

    assert place.open().verify_audit().findings
    assert "anchor_renewed" not in {record.op for record in place.audit()}


def test_what_was_cut_off_is_told_by_a_runs_file_although_the_anchor_is_empty(workspace: Place) -> None:
    """Somebody takes the last memory, its history and its record away, and forgets the file of its run."""
    last = live(workspace.open())[-1]
    workspace.close()
    run_sql(
        workspace,
        f"DELETE FROM audit WHERE seq = {workspace.nth(3)}",
        f"DELETE FROM history WHERE memory_id = '{last}'",
        f"DELETE FROM memory WHERE id = '{last}'",
        f"UPDATE property SET value = '{workspace.nth(2)}' WHERE name LIKE 'mirrored_seq%'",
    )
    lose(workspace.home, b"")

    found = workspace.open().verify_audit()

    assert "truncated" in {one.what for one in found.findings}
    assert found.notes == ()


def test_a_fault_inside_the_chain_keeps_a_lost_anchor_away(place: Place) -> None:
    live(place.open())
    place.close()
    run_sql(place, f"UPDATE audit SET actor = 'user:mallory' WHERE seq = {place.nth(2)}")
    lose(place.home, b"")

    found = place.open().verify_audit()

    assert ("edited", place.nth(2)) in {(one.what, one.seq) for one in found.findings}
    assert found.notes == ()


def test_a_whole_copy_put_back_with_its_anchor_emptied_is_told_by_the_note_alone(workspace: Place) -> None:
    """What nothing can prove is said as it is: behind which record the anchor was made anew."""
    if workspace.url is not None:
        pytest.skip("a copy of the folder has no rows of a server in it")
    live(workspace.open())
    workspace.close()
    assert workspace.folder is not None
    older = workspace.folder.with_name("older")
    shutil.copytree(workspace.folder, older)
    live(workspace.open())
    workspace.close()
    shutil.rmtree(workspace.folder)
    shutil.copytree(older, workspace.folder)

    assert "truncated" in {one.what for one in workspace.open().verify_audit().findings}
    workspace.close()
    lose(workspace.home, b"")
    report = workspace.open().verify_audit()

    assert report.findings == ()
    assert "after record 3" in report.notes[0].detail


def test_a_whole_note_with_a_wrong_seal_is_no_accident(place: Place) -> None:
    """It stays as it is, and the person is told how to go on."""
    live(place.open())
    place.close()
    text = anchor_of(place.home).read_text()
    forged = text.replace("3 ", "2 ", 1)
    assert forged != text
    anchor_of(place.home).write_text(forged)

    engine = place.open()
    live(engine)
    (finding,) = engine.verify_audit().findings

    assert finding.what == "edited"
    assert str(anchor_of(place.home)) in finding.detail
    assert anchor_of(place.home).read_text() == forged
    place.close()
    anchor_of(place.home).unlink()  # what the finding says
    assert place.open().verify_audit().findings == ()


def test_an_anchor_that_goes_while_the_store_is_open_is_not_made_anew_in_silence(place: Place) -> None:
    engine = place.open()
    live(engine)
    lose(place.home, None)
    live(engine)

    (finding,) = engine.verify_audit().findings

    assert finding.what == "unverifiable"
    place.close()
    report = place.open().verify_audit()
    assert (report.findings, len(report.notes)) == ((), 1)


def test_a_store_is_anchored_before_its_first_record(place: Place) -> None:
    """Or somebody who is killed at their first write would read of a lost anchor."""
    engine = place.open()
    assert anchor_of(place.home).read_bytes().startswith(b"0" * 20)
    live(engine)
    assert engine.verify_audit().notes == ()


def test_two_that_start_at_once_record_one_renewal(place: Place) -> None:
    live(place.open())
    place.close()
    lose(place.home, b"")
    first = place.open()
    lose(place.home, b"")  # as the second finds it that starts before the first has written it
    second = place.open()

    assert second.verify_audit().findings == ()
    assert len(second.verify_audit().notes) == 1
    live(first)
    live(second)
    assert first.verify_audit().findings == ()


def test_the_lines_of_a_renewal_are_in_the_runs_file(workspace: Place) -> None:
    live(workspace.open())
    workspace.close()
    lose(workspace.home, b"")
    workspace.open()
    assert workspace.folder is not None

    lines = [
        json.loads(line)
        for file in (workspace.folder / ".lamina" / "runs").rglob("*.jsonl")
        for line in file.read_text().splitlines()
    ]

    assert [line["reason"] for line in lines if line["op"] == "anchor_renewed"] == ["empty"]
