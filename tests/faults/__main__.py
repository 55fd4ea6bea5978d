"""Run faults: `python -m tests.faults` every point of every kind of work, `--sample N` a few of each.

Prints a table; what went wrong comes with the line that runs it again. Ends with 1 where anything did.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import lamina
from tests.faults.layer import Fault
from tests.faults.trial import Bench, Said
from tests.faults.works import WORKS, Work
from tests.servers import own_server

#: Statements that change nothing: a kill there is the kill before.
_READING = ("sql SELECT", "sql WITH", "sql PRAGMA", "sql ROLLBACK", "sql BEGIN")
_REFUSALS = (("error", False), ("full", True), ("error", True), ("full", False))
_OTHERS = ("torn", "error", "full", "clock")
KINDS = ("kill", *_OTHERS, "cut", "lost", "restart")


@dataclass(frozen=True)
class Trial:
    """A fault in a work; the same trial is the same again."""

    work: str
    kind: str
    at: int  #: the point; for cuts, that at every so many points there is one
    seed: int
    lasting: bool = False
    store: str = "sqlite"

    def __str__(self) -> str:
        lasting = "!" if self.lasting else ""
        return f"{self.store}/{self.work}/{self.kind}{lasting}/{self.at}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Trial:
        store, work, kind, at, seed = text.split("/")
        return cls(work, kind.rstrip("!"), int(at), int(seed), kind.endswith("!"), store)


@dataclass
class Tally:
    """What was run and what came of it."""

    ran: Counter[tuple[str, str]] = field(default_factory=Counter)  #: work and kind
    acknowledged: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, trial: Trial, said: Said, problems: Sequence[str]) -> None:
        self.ran[f"{trial.work}{' (PostgreSQL)' if trial.store != 'sqlite' else ''}", trial.kind] += 1
        self.acknowledged += said.acknowledged
        self.refused += len(said.told)
        self.wrong += [f"{trial} at {said.struck}: {problem}" for problem in (*said.wrong, *problems)]

    def merge(self, data: dict[str, object]) -> None:
        for work, kind, count in data["ran"]:  # type: ignore[attr-defined]
            self.ran[work, kind] += count
        self.acknowledged += data["acknowledged"]  # type: ignore[operator]
        self.refused += data["refused"]  # type: ignore[operator]
        self.wrong += data["wrong"]  # type: ignore[operator]

    def data(self) -> dict[str, object]:
        ran = [[*key, count] for key, count in self.ran.items()]
        return {**asdict(self), "ran": ran}

    def table(self) -> Iterator[str]:
        kinds = [kind for kind in KINDS if any(one == kind for _, one in self.ran)]
        yield "| work | " + " | ".join(kinds) + " |"
        yield "|---|" + "---:|" * len(kinds)
        for work in dict.fromkeys(work for work, _ in self.ran):
            yield f"| {work} | " + " | ".join(str(self.ran[work, kind] or "") for kind in kinds) + " |"
        sums = [str(sum(n for (_, one), n in self.ran.items() if one == kind)) for kind in kinds]
        yield "| **together** | " + " | ".join(sums) + " |"


def planned(work: Work, points: Sequence[str], options: argparse.Namespace) -> Iterator[Trial]:
    """The trials of a work whose points are known; all of them, or a sample."""
    seed = options.seed
    chance = random.Random(f"{seed} {work.name}")
    trials: list[Trial] = []
    for at, what in enumerate(points, 1):
        own = seed * 100_000 + at
        if not what.startswith(_READING):
            trials.append(Trial(work.name, "kill", at, own))
        if what.startswith("write ") and chance.random() < 0.25:
            trials.append(Trial(work.name, "torn", at, own))
        kind, lasting = _REFUSALS[own % len(_REFUSALS)]
        trials.append(Trial(work.name, kind, at, own, lasting))
        if at % 12 == 0 and work.name != "jobs":  # what they do depends on the day that it is
            trials.append(Trial(work.name, "clock", at, own))
    if options.sample or options.brief:
        turn = list(WORKS).index(work.name)
        kinds = ("kill", _OTHERS[turn % len(_OTHERS)]) if options.brief else ("kill", *_OTHERS)
        own = [[one for one in trials if one.kind == kind] for kind in kinds]
        trials = [one for some in own for one in chance.sample(some, min(options.sample or 1, len(some)))]
    yield from trials
    yield Trial(
        work.name, "cut", max(1, len(points) // (2 if options.brief else 3 * options.sample or 60)), seed
    )


def run(bench: Bench, trial: Trial, tally: Tally) -> None:
    work, fault = WORKS[trial.work], Fault(trial.kind, trial.at, trial.lasting)
    with bench.place(work) as place:
        if trial.kind == "cut":
            _cut(bench, work, place, trial, tally)
            return
        said = bench.act(work, place, fault, trial.seed)
        problems = list[str]()
        if said.killed and trial.seed % 4 == 0:  # struck again while it recovers
            again = Fault("kill", random.Random(trial.seed).randrange(1, 60))
            later = bench.act(replace(work, steps=()), place, again, trial.seed)
            problems += later.wrong
            tally.ran[trial.work, "kill"] += later.killed
        tally.add(trial, said, [*problems, *bench.check(work, place, said, trial.seed)])


def _cut(bench: Bench, work: Work, place: Path, trial: Trial, tally: Tally) -> None:
    left = place.with_name(f"{place.name}-cut")

    def cut(said: Said, number: int, what: str) -> None:
        said.struck = f"{number} ({what})"
        tally.add(trial, said, bench.check(work, left, said, trial.seed + number))
        tally.acknowledged -= said.acknowledged
        shutil.rmtree(left)

    said = bench.act(work, place, Fault("cut", trial.at), trial.seed, cut)
    tally.acknowledged += said.acknowledged
    tally.wrong += [f"{trial}: {problem}" for problem in said.wrong]


def on_sqlite(root: Path, works: Sequence[Work], options: argparse.Namespace, report: Path) -> None:
    """All trials of these works; the report has what is done so far."""
    bench, tally = Bench(root), Tally()
    for work in works:
        with bench.place(work) as place:
            said = bench.act(work, place, Fault("none"), 0)
            problems = bench.check(work, place, said, 0)
        if problems or said.wrong:
            tally.wrong += [f"{work.name} without a fault: {one}" for one in (*said.wrong, *problems)]
            continue
        for trial in planned(work, said.points, options):
            if trial.kind in options.kinds and (trial.kind == "cut" or trial.at % options.every == 0):
                run(bench, trial, tally)
                report.write_text(json.dumps(tally.data()))
    report.write_text(json.dumps(tally.data()))


def on_postgres(bench: Bench, options: argparse.Namespace, tally: Tally) -> None:
    """Kills, lost connections and restarts at the statements that the server gets."""
    chance = random.Random(options.seed)
    works = [work for work in WORKS.values() if work.on_postgres and work.name in options.works]
    for work in works:
        with bench.place(work) as place:
            said = bench.act(work, place, Fault("none"), 0)
            problems = bench.check(work, place, said, 0)
        tally.wrong += [f"postgres {work.name} without a fault: {one}" for one in (*said.wrong, *problems)]
        sent = [at for at, what in enumerate(said.points, 1) if what.startswith("sql ")]
        for kind, most in (("kill", 20), ("lost", 20), ("restart", 7 if bench.restart else 0)):
            wanted = min(most, options.sample or most, len(sent)) if kind in options.kinds else 0
            for at in chance.sample(sent, wanted):
                run(bench, Trial(work.name, kind, at, options.seed + at, store="postgres"), tally)


def _warm(root: Path) -> None:
    """What a process loads once is loaded here, and not by every fork."""
    os.environ["LAMINA_HOME"] = str(root / "warm-home")
    with lamina.open(root / "warm", owner="ana") as engine:
        engine.scope(session="s").hear("Please remember that I like tea.")
        engine.scope().recall("tea")


def _in_parallel(root: Path, options: argparse.Namespace) -> list[tuple[int, Path]]:
    """Workers, each with its share of the works, and where they report."""
    shares = [options.works[number :: options.jobs] for number in range(options.jobs)]
    reports: list[tuple[int, Path]] = []
    for number, share in enumerate(shares):
        report = root / f"report-{number}"
        if (worker := os.fork()) == 0:
            code = 1
            try:
                on_sqlite(root / f"bench-{number}", [WORKS[name] for name in share], options, report)
                code = 0
            finally:
                os._exit(code)
        reports.append((worker, report))
    return reports


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--works", nargs="*", default=list(WORKS), choices=list(WORKS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--sample", type=int, default=0, help="so many of each kind, instead of all")
    parser.add_argument("--brief", action="store_true", help="two of each work, and two cuts")
    parser.add_argument("--every", type=int, default=1, help="points to go on by")
    parser.add_argument("--seed", type=int, default=20261117)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--postgres", default="", help="own, or the URL of a server that is not restarted")
    parser.add_argument("--again", nargs="*", default=[], help="trials as they are printed")
    options = parser.parse_args(arguments)
    started, tally = time.monotonic(), Tally()
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="lamina-faults-", dir=memory) as folder, ExitStack() as stack:
        root = Path(folder).resolve()
        _warm(root)
        url, restart = options.postgres, None
        workers = [] if options.again else _in_parallel(root, options)
        if url == "own":
            server = stack.enter_context(own_server())
            url, restart = server.url, server.restart
        for number, text in enumerate(options.again):
            trial = Trial.parse(text)
            bench = Bench(
                root / f"again-{number}", {"store": url} if trial.store == "postgres" else {}, restart
            )
            run(bench, trial, tally)
        if url and not options.again:
            on_postgres(Bench(root / "postgres", {"store": url}, restart), options, tally)
        for worker, report in workers:
            if os.waitpid(worker, 0)[1]:
                tally.wrong.append("a worker ended before its work")
            tally.merge(json.loads(report.read_text()))
    for line in tally.table():
        say(line)
    say(f"seed {options.seed}: {tally.acknowledged} acknowledged, {tally.refused} refused in plain words, ")
    say(f"{len(tally.wrong)} promises broken, {time.monotonic() - started:.0f} s")
    for line in tally.wrong[:200]:
        say(line if options.again else f"{line[:160]} … {line.strip()[-200:]}".replace("\n", " "))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
