"""What a person asks about their own memory: what is known, what waits, what would be kept, what changed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.model import Outcome
from lamina.scoped import ScopedMemory
from tests.backends import Place


@pytest.fixture
def ana(engine: Engine) -> ScopedMemory:
    return engine.scope(session="s1")


@pytest.fixture
def planner(engine: Engine) -> ScopedMemory:
    return engine.scope(agent="planner", session="s1")


def test_what_is_known_is_told_in_groups_and_what_a_tool_said_is_not(
    engine: Engine, ana: ScopedMemory
) -> None:
    ana.remember("friendly", key="response.style")
    ana.remember("Ana is allergic to peanuts.", kind="constraint")
    ana.remember("อานาชอบกาแฟดำ", kind="preference")
    ana.remember("安娜每週三學書法。")
    ana.learn_procedure("When deploying", ["ask which environment"])
    ana.record_episode("Moved the shop.")
    engine.scope(role="tool").remember("A page says that Ana owns a boat.")
    engine.scope(user="bob").remember("Bob is tall.")
    found = ana.me()
    told = {group.name: [one.text for one in group.items] for group in found.groups}
    assert told["answers"] == ["friendly"]
    assert told["limits"] == ["Ana is allergic to peanuts."]
    assert told["likes"] == ["อานาชอบกาแฟดำ"]
    assert told["facts"] == ["安娜每週三學書法。"]
    assert told["ways"][0].startswith("When deploying")
    assert told["lately"][0].startswith("Moved the shop.")
    assert not any("boat" in text or "Bob" in text for texts in told.values() for text in texts)
    assert found.waiting == 0


def test_a_long_group_says_how_many_more_there_are(ana: ScopedMemory) -> None:
    ana.remember_many(
        {"text": f"Shelf number {number} holds bowls of size {number * 7}."} for number in range(12)
    )
    (facts,) = [group for group in ana.me().groups if group.name == "facts"]
    assert (len(facts.items), facts.more) == (8, 4)


def test_one_queue_holds_guesses_wishes_contradictions_and_doubles(
    ana: ScopedMemory, planner: ScopedMemory
) -> None:
    ana.hear("I am an expert in photography.")
    planner.remember("concise", key="response.verbosity")
    ana.learn("The kiln is fired every Tuesday.")
    planner.learn("The kiln is fired every Thursday.", resolution="ask")
    first = ana.remember("The supplier of clay is called Baan Din.").ids[0]
    second = ana.remember("The supplier of the clay is called Baan Din", merge=False).ids[0]
    found = ana.review()
    assert found.waiting == 3
    assert [one.sort for one in found.items] == ["guess", "wish", "contradiction", "double"]
    waiting = {one.sort: one for one in found.items}
    assert waiting["contradiction"].other_text == "The kiln is fired every Tuesday."
    assert {waiting["double"].id, waiting["double"].other_id} == {first, second}
    ana.link(first, second, "distinct")
    assert "double" not in [one.sort for one in ana.review().items]
    for one in ana.review().items:
        ana.confirm(one.key)
    assert ana.review().items == ()


def test_a_sentence_is_tried_gate_by_gate_and_nothing_is_kept(
    engine: Engine, ana: ScopedMemory, planner: ScopedMemory
) -> None:
    before = engine.status()
    fine = ana.would_keep("Ana drinks tea.")
    assert (fine.decision, [one.passed for one in fine.gates]) == (Outcome.ADMITTED, [True] * 7)
    refused = ana.would_keep("my key is sk-ant-api03-abcdefghijklmnop1234567890")
    assert (refused.decision, refused.code) == (Outcome.DENIED, "privacy_deny_sensitive")
    assert [one.passed for one in refused.gates] == [True, True, False, None, None, None, None]
    assert "sk-ant" not in str(refused)
    assert ana.would_keep("concise", key="response.verbosity", agent="planner").decision is Outcome.HELD
    assert ana.would_keep("concise", key="response.verbosity").decision is Outcome.ADMITTED
    with pytest.raises(Denied):
        planner.would_keep("x", agent="writer")
    with pytest.raises(InvalidInput):
        ana.would_keep("")
    after = engine.status()
    assert (after.audit_records, after.memories) == (before.audit_records, before.memories)


def test_a_person_sees_with_an_agents_eyes_and_an_agent_with_nobody_elses(
    ana: ScopedMemory, planner: ScopedMemory
) -> None:
    ana.remember("The shop sells bowls.")
    seen = ana.context("describe the shop", seen_as="planner")
    assert seen.text == planner.context("describe the shop").text
    with pytest.raises(Denied):
        planner.context("describe the shop", seen_as="writer")


def test_the_difference_of_two_dates_is_what_came_went_and_changed(
    place: Place, engine: Engine, ana: ScopedMemory
) -> None:
    stays = ana.remember("Parcels take five days.").ids[0]
    goes = ana.remember("The printer is broken.").ids[0]
    place.clock.advance(hours=1)
    middle = engine.now()
    place.clock.advance(hours=1)
    ana.revise(stays, "Parcels take four days.")
    ana.forget(goes)
    comes = ana.remember("The kiln is new.").ids[0]
    found = ana.difference(middle)
    assert [one.id for one in found.came] == [comes]
    assert [one.id for one in found.went] == [goes]
    assert [(one.before, one.after) for one in found.changed] == [
        ("Parcels take five days.", "Parcels take four days.")
    ]
    with pytest.raises(InvalidInput):
        ana.difference(engine.now() + timedelta(days=1), engine.now())
    assert not engine.scope(user="bob").difference(middle).came


def test_the_audit_is_listed_newest_first_without_words(engine: Engine, ana: ScopedMemory) -> None:
    memory = ana.remember("Ana drinks tea.").ids[0]
    ana.revise(memory, "Ana drinks coffee.")
    page = ana.audit(memory_id=memory)
    assert [one.seq for one in page.records] == sorted((one.seq for one in page.records), reverse=True)
    assert len(page.records) == 2
    assert "tea" not in str(page)
    assert page.head == engine.status().audit_records >= 2
    assert ana.audit(before=page.records[-1].seq, memory_id=memory).records == ()
    assert ana.audit(actor="nobody").records == ()


def test_documents_are_their_owners(place: Place, engine: Engine) -> None:
    if place.folder is None:
        with pytest.raises(NotFound):
            engine.scope().document_tree()
        return
    (place.folder / "MEMORY.md").write_text("# Notes\n\nThe kiln is new.\n", "utf-8")
    assert engine.library is not None
    engine.library.index(engine.now())
    assert "MEMORY.md" in [one.path for one in engine.scope().document_tree().files]
    with pytest.raises(NotFound):
        engine.scope(user="bob").document_tree()


def test_a_list_comes_in_three_orders_page_by_page(ana: ScopedMemory) -> None:
    for number in (3, 5, 1, 4, 2):
        ana.remember(f"Bowl number {number} has its own glaze and size {number * 11}.", importance=number)

    def listed(order: str) -> list[int]:
        found, cursor = [], None
        while True:
            page = ana.list(order=order, limit=2, **({"cursor": cursor} if cursor else {}))
            found += [one.importance for one in page.items]
            if (cursor := page.cursor) is None:
                return found

    assert listed("newest") == [2, 4, 1, 5, 3]
    assert listed("oldest") == [3, 5, 1, 4, 2]
    assert listed("important") == [5, 4, 3, 2, 1]
    with pytest.raises(InvalidInput):
        ana.list(order="oldest", cursor=ana.list(limit=2).cursor or "")
    with pytest.raises(InvalidInput):
        ana.list(order="best")
