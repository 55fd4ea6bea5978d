"""`memory.query` of a user with many memories, against plain SQL that does the same reads in the same run.

    python -m bench.services [--memories 10000 100000] [--samples 300] [--json OUT] [--postgres URL]

The memories are of one user, in three languages, stored through the public API with a category and an
importance each. A question comes with one of four sets of filters. The floor is a table with the same columns
and an index over the same words (FTS5; on PostgreSQL a `tsvector` under GIN): one statement finds and ranks
under the same filters and fetches the rows. It has no scope, no meaning, no allowlist and no budget.

`query` asks a memory at rest. `on demand` is a conversation: turns are heard, and in every twelfth memory is
asked right after it was written to; what counts the share of such turns must come to the same number. `ratio`
is our p95 divided by the floor's. On a machine that does other work too, what this process itself worked says
more than the clock; the work of a PostgreSQL server is not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import psycopg

import lamina
from bench.corpus import Corpus
from bench.engine import quantiles
from lamina.scoped import ScopedMemory
from lamina.text.terms import terms

T = TypeVar("T")

#: How often a category is among the memories; the last is rare, which is the hard case for a filter.
CATEGORIES = {"knowledge": 40, "tasks": 25, "preferences": 20, "goals": 14, "relationships": 1}
EVERY = 12  #: in one of so many turns memory is asked on demand
WARM_UP = 20
POOL = 64  #: as many rows as `memory.query` looks at


class Floor(Protocol):
    """Plain SQL over the same memories."""

    def load(self, items: Sequence[dict[str, Any]]) -> None: ...

    def query(self, question: str, categories: Sequence[str], filters: dict[str, Any]) -> list[Any]: ...

    def close(self) -> None: ...


_WHERE = (
    " WHERE {matches} AND m.user_name = 'ana' AND m.importance >= {mark} AND m.updated_at > {mark}"
    " AND m.category IN ({categories}) ORDER BY {rank} LIMIT {pool}"
)
_COLUMNS = "m.id, m.text, m.category, m.importance, m.agent, m.updated_at"


def _values(categories: Sequence[str], filters: dict[str, Any]) -> list[Any]:
    return [filters.get("importance_min", 1), filters.get("updated_after", ""), *categories]


def _rows(items: Sequence[dict[str, Any]], at: str) -> Iterator[tuple[Any, ...]]:
    for number, item in enumerate(items):
        words = " ".join(terms(item["text"]))
        yield (number, "ana", item["text"], item["category"], item["importance"], "planner", at, words)


class SqliteFloor:
    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            "CREATE TABLE memory (id INTEGER PRIMARY KEY, user_name TEXT, text TEXT, category TEXT,"
            " importance INTEGER, agent TEXT, updated_at TEXT)"
        )
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(said)")

    def load(self, items: Sequence[dict[str, Any]]) -> None:
        for *row, words in _rows(items, datetime.now(UTC).isoformat()):
            self._db.execute("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._db.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", (row[0], words))
        self._db.commit()
        self._db.execute("ANALYZE")

    def query(self, question: str, categories: Sequence[str], filters: dict[str, Any]) -> list[Any]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(question)))
        where = _WHERE.format(
            matches="words MATCH ?",
            mark="?",
            categories=",".join("?" * len(categories)),
            rank="bm25(words)",
            pool=POOL,
        )
        statement = f"SELECT {_COLUMNS}, bm25(words) FROM words JOIN memory m ON m.id = words.rowid" + where
        return self._db.execute(statement, [asked, *_values(categories, filters)]).fetchall()

    def close(self) -> None:
        self._db.close()


class PostgresFloor:
    def __init__(self, url: str) -> None:
        self._db = psycopg.connect(url, autocommit=True)
        self._db.execute("CREATE SCHEMA services_floor")
        self._db.execute("SET search_path = services_floor")
        self._db.execute(
            "CREATE TABLE memory (id BIGINT PRIMARY KEY, user_name TEXT, text TEXT, category TEXT,"
            " importance INTEGER, agent TEXT, updated_at TEXT, words TSVECTOR)"
        )

    def load(self, items: Sequence[dict[str, Any]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO memory VALUES (%s, %s, %s, %s, %s, %s, %s, to_tsvector('simple', %s))",
                _rows(items, datetime.now(UTC).isoformat()),
            )
        self._db.execute("CREATE INDEX ON memory USING gin (words)")
        self._db.execute("ANALYZE")

    def query(self, question: str, categories: Sequence[str], filters: dict[str, Any]) -> list[Any]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(question)))
        where = _WHERE.format(
            matches="m.words @@ asked",
            mark="%s",
            categories=",".join(["%s"] * len(categories)),
            rank="rank DESC",
            pool=POOL,
        )
        statement = (
            f"SELECT {_COLUMNS}, ts_rank_cd(m.words, asked) AS rank"
            " FROM memory m, websearch_to_tsquery('simple', %s) asked"
        )
        return self._db.execute(statement + where, [asked, *_values(categories, filters)]).fetchall()  # type: ignore[call-overload, no-any-return]

    def close(self) -> None:
        self._db.execute("DROP SCHEMA services_floor CASCADE")
        self._db.close()


def memories(count: int) -> list[dict[str, Any]]:
    corpus, pick = Corpus(), random.Random(5)
    topics = pick.choices(list(CATEGORIES), weights=list(CATEGORIES.values()), k=count)
    return [
        {"text": corpus.sentence(), "category": topic, "importance": pick.randint(1, 5)} for topic in topics
    ]


def questions(count: int) -> list[tuple[str, list[str], dict[str, Any]]]:
    """Questions in the languages of the memories, each with one of four sets of filters."""
    corpus = Corpus(11)
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    forms: list[tuple[list[str], dict[str, Any]]] = [
        (list(CATEGORIES), {}),
        (["tasks", "goals"], {}),
        (["tasks", "knowledge"], {"importance_min": 4, "updated_after": yesterday}),
        (["relationships"], {"importance_min": 2}),
    ]
    made = []
    for number in range(count):
        said = corpus.sentence()
        asked = corpus.question() if said.isascii() else said.rstrip("0123456789")
        made.append((asked, *forms[number % len(forms)]))
    return made


class Spent(NamedTuple):
    """How long something took by the clock, and how long this process worked for it."""

    clock: float
    processor: float


def timed(act: Callable[[], T]) -> tuple[Spent, T]:
    clock, processor = time.perf_counter(), time.process_time()
    found = act()
    return Spent(time.perf_counter() - clock, time.process_time() - processor), found


def compared(ours: list[Spent], floor: list[Spent]) -> dict[str, float]:
    us, them = quantiles([one.clock for one in ours]), quantiles([one.clock for one in floor])
    worked = quantiles([one.processor for one in ours])
    return {
        "p50_ms": us["p50_ms"],
        "p95_ms": us["p95_ms"],
        "floor_p50_ms": them["p50_ms"],
        "floor_p95_ms": them["p95_ms"],
        "ratio": round(us["p95_ms"] / them["p95_ms"], 2),
        "processor_p50_ms": worked["p50_ms"],
        "processor_p95_ms": worked["p95_ms"],
    }


def at_rest(mind: ScopedMemory, floor: Floor, samples: int) -> dict[str, float]:
    """The same questions to both, in turns."""
    ours, theirs, found = [], [], 0
    for number, (text, categories, filters) in enumerate(questions(samples + WARM_UP)):
        one, answer = timed(partial(mind.query, text, categories=categories, filters=filters))
        two, _ = timed(partial(floor.query, text, categories, filters))
        found += bool(answer.bullets)
        if number >= WARM_UP:
            ours.append(one)
            theirs.append(two)
    return {**compared(ours, theirs), "answered": round(found / (samples + WARM_UP), 3)}


def on_demand(mind: ScopedMemory, floor: Floor, asked: int) -> dict[str, float]:
    """A conversation in which memory is asked now and then; `share` is what the memory itself counted."""
    corpus, ours, theirs = Corpus(23), [], []
    wanted = iter(questions(asked))
    for turn in range(asked * EVERY):
        mind.hear(f"I plan to see {corpus.sentence()}")
        if turn % EVERY == 0:
            text, categories, filters = next(wanted)
            ours.append(timed(partial(mind.query, text, categories=categories, filters=filters))[0])
            theirs.append(timed(partial(floor.query, text, categories, filters))[0])
    share = mind.stats().query_share
    return {**compared(ours, theirs), "share": round(share, 4), "share_made": round(1 / EVERY, 4)}


def measure(count: int, samples: int, postgres: str | None) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    settings = {"store": postgres, "tenant": folder.name} if postgres else {}
    items = memories(count)
    try:
        with lamina.open(folder / "workspace", owner="ana", **settings) as engine:
            floor: Floor = PostgresFloor(postgres) if postgres else SqliteFloor(folder / "floor.db")
            with closing(floor):
                engine.scope(agent="planner").remember_many(items)
                floor.load(items)
                row = {"query": at_rest(engine.scope(), floor, samples)}
                row["on_demand"] = on_demand(engine.scope(session="talk"), floor, max(20, samples // 5))
                return {
                    "store": "postgres" if postgres else "sqlite",
                    "memories": count,
                    **row,
                    "load": round(os.getloadavg()[0], 1),
                }
    finally:
        shutil.rmtree(folder)


def as_lines(row: dict[str, Any]) -> str:
    lines = [
        f"{row['store']:8} {row['memories']:>7} {name:9}"
        f"  p50 {one['p50_ms']:7.2f}  p95 {one['p95_ms']:7.2f} ms"
        f" (processor {one['processor_p50_ms']:.1f} {one['processor_p95_ms']:.1f})"
        f"  floor {one['floor_p50_ms']:7.2f} {one['floor_p95_ms']:7.2f}  ratio {one['ratio']:.2f}"
        for name in ("query", "on_demand")
        for one in [row[name]]
    ]
    told = row["on_demand"]
    counted = f"  share of turns {told['share']} (made: {told['share_made']})  load {row['load']}"
    return "\n".join(lines) + counted


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--postgres", help="the URL of a database of ours to fill, beside SQLite")
    options = parser.parse_args(arguments)
    rows = []
    for count in options.memories:
        for store in [None, *([options.postgres] if options.postgres else [])]:
            rows.append(measure(count, options.samples, store))
            print(as_lines(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
