"""What nobody uses is put aside, can come back, and is told once; what is pinned stays."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import lamina
from lamina import InvalidInput, NotFound, Outcome, State
from lamina.lifecycle.consent import lapse_guesses
from lamina.lifecycle.fading import expire_episodes, in_pieces, soften
from lamina.lifecycle.purge import purge_due
from lamina.model import HistoryOp, Memory
from lamina.opening import run_job
from lamina.storage.database import Transaction
from lamina.storage.postgres import PostgresDatabase
from lamina.storage.shelf_contents import LayerRows

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from lamina.testing import ManualClock
    from tests.backends import Place

WORDS = {
    "en": "The umbrella stand is in the hall",
    "th": "ที่วางร่มอยู่ในห้องโถง",
    "zh-Hans": "雨伞架在走廊里",
    "zh-Hant": "雨傘架在走廊裡",
}


def states(mind: ScopedMemory, ids: list[str]) -> list[State]:
    return [mind.get(one).state for one in ids]


def test_a_pin_is_a_step_in_a_memorys_life_and_asking_twice_is_none(ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana keeps the spare key at the neighbour's").ids[0]

    assert (ana.pin(memory_id, reason="we need it").code, ana.pin(memory_id).code) == ("pinned", "same")
    assert ana.get(memory_id).pinned
    assert (ana.unpin(memory_id).code, ana.get(memory_id).pinned) == ("unpinned", False)

    steps = [(step.op, step.decision["code"], step.actor) for step in ana.history(memory_id)][1:]
    assert steps == [(HistoryOp.UPDATE, "pinned", "user:ana"), (HistoryOp.UPDATE, "unpinned", "user:ana")]
    assert ana.engine.verify_audit().findings == ()
    with pytest.raises(NotFound):
        ana.pin("user:ana:semantic:99")
    with pytest.raises(InvalidInput):
        ana.pin("a\x00b")


def test_a_pin_on_an_entry_of_a_file_leaves_the_file_alone_and_outlives_an_edit(workspace: Place) -> None:
    mind = workspace.open().scope()
    memory_id = mind.remember("friendly", key="tone").ids[0]
    before = workspace.profile.read_bytes()

    assert mind.pin(memory_id).code == "pinned"
    assert workspace.profile.read_bytes() == before
    workspace.profile.write_bytes(before.replace(b"friendly", b"dry"))

    assert [(one.text, one.pinned) for one in mind.keyed()] == [("dry", True)]


def test_an_agent_cannot_pin_or_unpin_what_the_user_said(engine: Engine, ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana lives in Lisbon").ids[0]
    planner = engine.scope(agent="planner")
    assert planner.pin(memory_id).decision is Outcome.DENIED
    assert not ana.get(memory_id).pinned


def test_what_nobody_uses_is_put_aside_told_once_and_can_come_back(
    engine: Engine, ana: ScopedMemory, clock: ManualClock
) -> None:
    ids = [ana.remember(text, importance=1).ids[0] for text in WORDS.values()]
    pinned = ana.remember("The lift is out of order", importance=1, pin=True).ids[0]
    weighty = ana.remember("Ana is allergic to nuts", importance=2).ids[0]
    cursor = ana.changes().cursor
    clock.advance(days=30)
    engine.scope().recall(WORDS["en"], k=1)  # found once more: this one has not been unused for 60 days
    clock.advance(days=31)

    report = run_job(engine, "lifecycle")

    assert report.changes == ("3 unused memories put aside",)
    put_aside = [State.ACTIVE, *[State.SOFT_DELETED] * 3, *[State.ACTIVE] * 2]
    assert states(ana, [*ids, pinned, weighty]) == put_aside
    assert ana.get(ids[1]).purge_at == clock.now() + timedelta(days=30)
    for text in list(WORDS.values())[1:]:
        assert not {hit.id for hit in ana.recall(text)} & set(ids[1:])
        assert text not in ana.context(text).text
        assert not {one.id for one in ana.query(text).bullets} & set(ids[1:])
    step = ana.history(ids[1])[-1]
    assert (step.op, step.actor, step.decision["code"]) == (HistoryOp.TTL, "system:ana", "unused")
    delta = ana.changes(cursor)
    assert {(one.event, one.memory_id) for one in delta.changes} == {("soft_deleted", one) for one in ids[1:]}
    assert ana.changes(delta.cursor).changes == ()

    assert ana.restore(ids[1]).code == "restored"
    assert run_job(engine, "lifecycle").changes == ()
    assert ana.recall(WORDS["th"]).hits[0].id == ids[1]
    assert engine.verify_audit().findings == ()


def test_what_is_put_aside_is_booked_on_the_person_whose_it_is(engine: Engine, clock: ManualClock) -> None:
    """S-5."""
    minds = {name: engine.scope(user=name, session="s1") for name in ("ana", "bob", "มะลิ")}
    ids = {name: mind.remember(f"{name} saw a heron", importance=1).ids[0] for name, mind in minds.items()}
    before = {name: engine.scope(user=name).changes().revision for name in minds}
    clock.advance(days=61)
    assert run_job(engine, "lifecycle").changes == ("3 unused memories put aside",)
    for name, mind in minds.items():
        step = mind.history(ids[name])[-1]
        assert (step.op, step.actor) == (HistoryOp.TTL, f"system:{name}")
        assert engine.scope(user=name).changes().revision == before[name] + 1  # in that person's own thread
    clock.advance(days=31)
    run_job(engine, "lifecycle")
    for name, mind in minds.items():
        with pytest.raises(NotFound):
            mind.get(ids[name])
    assert engine.verify_audit().findings == ()


def test_only_the_person_whose_memory_it_is_waits_for_what_time_does(
    postgres_store: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P-1: no job is alone on the store while it puts aside, lapses, reduces or purges."""
    held: list[frozenset[int] | None] = []
    batch = PostgresDatabase._batch

    def noted(self: PostgresDatabase, chains: frozenset[int] | None) -> Any:
        held.append(chains)
        return batch(self, chains)

    monkeypatch.setattr(PostgresDatabase, "_batch", noted)
    with lamina.open(postgres_store, owner="owner", clock=clock) as engine:
        for name in ("ana", "bob"):
            mind = engine.scope(user=name, session="s1")
            mind.remember_many([{"text": f"{name} saw heron {n}", "importance": 1} for n in range(12)])
            mind.record_episode("We talked about herons")
            engine.scope(user=name, agent="scout").propose("Chiang Mai", "home.city", 0.7, "said twice")
        engine.flush()
        for days, work in ((30, lapse_guesses), (400, expire_episodes), (0, soften), (100, purge_due)):
            clock.advance(days=days)
            held.clear()
            assert work(engine) in (2, 24)
            assert all(chains is not None and len(chains) <= 1 for chains in held), work
            assert len([chains for chains in held if chains]) > 1
        assert engine.verify_audit().findings == ()


