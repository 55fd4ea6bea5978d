"""How often the wire to PostgreSQL is waited for; over a network that is what an operation costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

import lamina
from bench.wire import Wire, wire_to
from lamina.integrations.langgraph import CheckpointSaver
from lamina.testing import ManualClock

#: What may not be exceeded once a caller has done the same a few times.
MOST = {"remember": 3, "recall": 4, "context": 5, "changes": 2, "list": 2, "query": 4, "forget": 12}
THINGS = ("dog", "snow", "river", "stone", "cloud", "garden", "piano")
#: The same for a message: what it says, and how often its two transactions wait. A fact is compared with what
#: is known, and each step of that depends on what the one before it found.
HEARD = {
    "What a nice {} today, isn't it?": 5,
    "Please remember that the {} is near the station": 7,
    "From now on answer in short sentences about the {}": 7,
    "โปรดจำไว้ว่า {} อยู่ใกล้สถานี": 7,
    "请记住{}在车站旁边": 7,
    "My {} is called Bruno and lives in Paris": 12,
}


def trips(wire: Wire, act: Callable[[str], Any]) -> int:
    """The round trips of an act once it was done a few times, the fewest of some about other things.

    On a busy machine the server may answer the first of several that travel together before the last is on
    its way; that counts as one more though nobody waits for it.
    """
    counts = []
    for thing in THINGS:
        with wire.counted() as told:
            act(thing)
        counts.append(told[0])
    return min(counts[-3:])


def test_an_operation_waits_for_few_round_trips(postgres_store: str) -> None:
    with wire_to(postgres_store) as wire, lamina.open(wire.url, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope(session="s", project="p")
        for thing in THINGS:
            ana.remember(f"My {thing} is near the {thing}house in Paris")
            ana.remember(f"The {thing} of this project is old", space="project")
        known = {thing: ana.remember(f"I once had a {thing} on my {thing}").ids[0] for thing in THINGS}
        found = {
            "remember": trips(wire, lambda thing: ana.remember(f"My cat {thing} likes rain")),
            "recall": trips(wire, lambda thing: ana.recall(f"where is the {thing}")),
            "context": trips(wire, lambda thing: ana.context(f"what about {thing}")),
            "changes": trips(wire, lambda _: ana.changes(0)),
            "list": trips(wire, lambda _: ana.list()),
            "query": trips(wire, lambda thing: ana.query(f"the {thing} in Paris")),
            "forget": trips(wire, lambda thing: ana.forget(known[thing])),
        }

    assert {name: count for name, count in found.items() if count > MOST[name]} == {}


@pytest.mark.parametrize("said", HEARD)
def test_a_message_is_read_once_and_written_once(postgres_store: str, said: str) -> None:
    with wire_to(postgres_store) as wire, lamina.open(wire.url, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope(session="s")
        found = trips(wire, lambda thing: ana.hear(said.format(thing), reply="Fine."))
        assert engine.verify_audit().findings == ()

    assert found <= HEARD[said]


def test_a_command_that_fails_leaves_what_else_a_message_says(postgres_store: str) -> None:
    """All of a message is one transaction, and each command a part of it that fails by itself."""
    with lamina.open(postgres_store, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope(session="s")
        heard = ana.hear("Forget everything about zebras. Remember that the kiln is fired on Thursdays.")
        assert [one.code for one in heard.receipts if one.code == "not_found"]
        assert "kiln" in " ".join(one.text for one in ana.list().items)
        assert engine.verify_audit().findings == ()


def test_a_checkpoint_is_put_and_loaded_in_one_round_trip_each(postgres_store: str) -> None:
    with wire_to(postgres_store) as wire, CheckpointSaver.from_url(wire.url, user="ana") as saver:
        at: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        found = []
        for step in range(3):
            made = empty_checkpoint()
            made["channel_values"] = {"messages": ["x" * 1000], "n": step}
            versions: Any = {"messages": f"{step:032}.0", "n": f"{step:032}.0"}
            made["channel_versions"] = versions
            with wire.counted() as put:
                at = saver.put(at, made, {"source": "loop", "step": step, "parents": {}}, versions)
            with wire.counted() as written:
                saver.put_writes(at, [("messages", "y"), ("n", 1)], "task")
            with wire.counted() as loaded:
                assert saver.get_tuple(at) is not None
            found.append((put[0], written[0], loaded[0]))

    assert found[1:] == [(1, 1, 1), (1, 1, 1)]


def test_what_a_write_asked_for_early_is_not_used_once_it_changed_it(postgres_store: str) -> None:
    """Several in one transaction, about the same key, after habits were learnt that read it early."""
    with lamina.open(postgres_store, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope()
        for number in range(4):
            ana.remember(f"v{number}", key="tone")
        made = ana.remember_many([{"text": f"w{number}", "key": "tone"} for number in range(3)])

        assert [one.code for one in made] == ["superseded"] * 3
        assert [one.text for one in ana.list(states=["active"]).items] == ["w2"]
        assert engine.verify_audit().findings == ()


def test_what_was_asked_for_early_is_never_older_than_the_reading(postgres_store: str) -> None:
    """Another process changes between two readings what both of them ask for."""
    with (
        lamina.open(postgres_store, owner="ana", clock=ManualClock()) as one,
        lamina.open(postgres_store, owner="ana", clock=ManualClock()) as other,
    ):
        for number in range(6):
            made = other.scope().remember(f"The number is {number} today").ids[0]
            assert made in [memory.id for memory in one.scope().list().items]
            assert one.scope().recall(f"number {number}").hits
            assert f"is {number} today" in one.scope().context("the number").text
            other.scope().forget(made)
            assert made not in [memory.id for memory in one.scope().list().items]


def test_a_row_that_cannot_be_read_is_in_nobodys_way_who_does_not_ask_for_it(postgres_store: str) -> None:
    """It was asked for before it was damaged, so it is asked for early."""
    with lamina.open(postgres_store, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope()
        ana.remember("Ana likes tea")
        for _ in range(4):
            ana.list(tags=["x"])
            ana.list()
        with psycopg.connect(postgres_store, options="-c search_path=lamina") as server:
            server.execute("UPDATE memory SET tags = 'no json'")

        assert [one.text for one in ana.recall("tea").hits] == ["Ana likes tea"] or engine.database.damaged()
