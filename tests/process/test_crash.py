"""A process that is killed loses nothing it acknowledged, and what it was doing is finished or undone."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.engine import Engine
from lamina.storage.memories import Memories
from lamina.testing import ManualClock
from lamina.text.entries import EntryFile
from tests.effort import times

SEED = int(os.environ.get("LAMINA_TEST_SEED", "20261116"))
KILLS = times(10, 100)  #: per backend

# Has everything imported and nothing open: a child is a fork of this, so that a life costs no start-up time.
NURSERY = r"""
import json, os, random, sys
import lamina, lamina.opening, lamina.storage.sqlite, lamina.storage.postgres

def say(*words):
    os.write(1, (json.dumps(words) + "\n").encode())

def live(order):
    os.environ["LAMINA_HOME"] = order["home"]
    pick, model = random.Random(order["seed"]), order["model"]
    engine = lamina.open(order["workspace"], owner="ana", **order["settings"])
    mind, number = engine.scope(), 0
    say("open")
    while True:
        number += 1
        text = f"life {order['seed']} thing {number} " + "word " * pick.randrange(40)
        active = [one for one, known in model.items() if known["state"] == "active"]
        gone = [one for one, known in model.items() if known["state"] == "soft_deleted"]
        taken = {model[one]["key"] for one in active}
        gone = [one for one in gone if model[one]["key"] is None or model[one]["key"] not in taken]
        verb = pick.choice(["remember", "remember", "set", "set", "revise", "forget", "restore"])
        if verb == "remember":
            act = ["remember", None, text, None]
        elif verb == "set":
            act = ["set", None, text, f"key.{pick.randrange(6)}"]
        elif verb == "revise" and active:
            act = ["revise", pick.choice(active), text, None]
        elif verb == "forget" and active:
            act = ["forget", pick.choice(active), None, None]
        elif verb == "restore" and gone:
            act = ["restore", pick.choice(gone), None, None]
        else:
            continue
        say("try", act)
        verb, one, text, key = act
        if verb in ("remember", "set"):
            receipt = mind.remember(text, **({"key": key} if key else {}))
            act[1] = receipt.ids[0]
        elif verb == "revise":
            receipt = mind.revise(one, text)
        else:
            receipt = getattr(mind, verb)(one)
        assert receipt.decision == "admitted", receipt
        say("ack", act)
        apply(model, act)

def apply(model, act):
    verb, one, text, key = act
    if verb in ("remember", "set"):
        for known in model.values():
            if key and known["key"] == key and known["state"] == "active":
                known["state"] = "superseded"
        model[one] = {"text": text, "key": key, "state": "active"}
    elif verb == "revise":
        model[one]["text"] = text
    else:
        model[one]["state"] = "soft_deleted" if verb == "forget" else "active"

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            say("pid", os.getpid())
            live(json.loads(line))
        except BaseException as error:
            say("error", f"{type(error).__name__}: {error}")
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    say("dead")
"""

Model = dict[str, dict[str, Any]]


def apply(model: Model, act: list[Any]) -> Model:
    """What is known after an act; the act may still lack the id of what it made."""
    verb, memory_id, text, key = act
    after = {one: dict(known) for one, known in model.items()}
    if verb in ("remember", "set"):
        for known in after.values():
            if key and known["key"] == key and known["state"] == "active":
                known["state"] = "superseded"
        after[memory_id or "?"] = {"text": text, "key": key, "state": "active"}
    elif verb == "revise":
        after[memory_id]["text"] = text
    else:
        after[memory_id]["state"] = "soft_deleted" if verb == "forget" else "active"
    return after


@dataclass
class Life:
    """What a child said before it was killed."""

    acknowledged: list[list[Any]] = field(default_factory=list)
    unknown: list[Any] | None = None  #: what it was doing


class Nursery:
    """Starts lives and ends them."""

    def __init__(self) -> None:
        # Its own process group is not needed: it ends when its input does.
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._rest = b""
        self._child = 0  #: alive and to be ended

    def close(self) -> None:
        if self._child:
            os.kill(self._child, signal.SIGKILL)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def _line(self, timeout_s: float = 60.0) -> list[Any] | None:
        """The next thing a child said; None when it says nothing for so long."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._process.stdout.fileno(), 65_536)
            assert data, "the nursery is gone"
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        words: list[Any] = json.loads(line)
        return words

    def live_and_die(self, order: dict[str, Any], acks: int, then_s: float) -> Life:
        """A life that is ended `then_s` after so many acknowledged acts; -1 counts from its first breath."""
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps(order) + "\n").encode())
        life, deadline = Life(), None
        while True:
            left = 60.0 if deadline is None else max(0.0, deadline - time.monotonic())
            said = self._line(left)
            if said is None:
                assert deadline is not None, "a child hangs"
                os.kill(self._child, signal.SIGKILL)
                deadline = time.monotonic() + 60
                continue
            match said:
                case ["pid", number]:
                    self._child = number
                case ["try", act]:
                    life.unknown = act
                case ["ack", act]:
                    life.acknowledged.append(act)
                    life.unknown = None
                case ["error", message]:
                    self._child = 0
                    raise AssertionError(message)
                case ["dead"]:
                    self._child = 0
                    return life
            seen = len(life.acknowledged) if said[0] in ("open", "ack") else -1
            if deadline is None and seen >= acks:
                deadline = time.monotonic() + then_s


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    try:
        yield nursery
    finally:
        nursery.close()


