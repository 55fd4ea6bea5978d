"""The block for a prompt of a user with many memories, against its six queries one after another.

    python -m bench.context [--memories 10000] [--samples 100] [--postgres URL]

Both take turns task by task, warm, so that whatever else the machine does hits both. Of the memories thirty
are procedures and a hundred are episodes; the rest is knowledge in three languages.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lamina
from bench.corpus import Corpus
from lamina.model import Layer
from lamina.scoped import ScopedMemory

PROCEDURES, EPISODES = 30, 100
_KNOWLEDGE = [layer for layer in Layer if layer is not Layer.PROCEDURAL]


def filled(mind: ScopedMemory, count: int) -> Corpus:
    """A memory of so many, and the corpus that it came from."""
    corpus = Corpus()
    rest = count - PROCEDURES - EPISODES
    mind.remember_many({"text": corpus.sentence()} for _ in range(rest))
    for _ in range(PROCEDURES):
        mind.layers.procedures.learn(corpus.question(), [corpus.question(), corpus.question()])
    for _ in range(EPISODES):
        mind.layers.episodes.record(corpus.sentence(), topics=["work"], outcome="success")
    mind.layers.user_model.update({"expertise": {"docker": "expert"}, "notes": ["drinks oat milk"]})
    mind.remember("friendly and short", key="response.style")
    mind.propose("Bangkok", "user.city", 0.8)
    return corpus


def queries(mind: ScopedMemory) -> dict[str, Callable[[str], Any]]:
    """What a client asks that puts its block together itself."""
    layers = mind.layers
    return {
        "user model": lambda _: layers.user_model.get(),
        "preferences": lambda _: mind.resolve(),
        "procedures": lambda task: layers.procedures.find(task, 3),
        "episodes": lambda _: layers.episodes.find(limit=3),
        "knowledge": lambda task: mind.recall(task, k=20, trusted_only=True, layers=_KNOWLEDGE),
        "pending": lambda _: mind.pending(),
    }


def milliseconds(act: Callable[[str], Any], task: str) -> float:
    start = time.perf_counter()
    act(task)
    return (time.perf_counter() - start) * 1000


def told(name: str, times: Sequence[float]) -> str:
    ordered = sorted(times)
    middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"{name:12}  p50 {middle:7.2f}  p95 {late:7.2f} ms"


def measured(mind: ScopedMemory, corpus: Corpus, samples: int) -> dict[str, list[float]]:
    asked = queries(mind)
    times: dict[str, list[float]] = {"block": [], "six in turn": [], **{name: [] for name in asked}}
    for number in range(samples + 5):
        task = corpus.question()
        block = milliseconds(mind.context, task)
        single = {name: milliseconds(ask, task) for name, ask in asked.items()}
        if number < 5:
            continue  # warming up
        times["block"].append(block)
        times["six in turn"].append(sum(single.values()))
        for name, one in single.items():
            times[name].append(one)
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--postgres", help="an empty database to use instead of SQLite")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        with lamina.open(given.postgres or f"sqlite:///{folder / 'memory.db'}", owner="ana") as engine:
            mind = engine.scope()
            corpus = filled(mind, given.memories)
            for name, times in measured(mind, corpus, given.samples).items():
                print(told(name, times))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
