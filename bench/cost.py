"""What remembering, recalling and a prompt's block cost on real text, beside FTS5 in the same run.

    python -m bench.cost FILE.jsonl.xz … [--sizes 1000,10000,100000] [--samples 60] [--stores FOLDER]

The files are retrieval sets as `bench.pools` reads them: their units are cut into sentences of 40 to 400
characters, their questions are asked. All memories are one person's, the encoder is the static table. All is
processor time of this process, so that what else the machine does shows little; recall and FTS5 take turns.
`--stores` keeps the stores in a folder and uses those that are there: so two versions are measured on the
same memories.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lamina
from bench.engine import Floor

_SENTENCE = re.compile(r"(?<=[.!?。!?])\s*(?=\S{2})|\n+")
_SHORTEST, _LONGEST = 40, 400
_BATCH, _ONE_BY_ONE, _CONTEXTS = 1000, 100, 20


def read(files: Sequence[Path], count: int) -> tuple[list[str], list[str]]:
    """So many different sentences and every question, each in an order of its own that is always the same."""
    said: dict[str, None] = {}
    asked: list[str] = []
    for path in sorted(files):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for pool in map(json.loads, file):
                asked += [one["text"] for one in pool["queries"]]
                for unit in pool["units"]:
                    for part in _SENTENCE.split(unit["text"]):
                        text = " ".join(part.split())
                        if _SHORTEST <= len(text) <= _LONGEST and text.isprintable():
                            said[text] = None
    texts = sorted(said)
    random.Random(5).shuffle(texts)
    random.Random(6).shuffle(asked)
    return texts[: count + _ONE_BY_ONE], asked


def spent(act: Callable[[], Any]) -> float:
    """Milliseconds of the processor."""
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1000


def measure(folder: Path, size: int, texts: Sequence[str], asked: Sequence[str]) -> dict[str, Any]:
    """One row: everything at one size."""
    found: dict[str, Any] = {"memories": size}
    place, home = folder / f"w{size}", {"LAMINA_HOME": str(folder / f"home{size}")}
    is_new = not place.exists()
    floor = Floor(folder / f"floor{size}-{os.getpid()}.db")
    with lamina.open(place, owner="ana", embedder="static", environment=home) as engine:
        ana = engine.scope()
        if is_new:
            took = 0.0
            for first in range(0, size, _BATCH):
                items = [{"text": text, "kind": "fact"} for text in texts[first : first + _BATCH]]
                took += spent(lambda items=items: ana.remember_many(items))  # type: ignore[misc]
            found["stored_per_cpu_s"] = round(size / took * 1000)
        found["bytes"] = round(engine.status().bytes / size)
        floor.load(texts[:size])
        for question in asked[:10]:
            ana.recall(question)
            floor.recall(plain(question))
        ours, theirs = [], []
        for question in asked[10:]:
            ours.append(spent(lambda question=question: ana.recall(question)))  # type: ignore[misc]
            theirs.append(spent(lambda question=question: floor.recall(plain(question))))  # type: ignore[misc]
        found["recall_ms"] = [
            round(statistics.median(ours), 2),
            round(sorted(ours)[int(0.95 * len(ours))], 2),
        ]
        found["fts5_ms"] = [
            round(statistics.median(theirs), 2),
            round(sorted(theirs)[int(0.95 * len(theirs))], 2),
        ]
        found["recall_to_fts5"] = round(sum(ours) / sum(theirs), 2)
        blocks = [spent(lambda q=question: ana.context(q)) for question in asked[:_CONTEXTS]]  # type: ignore[misc]
        found["context_ms"] = round(statistics.median(blocks), 2)
        if is_new:
            new = [spent(lambda text=text: ana.remember(text)) for text in texts[size:]]  # type: ignore[misc]
            found["remember_ms"] = round(statistics.median(new), 2)
        found["load"] = os.getloadavg()[0]
    floor.close()
    return found


def middle_and_late(times: Sequence[float]) -> list[float]:
    """p50 and p95."""
    return [round(statistics.median(times), 2), round(sorted(times)[int(0.95 * len(times))], 2)]


def plain(question: str) -> str:
    """A question's words without what FTS5 takes for more than words."""
    return re.sub(r'["\s]+', " ", question)


def without_encoder(folder: Path, texts: Sequence[str]) -> dict[str, int]:
    """Texts stored a second of the processor, with the encoder and without."""
    found: dict[str, int] = {}
    for embedder in ("static", "none", "static", "none"):
        place, home = folder / f"rate-{embedder}-{len(found)}", {"LAMINA_HOME": str(folder / "home-rate")}
        with lamina.open(place, owner="ana", embedder=embedder, environment=home) as engine:
            items = [{"text": text, "kind": "fact"} for text in texts]
            engine.scope().remember_many(items[:200])
            took = spent(lambda: engine.scope().remember_many(items[200:]))  # noqa: B023 - at once
        found[embedder] = max(found.get(embedder, 0), round(len(items[200:]) / took * 1000))
        shutil.rmtree(place)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--stores", type=Path)
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    texts, asked = read(options.files, max(*sizes, 3000))
    with tempfile.TemporaryDirectory() as own:
        folder = options.stores or Path(own)
        for size in sizes:
            chosen = texts[:size] + texts[-_ONE_BY_ONE:]
            print(json.dumps(measure(folder, size, chosen, asked[: options.samples + 10])), flush=True)
        print(json.dumps({"stored_per_cpu_s": without_encoder(Path(own), texts[:3000])}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
