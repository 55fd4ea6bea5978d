"""Saving and loading checkpoints, against LangGraph's own savers in the same run.

    python -m bench.checkpoints [--samples 200] [--json OUT] [--postgres URL]

A state is a list of messages of 1 KB, 100 KB or 1 MB in one channel and a counter in another, and each step
writes all of it anew, which is the worst case for us: an unchanged channel is not stored again. The savers
take turns, so that what else the machine does hits both alike, and both keep what they acknowledged through
a power cut (SQLite: WAL and synchronous=FULL). `ratio` is our p95 divided by theirs: below 1 we are faster.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from bench.corpus import Corpus
from lamina.integrations.langgraph import CheckpointSaver

SIZES = {"1 KB": 1, "100 KB": 100, "1 MB": 1000}
WARM_UP = 20


class Conversation:
    """One thread on one saver that grows by a checkpoint at a time."""

    def __init__(self, saver: BaseCheckpointSaver[Any], kilobytes: int) -> None:
        self.saver = saver
        corpus = Corpus()
        texts = [" ".join(corpus.sentence() for _ in range(20))[:980] for _ in range(kilobytes)]
        self.messages = [{"role": "user", "content": text, "id": str(n)} for n, text in enumerate(texts)]
        self.at: Any = {"configurable": {"thread_id": f"bench-{kilobytes}", "checkpoint_ns": ""}}
        self.step = 0

    def prepare(self) -> Checkpoint:
        self.step += 1
        version = f"{self.step:032}.0"
        made = empty_checkpoint()
        messages = [*self.messages[1:], {**self.messages[0], "n": self.step}]
        made["channel_values"] = {"messages": messages, "n": self.step}
        made["channel_versions"] = {"messages": version, "n": version}
        made["versions_seen"] = {"agent": {"messages": version}}
        return made

    def save(self) -> float:
        made = self.prepare()
        begun = time.perf_counter()
        self.at = self.saver.put(
            self.at, made, {"source": "loop", "step": self.step, "parents": {}}, made["channel_versions"]
        )
        return time.perf_counter() - begun

    def load(self) -> float:
        thread = self.at["configurable"]["thread_id"]
        latest: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        begun = time.perf_counter()
        found = self.saver.get_tuple(latest)
        taken = time.perf_counter() - begun
        assert found is not None
        assert found.checkpoint["channel_values"]["n"] == self.step
        return taken

    def write(self) -> float:
        begun = time.perf_counter()
        writes = [("messages", self.messages[0]), ("n", self.step)]
        self.saver.put_writes(self.at, writes, f"task-{self.step}")
        return time.perf_counter() - begun


def p95(samples: list[float]) -> float:
    return statistics.quantiles(samples, n=20)[-1] * 1000


def measured(ours: Conversation, theirs: Conversation, samples: int) -> dict[str, dict[str, float]]:
    """p50 and p95 in milliseconds of both sides, and the ratio of their p95."""
    found: dict[str, dict[str, float]] = {}
    acts: dict[str, Callable[[Conversation], float]] = {
        "save": Conversation.save,
        "write": Conversation.write,
        "load": Conversation.load,
    }
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in acts}
    for turn in range(samples + WARM_UP):
        sides = (ours, theirs) if turn % 2 else (theirs, ours)
        for name, act in acts.items():
            for side in sides:
                taken = act(side)
                if turn >= WARM_UP:
                    times[name][side is theirs].append(taken)
    for name, (us, them) in times.items():
        found[name] = {
            "ours_p50": statistics.median(us) * 1000,
            "theirs_p50": statistics.median(them) * 1000,
            "ours_p95": p95(us),
            "theirs_p95": p95(them),
            "ratio": p95(us) / p95(them),
        }
    return found


def savers(stack: ExitStack, folder: Path, postgres: str | None) -> dict[str, tuple[Any, Any]]:
    connection = sqlite3.connect(folder / "theirs.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    found: dict[str, tuple[Any, Any]] = {
        "sqlite": (
            stack.enter_context(CheckpointSaver.from_url(f"sqlite:///{folder}/ours.db")),
            SqliteSaver(connection, serde=strict),
        )
    }
    stack.callback(connection.close)
    if postgres:
        theirs = stack.enter_context(PostgresSaver.from_conn_string(postgres))
        theirs.serde = strict
        theirs.setup()
        found["postgres"] = (stack.enter_context(CheckpointSaver.from_url(postgres)), theirs)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--samples", type=int, default=200)
    options.add_argument("--json", type=Path)
    options.add_argument("--postgres", help="the URL of an empty database")
    given = options.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for database, (ours, theirs) in savers(stack, Path(folder), given.postgres).items():
            for size, kilobytes in SIZES.items():
                sides = Conversation(ours, kilobytes), Conversation(theirs, kilobytes)
                result = measured(*sides, given.samples)
                figures[f"{database} {size}"] = result
                for name, one in result.items():
                    print(
                        f"{database:8} {size:>6} {name:5}"
                        f"  ours p50 {one['ours_p50']:7.2f} p95 {one['ours_p95']:7.2f} ms"
                        f"  theirs p50 {one['theirs_p50']:7.2f} p95 {one['theirs_p95']:7.2f} ms"
                        f"  ratio {one['ratio']:.2f}"
                    )
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2), "utf-8")


if __name__ == "__main__":
    main()
