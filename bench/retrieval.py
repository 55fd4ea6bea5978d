"""How good retrieval is, through the public API and nothing else.

    python -m bench.retrieval FILE... [--every N] [--json OUT]

A file has a pool per line: units to remember and questions about them (see docs/retrieval.md). Each pool is
stored in a fresh workspace, at the times its units carry and in the sessions they name; every question is
asked through `recall` at its own time. Turns of a session are kept as episodes; a speaker who is neither the
user nor the assistant stands before what they say. Questions are asked when every text has its vector, as
beside `lamina serve`. `--every` takes the first of so many pools of each file.

Figures are percentages over the questions that have an answer in their pool. Units are judged by the first
ten hits; sessions, where a pool names the right ones, in the order in which the hits reach them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import log2
from pathlib import Path
from typing import Any

import lamina
from lamina.testing import ManualClock
from lamina.text.normalise import well_formed

#: How many hits are asked for where sessions are judged: ten sessions want more than ten turns.
FAR = 100
NEAR = 10
START = datetime(2024, 1, 1, tzinfo=UTC)
BATCH = 250
Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--every", type=int, default=1, help="the first of so many pools of each file")
    parser.add_argument("--json", type=Path, default=None, help="write the figures here too")
    chosen = parser.parse_args()
    results = {}
    for file in chosen.files:
        results[file.name] = measured = measure(file, chosen.every)
        for what in ("units", "sessions"):
            if what in measured:
                shown = "  ".join(f"{name} {value:5.1f}" for name, value in measured[what].items())
                print(f"{file.name:28} {what:8} {shown}", flush=True)
        speed = "  ".join(f"{name} {value}" for name, value in measured["speed"].items())
        print(f"{file.name:28} {'speed':8} {speed}", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def measure(file: Path, every: int = 1) -> dict[str, Any]:
    """The figures of one file: of units, of sessions where it has them, and of speed."""
    sums: dict[str, Figures] = {}
    took: list[float] = []
    units = denied = questions = 0
    storing = 0.0
    for pool in islice(pools(file), 0, None, every):
        with tempfile.TemporaryDirectory() as folder, Memory(Path(folder), pool) as memory:
            began = time.perf_counter()
            denied += memory.store(pool["units"])
            storing += time.perf_counter() - began
            units += len(pool["units"])
            for query in pool["queries"]:
                questions += 1
                memory.ask(query, sums, took)
    out: dict[str, Any] = {}
    for what, found in sums.items():
        count = found.pop("questions")
        out[what] = {"questions": count} | {k: round(100 * value / count, 2) for k, value in found.items()}
    ranked = sorted(took)
    out["speed"] = {
        "query_p50_ms": round(1000 * statistics.median(ranked), 2),
        "query_p95_ms": round(1000 * ranked[int(0.95 * (len(ranked) - 1))], 2),
        "units_per_s": round(units / storing, 1),
        "units": units,
        "denied": denied,
        "questions": questions,
    }
    return out


def pools(file: Path) -> Iterator[dict[str, Any]]:
    """The pools of a file, packed or not."""
    packed = file.suffix == ".xz"
    with lzma.open(file, "rt", encoding="utf-8") if packed else file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


class Memory:
    """A fresh workspace with the units of one pool."""

    def __init__(self, folder: Path, pool: dict[str, Any]) -> None:
        times = [moment(unit["at"]) for unit in pool["units"] if unit.get("at")]
        self.clock = ManualClock(min(times, default=START))
        self.latest = max(times, default=START) + timedelta(minutes=1)
        self.engine = lamina.open(folder, clock=self.clock)
        self.unit_of: dict[str, list[str]] = defaultdict(list)
        self.session_of: dict[str, str] = {}

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def store(self, units: Sequence[dict[str, Any]]) -> int:
        """Remember every unit in its order; returns how many were denied. Unusable ones are left out."""
        denied = 0
        for session, role, at, run in runs([unit for unit in units if usable(unit)]):
            if at and moment(at) > self.clock.now():
                self.clock.at = moment(at)
            agent = "assistant" if role == "assistant" else None
            mind = self.engine.scope(session=session, agent=agent)
            details = {"layer": "episodic"} if session else {}
            receipts = mind.remember_many({"text": said(unit), **details} for unit in run)
            for unit, receipt in zip(run, receipts, strict=True):
                denied += receipt.decision == "denied"
                for one in receipt.ids:
                    self.unit_of[one].append(unit["id"])
                    self.session_of.setdefault(one, session or "")
        while self.engine.embed_missing():
            pass
        return denied

    def ask(self, query: dict[str, Any], sums: dict[str, Figures], took: list[float]) -> None:
        """Ask one question and add up how good the answer is."""
        at = moment(query["at"]) if query.get("at") else self.latest
        self.clock.at = max(at, self.latest)
        wanted = FAR if query.get("gold_sessions") else NEAR
        began = time.perf_counter()
        hits = self.engine.scope().recall(query["text"], k=wanted).hits
        took.append(time.perf_counter() - began)
        known = {unit for all_ in self.unit_of.values() for unit in all_}
        gold = set(query["gold"])
        if gold & known:
            judge(sums, "units", [unit for hit in hits for unit in self.unit_of[hit.id]], gold)
        if sessions := set(query.get("gold_sessions") or ()):
            order = dict.fromkeys(self.session_of[hit.id] for hit in hits)
            judge(sums, "sessions", list(order), sessions)


def moment(text: str) -> datetime:
    """A time; without a zone it is in UTC."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def said(unit: dict[str, Any]) -> str:
    """The words of a unit, with their speaker where that is a name."""
    role = unit.get("role")
    return unit["text"] if role in (None, "user", "assistant") else f"{role}: {unit['text']}"


def usable(unit: dict[str, Any]) -> bool:
    """Whether there is something to keep: some sets have empty turns, or control characters in them."""
    try:
        well_formed(unit["text"], "text", 99_000)
    except lamina.InvalidInput:
        return False
    return True


def runs(units: Sequence[dict[str, Any]]) -> Iterator[tuple[Any, Any, Any, list[dict[str, Any]]]]:
    """Units in a row that one voice said in one session at one time."""
    run: list[dict[str, Any]] = []
    last: tuple[Any, Any, Any] = (None, None, None)
    for unit in units:
        place = (unit.get("session"), unit.get("role"), unit.get("at"))
        place = place if place[1] == "assistant" else (place[0], None, place[2])
        if run and (place != last or len(run) >= BATCH):
            yield *last, run
            run = []
        last = place
        run.append(unit)
    if run:
        yield *last, run


def judge(sums: dict[str, Figures], what: str, order: list[str], gold: set[str]) -> None:
    """Add one answer's figures to the sums."""
    names = ("hit@1", "hit@5", "hit@10", "R@5", "R@10", "Rall@5", "Rall@10", "NDCG@10", "MRR@10")
    total = sums.setdefault(what, dict.fromkeys(("questions", *names), 0.0))
    places = [place for place, one in enumerate(order[:NEAR]) if one in gold]
    total["questions"] += 1
    for depth in (1, 5, 10):
        inside = sum(place < depth for place in places)
        total[f"hit@{depth}"] += inside > 0
        if depth > 1:
            total[f"R@{depth}"] += inside / len(gold)
            total[f"Rall@{depth}"] += inside == len(gold)
    ideal = sum(1 / log2(place + 2) for place in range(min(NEAR, len(gold))))
    total["NDCG@10"] += sum(1 / log2(place + 2) for place in places) / ideal
    total["MRR@10"] += 1 / (places[0] + 1) if places else 0.0


if __name__ == "__main__":
    main()
