"""The same requests at the same times give the same memory, byte for byte, wherever it is kept."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lamina.model import canonical
from tests.effort import times

SCRIPT = r"""
import random, sys
from pathlib import Path
import lamina
from lamina.model import canonical, plain
from lamina.storage.logs import AuditLog, Changes, Events
from lamina.testing import ManualClock

target, store, key_file, out = sys.argv[1:]
clock, pick = ManualClock(), random.Random(2026)
words = "tea cup river stone cloud green 茶馆 กาแฟ deploys servers HttpServer naïve".split()
store = {"store": store} if store else {}
engine = lamina.open(target, owner="ana", clock=clock, audit_key_file=key_file, **store)
callers = [
    engine.scope(), engine.scope(agent="planner", session="s1"), engine.scope(user="bob", session="s2"),
    engine.scope(role="system"), engine.scope(agent="web", role="tool", run="r7"),
]
told, ids = [], []

def act(number):
    mind = pick.choice(callers)
    text = f"{' '.join(pick.choices(words, k=5))} {number}"
    match pick.randrange(10):
        case 0 | 1 | 2:
            return mind.remember(text, importance=pick.randint(1, 5), tags=pick.sample(words, k=3))
        case 3 | 4:
            key, ttl = pick.choice(["tone", "lang", "mood"]), pick.choice(["none", "2h"])
            return mind.remember(text, key=key, ttl=ttl)
        case 5 if ids:
            return mind.revise(pick.choice(ids), text, expect=pick.choice([None, 1]))
        case 6 if ids:
            return mind.forget(pick.choice(ids), reason="x")
        case 7 if ids:
            return mind.restore(pick.choice(ids))
        case 8:
            return mind.remember("my password is hunter2secret99", idempotency_key=f"r{number % 3}")
        case _:
            return mind.remember(text, idempotency_key=f"i{number % 4}", space="project")

for number in range(60):
    clock.advance(minutes=pick.randint(0, 30), microseconds=pick.randint(0, 999_999))
    try:
        receipt = act(number)
        told.append(receipt)
        ids += [one for one in receipt.ids if one not in ids]
    except lamina.LaminaError as error:
        told.append([type(error).__name__, error.code, error.message, error.hint])
for mind in callers:
    for question in [*words, "green tea", "tone", "茶", "deploy server", *ids[:5]]:
        for k in (1, 100):
            told.append(mind.recall(question, k=k))
    for one in ids:
        try:
            told.append(mind.explain(one))
        except lamina.NotFound as error:
            told.append(str(error))
    told.append(mind.trace(last=1000))
look = engine.database.read
told.append(look(lambda tx: Events(tx).last(["user:ana", "user:bob", "project:main"], 1000)))
told += [look(lambda tx: Changes(tx).since(thread, 0, 999)) for thread in ("ana", "ana,s1", "bob,s2")]
told.append(look(lambda tx: list(AuditLog(tx).after(0))))
told.append(engine.verify_audit())
told.append(list(engine.status().memories.items()))
if engine.root is not None:
    told.append((engine.root / "PROFILE.md").read_text("utf-8"))
    for file in sorted((engine.root / ".lamina" / "runs").rglob("*.jsonl")):
        told.append([file.parent.name, file.read_text("utf-8")])
engine.close()
Path(out).write_text("\n".join(map(canonical, told)), "utf-8")
assert sum("admitted" in canonical(one) for one in told[:60]) > 20
"""


@pytest.fixture
def run(tmp_path: Path, lamina_home: Path):
    """Runs the script in a process of its own; returns what it told, a line per value."""
    key = tmp_path / "audit.key"
    key.write_bytes(hashlib.sha256(b"test").digest())

    def told(name: str, target: str, store: str = "", seed: str = "0") -> list[str]:
        out, home = tmp_path / f"{name}.out", tmp_path / f"{name}.home"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LAMINA_HOME": str(home), "TZ": "Asia/Bangkok"}
        command = [sys.executable, "-c", SCRIPT, target, store, str(key), str(out)]
        subprocess.run(command, env=environment, check=True)
        return out.read_text("utf-8").split("\n")

    return told


def without_numbers(value: Any) -> Any:
    """What is told, without what counts: on PostgreSQL records and events are numbered by whom they are
    about, in chains of their own, so that people do not wait for each other."""
    if isinstance(value, dict):
        counted = ("seq", "prev", "hash", "mark") if "seq" in value else ()
        return {name: without_numbers(one) for name, one in value.items() if name not in counted}
    if isinstance(value, list):
        found = [without_numbers(one) for one in value]
        return (
            sorted(found, key=canonical)
            if value and isinstance(value[0], dict) and "seq" in value[0]
            else found
        )
    if isinstance(value, str) and value.startswith('{"ts":'):
        return sorted(canonical(without_numbers(json.loads(line))) for line in value.splitlines())
    return value


def told_alike(lines: list[str]) -> list[Any]:
    return [without_numbers(json.loads(line)) for line in lines]


def test_a_workspace_is_the_same_with_its_store_inside_and_on_postgresql(run, tmp_path, postgres_store):
    """Ids, receipts, orders, scores, history, PROFILE.md, and what the trace and the audit say."""
    inside = run("a", str(tmp_path / "a"), seed="1")
    outside = run("b", str(tmp_path / "b"), postgres_store, seed="2")

    assert len(inside) > 400
    assert told_alike(inside) == told_alike(outside)


@pytest.mark.slow  # the workspace above shows it, too
def test_a_store_without_files_is_the_same_on_sqlite_and_postgresql(run, tmp_path, postgres_store):
    one = run("c", f"sqlite:///{tmp_path}/c.db", seed="3")
    other = run("d", postgres_store, seed="4")

    assert told_alike(one) == told_alike(other)


@pytest.mark.slow
def test_two_stores_on_postgresql_are_the_same_down_to_their_hashes(
    run, tmp_path, postgres_store, postgres_database
):
    one = run("e", str(tmp_path / "e"), postgres_store, seed="5")
    other = run("f", str(tmp_path / "f"), postgres_database, seed="6")

    assert one == other


def test_hash_seeds_change_nothing(run, tmp_path):
    first, *others = [
        run(f"s{seed}", str(tmp_path / f"s{seed}"), seed=seed)
        for seed in times(("0", "7"), ("0", "7", "4242"))
    ]

    assert all(other == first for other in others)
