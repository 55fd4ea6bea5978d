"""Many people on one PostgreSQL: writes of several processes, waits for locks, checkpoints over a wire.

    python -m bench.scale --postgres URL [--people 100] [--seconds 5] [--delay-ms 2]

The URL is that of an empty database. `one lane` has every write wait for the whole store, as all did before
chains; both take turns in one run. Lock waits are what PostgreSQL itself shows of our connections, looked at
every few milliseconds. Checkpoints are put by six users at once, over a wire that takes `--delay-ms` each
way, by us and by LangGraph's own saver.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from typing import Any

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

import lamina
from bench.wire import wire_to
from lamina.integrations.langgraph import CheckpointSaver
from lamina.storage.postgres import PostgresDatabase

_WAITING = """SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FILTER (WHERE state <> 'idle')
  FROM pg_stat_activity WHERE application_name = 'lamina' AND datname = current_database()"""
_SAMPLES_S = 0.005


def _write(url: str, number: int, people: int, seconds: float, alone: bool, told: Any) -> None:
    """One process that writes for people in turn, from four threads; it tells how many writes it made."""
    if alone:
        whole = PostgresDatabase.write
        PostgresDatabase.write = lambda self, work, *, lanes=None: whole(self, work)  # type: ignore[method-assign, assignment, misc] # noqa: ARG005
    done, until = [0] * 4, time.monotonic() + seconds
    with lamina.open(url, owner="owner") as engine:

        def live(thread: int) -> None:
            at = number * 4 + thread
            while time.monotonic() < until:
                mind = engine.scope(user=f"p{at % people}")
                mind.remember(f"Person {at % people} saw {at} birds and {done[thread]} boats")
                done[thread] += 1
                at += 12

        threads = [threading.Thread(target=live, args=(one,)) for one in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told.put(sum(done))


def writes(url: str, processes: int, people: int, seconds: float, *, alone: bool) -> dict[str, float]:
    """Writes a second, and which part of their time our connections waited for a lock."""
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    workers = [
        context.Process(target=_write, args=(url, number, people, seconds, alone, told))
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    waiting = busy = 0
    with psycopg.connect(url, autocommit=True) as server:
        while any(worker.is_alive() for worker in workers):
            row = server.execute(_WAITING).fetchone() or (0, 0)
            waiting, busy = waiting + row[0], busy + row[1]
            time.sleep(_SAMPLES_S)
    total = sum(told.get() for _ in workers)
    return {"writes_per_s": round(total / seconds, 1), "lock_wait_share": round(waiting / max(busy, 1), 4)}


def _saved(savers: list[BaseCheckpointSaver[Any]], rounds: int) -> float:
    """Median seconds of a put, six users at once."""
    spent: list[float] = []

    def run(number: int, saver: BaseCheckpointSaver[Any]) -> None:
        at: Any = {"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}
        for step in range(rounds):
            made = empty_checkpoint()
            made["channel_values"] = {"messages": ["x" * 1000], "n": step}
            made["channel_versions"] = {"messages": f"{step:032}.0", "n": f"{step:032}.0"}
            begun = time.perf_counter()
            at = saver.put(
                at, made, {"source": "loop", "step": step, "parents": {}}, made["channel_versions"]
            )
            spent.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=run, args=one) for one in enumerate(savers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics.median(spent)


def checkpoints(url: str, delay_s: float, rounds: int = 20) -> dict[str, float]:
    """A put of ours against one of LangGraph's own saver, each user with one of their own."""
    with wire_to(url, delay_s) as wire, ExitStack() as stack:
        theirs: list[Any] = []
        for _ in range(6):
            connection = psycopg.connect(wire.url, autocommit=True, row_factory=psycopg.rows.dict_row)
            theirs.append(PostgresSaver(stack.enter_context(connection)))
        theirs[0].setup()
        ours: list[Any] = [
            stack.enter_context(CheckpointSaver.from_url(wire.url, user=f"u{number}")) for number in range(6)
        ]
        other, own = _saved(theirs, rounds), _saved(ours, rounds)
    return {
        "langgraph_ms": round(other * 1000, 1),
        "ours_ms": round(own * 1000, 1),
        "ratio": round(own / other, 2),
    }


def main() -> None:
    """Measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--delay-ms", type=float, default=2.0)
    asked = parser.parse_args()
    os.environ["LAMINA_HOME"] = tempfile.mkdtemp(prefix="lamina-scale-")
    lamina.open(asked.postgres, owner="owner").close()
    for processes in (1, 2, 3):
        for alone in (True, False):
            found = writes(asked.postgres, processes, asked.people, asked.seconds, alone=alone)
            print(json.dumps({"processes": processes, "one_lane": alone, **found}), flush=True)
    print(json.dumps(checkpoints(asked.postgres, asked.delay_ms / 1000)), flush=True)


if __name__ == "__main__":
    main()
