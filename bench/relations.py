"""What a link costs on the write path, beside plain SQL that inserts the same edges in the same run.

    python -m bench.relations [--size 10000] [--samples 300] [--postgres URL] [--json OUT]

Two stores get the same memories, one without links. Timed in the one with links is everything that linking
does inside the transaction of a write: looking for the neighbours, comparing, inserting. The floor inserts
the very same edges, in a transaction that is open already, into a table with the same keys and one index.
PostgreSQL is measured where a database is named; it is filled and left as it is under a tenant of its own.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

import lamina
from bench.corpus import Corpus
from lamina.engine import Engine
from lamina.model import Memory
from lamina.write.linking import Linking, Vector
from lamina.write.unit_of_work import UnitOfWork

_TABLE = (
    "CREATE TABLE edge (tenant TEXT, from_id TEXT, to_id TEXT, type TEXT, strength DOUBLE PRECISION,"
    " explicit BIGINT, created_at BIGINT, PRIMARY KEY (tenant, from_id, to_id, type))"
)
_INDEX = "CREATE INDEX edge_to ON edge (tenant, to_id, from_id)"
_COLUMNS = "INSERT INTO edge VALUES ('t', {0}, {0}, 'related_to', {0}, 0, 0)"


@dataclass
class Timed:
    """Linking with a watch: how long each call took, and what it linked."""

    linking: Linking
    seconds: list[float] = field(default_factory=list)
    edges: list[list[tuple[str, str, float]]] = field(default_factory=list)

    def __call__(
        self, unit: UnitOfWork, shelf: int, new: Mapping[int, Memory], vectors: Mapping[int, Vector]
    ) -> None:
        began = time.perf_counter()
        self.linking(unit, shelf, new, vectors)
        self.seconds.append(time.perf_counter() - began)
        rows = [
            unit.transaction.all("relations_between", first=memory.id, beyond=f"{memory.id} ")
            for memory in new.values()
        ]
        self.edges.append([(row[0], row[1], row[3]) for some in rows for row in some])

    def per_edge(self) -> list[float]:
        return [took / len(made) for took, made in zip(self.seconds, self.edges, strict=True) if made]


def spent(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return {"p50_ms": round(1000 * statistics.median(ordered), 3), "p95_ms": round(1000 * p95, 3)}


def floor(edges: Sequence[Sequence[tuple[str, str, float]]], folder: Path, store: str | None) -> list[float]:
    """Seconds an edge of plain SQL, a transaction for each write's edges."""
    taken = []
    connection: Any = psycopg.connect(store) if store else sqlite3.connect(folder / "floor.db")
    mark = "%s" if store else "?"
    try:
        cursor = connection.cursor()
        cursor.execute(_TABLE.replace("CREATE TABLE", "CREATE TEMP TABLE") if store else _TABLE)
        cursor.execute(_INDEX)
        connection.commit()
        for some in edges:
            if some:
                cursor.execute("SELECT 1")
                began = time.perf_counter()
                cursor.executemany(_COLUMNS.format(mark), some)
                taken.append((time.perf_counter() - began) / len(some))
                connection.commit()
    finally:
        connection.close()
    return taken


def measure(size: int, samples: int, store: str | None) -> dict[str, Any]:
    """The figures of one database."""
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    corpus = Corpus()
    texts = [corpus.sentence() for _ in range(size)]
    new = [corpus.sentence() for _ in range(samples)]
    opened = {name: _opened(folder, name, store) for name in ("plain", "linked")}
    timed = Timed(Linking(0.6, 5))
    opened["linked"].ruleset = replace(opened["linked"].ruleset, linker=timed)
    try:
        rates, writes = {}, {}
        for name, engine in opened.items():
            mind = engine.scope(user="ana")
            took = spent(lambda mind=mind: mind.remember_many({"text": text} for text in texts))  # type: ignore[misc]
            rates[name] = round(size / took)
        batched, made = timed.per_edge(), sum(map(len, timed.edges))
        timed.seconds.clear()
        timed.edges.clear()
        times: dict[str, list[float]] = {name: [] for name in opened}
        for text in new:
            for name, engine in opened.items():
                times[name].append(spent(lambda e=engine, t=text: e.scope(user="ana").remember(t)))  # type: ignore[misc]
        writes = {name: quantiles(seconds) for name, seconds in times.items()}
        return {
            "memories": size,
            "edges": made,
            "edge": quantiles(timed.per_edge()),
            "edge_in_batches": quantiles(batched),
            "edge_of_plain_sql": quantiles(floor(timed.edges, folder, store)),
            "write": writes,
            "bulk_per_s": rates,
        }
    finally:
        for engine in opened.values():
            engine.close()
        shutil.rmtree(folder)


def _opened(folder: Path, name: str, store: str | None) -> Engine:
    links = {"link_k": 0} if name == "plain" else {}
    if store:
        return lamina.open(store, tenant=f"{folder.name}-{name}", **links)
    return lamina.open(f"sqlite:///{folder}/{name}.db", **links)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--postgres", help="measure this database too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    found = {}
    for name, store in (("sqlite", None), ("postgresql", options.postgres)):
        if name == "sqlite" or store:
            found[name] = measure(options.size, options.samples, store)
            print(name, json.dumps(found[name]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
