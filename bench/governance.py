"""What governance costs: a governed write against an ungoverned one, a turn that is heard, an agent's write
where its person said no to thousands of things and tools said hundreds, a recall with its receipt, and the
seal over the whole story against a store that is not under it.

    python -m bench.governance [--samples 400] [--postgres URL]

The ungoverned write is the same engine with the same durability and the same rows, but its gates let
everything pass without looking, and no trace event is made or kept. The two take turns sentence by sentence,
so that whatever else the machine does hits both. The processor's time is what counts: the wall clock of a
shared machine tells little.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lamina
from bench.corpus import Corpus
from lamina.model import Admit, Draft
from lamina.policy.gates import GATES
from lamina.write.noes import refuse
from lamina.write.unit_of_work import UnitOfWork

TURNS = [
    "I prefer green tea in the morning {}.",
    "My name is Ada {}.",
    "We decided to use Rust for part {}.",
    "ฉันชอบกาแฟเย็นมาก {}",
    "我喜欢绿茶 {}。",
    "The weather was fine on day {}.",
]


@contextmanager
def forgetful() -> Iterator[None]:
    """Nobody remembers what was refused, or where something is from."""
    with (
        patch("lamina.write.commit.kept_out", lambda *_: None),
        patch("lamina.write.commit.lift", lambda *_: None),
        patch("lamina.write.commit.traced", lambda _, draft: draft),
        patch("lamina.write.origins.traced", lambda _, draft: draft),
        patch("lamina.write.guesses.to_ask_about", lambda *_: None),
    ):
        yield


@contextmanager
def ungoverned() -> Iterator[None]:
    """Everything is admitted unseen, and nothing is told."""
    passed = Admit(tuple(gate.__name__ for gate in GATES))
    with (
        patch("lamina.write.store.decide", lambda *_: passed),
        patch.object(UnitOfWork, "trace", lambda *_: None),
        patch.object(UnitOfWork, "told", []),
        patch.object(UnitOfWork, "keep_events", lambda *_: None),
    ):
        yield


def timed(act: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    act()
    return time.process_time() - cpu, time.perf_counter() - wall


def shown(name: str, times: Sequence[tuple[float, float]]) -> str:
    cpu, wall = (statistics.median(part) * 1000 for part in zip(*times, strict=True))
    return f"{name:<22} {cpu:>8.2f} {wall:>8.2f}"


def burdened(engine: Any, corpus: Corpus, noes: int) -> Any:
    """An agent whose person said no to so many things."""
    ana = engine.scope()
    texts = [corpus.sentence() for _ in range(noes)]

    def work(unit: UnitOfWork) -> None:
        for number, text in enumerate(texts):
            refuse(unit, Draft(scope=ana.scope, text=text), f"bench:{number}", "forgotten")

    engine.act(ana.scope, work)
    return engine.scope(agent="planner")


def compared(act: Callable[[str], Any], without: Callable[[], Any], texts: Sequence[str]) -> list[float]:
    """Processor seconds with and without; who comes first meets the words first, so they take turns."""
    ours, theirs = [], []
    for number, text in enumerate(texts):
        first, second = text, f"{text} again"
        if number % 2:
            with without():
                theirs.append(timed(partial(act, first))[0])
            ours.append(timed(partial(act, second))[0])
        else:
            ours.append(timed(partial(act, first))[0])
            with without():
                theirs.append(timed(partial(act, second))[0])
    return [statistics.median(ours[20:]), statistics.median(theirs[20:])]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--postgres", help="measure this store instead of SQLite")
    parser.add_argument("--noes", type=int, default=10_000, help="how many things the person said no to")
    parser.add_argument("--shown", type=int, default=200, help="how many texts of tools an agent was shown")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    corpus = Corpus()
    try:
        shared = {"store": options.postgres} if options.postgres else {}
        one, other = (lamina.open(folder / n, tenant=f"{folder.name}{n}", **shared) for n in "ab")
        with one, other:
            governed, bare = one.scope(), other.scope()
            told = [_pair(governed, bare, corpus.sentence()) for _ in range(options.samples + 20)][20:]
            talk = one.scope(session="s")
            for number, text in enumerate(TURNS):
                talk.hear(text.format(number), reply="noted")
            heard = [
                timed(lambda n=n: talk.hear(TURNS[n % len(TURNS)].format(n), reply=f"noted {n}"))
                for n in range(100, 100 + options.samples // 2)
            ]
            planner, wrote = burdened(one, corpus, options.noes), []
            for shown_too in (0, options.shown):  # first beside the noes alone
                tool = one.scope(agent="web", role="tool")
                tool.remember_many([{"text": corpus.sentence()} for _ in range(shown_too)])
                texts = [corpus.sentence() for _ in range(options.samples)]
                wrote.append(compared(planner.remember, forgetful, texts))
            bare_config = replace(one.config, answer_receipts=False)
            kept = partial(patch.object, one, "config", bare_config)
            third, fourth = (lamina.open(folder / n, tenant=f"{folder.name}{n}", **shared) for n in "cd")
            with third, fourth:
                fourth.database.sealing = None
                minds = [third.scope(), fourth.scope()]
                sealed = []
                for turn in range(options.samples + 20):  # they take turns, or one pays for the words of both
                    way = 1 if turn % 2 == 0 else -1
                    sealed.append([told[::way] for told in _sealed(minds[::way], corpus.sentence())])
                sealed = sealed[20:]
            asked = compared(planner.recall, kept, [corpus.sentence() for _ in range(options.samples // 2)])
    finally:
        shutil.rmtree(folder)
    ours, theirs = zip(*told, strict=True)
    ratio = statistics.median(cpu for cpu, _ in ours) / statistics.median(cpu for cpu, _ in theirs)
    wall = statistics.median(wall for _, wall in ours) / statistics.median(wall for _, wall in theirs)
    print(f"{'median, ms':<22} {'CPU':>8} {'wall':>8}")
    print(shown("governed write", ours))
    print(shown("ungoverned write", theirs))
    print(shown("hear, with a reply", heard))
    print(f"governed / ungoverned: {ratio:.2f} (processor), {wall:.2f} (wall)")
    beside = f"an agent's write beside {options.noes:,} noes"
    for what, (mine, bare) in zip(("", f" and {options.shown} texts of tools"), wrote, strict=True):
        print(f"{beside}{what}: {mine * 1000:.2f} / {bare * 1000:.2f} ms = {mine / bare:.2f}")
    recall = f"{asked[0] * 1000:.2f} / {asked[1] * 1000:.2f} ms = {asked[0] / asked[1]:.2f}"
    print(f"a recall with its receipt: {recall}")
    for at, what in enumerate(("write", "revision")):
        ours, theirs = (statistics.median(one[at][side] for one in sealed) * 1000 for side in (0, 1))
        print(f"a {what} under the seal: {ours:.2f} / {theirs:.2f} ms = {ours / theirs:.2f} (processor)")
    return 0


def _pair(governed: Any, bare: Any, text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    first = timed(lambda: governed.remember(text))
    with ungoverned():
        return first, timed(lambda: bare.remember(text))


def _sealed(minds: Sequence[Any], text: str) -> list[list[float]]:
    """Processor seconds of a write and of its revision by each mind; the first one meets the words first."""
    writes = [timed(partial(mind.remember, text))[0] for mind in minds]
    ids = [mind.list(limit=1, count=False).items[0].id for mind in minds]
    new = f"{text} changed"
    revised = [timed(partial(mind.revise, at, new))[0] for mind, at in zip(minds, ids, strict=True)]
    return [writes, revised]


if __name__ == "__main__":
    sys.exit(main())
