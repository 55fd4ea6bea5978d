"""Half an hour of mixed work in one process: does it grow, leak or slow down?

`python -m bench.soak --minutes 30` prints what the process held and how long each verb took in each quarter,
and a small plot of the memory it held. After the first quarter, which warms up, nothing should grow.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

import lamina
from lamina.engine import Engine
from lamina.errors import LaminaError
from lamina.scoped import ScopedMemory

QUARTERS = 4
_BARS = "▁▂▃▄▅▆▇█"
_THINGS = ("tea", "coffee", "bread", "boats", "bees", "chess", "rowing", "maps", "trains", "jazz", "kites")
_WORDS = {
    "en": "I read about {0} and {1} on day {2}.",
    "th": "วันนี้อ่านเรื่อง {0} กับ {1} ครั้งที่ {2}",
    "zh": "今天读了关于{0}和{1}的第{2}页。",
}


@dataclass
class Load:
    """Callers that never stop; each verb's times by quarter."""

    engine: Engine
    seconds: float
    chance: random.Random
    started: float = field(default_factory=time.monotonic)
    times: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: list[str] = field(default_factory=list)

    def quarter(self) -> int:
        return min(QUARTERS - 1, int(QUARTERS * (time.monotonic() - self.started) / self.seconds))

    def run(self, caller: int) -> None:
        chance, number = random.Random(f"{caller}"), 0
        while time.monotonic() - self.started < self.seconds:
            number += 1
            mind = self.engine.scope(user=f"person{caller}", session=f"s{number // 40}")
            verb, act = chance.choice(list(_acts(mind, chance, number)))
            begun = time.thread_time()  # what others do on the machine is not in it
            try:
                act()
            except LaminaError as error:
                self.refused.append(f"{verb}: {error.code}")
            self.times[verb, self.quarter()].append(time.thread_time() - begun)


def _acts(
    mind: ScopedMemory, chance: random.Random, number: int
) -> Iterator[tuple[str, Callable[[], object]]]:
    one, other = chance.sample(_THINGS, 2)
    said = _WORDS[chance.choice(list(_WORDS))].format(one, other, number)
    yield "remember", lambda: mind.remember(said)
    yield "hear", lambda: mind.hear(said)
    yield "recall", lambda: mind.recall(f"what about {one}?")
    yield "context", lambda: mind.context(f"a plan for {one} and {other}")
    yield "list", lambda: mind.list(limit=20)
    yield "revise", lambda: mind.revise(mind.remember(f"{said} Once.").ids[0], f"{said} Twice.")
    yield "forget", lambda: mind.forget(mind.remember(f"{said} For now.").ids[0])


@dataclass(frozen=True)
class Sample:
    """What the process holds at a moment."""

    quarter: int
    rss: float  #: MB
    pages: float  #: MB that SQLite holds of it
    descriptors: int
    threads: int
    log: float  #: MB of the write-ahead log


def _sample(load: Load, folder: Path) -> Sample:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    log = folder / ".lamina" / "memory.db-wal"
    return Sample(
        load.quarter(),
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        apsw.memory_used() / 2**20,
        len(os.listdir("/proc/self/fd")),  # noqa: PTH208 a folder that changes while it is read
        threading.active_count(),
        log.stat().st_size / 2**20 if log.exists() else 0.0,
    )


def _table(load: Load, samples: list[Sample], memories: list[int]) -> Iterator[str]:
    quarters = [[one for one in samples if one.quarter == number] for number in range(QUARTERS)]
    yield "| | first quarter | second | third | fourth | last to second |"
    yield "|---|---:|---:|---:|---:|---:|"
    held: dict[str, Callable[[Sample], float]] = {
        "memory held, MB": lambda one: one.rss,
        "of it pages of the store, MB": lambda one: one.pages,
        "open descriptors": lambda one: one.descriptors,
        "threads": lambda one: one.threads,
        "write-ahead log, MB": lambda one: one.log,
    }
    for name, of in held.items():
        yield _row(name, [statistics.median(map(of, some)) if some else 0.0 for some in quarters])
    yield _row("memories in the store", [float(count) for count in memories])
    for verb in dict.fromkeys(verb for verb, _ in load.times):
        spent = [load.times.get((verb, number), [0.0]) for number in range(QUARTERS)]
        yield _row(f"`{verb}`, p50 ms of the processor", [1e3 * statistics.median(some) for some in spent])


def _row(name: str, values: list[float]) -> str:
    ratio = f"{values[-1] / values[1]:.2f}" if values[1] else ""
    return f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} | {ratio} |"


def _plot(values: list[float]) -> str:
    low, high = min(values), max(values)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return f"{low:.0f} MB {''.join(_BARS[int((value - low) * scale)] for value in values)} {high:.0f} MB"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--callers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lamina-soak-") as folder:
        os.environ["LAMINA_HOME"] = f"{folder}/home"
        place = Path(folder) / "w"
        with lamina.open(place, owner="ana") as engine:
            load = Load(engine, options.minutes * 60, random.Random(options.seed))
            callers = [threading.Thread(target=load.run, args=(number,)) for number in range(options.callers)]
            for caller in callers:
                caller.start()
            samples, memories = list[Sample](), [0] * QUARTERS
            pause = threading.Event()
            while any(caller.is_alive() for caller in callers):
                pause.wait(load.seconds / 60)
                samples.append(_sample(load, place))
                memories[load.quarter()] = sum(
                    engine.scope(user=f"person{number}").list(limit=1).total or 0
                    for number in range(options.callers)
                )
            intact = engine.verify_audit().intact
    for line in _table(load, samples, memories):
        print(line)
    done = sum(map(len, load.times.values()))
    print(f"{options.minutes:g} minutes, {options.callers} callers, {done} acts, ", end="")
    print(f"{len(load.refused)} refused, audit {'intact' if intact else 'NOT INTACT'}")
    print(_plot([one.rss for one in samples]))
    for line in sorted(set(load.refused)):
        print(line)
    return 0 if intact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
