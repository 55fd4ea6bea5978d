"""Recall and its plans where 10,000 people have a million memories, beside 100 people who have 10,000.

    python -m bench.people --postgres URL [--copies 100] [--rounds 300]

The URL is that of a server where databases may be made; two are, `lamina_small` and `lamina_large`, and stay.
The memories of a hundred people are remembered, a hundred each. The large store has their rows again and
again under other names, put there by the server itself: a million memories remembered one by one are a day's
work, and a recall reads no seal. So the audit of the large store does not hold; everything that a recall goes
through is there. Both are asked the same in turns, warm. Told are wall time, processor time of this process,
and that of PostgreSQL's own process.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

import lamina
from bench.corpus import Corpus
from lamina.storage.postgres import PostgresTransaction

PEOPLE, EACH = 100, 100
_NAME = "person-"
#: What counts up over the whole store; a copy goes on after the last.
_NUMBERS = {("shelf", "number"), ("operational", "number"), ("audit", "seq"), ("event", "seq")}
_STEP = 1_000_000
_TICKS = os.sysconf("SC_CLK_TCK")


def fill(url: str) -> None:
    """A hundred people, who remember a hundred things each."""
    with lamina.open(url, owner="owner", embedder="static") as engine:
        for person in range(PEOPLE):
            corpus = Corpus(person)
            told = [{"text": corpus.sentence()} for _ in range(EACH)]
            engine.scope(user=f"{_NAME}{person}").remember_many(told)


def multiply(url: str, copies: int) -> None:
    """The rows of everybody again under other names, until there are so many of each."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=lamina") as server:
        tables = server.execute(
            "SELECT table_name::text, array_agg(column_name::text ORDER BY ordinal_position),"
            " array_agg(data_type::text ORDER BY ordinal_position) FROM information_schema.columns"
            " WHERE table_schema = 'lamina' AND is_generated = 'NEVER'"
            " AND table_name NOT IN ('property', 'schema_migration')"
            " GROUP BY 1 ORDER BY 1"
        ).fetchall()
        for table, _, _ in tables:
            server.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            # What is copied is what was there at first, and not the copies.
            server.execute(f"CREATE TEMP TABLE one_{table} AS SELECT * FROM {table}".encode())
        for copy in range(1, copies):
            for table, columns, types in tables:
                values = [
                    _copied(table, column, kind, copy) for column, kind in zip(columns, types, strict=True)
                ]
                about = " OR ".join(
                    f"{column} LIKE '%{_NAME}%'"
                    for column, kind in zip(columns, types, strict=True)
                    if kind == "text"
                )
                keyed = any(one in columns for one in ("shelf", "memory_id"))
                server.execute(
                    f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM one_{table}"
                    f" WHERE {'true' if keyed else about}".encode()
                )
        for table, _, _ in tables:
            server.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())
        server.execute("VACUUM ANALYZE")


def _copied(table: str, column: str, kind: str, copy: int) -> str:
    if (table, column) in _NUMBERS or (column == "shelf" and kind == "bigint"):
        return f"{column} + {copy * _STEP}"
    if kind == "text" and column != "tenant":
        return f"replace({column}, '{_NAME}', '{_NAME}{copy}-')"
    return column


