"""Many people on one PostgreSQL: writes of several processes, waits for locks, operations over a wire.

    python -m bench.scale --postgres URL [--people 1,100,10000] [--seconds 5] [--delay-ms 2]

The URL is that of an empty database on this machine; with `--people ''` only what goes over a wire is
measured. `one lane` has every write wait for the whole store, as all did before chains; both take turns in
one run. Lock waits are what PostgreSQL itself shows of our connections, looked at every few milliseconds;
beside them stand the processor time of a write, ours and the server's, which say what a machine with cores
to spare would do where the clock of a busy one does not. Over a wire that takes `--delay-ms` each way,
checkpoints are put, written to and loaded by six users at once, by us and by LangGraph's own saver; and a
`remember` is set beside the statements that it wrote, sent again in one transaction: one after the other, as
a program usually does, and all at once.
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
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from typing import Any

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

import lamina
from bench.people import processor_time
from bench.wire import wire_to
from lamina.integrations.langgraph import CheckpointSaver
from lamina.storage.postgres import PostgresDatabase, PostgresTransaction

_WAITING = """SELECT pid, wait_event_type, state FROM pg_stat_activity
 WHERE application_name = 'lamina' AND datname = current_database()"""
_SAMPLES_S = 0.005
_ACTS = ("put", "writes", "load")


def _write(url: str, number: int, people: int, seconds: float, alone: bool, told: Any) -> None:
    """One process that writes for people in turn, from four threads; it tells how many writes it made."""
    if alone:
        whole = PostgresDatabase.write
        PostgresDatabase.write = lambda self, work, *, lanes=None: whole(self, work)  # type: ignore[method-assign, assignment, misc] # noqa: ARG005
    done, until = [0] * 4, time.monotonic() + seconds
    with lamina.open(url, owner="owner") as engine:

        def live(thread: int) -> None:
            own, turns = number * 4 + thread, max(people // 12, 1)  # one thread writes for a person
            while time.monotonic() < until:
                person = (own + 12 * (done[thread] % turns)) % people
                engine.scope(user=f"p{person}").remember(f"Thread {own} saw bird {done[thread]} of {person}")
                done[thread] += 1

        threads = [threading.Thread(target=live, args=(one,)) for one in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told.put((sum(done), time.process_time()))


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
    served: dict[int, float] = {}
    with psycopg.connect(url, autocommit=True) as server:
        while any(worker.is_alive() for worker in workers):
            for pid, event, state in server.execute(_WAITING).fetchall():
                waiting, busy = waiting + (event == "Lock"), busy + (state != "idle")
                with suppress(OSError):  # it has just ended
                    served[pid] = processor_time(pid)
            time.sleep(_SAMPLES_S)
    done, spent = map(sum, zip(*(told.get() for _ in workers), strict=True))
    return {
        "writes_per_s": round(done / seconds, 1),
        "lock_wait_share": round(waiting / max(busy, 1), 4),
        "own_ms_per_write": round(spent / max(done, 1) * 1000, 1),
        "server_ms_per_write": round(sum(served.values()) / max(done, 1) * 1000, 1),
    }


def _saved(savers: list[BaseCheckpointSaver[Any]], rounds: int) -> dict[str, float]:
    """Median seconds of a put, of its writes and of a load, six users at once: by the clock, and our own."""
    spent: dict[str, list[float]] = {f"{name}{of}": [] for name in _ACTS for of in ("", " own")}

    def run(number: int, saver: BaseCheckpointSaver[Any]) -> None:
        at: Any = {"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}
        for step in range(rounds):
            made = empty_checkpoint()
            made["channel_values"] = {"messages": ["x" * 1000], "n": step}
            versions: Any = {"messages": f"{step:032}.0", "n": f"{step:032}.0"}
            made["channel_versions"] = versions
            task, latest = f"task-{step}", {"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}
            for name in _ACTS:
                begun, busy = time.perf_counter(), time.thread_time()
                if name == "put":
                    at = saver.put(at, made, {"source": "loop", "step": step, "parents": {}}, versions)
                elif name == "writes":
                    saver.put_writes(at, [("messages", "y" * 100), ("n", step)], task)
                else:
                    saver.get_tuple(latest)  # type: ignore[arg-type]
                spent[name].append(time.perf_counter() - begun)
                spent[f"{name} own"].append(time.thread_time() - busy)

    threads = [threading.Thread(target=run, args=one) for one in enumerate(savers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: statistics.median(times) for name, times in spent.items()}


def checkpoints(url: str, delay_s: float, rounds: int = 10) -> list[dict[str, Any]]:
    """What is done with a checkpoint, by us and by LangGraph's own saver, each user with one of their own."""
    with wire_to(url, delay_s) as wire, ExitStack() as stack:
        theirs: list[Any] = []
        for _ in range(6):
            connection = psycopg.connect(wire.url, autocommit=True, row_factory=psycopg.rows.dict_row)
            theirs.append(PostgresSaver(stack.enter_context(connection)))
        theirs[0].setup()
        ours: list[Any] = [
            stack.enter_context(CheckpointSaver.from_url(wire.url, user=f"u{number}")) for number in range(6)
        ]
        for savers in (ours, theirs):  # the first ones open connections, and theirs prepare statements
            _saved(savers, rounds)
        turns: dict[bool, list[dict[str, float]]] = {True: [], False: []}
        for turn in range(12):  # moods are shared
            for side in (turn % 2 == 0, turn % 2 != 0):
                turns[side].append(_saved(ours if side else theirs, rounds))
        other, own = (
            {name: statistics.median(turn[name] for turn in turns[side]) for name in turns[side][0]}
            for side in (False, True)
        )
    return [
        {
            "checkpoint": name,
            "langgraph_ms": round(other[name] * 1000, 1),
            "ours_ms": round(own[name] * 1000, 1),
            "ratio": round(own[name] / other[name], 2),
            "langgraph_own_ms": round(other[f"{name} own"] * 1000, 2),
            "ours_own_ms": round(own[f"{name} own"] * 1000, 2),
        }
        for name in _ACTS
    ]


