"""Merging: what says the same becomes one memory, another value never does, and both can be undone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lamina import Conflict, InvalidInput, NotFound
from lamina.errors import ConfigError
from lamina.lifecycle.purge import purge
from lamina.model import HistoryOp, Outcome, State

if TYPE_CHECKING:
    from pathlib import Path

    from lamina.engine import Engine
    from lamina.model import Memory
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

SAME = [
    ("Ana lives in Bangkok", "Ana lives in Bangkok now"),
    ("มาลีทำงานที่ธนาคารกรุงเทพ", "มาลีทำงานที่ธนาคารกรุงเทพสาขาสีลม"),
    ("安娜住在曼谷", "安娜现在住在曼谷"),
]
CHANGED = [
    ("The standup is at 9:30", "The standup is at 10:00"),
    ("มาลีเกิดปี 1990", "มาลีเกิดปี 1991"),
    ("站会九点开始", "站会十点开始"),
]


def known(mind: ScopedMemory, about: str) -> list[str]:
    return sorted(hit.text for hit in mind.recall(about))


def kept(memory: Memory) -> Memory:
    """What a merge and its undoing must not change."""
    return replace(memory, revision=0, updated_at=memory.created_at, retired_tick=None)


@pytest.mark.parametrize(
    ("mode", "one", "other"),
    [("recreate", *SAME[0]), ("update", *SAME[0]), ("update", *SAME[1]), ("recreate", *SAME[2])],
)
def test_what_says_the_same_becomes_one_and_two_again(place: Place, mode: str, one: str, other: str) -> None:
    ana = place.open(merge_mode=mode).scope()
    first = ana.get(ana.remember(one, importance=5, tags=["home"]).ids[0])
    place.clock.advance(days=1)
    cursor = ana.changes().cursor
    merged = ana.remember(other, importance=2, tags=["now"], pin=True, merge=True)
    assert (merged.decision, merged.code) == (Outcome.ADMITTED, "merged")
    survivor = ana.get(merged.ids[0])
    assert known(ana, one) == [max(one, other, key=len)]
    assert (survivor.importance, survivor.pinned, survivor.tags) == (5, True, ("home", "now"))
    assert survivor.created_at == first.created_at
    assert (survivor.id == first.id) is (mode == "update")
    [change] = ana.changes(cursor).changes
    assert (change.event, change.memory_id) == ("merged", survivor.id)
    step = ana.history(survivor.id)[-1]
    assert step.op is HistoryOp.MERGE
    assert step.decision["sources"] == [first.id, "user:ana:semantic:2"]
    assert f"out of {first.id}, user:ana:semantic:2" in ana.explain(survivor.id).lines[-1]
    assert [c.count for c in ana.stats().counts if c.op == "merge"] == [1]

    undone = ana.unmerge(survivor.id, reason="two people")
    assert (undone.code, undone.ids) == ("unmerged", (first.id, "user:ana:semantic:2"))
    assert known(ana, one) == sorted((one, other))
    assert kept(ana.get(first.id)) == kept(first)
    second = ana.get("user:ana:semantic:2")
    assert (second.importance, second.pinned, second.tags, second.state) == (2, True, ("now",), State.ACTIVE)
    with pytest.raises((InvalidInput, NotFound)):
        ana.unmerge(survivor.id if mode == "recreate" else second.id)


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_another_value_is_never_merged_and_the_newest_wins(engine: Engine, old: str, new: str) -> None:
    ana = engine.scope()
    first = ana.remember(old, importance=5, tags=["team"]).ids[0]
    receipt = ana.remember(new, importance=2, merge=True)
    assert receipt.code == "superseded"
    taken = ana.get(receipt.ids[0])
    assert (taken.text, taken.importance, taken.tags) == (new, 5, ("team",))
    assert known(ana, old) == [new]
    assert ana.get(first).text == old  # the old one stays in the history
    assert set(ana.unmerge(taken.id).ids) == {first, taken.id}
    assert known(ana, old) == sorted((old, new))
    refused = ana.merge([first, taken.id])
    assert (refused.decision, refused.code) == (Outcome.DENIED, "values_differ")
    assert known(ana, old) == sorted((old, new))


def test_remember_keeps_what_is_said_unless_merging_is_asked_for(place: Place) -> None:
    ana = place.open().scope()
    one, other = SAME[0]
    ana.remember(one)
    assert ana.remember(other).code == "allowed"
    assert ana.remember("Ana is moving to Bangkok", merge=False).code == "allowed"
    place.close()
    ana = place.open(merge_on_write=True).scope()
    assert ana.remember("Ana lives in Bangkok with her cat").code == "merged"
    assert ana.remember("Ana lives in Bangkok with her dog", merge=False).code == "allowed"
    with pytest.raises(InvalidInput) as caught:
        ana.remember("dark", key="ui.theme", merge=True)
    assert caught.value.code == "merge_unfit"


def test_an_agent_never_overrules_the_user_and_its_words_never_become_theirs(engine: Engine) -> None:
    ana, agent = engine.scope(), engine.scope(agent="planner")
    said = ana.remember("The standup is at 9:30").ids[0]
    refused = agent.remember("The standup is at 10:00", merge=True)
    assert (refused.decision, refused.code) == (Outcome.DENIED, "conflict_authority")
    beside = agent.remember("The standup is at 9:30 in the blue room", merge=True)
    assert beside.code == "allowed"
    assert agent.merge([said, beside.ids[0]]).code == "conflict_authority"
    merged = ana.get(ana.merge([said, beside.ids[0]]).ids[0])
    assert (merged.text, merged.authority) == ("The standup is at 9:30", "user_asserted")
    assert agent.unmerge(merged.id).code == "conflict_authority"


def test_only_plain_memories_that_the_caller_sees_merge(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "categories.yaml"
    file.write_text("categories: {custom: [{name: tasks}, {name: style}]}\nallowlists: {planner: [tasks]}\n")
    engine = place.open(categories=str(file))
    ana, ben, planner = engine.scope(), engine.scope(user="ben"), engine.scope(agent="planner")
    one = ana.remember("Deploys need two approvals", category="tasks").ids[0]
    other = ana.remember("Each deploy needs two approvals", category="style").ids[0]
    keyed = ana.remember("dark", key="ui.theme").ids[0]
    ends = ana.remember("Each deploy needs two approvals now", category="tasks", ttl="7d").ids[0]
    for stranger in (ben, planner):
        with pytest.raises(NotFound):
            stranger.merge([one, other])
    for ids in ([one], [one, one], [one, keyed], [one, ends], [one, other], one):
        with pytest.raises(InvalidInput) as caught:
            ana.merge(ids)
        assert caught.value.code == "merge_unfit"
    apart = ana.remember("Ana drinks oolong", category="tasks").ids[0]
    assert ana.merge([one, apart]).code == "not_alike"
    beside = planner.remember("Every deploy needs two approvals", category="tasks", merge=True)
    assert beside.code == "allowed"


def test_a_merge_is_not_undone_once_it_changed_or_its_sources_are_gone(place: Place) -> None:
    ana = place.open().scope()
    one, other = SAME[0]
    first = ana.remember(one).ids[0]
    with pytest.raises(InvalidInput, match="was not merged"):
        ana.unmerge(first)
    merged = ana.remember(other, merge=True).ids[0]
    ana.revise(merged, "Ana lives in Bangkok, near the river")
    with pytest.raises(Conflict) as caught:
        ana.unmerge(merged)
    assert caught.value.code == "merge_changed"
    ana.forget(merged)
    ana.remember(one)
    again = ana.remember("Ana lives in Bangkok today", merge=True).ids[0]

    source = ana.history(again)[-1].decision["sources"][0]
    purge(ana, source, now=True)
    with pytest.raises(Conflict) as caught:
        ana.unmerge(again)
    assert caught.value.code == "merge_sources_gone"
    assert ana.get(again).state is State.ACTIVE


def test_several_merge_at_once_and_secrets_in_a_reason_stop_it(engine: Engine) -> None:
    ana = engine.scope()
    first, second = "Deploys need two approvals", "Each deploy needs two approvals"
    texts = (first, second, f"{first} now")
    ids = [ana.remember(text).ids[0] for text in texts]
    denied = ana.merge(ids, reason="my password is hunter2-Blue42")
    assert denied.code == "privacy_deny_sensitive"
    merged = ana.merge(ids, reason="the same rule")
    assert merged.code == "merged"
    assert {ana.get(one).superseded_by for one in ids} == {merged.ids[0]}
    assert ana.unmerge(merged.ids[0]).ids == tuple(ids)


def test_thresholds_that_do_not_rise_and_unknown_modes_are_refused_at_the_door(place: Place) -> None:
    for wrong in ({"merge_auto": 0.5}, {"merge_fallback": 0.9}, {"merge_auto": 1.5}, {"merge_mode": "glue"}):
        with pytest.raises(ConfigError):
            place.open(**wrong)
    ana = place.open(merge_auto=1.0, merge_check=1.0, merge_fallback=1.0).scope()
    ana.remember(SAME[0][0])
    assert ana.remember("Ana lives in Bangkok with her cat", merge=True).code == "allowed"
