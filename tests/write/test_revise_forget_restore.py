"""A memory can be said anew, forgotten and brought back; every step is counted and nothing is half done."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from lamina import Conflict, InvalidInput, NotFound, Outcome, State
from lamina.model import HistoryOp

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place


def test_a_revised_memory_keeps_its_id_and_its_earlier_words(ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana likes tea").ids[0]

    receipt = ana.revise(memory_id, "Ana likes coffee", expect=1, reason="she changed her mind")

    assert (receipt.decision, receipt.ids, receipt.revision) == (Outcome.ADMITTED, (memory_id,), 2)
    assert ana.get(memory_id).text == "Ana likes coffee"
    steps = [(step.op, step.revision, step.old_text, step.new_text) for step in ana.history(memory_id)]
    assert steps == [
        (HistoryOp.ADD, 1, None, "Ana likes tea"),
        (HistoryOp.UPDATE, 2, "Ana likes tea", "Ana likes coffee"),
    ]
    assert any("she changed her mind" in line for line in ana.explain(memory_id).lines)


def test_the_second_of_two_writers_is_told_and_nothing_changes(place: Place) -> None:
    mind = place.open().scope()
    plain, keyed = mind.remember("Ana likes tea").ids[0], mind.remember("friendly", key="tone").ids[0]
    for memory_id in (plain, keyed):
        mind.revise(memory_id, "Ana likes coffee", expect=1)
        before, files = place.tables(), _files(place)

        with pytest.raises(Conflict) as told:
            mind.revise(memory_id, "Ana likes milk", expect=1)

        assert told.value.code == "revision_mismatch"
        assert told.value.hint
        assert place.tables() == before
        assert _files(place) == files
        assert mind.revise(memory_id, "Ana likes milk", expect=2).revision == 3


def _files(place: Place) -> dict[str, bytes]:
    """What a person could read, without the databases, where an undone transaction may leave a mark."""
    skipped = (".db", ".db-wal", ".db-shm", ".lock")
    return {str(path): data for path, data in place.files().items() if not path.name.endswith(skipped)}


def test_revising_to_the_same_words_changes_nothing(place: Place) -> None:
    mind = place.open().scope()
    memory_id = mind.remember("Ana likes tea").ids[0]
    before = place.tables()

    receipt = mind.revise(memory_id, "Ana likes tea")

    assert (receipt.decision, receipt.revision) == (Outcome.UNCHANGED, 1)
    assert place.tables() == before


def test_revising_into_what_another_memory_says_is_a_conflict(place: Place) -> None:
    mind = place.open().scope()
    tea, milk = mind.remember("Ana likes tea").ids[0], mind.remember("Ana likes milk").ids[0]
    before = place.tables()

    with pytest.raises(Conflict) as told:
        mind.revise(milk, "ana likes TEA!")

    assert told.value.code == "duplicate"
    assert tea in told.value.message
    assert place.tables() == before


def test_words_may_change_in_case_alone(ana: ScopedMemory) -> None:
    memory_id = ana.remember("ana likes tea").ids[0]

    assert ana.revise(memory_id, "Ana likes tea").revision == 2
    assert ana.get(memory_id).text == "Ana likes tea"


def test_what_cannot_be_kept_does_not_become_the_new_words(ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana likes tea").ids[0]

    for text in ("", "a\x00b", "x" * 100_001):
        with pytest.raises(InvalidInput):
            ana.revise(memory_id, text)
    with pytest.raises(InvalidInput):
        ana.revise(memory_id, "fine", expect=0)

    assert ana.get(memory_id).text == "Ana likes tea"


def test_a_forgotten_memory_is_in_no_answer_and_can_be_read_by_its_id(
    ana: ScopedMemory, place: Place
) -> None:
    memory_id = ana.remember("Ana likes tea").ids[0]

    receipt = ana.forget(memory_id, reason="asked to")

    assert (receipt.decision, receipt.code) == (Outcome.ADMITTED, "forgotten")
    assert not ana.recall("tea").hits
    assert not ana.recall(memory_id).hits
    memory = ana.get(memory_id)
    assert (memory.state, memory.text) == (State.SOFT_DELETED, "Ana likes tea")
    assert memory.purge_at == place.clock.now() + timedelta(days=30)
    with pytest.raises(NotFound):
        ana.forget(memory_id)
    with pytest.raises(NotFound):
        ana.revise(memory_id, "Ana likes coffee")


def test_a_restored_memory_is_as_it_was(ana: ScopedMemory) -> None:
    plain = ana.remember("Ana likes tea", tags=["x"], importance=4).ids[0]
    keyed = ana.remember("friendly", key="tone", priority=80).ids[0]
    for memory_id, word in ((plain, "tea"), (keyed, "friendly")):
        before = ana.get(memory_id)
        ana.forget(memory_id)

        receipt = ana.restore(memory_id)

        after = ana.get(memory_id)
        assert (receipt.code, after.state, after.text) == ("restored", State.ACTIVE, before.text)
        assert (after.tags, after.importance, after.priority, after.key, after.purge_at) == (
            before.tags,
            before.importance,
            before.priority,
            before.key,
            None,
        )
        assert ana.recall(word).hits[0].id == memory_id
        assert [step.op for step in ana.history(memory_id)] == ["ADD", "DELETE", "RESTORE"]
        assert [step.revision for step in ana.history(memory_id)] == [1, 2, 3]


def test_the_undo_window_ends_exactly_when_it_was_said_to(ana: ScopedMemory, place: Place) -> None:
    first, second = ana.remember("one").ids[0], ana.remember("two").ids[0]
    ana.forget(first)
    ana.forget(second)

    place.clock.advance(days=30, microseconds=-1)
    ana.restore(first)
    place.clock.advance(microseconds=1)
    with pytest.raises(NotFound) as late:
        ana.restore(second)

    assert late.value.code == "undo_expired"
    assert ana.get(second).state is State.SOFT_DELETED


def test_what_has_taken_a_memorys_place_stays(ana: ScopedMemory) -> None:
    for first, again in (
        (ana.remember("Ana likes tea").ids[0], lambda: ana.remember("ana likes tea")),
        (ana.remember("friendly", key="tone").ids[0], lambda: ana.remember("formal", key="tone")),
    ):
        ana.forget(first)
        second = again().ids[0]

        with pytest.raises(Conflict) as told:
            ana.restore(first)

        assert second != first
        assert told.value.code == "superseded"
        assert ana.get(second).state is State.ACTIVE
        assert ana.get(first).state is State.SOFT_DELETED
        ana.forget(second)
        ana.restore(first)
        assert ana.get(first).state is State.ACTIVE


def test_what_is_not_forgotten_cannot_be_restored(ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana likes tea").ids[0]

    for wrong in (memory_id, "user:ana:semantic:99", "nonsense", ""):
        with pytest.raises((NotFound, InvalidInput)):
            ana.restore(wrong)


def test_an_id_that_cannot_be_is_answered_like_any_other(ana: ScopedMemory) -> None:
    for wrong in ("", "a\x00b", "user:ana:\x00", "\ud800", "user:ana:\ud800", "x" * 100_000, "' OR 1=1 --"):
        for attempt in (
            ana.get,
            ana.history,
            ana.explain,
            ana.forget,
            ana.restore,
            lambda name: ana.revise(name, "x"),
        ):
            with pytest.raises((NotFound, InvalidInput)):
                attempt(wrong)


def test_a_key_names_what_to_forget(ana: ScopedMemory) -> None:
    memory_id = ana.remember("friendly", key="Response.Tone").ids[0]

    assert ana.forget("response.tone").ids == (memory_id,)
    with pytest.raises(NotFound):
        ana.forget("response.tone")


def test_the_nearest_memory_with_a_key_is_the_one_forgotten(engine: Engine) -> None:
    mind = engine.scope(session="s1")
    wide = mind.remember("wide", key="tone").ids[0]
    near = mind.remember("near", key="tone", space="session").ids[0]

    assert mind.forget("tone").ids == (near,)
    assert mind.forget("tone").ids == (wide,)


def test_a_lower_authority_cannot_revise_and_leaves_one_event_and_one_record(place: Place) -> None:
    engine = place.open()
    user, agent = engine.scope(), engine.scope(agent="planner")
    memory_id = user.remember("Ana likes tea").ids[0]
    events, records = len(user.trace(last=1000)), len(place.audit())

    receipt = agent.revise(memory_id, "Ana likes coffee")

    assert (receipt.decision, receipt.code, receipt.ids) == (
        Outcome.DENIED,
        "conflict_authority",
        (memory_id,),
    )
    assert user.get(memory_id).text == "Ana likes tea"
    assert [event.type for event in user.trace(last=1000)[events:]] == ["memory_denied"]
    assert [record.op for record in place.audit()[records:]] == ["deny"]


def test_what_the_system_imposed_is_forgotten_by_the_system_alone(engine: Engine) -> None:
    """Neither by its id nor by its key, and never through a door an agent has."""
    system = engine.scope(role="system")
    rule = system.remember("Never share prices", key="rule.prices", space="system").ids[0]

    for mind in (engine.scope(), engine.scope(agent="planner"), engine.scope(user="bob", role="tool")):
        for name in (rule, "rule.prices"):
            receipt = mind.forget(name)
            assert receipt.decision is Outcome.DENIED
            assert mind.get(rule).state is State.ACTIVE
    assert system.forget(rule).decision is Outcome.ADMITTED
    assert engine.scope(agent="planner").restore(rule).decision is Outcome.DENIED


def test_changes_of_a_thread_are_numbered_without_gaps(place: Place) -> None:
    engine = place.open()
    mind, other = engine.scope(session="s1"), engine.scope(user="bob")
    first = mind.remember("one").ids[0]
    other.remember("two")
    keyed = mind.remember("friendly", key="tone").ids[0]
    mind.remember("one")
    mind.remember("my password is hunter2secret99")
    mind.revise(first, "uno")
    mind.forget(first)
    mind.restore(first)
    successor = mind.remember("formal", key="tone").ids[0]

    told = [(change.revision, change.event, change.memory_id) for change in place.changes("ana,s1")]

    assert told == [
        (1, "created", first),
        (2, "created", keyed),
        (3, "updated", first),
        (4, "soft_deleted", first),
        (5, "restored", first),
        (6, "soft_deleted", keyed),
        (7, "created", successor),
    ]
    assert [change.revision for change in place.changes("bob")] == [1]
