"""How long documents take: the first index, a sweep that finds nothing new, one changed file, and a search.

`python -m bench.documents [--files 10000] [--json OUT]`; a fresh workspace of notes in three languages, through the shipped API.
"""  # noqa: E501 the command in one line

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter

import lamina

_SAID = (
    "The release of service {n} waits for the review of ticket {t}.",
    "ระบบหมายเลข {n} ต้องตั้งค่าเซิร์ฟเวอร์ใหม่ตามใบงาน {t}",
    "第 {n} 號服務的快取設定在工單 {t} 裡討論過。",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAMINA_HOME"] = f"{folder}/home"
        found = measured(Path(folder) / "workspace", given.files)
    for name, value in found.items():
        print(f"{name:32} {value:>12,.4f}" if isinstance(value, float) else f"{name:32} {value:>12,}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


def measured(root: Path, files: int) -> dict[str, float]:
    with lamina.open(root, owner="ana") as engine:
        library = engine.library
        assert library is not None
        for number in range(files):
            write(root, number)
        start = perf_counter()
        status = library.index(engine.now())
        first = perf_counter() - start
        idle = min(timed(lambda: library.index(engine.now())) for _ in range(5))
        write(root, 0, "changed")
        changed = timed(lambda: library.refresh(engine.now()))
        mind = engine.scope()
        asked = range(0, files, max(1, files // 50))
        questions = [f"service {number} ticket {number * 7}" for number in asked]
        times = sorted(timed(lambda q=one: mind.search(q)) for one in questions)  # type: ignore[misc]
        return {
            "files": float(files),
            "passages": float(status.passages),
            "first index, s": first,
            "passages per second": status.passages / first,
            "sweep without changes, s": idle,
            "one changed file of these, s": changed,
            "search p50, s": times[len(times) // 2],
            "search p95, s": times[int(len(times) * 0.95)],
        }


def write(root: Path, number: int, more: str = "") -> None:
    path = root / "memory" / "projects" / f"{number // 100}" / f"{number}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [said.format(n=number, t=number * 7) for said in _SAID]
    path.write_text(f"# Note {number}\n\n" + "\n".join(lines) + f"\n{more}\n", encoding="utf-8")


def timed(work: object) -> float:
    start = perf_counter()
    work()  # type: ignore[operator]
    return perf_counter() - start


if __name__ == "__main__":
    main()
