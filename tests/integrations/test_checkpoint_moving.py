"""Checkpoints move out of LangGraph's own savers without loss, and a graph goes on where it stopped."""

from __future__ import annotations

import dataclasses
import operator
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from lamina.errors import Conflict, Damaged, InvalidInput
from lamina.integrations.langgraph import CheckpointSaver, Moved, move_checkpoints


class Work(TypedDict, total=False):
    topic: str
    log: Annotated[list[str], operator.add]


def plan(state: Work) -> dict[str, Any]:
    return {"log": [f"planned {state['topic']}"]}


def search(state: Work) -> dict[str, Any]:
    return {"log": [f"searched {state['topic']}"]}


def approve(state: Work) -> dict[str, Any]:
    return {"log": [f"approved: {interrupt('May I?')}"]}


def build(saver: BaseCheckpointSaver[Any]) -> Any:
    graph = StateGraph(Work)
    graph.add_node("plan", plan)
    graph.add_node("search", search)
    graph.add_node("approve", approve)
    graph.add_edge(START, "plan")
    # Parallel tasks of one step: two finish, one waits for a person, and all of that is pending writes.
    graph.add_conditional_edges(
        "plan", lambda _: [Send("search", {"topic": "茶"}), Send("search", {"topic": "ชา"}), "approve"]
    )
    graph.add_edge("search", END)
    graph.add_edge("approve", END)
    return graph.compile(checkpointer=saver)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    if request.param == "memory":
        yield InMemorySaver()
    elif request.param == "sqlite":
        connection = sqlite3.connect(tmp_path / "theirs.db", check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()
    else:
        with PostgresSaver.from_conn_string(request.getfixturevalue("postgres_database")) as saver:
            saver.setup()
            yield saver


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ours.db"
    return str(request.getfixturevalue("postgres_database"))


@pytest.fixture
def target(url: str) -> Iterator[CheckpointSaver]:
    with CheckpointSaver.from_url(url, user="ana") as saver:
        yield saver


def config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, "user_id": "ana"}}


def test_a_graph_that_waits_goes_on_after_the_move(
    source: BaseCheckpointSaver[Any], target: CheckpointSaver
) -> None:
    old = build(source)
    for thread, topic in (("one", "tea"), ("two", "茶")):
        old.invoke({"topic": topic, "log": ["start"]}, config(thread))
    before = {thread: old.get_state(config(thread)) for thread in ("one", "two")}

    moved = move_checkpoints(source, target)

    assert moved.threads == 2
    assert moved.checkpoints == len(list(source.list(None)))
    assert moved.writes == sum(len(one.pending_writes or ()) for one in source.list(None)) > 0
    assert move_checkpoints(source, target) == moved  # again changes nothing
    theirs = [one.pending_writes for one in source.list({"configurable": {"thread_id": "one"}})]
    ours = [one.pending_writes for one in target.list({"configurable": {"thread_id": "one"}})]
    assert ours == theirs
    new = build(target)
    for thread, state in before.items():
        found = new.get_state(config(thread))
        assert (found.values, found.next, found.metadata) == (state.values, state.next, state.metadata)
        assert [one.values for one in new.get_state_history(config(thread))] == [
            one.values for one in old.get_state_history(config(thread))
        ]
        expected = old.invoke(Command(resume="yes"), config(thread))
        assert new.invoke(Command(resume="yes"), config(thread)) == expected
        assert "approved: yes" in expected["log"]
    assert [head.thread for head in target.heads()] == ["two", "one"]


def test_threads_can_be_chosen(source: BaseCheckpointSaver[Any], target: CheckpointSaver) -> None:
    graph = build(source)
    for thread in ("ana-1", "bob-1"):
        graph.invoke({"topic": "tea"}, config(thread))
    assert move_checkpoints(source, target, threads={"ana-1"}).threads == 1
    assert target.get_tuple({"configurable": {"thread_id": "bob-1"}}) is None
    assert move_checkpoints(source, target, threads=()) == Moved(0, 0, 0)


@dataclasses.dataclass
class Plan:
    """A class of the user's."""

    steps: int


def test_what_does_not_arrive_as_it_was_is_an_error(url: str, target: CheckpointSaver) -> None:
    source = InMemorySaver()
    made = empty_checkpoint()
    made["channel_values"], made["channel_versions"] = {"plan": Plan(3)}, {"plan": "1"}
    source.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, made, {}, {"plan": "1"})
    with pytest.raises(Damaged) as refused:
        move_checkpoints(source, target)
    assert refused.value.code == "checkpoint_differs"
    with CheckpointSaver.from_url(url, user="ana", allow=[Plan]) as trusting:
        assert move_checkpoints(source, trusting).checkpoints == 1


def test_a_source_that_changes_meanwhile_is_an_error(target: CheckpointSaver) -> None:
    class Busy(InMemorySaver):
        """Somebody saves whenever it is read."""

        def get_tuple(self, config: Any) -> Any:
            found = super().get_tuple(config)
            at = {"configurable": {"thread_id": "late", "checkpoint_ns": ""}}
            self.put(at, empty_checkpoint(), {}, {})  # type: ignore[arg-type]
            return found

    source = Busy()
    source.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})
    with pytest.raises(Conflict) as refused:
        move_checkpoints(source, target)
    assert refused.value.code == "source_changed"


def test_another_saver_is_refused(target: CheckpointSaver) -> None:
    with pytest.raises(InvalidInput) as refused:
        move_checkpoints(target, target)
    assert refused.value.code == "source_unknown"