def actual(engine: Engine, model: Model) -> Model:
    """Every active memory and every one we know of, as the store has them."""

    def work(memories: Memories) -> Model:
        found = memories.load([*memories.in_order(), *model])
        return {
            one.id: {"text": one.text, "key": one.key, "state": one.state.value} for one in found.values()
        }

    return engine.database.read(lambda tx: work(Memories(tx)))


def told(model: Model) -> list[tuple[Any, ...]]:
    return sorted((known["state"], known["key"] or "", known["text"]) for known in model.values())


def check(folder: Path, engine: Engine, model: Model, life: Life) -> Model:
    """The promises after a kill; returns what is known now."""
    now = actual(engine, model)
    possible = [told(model)]
    if life.unknown is not None:
        possible.append(told(apply(model, life.unknown)))
    assert told(now) in possible, life
    status = engine.status()
    assert (status.pending_operations, status.problems) == (0, ())
    report = engine.verify_audit()
    assert report.findings == ()
    file = EntryFile.parse((folder / "PROFILE.md").read_bytes())
    assert file.problems == ()
    in_file = {entry.canonical: entry.value for entry in file.entries}
    in_store = {known["key"]: known["text"] for known in now.values() if known["state"] == "active"}
    in_store.pop(None, None)
    assert in_file == in_store
    for lines in (folder / ".lamina" / "runs").rglob("*"):
        if lines.is_file():
            assert lines.suffix == ".jsonl"
            assert all(json.loads(line) for line in lines.read_bytes().splitlines())
    return now


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_no_acknowledged_write_is_lost_to_a_kill(
    nursery: Nursery, tmp_path: Path, lamina_home: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    """At seeded random points among remembering, setting keys, revising, forgetting and restoring."""
    pick, started = random.Random(SEED), time.monotonic()
    settings = {} if backend == "sqlite" else {"store": request.getfixturevalue("postgres_store")}
    acked = cut = done = 0
    for kill in range(KILLS):
        if kill % 25 == 0:
            folder, model = tmp_path / f"w{kill}", {}
            if settings:
                settings["tenant"] = f"t{kill}"
        order = {
            "workspace": str(folder),
            "home": str(lamina_home),
            "settings": settings,
            "seed": SEED * 1000 + kill,
            "model": model,
        }
        life = nursery.live_and_die(order, acks=pick.randrange(10), then_s=pick.uniform(0, 0.03))
        for act in life.acknowledged:
            model = apply(model, act)
        acked, cut = acked + len(life.acknowledged), cut + (life.unknown is not None)
        with lamina.open(folder, owner="ana", **settings) as engine:
            before, model = told(model), check(folder, engine, model, life)
        done += told(model) != before
    orphans = len(list(tmp_path.rglob("*.tmp")))
    later = ManualClock(datetime.now(UTC) + timedelta(hours=2))
    for folder in tmp_path.iterdir():
        if folder.is_dir():
            lamina.open(folder, owner="ana", clock=later, **settings).close()
    took = time.monotonic() - started
    sys.stdout.write(
        f"\n{backend}: seed {SEED}, {KILLS} kills, {acked} acknowledged, 0 lost, {cut} cut off of which"
        f" {done} were finished, {orphans} temporary files swept, {took:.1f} s\n"
    )
    assert cut > 0
    assert list(tmp_path.rglob("*.tmp")) == []


def test_a_workspace_whose_making_was_cut_off_can_be_made(
    nursery: Nursery, tmp_path: Path, lamina_home: Path
) -> None:
    """Whatever stage it was killed at, opening it again makes it whole and its owner's."""
    pick = random.Random(SEED)
    for kill in range(times(6, 25)):
        folder, home = tmp_path / f"w{kill}", tmp_path / f"home{kill}"
        order = {"workspace": str(folder), "home": str(home), "settings": {}, "seed": kill, "model": {}}
        nursery.live_and_die(order, acks=-1, then_s=pick.uniform(0, 0.05))

        environment = {"LAMINA_HOME": str(home)}
        lamina.open(folder, owner="ana", environment=environment).close()
        with lamina.open(folder, environment=environment) as engine:
            assert engine.config.owner == "ana"
            assert engine.scope().remember("Ana likes tea").ids == ("user:ana:semantic:1",) or kill
            assert engine.verify_audit().intact
            assert (folder / "PROFILE.md").read_bytes()
        shutil.rmtree(folder)
