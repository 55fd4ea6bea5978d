"""Recall by words and meaning against its parts done by others: FTS5, bm25s, numpy; in turns, warm.

    python -m bench.search_speed [--sizes 10000,100000,1000000] [--samples 200] [--json OUT] [--postgres URL]

All passages belong to one owner. The first 10,000 are written by `remember_many`; more are put into the same
tables through the storage classes, without history and audit, which a recall does not read. The questions are
of four words. `words` is recall with the encoder off, `meaning` its vector leg alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

import lamina
from bench.corpus import Corpus
from bench.engine import Floor, in_turns
from lamina.retrieval.meaning import learn, likeness
from lamina.storage import search_index
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.write.commit import identity_of
from lamina.write.unit_of_work import indexed_terms

THROUGH_THE_API = 10_000
DIFFERENT = 100_000  #: sentences; beyond, they come again with another number
_PAGE = 10_000


def stored(engine: Any, mind: Any, texts: Sequence[str]) -> float:
    """Store the texts; returns how many a second."""
    start = time.perf_counter()
    mind.remember_many({"text": text} for text in texts[:THROUGH_THE_API])
    rate = min(len(texts), THROUGH_THE_API) / (time.perf_counter() - start)
    pattern = mind.get("user:ana:semantic:1")
    often = search_index.FRESH
    search_index.FRESH = 1024  # lists are written less often; they come to the same
    for first in range(THROUGH_THE_API, len(texts), _PAGE):
        page = texts[first : first + _PAGE]

        def work(transaction: Any, page: Sequence[str] = page, first: int = first) -> None:
            words, memories, meant = TextIndex(transaction), Memories(transaction), {}
            shelf = words.open_shelf("user:ana")[0]
            for number, text in enumerate(page, first + 1):
                memory = replace(pattern, id=f"user:ana:bulk:{number}", text=text, tick=number)
                slot = words.add(shelf, indexed_terms(memory))
                memories.add(memory, shelf=shelf, slot=slot, identity=identity_of(None, memory.kind, text))
                meant[slot] = text
            learn(transaction, engine.ruleset.encoder, shelf, meant)

        engine.database.write(work)
    search_index.FRESH = often
    mind.remember_many({"text": f"The last of all, {number}."} for number in range(often))
    return rate


def rates(folder: Path, store: str | None, count: int = 5000) -> dict[str, float]:
    """Texts a second through `remember_many`, by the clock and by the processor, without and with encoder."""
    found = {}
    corpus = Corpus(3)
    for embedder in ("none", "static"):
        settings = {"store": store, "tenant": f"{folder.name}-{embedder}"} if store else {}
        with lamina.open(folder / f"rate-{embedder}", owner="ana", embedder=embedder, **settings) as engine:
            mind = engine.scope()
            mind.remember_many({"text": corpus.sentence()} for _ in range(500))
            items = [{"text": corpus.sentence()} for _ in range(count)]
            clock, processor = time.perf_counter(), time.process_time()
            mind.remember_many(items)
            found[f"{embedder}_per_s"] = round(count / (time.perf_counter() - clock))
            found[f"{embedder}_per_cpu_s"] = round(count / (time.process_time() - processor))
    return found


def vectors_of(engine: Any) -> Any:
    """Every vector of the largest shelf as numpy has it, in the order of the slots."""
    states = engine.database.kept["vectors"].values()
    largest = max((one[-1] for one in states), key=lambda one: one.size)
    return np.concatenate([largest.chunks[at].vectors for at in sorted(largest.chunks)]).astype(np.float32)


def measure(size: int, samples: int, store: str | None) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    corpus = Corpus()
    texts = [corpus.sentence() for _ in range(min(size, DIFFERENT))]
    for number in range(len(texts), size):
        texts.append(f"{texts[number % DIFFERENT]} n{number}")
    settings = {"store": store, "tenant": folder.name} if store else {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    engine = lamina.open(folder / "workspace", owner="ana", **settings)
    floor = Floor(folder / "floor.db")
    try:
        mind = engine.scope()
        rate = stored(engine, mind, texts)
        questions = [corpus.question() for _ in range(samples)]
        shelves = engine.database.read(lambda tx: TextIndex(tx).shelves(["user:ana"]))

        def meaning(question: str) -> Any:
            return engine.database.read(lambda tx: likeness(tx, engine.embedder, question, shelves))

        start = time.perf_counter()
        meaning(questions[0])
        cold = time.perf_counter() - start
        for question in questions[:20]:
            mind.recall(question)
        ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        floor.load(texts)
        other = bm25s.BM25()
        other.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        matrix, encoder = vectors_of(engine), engine.embedder

        def other_words(question: str) -> Any:
            asked = bm25s.tokenize([question], show_progress=False)
            return other.retrieve(asked, k=6, show_progress=False)

        def other_meaning(question: str) -> Any:
            scores = matrix @ encoder.embed([question])[0]
            return np.argpartition(-scores, 6)[:6]

        def words(question: str) -> Any:
            engine.embedder = None
            try:
                return mind.recall(question)
            finally:
                engine.embedder = encoder

        acts = (mind.recall, words, meaning, floor.recall, other_words, other_meaning)
        in_turns(questions[:10], *acts)
        names = ("recall", "words", "meaning", "fts5", "bm25s", "numpy")
        row: dict[str, Any] = dict(zip(names, in_turns(questions, *acts), strict=True))
        slower = max(row["fts5"]["p95_ms"], row["numpy"]["p95_ms"])
        return {
            "passages": size,
            **row,
            "to_slower": round(row["recall"]["p95_ms"] / slower, 2),
            "stored_per_s": round(rate),
            "cold_ms": round(cold * 1000, 1),
            "resident_mb": round(ours / 1024),
            "bytes_per_passage": round(engine.status().bytes / size),
            "load": os.getloadavg()[0],
        }
    finally:
        floor.close()
        engine.close()
        shutil.rmtree(folder)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--postgres", help="measure this store instead of SQLite")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    try:
        found: dict[str, Any] = {"rates": rates(folder, options.postgres), "rows": []}
    finally:
        shutil.rmtree(folder)
    print(json.dumps(found["rates"]), flush=True)
    for size in (int(size) for size in options.sizes.split(",")):
        found["rows"].append(measure(size, options.samples, options.postgres))
        print(json.dumps(found["rows"][-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
