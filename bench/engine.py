"""Remember and recall at growing sizes, against plain SQLite with FTS5 in the same run.

    python -m bench.engine [--sizes 1000,10000,100000] [--samples 300] [--json OUT] [--postgres URL]

The floor does the least that could be called the same job: an INSERT into a table and into an FTS5 index
with the same durability (WAL, synchronous=FULL), and a MATCH query ranked by bm25. It has no scope, no
gates, no history, no audit. Every figure is a ratio against it, measured in turns with it, so that what else
the machine does hits both alike. `spread` puts the same memories on a thousand users and asks as one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lamina
from bench.corpus import Corpus

USERS = 1000
LOADERS = 16


class Floor:
    """A table, an FTS5 index, one connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, user TEXT, text TEXT)")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='memory', content_rowid='id')")

    def load(self, texts: Sequence[str]) -> None:
        self._db.execute("BEGIN")
        for text in texts:
            self._insert(text)
        self._db.execute("COMMIT")

    def remember(self, text: str) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._insert(text)
        self._db.execute("COMMIT")

    def recall(self, question: str) -> int:
        words = " OR ".join(f'"{word}"' for word in question.split())
        return len(
            self._db.execute(
                "SELECT m.id, m.text, bm25(words) FROM words JOIN memory m ON m.id = words.rowid"
                " WHERE words MATCH ? ORDER BY bm25(words) LIMIT 6",
                (words,),
            ).fetchall()
        )

    def size(self) -> int:
        return sum(p.stat().st_size for p in (self.path, Path(f"{self.path}-wal")) if p.exists())

    def close(self) -> None:
        self._db.close()

    def _insert(self, text: str) -> None:
        cursor = self._db.execute("INSERT INTO memory (user, text) VALUES ('ana', ?)", (text,))
        self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, text))


def quantiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50_ms": round(statistics.median(ordered) * 1000, 3),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 3),
    }


def in_turns(samples: Sequence[str], *acts: Callable[[str], Any]) -> list[dict[str, float]]:
    """Time several acts on the same samples, one after the other for each sample."""
    times: list[list[float]] = [[] for _ in acts]
    for sample in samples:
        for act, spent in zip(acts, times, strict=True):
            start = time.perf_counter()
            act(sample)
            spent.append(time.perf_counter() - start)
    return [quantiles(spent) for spent in times]


def fill(engine: Any, texts: Sequence[str], users: int) -> float:
    """Load through the public API with many threads, as a busy server would; returns writes a second."""
    minds = [engine.scope(user=f"user{number}") for number in range(users)]
    start = time.perf_counter()
    with ThreadPoolExecutor(LOADERS) as pool:
        list(pool.map(lambda item: minds[item[0] % users].remember(item[1]), enumerate(texts)))
    return len(texts) / (time.perf_counter() - start)


def measure(size: int, users: int, samples: int, store: str | None) -> dict[str, Any]:
    """One row: our store and the floor with the same texts."""
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    corpus = Corpus()
    texts = [corpus.sentence() for _ in range(size)]
    settings = {"store": store, "tenant": folder.name} if store else {}
    engine = lamina.open(folder / "workspace", **settings)
    floor = Floor(folder / "floor.db")
    try:
        rate = fill(engine, texts, users)
        floor.load(texts)
        mind = engine.scope(user="user0")
        new = [corpus.sentence() for _ in range(samples)]
        questions = [corpus.question() for _ in range(samples)]
        ours_write, floor_write = in_turns(new, mind.remember, floor.remember)
        in_turns(questions[:20], mind.recall, floor.recall)
        ours_read, floor_read = in_turns(questions, mind.recall, floor.recall)
        return {
            "memories": size,
            "users": users,
            "write": ours_write,
            "floor_write": floor_write,
            "recall": ours_read,
            "floor_recall": floor_read,
            "write_ratio": round(ours_write["p50_ms"] / floor_write["p50_ms"], 2),
            "recall_ratio": round(ours_read["p50_ms"] / floor_read["p50_ms"], 2),
            "load_per_s": round(rate),
            "bytes_per_memory": round(engine.status().bytes / (size + samples)),
            "floor_bytes_per_memory": round(floor.size() / (size + samples)),
        }
    finally:
        floor.close()
        engine.close()
        shutil.rmtree(folder)


def as_line(row: dict[str, Any]) -> str:
    def pair(name: str) -> str:
        return f"{row[name]['p50_ms']:>7} {row[name]['p95_ms']:>7}"

    return (
        f"{row['memories']:>9} {row['users']:>6} |"
        f"{pair('write')} {pair('floor_write')} {row['write_ratio']:>6} |"
        f"{pair('recall')} {pair('floor_recall')} {row['recall_ratio']:>6} |"
        f"{row['load_per_s']:>6} {row['bytes_per_memory']:>6} {row['floor_bytes_per_memory']:>6}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--postgres", help="measure this store instead of SQLite")
    options = parser.parse_args(arguments)
    rows = []
    print(
        f"{'memories':>9} {'users':>6} | write p50/p95 ms   floor        ratio | recall p50/p95 ms  floor"
        "        ratio | load/s  bytes  floor"
    )
    for size in (int(size) for size in options.sizes.split(",")):
        for users in (1, USERS) if size >= USERS * 10 else (1,):
            row = measure(size, users, options.samples, options.postgres)
            rows.append(row)
            print(as_line(row), flush=True)
    flat = alone_and_crowded(options.samples)
    print(
        f"\none user's 100 memories, alone against among {flat['others']} of others: "
        f"recall {flat['recall_ratio']}x, write {flat['write_ratio']}x"
    )
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "flat": flat}, indent=1) + "\n")
    return 0


def alone_and_crowded(samples: int, own: int = 100, factor: int = 100) -> dict[str, Any]:
    """What one user's operations cost alone, and with a hundred times as much of others' in the store."""
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    corpus = Corpus()
    texts = [corpus.sentence() for _ in range(own)]
    alone, crowded = lamina.open(folder / "alone"), lamina.open(folder / "crowded")
    try:
        for engine in (alone, crowded):
            fill(engine, texts, 1)
        others = [corpus.sentence() for _ in range(own * factor)]
        minds = [crowded.scope(user=f"other{number}") for number in range(own)]
        with ThreadPoolExecutor(LOADERS) as pool:
            list(pool.map(lambda item: minds[item[0] % own].remember(item[1]), enumerate(others)))
        one, many = alone.scope(user="user0"), crowded.scope(user="user0")
        write_alone, write_crowded = in_turns(
            [corpus.sentence() for _ in range(samples)], one.remember, many.remember
        )
        recall_alone, recall_crowded = in_turns(
            [corpus.question() for _ in range(samples)], one.recall, many.recall
        )
    finally:
        alone.close()
        crowded.close()
        shutil.rmtree(folder)
    return {
        "others": own * factor,
        "write_alone": write_alone,
        "write_crowded": write_crowded,
        "recall_alone": recall_alone,
        "recall_crowded": recall_crowded,
        "write_ratio": round(write_crowded["p50_ms"] / write_alone["p50_ms"], 2),
        "recall_ratio": round(recall_crowded["p50_ms"] / recall_alone["p50_ms"], 2),
    }


if __name__ == "__main__":
    sys.exit(main())
