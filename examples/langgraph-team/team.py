"""A supervisor and two workers that survive a restart in the middle; no model and no network needed.

    python examples/langgraph-team/team.py [STORE]

The supervisor plans, the workers work side by side, and a person approves before anything is published. The
program starts itself as three processes that share nothing but the store: the first stops where the person is
asked, the second is killed right after the answer was saved, and the third finishes. STORE is a folder or a
`postgresql://` URL; without one, a temporary folder is used.

Needs: pip install '.[langgraph]' langgraph in a clone of Lamina
"""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import tempfile
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, Send, interrupt

import lamina
from lamina.integrations.langgraph import CheckpointSaver, Store

CONFIG: Any = {"configurable": {"thread_id": "report-1"}}
TOPICS = ["tea", "ชา", "茶"]


class State(TypedDict, total=False):
    question: str
    findings: Annotated[list[str], operator.add]
    approved: str
    report: str


def supervisor(state: State) -> dict[str, Any]:
    return {"findings": [f"plan: {state['question']}"]}


def researcher(state: dict[str, Any]) -> dict[str, Any]:
    return {"findings": [f"found out about {state['topic']}"]}


def reviewer(state: State) -> dict[str, Any]:
    answer = interrupt({"question": "Publish this?", "findings": state["findings"]})
    return {"approved": answer}


def publisher(state: State, *, store: BaseStore) -> dict[str, Any]:
    if os.environ.get("CRASH_BEFORE_PUBLISHING"):
        os._exit(9)  # as a power cut would: nothing is cleaned up
    report = "; ".join(state["findings"])
    store.put(("reports",), "latest", {"text": f"Report approved by {state['approved']}: {report}"})
    return {"report": report}


def build(engine: Any) -> Any:
    graph = StateGraph(State)
    for node in (supervisor, researcher, reviewer, publisher):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", lambda _: [Send("researcher", {"topic": t}) for t in TOPICS])
    graph.add_edge("researcher", "reviewer")
    graph.add_edge("reviewer", "publisher")
    graph.add_edge("publisher", END)
    mind = engine.scope(user="ana", agent="supervisor")
    return graph.compile(checkpointer=CheckpointSaver(engine.database, user="ana"), store=Store(mind))


def step(store: str, name: str) -> None:
    with lamina.open(store) as engine:
        graph = build(engine)
        if name == "ask":
            result = graph.invoke({"question": "What do people drink?"}, CONFIG, durability="sync")
            print("waiting for a person:", result["__interrupt__"][0].value["question"])
        elif name == "answer":
            graph.invoke(Command(resume="Ana"), CONFIG, durability="sync")
        else:
            result = graph.invoke(None, CONFIG)  # goes on where it stopped
            print("published:", result["report"])
            print("remembered:", engine.scope(user="ana").recall("report about 茶").hits[0].text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = sys.argv[1] if len(sys.argv) > 1 else folder
        for name, crash in (("ask", ""), ("answer", "1"), ("finish", "")):
            environment = {**os.environ, "CRASH_BEFORE_PUBLISHING": crash, "PYTHONUTF8": "1"}
            command = [sys.executable, __file__, store, name]
            done = subprocess.run(command, env=environment)
            print(f"-- process `{name}` ended with {done.returncode}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        step(sys.argv[1], sys.argv[2])
    else:
        main()