def compare(small: str, large: str, copies: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Recall in both, in turns: milliseconds that 50 and 95 of a hundred take."""
    with (
        lamina.open(small, owner="owner", embedder="static", postgres_connections=2) as few,
        lamina.open(large, owner="owner", embedder="static", postgres_connections=2) as many,
    ):
        sides = {"small": few, "large": many}
        pids = {name: _backend(url) for name, url in (("small", small), ("large", large))}
        spent: dict[str, dict[str, list[float]]] = {name: {"wall": [], "own": []} for name in sides}
        served = dict.fromkeys(sides, 0.0)
        corpus = Corpus(12345)
        for number in range(rounds + 20):
            question = corpus.question()
            for name, engine in sides.items():
                person = f"{_NAME}{number * 7 % PEOPLE}"
                if name == "large" and (copy := number * 13 % copies):
                    person = f"{_NAME}{copy}-{number * 7 % PEOPLE}"
                before, own, server = time.perf_counter(), time.thread_time(), processor_time(pids[name])
                engine.scope(user=person).recall(question)
                if number >= 20:
                    spent[name]["wall"].append(time.perf_counter() - before)
                    spent[name]["own"].append(time.thread_time() - own)
                    served[name] += processor_time(pids[name]) - server
    for what in ("wall", "own"):
        line: dict[str, Any] = {"recall": what}
        for share in (50, 95):
            found = {name: sorted(spent[name][what])[rounds * share // 100] * 1000 for name in sides}
            line |= {f"{name}_p{share}_ms": round(value, 2) for name, value in found.items()}
            line[f"ratio_p{share}"] = round(found["large"] / found["small"], 3)
        yield line
    per = {f"{name}_ms": round(served[name] / rounds * 1000, 2) for name in sides}
    yield {"recall": "server's processor, mean", **per, "ratio": round(served["large"] / served["small"], 3)}


def _backend(url: str) -> int:
    with psycopg.connect(url) as server:
        row = server.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'lamina'"
            " AND datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def processor_time(pid: int) -> float:
    """Seconds that a process of this machine has had so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


READS: dict[str, Callable[[Any], Any]] = {
    "recall": lambda memory: memory.recall("where is the dog"),
    "search": lambda memory: memory.search("dog"),
    "query": lambda memory: memory.query("where is the dog"),
    "context": lambda memory: memory.context("where is the dog"),
    "list": lambda memory: memory.list(),
    "changes": lambda memory: memory.changes(0),
    "resolve": lambda memory: memory.resolve(),
    "explain": lambda memory: memory.explain(memory.list().items[0].id),
    "pending": lambda memory: memory.pending(),
}


@contextmanager
def _noted(told: dict[str, tuple[str, dict[str, Any]]]) -> Iterator[None]:
    send = PostgresTransaction._send

    def noted(self: PostgresTransaction, name: str, bound: Any) -> Any:
        told.setdefault(name, (str(self._queries[name]), dict(bound)))
        return send(self, name, bound)

    PostgresTransaction._send = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        PostgresTransaction._send = send  # type: ignore[method-assign]


def plans(url: str, person: str) -> Iterator[dict[str, Any]]:
    """Every named query of what reads, by the table that the server would go through from end to end."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {}
    with lamina.open(url, owner="owner", embedder="static") as engine, _noted(asked):
        for act in READS.values():
            act(engine.scope(user=person))
    with psycopg.connect(url, options="-c search_path=lamina") as server:
        server.execute(
            "SELECT set_config('role', 'lamina_app', true), set_config('lamina.tenant', %s, true)",
            ("default",),
        )
        pages = server.execute(
            "SELECT relname::text FROM pg_class WHERE relnamespace = 'lamina'::regnamespace AND relpages < 2"
        ).fetchall()
        tiny = {name for (name,) in pages}  # no index is faster than one page
        for name, (sql, bound) in sorted(asked.items()):
            rows = server.execute(f"EXPLAIN (FORMAT JSON) {sql}".encode(), bound).fetchone()
            assert rows is not None
            if through := sorted({*_scanned(rows[0][0]["Plan"])} - tiny):
                yield {"query": name, "through": through}
    yield {"queries": len(asked), "tables_of_at_most_a_page": len(tiny)}


def _scanned(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan":
        yield str(plan["Relation Name"])
    for below in plan.get("Plans", ()):
        yield from _scanned(below)


def main() -> None:
    """Fill both stores where they are not there yet, measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--copies", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=300)
    asked = parser.parse_args()
    os.environ.setdefault("LAMINA_HOME", tempfile.mkdtemp(prefix="lamina-people-"))
    small, large = (
        urlsplit(asked.postgres)._replace(path=f"/lamina_{name}").geturl() for name in ("small", "large")
    )
    with psycopg.connect(asked.postgres, autocommit=True) as server:
        there = {name for (name,) in server.execute("SELECT datname FROM pg_database").fetchall()}
        if "lamina_small" not in there:
            server.execute("CREATE DATABASE lamina_small")
            fill(small)
        if "lamina_large" not in there:
            server.execute("CREATE DATABASE lamina_large TEMPLATE lamina_small")
            multiply(large, asked.copies)
    for url in (small, large):
        with psycopg.connect(url, options="-c search_path=lamina", autocommit=True) as server:
            server.execute("ANALYZE")
            row = server.execute(
                "SELECT count(*), count(DISTINCT owner), pg_database_size(current_database()) FROM memory"
            ).fetchone()
            assert row is not None
            print(json.dumps({"memories": row[0], "people": row[1], "bytes": row[2]}), flush=True)
    for line in compare(small, large, asked.copies, asked.rounds):
        print(json.dumps(line), flush=True)
    for line in plans(large, f"{_NAME}{asked.copies - 1}-5"):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
