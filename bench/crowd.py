"""Two writers and forty readers on one memory at the same time: what fails, and how long a recall takes.

    python -m bench.crowd [--seconds 60] [--postgres URL]

Each writer has an engine of its own, as another process would; the readers share one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lamina
from bench.corpus import Corpus

WRITERS, READERS = 2, 40


def crowd(opened: Callable[[], Any], is_over: Callable[[int], bool]) -> dict[str, Any]:
    """Everyone works until `is_over(rounds of their own)`; every error is kept, and every recall is timed."""
    errors: list[BaseException] = []
    spent: list[float] = []
    written: list[int] = []

    def write(number: int) -> None:
        corpus, done = Corpus(100 + number), 0
        try:
            with opened() as engine:
                mind = engine.scope()
                while not is_over(done):
                    mind.remember(corpus.sentence())
                    done += 1
        except Exception as error:  # noqa: BLE001 that nothing of any sort is raised is what is looked for
            errors.append(error)
        written.append(done)

    def read(engine: Any, number: int) -> None:
        corpus, done = Corpus(200 + number), 0
        try:
            while not is_over(done):
                start = time.perf_counter()
                engine.scope().recall(corpus.question())
                spent.append(time.perf_counter() - start)
                done += 1
        except Exception as error:  # noqa: BLE001 the same
            errors.append(error)

    with opened() as engine:
        before = engine.status().audit_records
        threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
        threads += [threading.Thread(target=read, args=(engine, number)) for number in range(READERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stored = engine.status().audit_records - before
    ordered = sorted(spent)
    return {
        "errors": [repr(error) for error in errors],
        "written": sum(written),
        "recorded": stored,
        "recalls": len(ordered),
        **{f"p{part}_ms": round(ordered[len(ordered) * part // 100] * 1000, 1) for part in (50, 95, 99)},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--postgres", help="measure this store instead of SQLite")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-", dir=Path.cwd()))
    os.environ["LAMINA_HOME"] = str(folder / "home")
    settings = {"store": options.postgres, "tenant": folder.name} if options.postgres else {}
    try:
        with lamina.open(folder / "w", owner="ana", **settings) as engine:
            corpus = Corpus()
            engine.scope().remember_many({"text": corpus.sentence()} for _ in range(5000))
        end = time.perf_counter() + options.seconds
        found = crowd(
            lambda: lamina.open(folder / "w", owner="ana", **settings), lambda _: time.perf_counter() > end
        )
        print(json.dumps({**found, "load": os.getloadavg()[0]}))
    finally:
        shutil.rmtree(folder)
    return 1 if found["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
