"""Receipts of answers, the noes as their person sees them, undoing, and the proof of forgetting."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.lifecycle.purge import purge
from lamina.model import Outcome, State
from tests.backends import Place

SAID = "My sister Maria lives in Hanoi"


def test_every_answer_has_a_receipt_and_replays(place: Place) -> None:
    engine = place.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", session="s1")
    one = ana.remember(SAID).ids[0]
    ana.remember("The boat is called Petrel and lives in Hanoi, too")
    answers = [
        ("recall", planner.recall("Where does Maria live?", k=1).answer),
        ("query", planner.query("Where does Maria live?", top_k=1).answer),
        ("context", planner.context("Where does Maria live?").answer),
    ]
    place.close()
    ana = place.open().scope()
    for op, answer in answers:
        told = ana.receipt(answer, replay=True)
        assert (told.op, told.actor, told.replay) == (op, "agent:planner", "the same")
        assert one in told.shown
        assert told.policy.startswith("policy:")
        assert SAID not in str(told)
    assert {told.op for told in ana.answers_with(one)} == {"recall", "query", "context"}
    ana.revise(one, "My sister Maria lives in Lisbon")
    assert ana.receipt(answers[0][1], replay=True).replay == "otherwise"
    with pytest.raises(NotFound):
        place.engines[-1].scope(user="bob").receipt(answers[0][1])
    purge(ana, one, now=True)
    with pytest.raises(NotFound):
        ana.receipt(answers[0][1])


def test_receipts_keep_no_secret_and_can_be_switched_off(place: Place) -> None:
    ana = place.open().scope()
    ana.remember(SAID)
    answer = ana.recall("my password is hunter2-Zx9!q and Maria").answer
    assert "hunter2" not in str(ana.receipt(answer))
    with pytest.raises(InvalidInput):
        ana.receipt(answer, replay=True)
    quiet = place.open(answer_receipts=False).scope()
    assert quiet.recall("Maria").answer == ""


def test_noes_are_listed_without_words_and_lifted_by_number(engine: Engine) -> None:
    ana, planner = engine.scope(), engine.scope(agent="planner")
    ana.forget(ana.remember(SAID).ids[0])
    planner.remember(SAID)
    (one,) = ana.noes()
    assert (one.cause, one.tries, one.tried_by) == ("forgotten", 1, "agent:planner")
    assert "Maria" not in str(one)
    assert [no.number for no in ana.review().refused] == [one.number]  # the person sees it in their queue
    assert planner.review().refused == ()
    with pytest.raises(Denied):
        planner.noes()
    with pytest.raises(Denied):
        planner.lift_no(one.number)
    assert engine.scope(role="admin").lift_no(one.number).lifted_by == "admin:ana"
    with pytest.raises(NotFound):
        ana.lift_no(one.number)
    assert ana.noes() == []
    assert len(ana.noes(lifted=True)) == 1
    assert planner.remember(SAID).decision is Outcome.ADMITTED


def test_all_that_an_agent_a_session_or_a_source_wrote_is_undone(engine: Engine) -> None:
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", session="s2")
    mine = ana.remember("The kettle is on the second shelf").ids[0]
    theirs = [planner.remember(text).ids[0] for text in ("Rust is used for part nine", "Tea is at four")]
    held = planner.remember("Ada", key="user.name").ids[0]
    planned = ana.undo(agent="planner", dry_run=True)
    assert (set(planned.memories), planned.pending) == (set(theirs), (held,))
    assert engine.scope().get(theirs[0]).state is State.ACTIVE
    done = ana.undo(agent="planner")
    assert set(done.memories) == set(theirs)
    assert {ana.get(one).state for one in theirs} == {State.SOFT_DELETED}
    assert ana.get(mine).state is State.ACTIVE
    assert ana.pending() == []
    tool = engine.scope(role="tool", agent="crm").remember("The customer wants a refund").ids[0]
    assert ana.undo(source="crm", for_good=True).memories == (tool,)
    with pytest.raises(NotFound):
        ana.get(tool)
    ana.undo(session="s1")
    assert ana.get(mine).state is State.SOFT_DELETED
    with pytest.raises(InvalidInput):
        ana.undo()
    with pytest.raises(Denied):
        planner.undo(agent="planner")
    assert engine.verify_audit().findings == ()


def test_the_proof_says_what_comes_back_and_leaves_nothing(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    one = ana.remember(SAID).ids[0]
    assert not ana.prove_forgotten(SAID).forgotten
    ana.forget(one)
    before = place.tables()["memory"], place.tables()["audit"]
    proof = ana.prove_forgotten(SAID)
    assert proof.forgotten
    assert {way.result for way in proof.ways} == {"refused"}
    assert "Maria" not in str(proof)
    assert ana.prove_forgotten(one).forgotten
    assert (place.tables()["memory"], place.tables()["audit"]) == before
    purge(ana, one, now=True)
    assert ana.prove_forgotten(one).forgotten
    assert ana.prove_forgotten(SAID).forgotten
    assert not ana.prove_forgotten("The boat is called Petrel").forgotten
