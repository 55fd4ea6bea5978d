"""A PostgreSQL that goes down under load, again and again: what was acknowledged is there, once, in order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

import lamina
from lamina.errors import Unavailable
from lamina.integrations.langgraph import CheckpointSaver

if TYPE_CHECKING:
    from tests.servers import OwnServer

THREADS = 3
#: So many acknowledgements between one restart and the next.
WORK = 12


class Load:
    """Callers that never stop, and try again when they are told that nothing is known of their last write."""

    def __init__(self, engine: lamina.Engine) -> None:
        self.saver = CheckpointSaver(engine.database)
        self.mind = engine.scope()
        self.over = threading.Event()
        self.acknowledged: list[tuple[str, int]] = []
        self.refused = 0

    def insist(self, act: Any) -> Any:
        while True:
            try:
                return act()
            except Unavailable:
                self.refused += 1

    def converse(self, number: int) -> None:
        at: Any = {"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}
        for step in count():
            if self.over.is_set():
                return
            made = empty_checkpoint()
            made["id"] = f"{number}-{step:06}"
            made["channel_values"] = {"log": [f"{number}.{step}"] * 50, "n": step}
            made["channel_versions"] = {"log": made["id"], "n": made["id"]}
            before = at
            at = self.insist(
                lambda at=before, made=made, step=step: self.saver.put(
                    at, made, {"step": step}, made["channel_versions"]
                )
            )
            self.insist(lambda at=at, step=step: self.saver.put_writes(at, [("log", step)], "task"))
            self.acknowledged.append((f"t{number}", step))

    def remember(self) -> None:
        for step in count():
            if self.over.is_set():
                return
            self.insist(
                lambda step=step: self.mind.remember(f"Fact number {step}", idempotency_key=f"k{step}")
            )
            self.acknowledged.append(("memory", step))


@pytest.mark.parametrize(
    "restarts", [2, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_restarts_of_the_database_under_load_lose_nothing_and_double_nothing(
    own_postgres: OwnServer, restarts: int
) -> None:
    with lamina.open(own_postgres.url, owner="ana") as engine, ThreadPoolExecutor(THREADS + 1) as pool:
        load = Load(engine)
        working = [pool.submit(load.converse, number) for number in range(THREADS)]
        working.append(pool.submit(load.remember))
        for round_ in range(restarts + 1):
            while len(load.acknowledged) < WORK * (round_ + 1) and not any(one.done() for one in working):
                load.over.wait(0.005)
            if round_ < restarts:
                own_postgres.restart()
        load.over.set()
        for one in working:
            one.result()

        for number in range(THREADS):
            kept = list(load.saver.list({"configurable": {"thread_id": f"t{number}"}}))
            wanted = sorted((step for name, step in load.acknowledged if name == f"t{number}"), reverse=True)
            assert [one.metadata["step"] for one in kept] == wanted == list(range(len(wanted)))[::-1]
            assert [one.checkpoint["id"] for one in kept] == [f"{number}-{step:06}" for step in wanted]
            for one, step in zip(kept, wanted, strict=True):
                assert one.checkpoint["channel_values"] == {"log": [f"{number}.{step}"] * 50, "n": step}
                assert one.pending_writes == [("task", "log", step)]
        facts = [step for name, step in load.acknowledged if name == "memory"]
        assert engine.verify_audit().intact
    with psycopg.connect(own_postgres.url, options="-c search_path=lamina") as server:
        texts = server.execute("SELECT text FROM memory ORDER BY tick").fetchall()
    assert texts == [(f"Fact number {step}",) for step in facts]
