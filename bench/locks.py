"""How long what runs by itself is in the way of others: the longest transaction of each job on PostgreSQL.

    python -m bench.locks --postgres URL [--people 20] [--each 50]

The URL is that of an empty database. People remember things that matter little; then their time passes, and
each job does its work: what nobody uses is put aside, what is due is purged, guesses lapse, episodes are
reduced, lists of another analyser and vectors are made anew, the ends of chains are sealed. `alone` is the
longest transaction that everybody has to wait for, `lanes` the longest that the same people have to.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import lamina
from bench.corpus import Corpus
from lamina.lifecycle.consent import lapse_guesses
from lamina.lifecycle.fading import expire_episodes, soften
from lamina.lifecycle.purge import purge_due
from lamina.storage.postgres import PostgresDatabase
from lamina.testing import ManualClock


@contextmanager
def watched() -> Iterator[dict[str, list[tuple[float, float]]]]:
    """Seconds that each transaction took, by the clock and of our own processor time."""
    found: dict[str, list[tuple[float, float]]] = {"alone": [], "lanes": []}
    whole = PostgresDatabase._batch

    @contextmanager
    def timed(self: PostgresDatabase, held: frozenset[int] | None) -> Iterator[Any]:
        begun, busy = time.perf_counter(), time.thread_time()
        with whole(self, held) as transaction:
            yield transaction
        if held is None or held:  # who holds no chain is in nobody's way
            took = time.perf_counter() - begun, time.thread_time() - busy
            found["alone" if held is None else "lanes"].append(took)

    PostgresDatabase._batch = timed  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        PostgresDatabase._batch = whole  # type: ignore[method-assign]


def fill(engine: lamina.Engine, people: int, each: int) -> None:
    for person in range(people):
        corpus, mind = Corpus(person), engine.scope(user=f"p{person}", session="s")
        mind.remember_many([{"text": corpus.sentence(), "importance": 1} for _ in range(each)])
        mind.record_episode(f"We talked about {corpus.sentence()}")
        agent = engine.scope(user=f"p{person}", role=lamina.Role.AGENT)
        agent.propose("Chiang Mai", "home.city", 0.7, "said twice")


def main() -> None:
    """Measure, and print a line of JSON for each job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--each", type=int, default=50)
    asked = parser.parse_args()
    os.environ["LAMINA_HOME"] = tempfile.mkdtemp(prefix="lamina-locks-")
    clock = ManualClock()
    with watched() as found, lamina.open(asked.postgres, owner="owner", clock=clock) as engine:
        fill(engine, asked.people, asked.each)
        database = engine.database

        def other_analyser() -> None:
            database.write(lambda tx: tx.run("write_property", name="analyser", value="0"))

        def later(days: int) -> Callable[[], None]:
            return lambda: clock.advance(days=days)

        jobs: dict[str, tuple[Callable[[], None], Callable[[], Any]]] = {
            "seal the ends of chains": (lambda: None, engine.seal_ends),
            "what was counted": (lambda: None, engine.flush),
            "lists of another analyser": (other_analyser, lambda: engine.renew_index(None)),
            "guesses lapse": (later(30), lambda: lapse_guesses(engine)),
            "episodes are reduced": (later(400), lambda: expire_episodes(engine)),
            "put aside what is unused": (later(400), lambda: soften(engine)),
            "purge": (later(400), lambda: purge_due(engine)),
        }
        for name, (before, work) in jobs.items():
            before()
            for times in found.values():
                times.clear()
            done = work()
            line: dict[str, Any] = {"job": name, "done": done if isinstance(done, int) else None}
            for kind, times in found.items():
                longest = max(times, default=(0.0, 0.0))
                line |= {
                    kind: len(times),
                    f"{kind}_ms": round(longest[0] * 1000),
                    f"{kind}_own_ms": round(longest[1] * 1000),
                }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
