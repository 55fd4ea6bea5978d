"""A LangGraph store whose items are memories: governed, found, explained and forgotten like any other."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput
from lamina.integrations.langgraph import Store
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock

NOTES = ("users", "ana", "notes")
SECRET = "AKIA" + "Z7QK3M5N2P8R4T6V"


@pytest.fixture
def store(ana: ScopedMemory) -> Store:
    return Store(ana)


def test_what_is_put_comes_back_until_it_is_deleted(store: Store, clock: ManualClock) -> None:
    value = {"theme": "dark", "nested": {"n": 1.5, "list": [1, None, True]}, "ไทย": "สวัสดี", "中": "你好"}
    store.put(NOTES, "prefs", value)
    first = store.get(NOTES, "prefs")
    assert first is not None
    assert (first.value, first.namespace, first.key) == (value, NOTES, "prefs")

    clock.advance(seconds=60)
    store.put(NOTES, "prefs", {"theme": "light"})
    second = store.get(NOTES, "prefs")
    assert second is not None
    assert second.value == {"theme": "light"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(NOTES, "prefs")
    store.delete(NOTES, "prefs")
    assert store.get(NOTES, "prefs") is None
    store.put(NOTES, "prefs", {"theme": "back"})
    assert [one.value for one in store.search(NOTES)] == [{"theme": "back"}]


@pytest.mark.parametrize(
    ("text", "question"),
    [("Ana drinks green tea", "tea"), ("อนาชอบดื่มชาเขียว", "ชาเขียว"), ("安娜喜歡喝綠茶", "绿茶")],
)
def test_a_text_is_a_memory_that_anyone_of_the_owners_finds(
    store: Store, ana: ScopedMemory, text: str, question: str
) -> None:
    store.put(NOTES, "other", {"text": "The printer is on the second floor"})
    store.put(NOTES, "drink", {"text": text})
    (hit, *_) = ana.recall(question).hits
    assert hit.text == text
    found = store.search(("users",), query=question)
    assert [one.key for one in found] == ["drink", "other"]
    assert found[0].score is not None
    assert found[1].score is None or found[1].score < found[0].score
    assert ana.history(hit.id)[0].new_text == text


def test_what_a_person_changes_or_forgets_is_changed_and_forgotten(store: Store, ana: ScopedMemory) -> None:
    store.put(NOTES, "drink", {"text": "Ana drinks tea"})
    (hit,) = ana.recall("tea").hits
    ana.revise(hit.id, "Ana drinks coffee")
    assert store.get(NOTES, "drink").value == {"text": "Ana drinks coffee"}  # type: ignore[union-attr]
    ana.forget(hit.id)
    assert store.get(NOTES, "drink") is None
    ana.restore(hit.id)
    assert store.get(NOTES, "drink") is not None


@pytest.mark.parametrize(
    "value",
    [
        {"text": f"the key is {SECRET}"},
        {"deep": [{"er": SECRET}]},
        {"password": "hunter2-Blue"},
        {"note": "first line\npassword: hunter2-Blue\nlast"},
        {SECRET: 1},
    ],
)
def test_a_secret_is_refused_wherever_it_is_and_nothing_of_its_batch_is_kept(
    store: Store, ana: ScopedMemory, engine: Engine, place: Any, value: dict[str, Any]
) -> None:
    with pytest.raises(Denied) as refused:
        store.batch([PutOp(NOTES, "fine", {"text": "harmless"}), PutOp(NOTES, "bad", value)])
    assert refused.value.code == "privacy_deny_sensitive"
    assert store.search(()) == []
    assert any(event.type == "memory_denied" for event in ana.trace())
    everything = str(place.tables())
    assert SECRET not in everything
    assert "hunter2" not in everything


def test_a_secret_is_refused_as_a_name_too(store: Store) -> None:
    for namespace, key in ((("users", SECRET), "k"), (NOTES, SECRET)):
        with pytest.raises(Denied):
            store.put(namespace, key, {"text": "harmless"})


def test_a_policy_that_keeps_nothing_refuses_puts(place: Any, tmp_path: Path) -> None:
    policy = tmp_path / "none.toml"
    policy.write_text('write_policy = "none"\n', "utf-8")
    engine = place.open(policy=str(policy))
    with pytest.raises(Denied) as refused:
        Store(engine.scope()).put(NOTES, "k", {"text": "x"})
    assert refused.value.code == "write_policy_none"


def test_an_agent_cannot_change_what_the_user_put(engine: Engine) -> None:
    Store(engine.scope()).put(NOTES, "tone", {"text": "formal, please"})
    agent = Store(engine.scope(agent="planner"))
    assert agent.get(NOTES, "tone").value == {"text": "formal, please"}  # type: ignore[union-attr]
    for attempt in (lambda: agent.put(NOTES, "tone", {"text": "slang"}), lambda: agent.delete(NOTES, "tone")):
        with pytest.raises(Denied) as refused:
            attempt()
        assert refused.value.code == "conflict_authority"
    assert Store(engine.scope()).get(NOTES, "tone").value == {"text": "formal, please"}  # type: ignore[union-attr]


def test_users_see_nothing_of_each_other(engine: Engine) -> None:
    ana, bob = Store(engine.scope(user="ana")), Store(engine.scope(user="bob"))
    ana.put(NOTES, "k", {"text": "ana's words"})
    assert bob.get(NOTES, "k") is None
    assert bob.search(()) == []
    assert bob.search((), query="words") == []
    assert bob.list_namespaces() == []
    bob.delete(NOTES, "k")
    bob.put(NOTES, "k", {"text": "bob's words"})
    assert ana.get(NOTES, "k").value == {"text": "ana's words"}  # type: ignore[union-attr]


def test_a_project_is_shared_by_its_agents(engine: Engine) -> None:
    one = Store(engine.scope(agent="planner", project="apollo"), space="project")
    other = Store(engine.scope(user="bob", agent="executor", project="apollo"), space="project")
    one.put(("plan",), "next", {"step": 1})
    assert other.get(("plan",), "next").value == {"step": 1}  # type: ignore[union-attr]
    assert Store(engine.scope()).get(("plan",), "next") is None


def test_reads_of_a_batch_are_from_before_it_and_the_last_put_counts(store: Store) -> None:
    store.put(NOTES, "n", {"n": 1})
    found = store.batch([PutOp(NOTES, "n", {"n": 2}), GetOp(NOTES, "n"), PutOp(NOTES, "n", {"n": 3})])
    assert found[1].value == {"n": 1}  # type: ignore[union-attr]
    assert store.get(NOTES, "n").value == {"n": 3}  # type: ignore[union-attr]


def test_filters_compare_and_are_never_sql(store: Store) -> None:
    for n in range(4):
        store.put(NOTES, f"k{n}", {"n": n, "who": {"name": "ana", "age": n}})
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({"n": {"$gt": 1}}, [2, 3]),
        ({"n": {"$gte": 1, "$lt": 3}}, [1, 2]),
        ({"n": {"$lte": 0}}, [0]),
        ({"who": {"name": "ana", "age": {"$ne": 2}}}, [0, 1, 3]),
        ({"missing": {"$gt": 0}}, []),
        ({"n' OR '1'='1": 1}, []),
        ({"n": "1) OR 1=1 --"}, []),
    ]
    for wanted, expected in cases:
        assert sorted(one.value["n"] for one in store.search(NOTES, filter=wanted)) == expected
    with pytest.raises(InvalidInput) as refused:
        store.search(NOTES, filter={"n": {"$where": "1"}})
    assert refused.value.code == "filter_invalid"


def test_bad_items_are_told_what_is_wrong(store: Store) -> None:
    cases: list[tuple[str, Any]] = [
        ("item_value_invalid", lambda: store.put(NOTES, "k", {"x": object()})),
        ("item_value_invalid", lambda: store.put(NOTES, "k", {"x": float("nan")})),
        ("text_too_long", lambda: store.put(NOTES, "k", {"x": "y" * 100_001})),
        ("text_surrogate", lambda: store.put(NOTES, "k", {"x": "\ud800"})),
        ("item_key_invalid", lambda: store.put(NOTES, "k" * 2000, {})),
        ("item_key_invalid", lambda: store.put(NOTES, "", {})),
        ("item_key_invalid", lambda: store.put(NOTES, "\ud800", {})),
        ("namespace_empty", lambda: store.batch([GetOp((), "k")])),
        ("space_invalid", lambda: Store(store._mind, space="moon")),
    ]
    for code, attempt in cases:
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert refused.value.code == code
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    with pytest.raises(NotImplementedError):
        store.put(NOTES, "k", {}, ttl=5)


def test_many_threads_put_to_one_key_and_none_fails(store: Store) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: store.put(NOTES, "k", {"n": n}), range(24)))
    assert len(store.search(NOTES)) == 1


def test_an_event_loop_uses_it_too(store: Store) -> None:
    async def work() -> None:
        await store.aput(NOTES, "k", {"n": 1})
        item = await store.aget(NOTES, "k")
        assert item is not None
        assert item.value == {"n": 1}
        assert await store.alist_namespaces() == [NOTES]

    asyncio.run(work())


def test_an_agent_may_not_write_to_the_space_of_the_system(engine: Engine) -> None:
    with pytest.raises(Denied) as refused:
        Store(engine.scope(agent="planner"), space="system").put(NOTES, "k", {"text": "x"})
    assert refused.value.code == "write_space_disallowed"
