"""What is purged is nowhere any more, the receipt has looked, and the audit still holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import psycopg
import pytest

from lamina import Conflict, Denied, NotFound, State
from lamina.audit.events import ids_in
from lamina.lifecycle.export import export
from lamina.lifecycle.purge import purge, verify_purge
from lamina.opening import run_job

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from lamina.testing import ManualClock
    from tests.backends import Place

WORDS = {
    "en": "The combination of the old safe is written under the oak drawer",
    "th": "กุญแจตู้เซฟเก่าซ่อนอยู่ใต้ลิ้นชักไม้โอ๊ค",
    "zh-Hans": "旧保险箱的钥匙藏在橡木抽屉底下",
    "zh-Hant": "舊保險箱的鑰匙藏在橡木抽屜底下",
}


def holding(place: Place, text: str) -> list[str]:
    """Where the bytes of a text still are: rows of tables, files of the store, the workspace, the home."""
    rows = [name for name, lines in place.tables().items() if any(text in line for line in lines)]
    return rows + [path.name for path, data in place.files().items() if text.encode() in data]


def test_no_byte_of_a_purged_memory_is_left_anywhere(place: Place) -> None:
    engine = place.open(trace_recalls=True)
    mind = engine.scope(run="r1")
    ids: dict[str, str] = {}
    for language, text in WORDS.items():
        ids[text] = mind.remember(text, idempotency_key=language, reason="because").ids[0]
        mind.recall(text)
        mind.revise(ids[text], f"{text} 2")
    others = [mind.remember(f"note {number} about gardens").ids[0] for number in range(40)]

    for text, one in ids.items():
        assert holding(place, text)
        (receipt,) = purge(mind, one, now=True)
        assert receipt.clean, receipt
        looked = {"rows", "history", "relations", "index", "vectors", "trace", "responses", "files"}
        assert set(receipt.found) >= looked
        assert holding(place, text) == []
        assert verify_purge(mind, one).found.items() <= receipt.found.items()
        with pytest.raises(NotFound):
            mind.get(one)

    assert engine.verify_audit().findings == ()
    assert {mind.get(other).state for other in others} == {State.ACTIVE}
    sealed = [(record.op, record.memory_id) for record in place.audit() if record.op.startswith("purge")]
    assert sealed == [(op, one) for one in ids.values() for op in ("purge", "purge_receipt")]


def test_an_entry_of_a_file_goes_with_its_earlier_values_and_all_kept_versions(workspace: Place) -> None:
    engine = workspace.open()
    mind = engine.scope()
    mind.remember("ปลาทูทอดกับน้ำพริก", key="food.favourite")
    last = mind.remember("khao soi with pickled greens", key="food.favourite").ids[0]
    mind.remember("friendly and short", key="response.tone")

    receipts = purge(mind, last, now=True)

    assert [one.clean for one in receipts] == [True, True], receipts
    for text in ("ปลาทูทอดกับน้ำพริก", "khao soi with pickled greens"):
        assert holding(workspace, text) == []
    assert "friendly and short" in workspace.profile.read_text("utf-8")
    assert engine.verify_audit().findings == ()


@pytest.mark.parametrize("how", ["purge", "erase"])
def test_what_a_killed_writer_left_beside_the_file_goes_too(workspace: Place, how: str) -> None:
    mind = workspace.open().scope()
    known = mind.remember("under the oak drawer", key="key.place").ids[0]
    left = workspace.profile.with_name(".lamina-4711-abcdefgh.tmp")
    left.write_bytes(workspace.profile.read_bytes())

    if how == "purge":
        purge(mind, known, now=True)
    else:
        mind.erase("ana")

    assert holding(workspace, "under the oak drawer") == []


def test_what_repeats_an_earlier_value_loses_that_and_keeps_its_own(ana: ScopedMemory, place: Place) -> None:
    old = ana.remember(WORDS["en"], key="safe.place", space="project").ids[0]
    new = ana.remember("It is in the bank now", key="safe.place", space="project").ids[0]

    (receipt,) = purge(ana, old, now=True)

    assert receipt.clean
    assert holding(place, WORDS["en"]) == []
    assert [step.new_text for step in ana.history(new)] == ["It is in the bank now"]
    assert ana.engine.verify_audit().findings == ()


def test_what_took_its_place_for_a_while_forgets_it_too(ana: ScopedMemory, place: Place) -> None:
    old = ana.remember("Bo drinks tea at nine in the garden").ids[0]
    new = ana.remember("Bo drinks tea at ten in the garden", merge=True).ids[0]
    ana.unmerge(new)

    (receipt,) = purge(ana, old, now=True)

    assert receipt.clean
    assert holding(place, "at nine in the garden") == []
    assert ana.engine.verify_audit().findings == ()


def test_the_job_purges_what_can_no_longer_be_restored(
    engine: Engine, ana: ScopedMemory, clock: ManualClock
) -> None:
    gone, back = (ana.remember(f"{WORDS['en']} {number}").ids[0] for number in range(2))
    bo = engine.scope(user="bo").remember(WORDS["th"], importance=1).ids[0]
    ana.forget(gone)
    ana.forget(back)
    assert run_job(engine, "lifecycle").changes == ()
    with pytest.raises(Conflict, match="can be restored"):
        purge(ana, gone)
    ana.restore(back)
    clock.advance(days=61)

    report = run_job(engine, "lifecycle")

    assert report.changes == ("1 unused memories put aside", "1 memories purged")
    assert ana.get(back).state is State.ACTIVE
    with pytest.raises(NotFound):
        ana.get(gone)
    assert verify_purge(ana, gone).clean
    clock.advance(days=31)
    assert run_job(engine, "lifecycle").changes == ("1 memories purged",)
    assert engine.status().memories == {"active": 1}
    assert verify_purge(engine.scope(user="bo"), bo).clean
    with pytest.raises(NotFound):
        verify_purge(ana, bo)
    assert engine.verify_audit().findings == ()


def test_only_the_person_purges_and_only_their_own(engine: Engine, ana: ScopedMemory) -> None:
    one = ana.remember(WORDS["en"]).ids[0]
    with pytest.raises(Denied):
        purge(engine.scope(agent="planner"), one, now=True)
    with pytest.raises(NotFound):
        purge(engine.scope(user="bo"), one, now=True)
    with pytest.raises(NotFound):
        verify_purge(ana, one)
    assert ana.get(one).state is State.ACTIVE


def test_a_crash_after_the_deletion_is_finished_when_the_memory_is_next_opened(workspace: Place) -> None:
    engine = workspace.open()
    mind = engine.scope(run="r1")
    one = mind.remember(WORDS["en"]).ids[0]
    engine.mirror.scrub = _crash  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        purge(mind, one, now=True)
    assert engine.status().pending_operations == 1
    assert engine.verify_audit().findings == ()

    again = workspace.open()
    assert again.status().pending_operations == 0
    assert [record.op for record in workspace.audit()][-1] == "purge_receipt"
    assert holding(workspace, WORDS["en"]) == []
    assert verify_purge(again.scope(), one).clean
    assert again.verify_audit().findings == ()
    assert run_job(again, "lifecycle").changes == ()


def _crash(*_: object, **__: object) -> list[int]:
    raise KeyboardInterrupt


def test_words_that_stand_elsewhere_are_named(engine: Engine, ana: ScopedMemory, tmp_path: Path) -> None:
    one = ana.remember(WORDS["zh-Hans"]).ids[0]
    twin = engine.scope(session="s1").remember(WORDS["zh-Hans"], space="session").ids[0]
    more = ana.remember(f"{WORDS['zh-Hans']}，还有别的事情要说，下周再谈这件事").ids[0]
    engine.scope(session="s2").hear(f"จำไว้ว่า {WORDS['zh-Hans']}")
    made = export(ana, tmp_path / "out")

    receipt, *others = purge(ana, one, now=True)
    assert receipt.memory_id == one
    assert (receipt.clean, receipt.exports) == (True, (made.folder,))
    assert {twin, "session:ana,s2:short_term:1"} <= {other.memory_id for other in others}
    assert more in receipt.same_words

    two = ana.remember(WORDS["th"]).ids[0]
    export(ana, tmp_path / "more")
    (receipt,) = purge(ana, two, now=True, exports=True)
    assert receipt.exports == ()
    assert [path.name for path in tmp_path.iterdir() if path.name in ("out", "more")] == ["out"]


@pytest.mark.parametrize("purged_before", [False, True], ids=["never purged", "another was purged"])
def test_words_that_vanish_without_a_sealed_purge_are_tampering(place: Place, purged_before: bool) -> None:
    engine = place.open()
    mind = engine.scope()
    one, other = (mind.remember(f"{WORDS['en']} {number}").ids[0] for number in range(2))
    mind.forget(one)
    if purged_before:
        purge(mind, other, now=True)
    assert engine.verify_audit().findings == ()

    _behind_our_back(place, f"UPDATE history SET old_text = NULL, new_text = NULL WHERE memory_id = '{one}'")

    assert {finding.what for finding in engine.verify_audit().findings} == {"edited"}


def test_a_purge_record_that_is_forged_or_repeated_lets_nothing_vanish(place: Place) -> None:
    engine = place.open()
    mind = engine.scope()
    one, other = (mind.remember(f"{WORDS['en']} {number}").ids[0] for number in range(2))
    purge(mind, other, now=True)
    last = place.audit()[-1]
    forged = replace(last, seq=last.seq + 1, op="purge", memory_id=one, prev=last.hash)
    _behind_our_back(place, f"DELETE FROM history WHERE memory_id = '{one}'")
    _behind_our_back(place, f"DELETE FROM memory WHERE id = '{one}'")
    engine.database.write(lambda tx: tx.run("add_audit", **_row(forged)))

    assert "edited" in {finding.what for finding in engine.verify_audit().findings}


def test_a_purged_memory_cannot_come_back_behind_our_back(place: Place) -> None:
    engine = place.open()
    one = engine.scope().remember(WORDS["en"]).ids[0]
    purge(engine.scope(), one, now=True)
    _behind_our_back(
        place,
        "INSERT INTO history (tenant, memory_id, number, revision, op, at, actor, via, new_text, decision)"
        f" VALUES ('default', '{one}', 1, 1, 'ADD', 0, 'user:ana', 'python', '{WORDS['en']}', '{{}}')",
    )

    assert {finding.what for finding in engine.verify_audit().findings} == {"edited"}


def _row(record: object) -> dict[str, object]:
    row = {name: getattr(record, name) for name in record.__dataclass_fields__}  # type: ignore[attr-defined]
    return {**row, "at": 0}


def _behind_our_back(place: Place, statement: str) -> None:
    if place.url is None:
        store = apsw.Connection(str(place.databases()[0]))
        store.execute(statement)
        store.close()
        return
    with psycopg.connect(place.url) as connection:
        connection.execute("SELECT set_config('lamina.tenant', 'default', true)")
        connection.execute("SET search_path = lamina")
        connection.execute(statement.encode())


def test_a_receipt_counts_what_is_really_there(place: Place) -> None:
    """Traces that are put back behind our back are found by the next look, place by place."""
    engine = place.open()
    mind = engine.scope()
    one = mind.remember(WORDS["en"]).ids[0]
    mind.remember("Ana likes tea")
    purge(mind, one, now=True)
    assert verify_purge(mind, one).clean
    for statement in (
        "INSERT INTO fresh (tenant, shelf, slot, length, terms)"
        " SELECT 'default', number, 999, 1, '{}' FROM shelf",
        "INSERT INTO idempotency (tenant, caller, key, fingerprint, response, at)"
        f""" VALUES ('default', 'ana/x', 'k', 'f', '{{"ids":["{one}"]}}', 0)""",
        "UPDATE event SET data = "
        f"""'{{"type":"memory_write","written":[{{"id":"{one}","text":"again"}}]}}'"""
        f" WHERE seq = {place.nth(1)}",
    ):
        _behind_our_back(place, statement)

    found = verify_purge(mind, one)

    assert not found.clean
    assert {name for name, count in found.found.items() if count} == {"index", "responses", "trace"}


def test_what_was_learnt_goes_with_its_page(workspace: Place) -> None:
    engine = workspace.open()
    mind = engine.scope()
    one = mind.layers.learn(WORDS["en"]).receipt.ids[0]
    workspace.clock.advance(days=1)
    mind.forget(one)
    workspace.clock.advance(days=31)

    assert run_job(engine, "lifecycle").changes == ("1 memories purged",)
    assert verify_purge(mind, one).clean
    assert holding(workspace, WORDS["en"]) == []


def test_what_a_purge_looks_at_follows_what_its_person_has(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much others have; whatever people share is looked at, too."""
    looked = list[str]()

    def counted(data: str) -> list[str]:
        looked.append(data)
        return ids_in(data)

    monkeypatch.setattr("lamina.lifecycle.purge.ids_in", counted)

    def looked_at(text: str) -> int:
        looked.clear()
        ana = engine.scope(user="ana", session="s")
        receipt = ana.purge(ana.remember(text).ids[0], now=True)
        assert receipt[0].found["trace"] == 0
        return len(looked)

    alone = looked_at("Ana likes the bread of the corner")
    for number in range(10):
        engine.scope(user="bob", session="s").remember(f"Bob has seen {number} ships")
    among = looked_at("Ana likes the rain of the hills")

    assert among <= 3 * alone
    assert not any("user:bob" in data for data in looked)