def _written(engine: lamina.Engine) -> list[tuple[str, list[dict[str, Any]]]]:
    """The statements by which one `remember` changes the store, with their values."""
    told: list[tuple[str, list[dict[str, Any]]]] = []
    run, many = PostgresTransaction.run, PostgresTransaction.many

    def noted_run(self: PostgresTransaction, name: str, /, **values: Any) -> None:
        told.append((name, [values]))
        run(self, name, **values)

    def noted_many(self: PostgresTransaction, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None:
        told.append((name, [dict(row) for row in rows]))
        many(self, name, rows)

    PostgresTransaction.run, PostgresTransaction.many = noted_run, noted_many  # type: ignore[method-assign]
    try:
        engine.scope(user="plain").remember("A red boat lies in the harbour of Trieste")
    finally:
        PostgresTransaction.run, PostgresTransaction.many = run, many  # type: ignore[method-assign]
    return told


def beside_sql(url: str, delay_s: float, rounds: int = 20) -> dict[str, float]:
    """Median milliseconds of a `remember`, and of its statements alone in one transaction."""
    with wire_to(url, delay_s) as wire, lamina.open(wire.url, owner="owner") as engine:
        mind, spent = (
            engine.scope(user="plain"),
            {"remember_ms": list[float](), "sql_ms": [], "at_once_ms": []},
        )
        for number in range(rounds + 4):
            begun = time.perf_counter()
            mind.remember(f"Boat {number} lies in the harbour of Trieste")
            spent["remember_ms"].append(time.perf_counter() - begun)
        told, queries = _written(engine), engine.database.queries  # type: ignore[attr-defined]
        with psycopg.connect(wire.url, autocommit=True, options="-c search_path=lamina") as plain:
            for name, piped in (("sql_ms", False), ("at_once_ms", True)):
                for number in range(rounds):
                    own = {"tenant": f"{name}{number}", "reach": "", "project_reach": ""}
                    begun = time.perf_counter()
                    with plain.pipeline() if piped else nullcontext(), plain.cursor() as cursor:
                        cursor.execute("BEGIN")
                        for query, rows in told:
                            for row in rows:
                                cursor.execute(queries[query], {**own, **row})
                        cursor.execute("COMMIT")
                    spent[name].append(time.perf_counter() - begun)
    median = {name: statistics.median(times[4:]) * 1000 for name, times in spent.items()}
    ratio = {
        "ratio": median["remember_ms"] / median["sql_ms"],
        "ratio_at_once": median["remember_ms"] / median["at_once_ms"],
    }
    return {name: round(value, 2) for name, value in (median | ratio).items()}


def main() -> None:
    """Measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--people", default="1,100,10000")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--delay-ms", type=float, default=2.0)
    asked = parser.parse_args()
    os.environ["LAMINA_HOME"] = tempfile.mkdtemp(prefix="lamina-scale-")
    lamina.open(asked.postgres, owner="owner").close()
    for people in map(int, filter(None, asked.people.split(","))):
        for processes in (1, 2, 3):
            for alone in (True, False):
                found = writes(asked.postgres, processes, people, asked.seconds, alone=alone)
                line = {"people": people, "processes": processes, "one_lane": alone, **found}
                print(json.dumps(line), flush=True)
    for line in checkpoints(asked.postgres, asked.delay_ms / 1000):
        print(json.dumps(line), flush=True)
    print(json.dumps(beside_sql(asked.postgres, asked.delay_ms / 1000)), flush=True)


if __name__ == "__main__":
    main()