def test_what_changed_since_it_was_found_unused_stays(engine: Engine, clock: ManualClock) -> None:
    ana = engine.scope()
    kept, gone = (ana.remember(f"Ana saw {one}", importance=1).ids[0] for one in ("a heron", "an owl"))
    clock.advance(days=61)

    def found(transaction: Transaction, now: datetime) -> list[Memory]:
        before = now - timedelta(days=60)
        return LayerRows(transaction).unused(before, 2, "learnings/", 200)

    old = engine.database.read(lambda tx: found(tx, engine.now()))
    ana.pin(kept)
    done: list[str] = []
    assert in_pieces(engine, lambda *_: old, lambda _, one: done.append(one.id)) == 1
    assert done == [gone]


def test_what_an_agent_noted_of_a_day_is_put_aside_and_the_rest_stays(
    engine: Engine, clock: ManualClock
) -> None:
    """S-3: nobody gave an importance, and the lifecycle still has something to act on."""
    agent, ana = engine.scope(agent="scout"), engine.scope()
    passing = [
        agent.remember(text).ids[0]
        for text in ("The lift is out of order today", "คืนนี้ร้านข้างล่างปิดเร็ว", "电梯这周在维修")
    ]
    lasting = [
        agent.remember("The lift holds eight people").ids[0],
        ana.remember("I'm in Leeds today").ids[0],
    ]
    clock.advance(days=61)
    assert run_job(engine, "lifecycle").changes == ("3 unused memories put aside",)
    assert {ana.get(one).state for one in passing} == {State.SOFT_DELETED}
    assert {ana.get(one).state for one in lasting} == {State.ACTIVE}


def test_what_lives_in_a_file_of_the_person_is_never_put_aside(workspace: Place) -> None:
    engine = workspace.open()
    engine.scope().remember("friendly", key="tone", importance=1)
    workspace.clock.advance(days=400)
    run_job(engine, "lifecycle")
    assert [one.text for one in engine.scope().keyed()] == ["friendly"]


def test_every_users_memories_are_looked_after_in_batches(workspace: Place) -> None:
    engine = workspace.open(soften_days=1, soften_below=4)
    items = [{"text": f"note {number} of the month", "importance": 3} for number in range(210)]
    engine.scope(user="bo").remember_many(items)
    kept = engine.scope().remember("Ana likes tea", importance=4).ids[0]
    workspace.clock.advance(days=2)

    assert run_job(engine, "lifecycle").changes == ("210 unused memories put aside",)
    assert engine.status().memories == {"active": 1, "soft_deleted": 210}
    assert engine.scope().get(kept).state is State.ACTIVE
