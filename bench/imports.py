"""A round trip of many turns: written as transcripts, imported, and read back as jobs read them.

    python -m bench.imports [--turns 100000] [--read-only]
    python -m bench.imports --rows 1000000

Half of the turns are Claude Code's, half Codex's, 200 to a session, in three languages. Stated are the rate
of reading alone, of importing through the gates into a fresh workspace, of a second import that finds
nothing new, of reading everything back, and how much memory the process had at most.

With `--rows` it is one file of JSON lines, ten of which the person has forgotten: how many came in, how many
were refused, what a second import and the audit say, and the memory after every tenth.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lamina
from lamina.imports.bring_in import import_files
from lamina.imports.detect import READERS, find
from lamina.imports.turn import ImportedTurn, ReadUpTo
from lamina.jobs.turns import turns_between

START = datetime(2026, 1, 1, tzinfo=UTC)
PER_SESSION = 200
WORDS = (
    "We looked at the index of part {} and found that its third column is never read.",
    "ส่วนที่ {} ของรายงานยังไม่เสร็จ รอข้อมูลจากทีมที่เชียงใหม่",
    "第{}部分的测试昨天晚上通过了，今天开始写文档。",
)


def text(number: int) -> str:
    return WORDS[number % len(WORDS)].format(number)


def lines(session: int, numbers: range) -> Iterator[dict[str, object]]:
    codex = session % 2
    if codex:
        yield {"type": "session_meta", "payload": {"id": f"s{session}", "source": "cli"}}
    for number in numbers:
        at = (START + timedelta(seconds=number)).isoformat()
        who = "assistant" if number % 2 else "user"
        if codex:
            said = {"type": "agent_message" if number % 2 else "user_message", "message": text(number)}
            yield {"type": "event_msg", "timestamp": at, "payload": said}
        else:
            message = {"role": who, "id": f"m{number}", "content": text(number)}
            entry = {"type": who, "uuid": f"u{number}", "sessionId": f"s{session}", "timestamp": at}
            yield {**entry, "message": message}


def write(folder: Path, turns: int) -> int:
    """The transcripts; returns their size."""
    for session in range(-(-turns // PER_SESSION)):
        numbers = range(session * PER_SESSION, min(turns, (session + 1) * PER_SESSION))
        body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines(session, numbers))
        (folder / f"s{session:05}.jsonl").write_text(body, encoding="utf-8")
    return sum(path.stat().st_size for path in folder.iterdir())


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--read-only", action="store_true", help="read the files, import nothing")
    parser.add_argument("--rows", type=int, help="one file of so many rows, ten of them refused")
    given = parser.parse_args()
    if given.rows:
        beside_noes(given.rows)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "transcripts")
        folder.mkdir()
        size = write(folder, given.turns)
        print(f"{given.turns:,} turns in {len(list(folder.iterdir())):,} files, {size / 2**20:.1f} MiB")
        before, cpu = time.perf_counter(), time.process_time()
        found = sum(
            isinstance(item, ImportedTurn)
            for file in find(folder)
            for item in READERS[file.format](file, ReadUpTo())
        )
        told("read", found, before, cpu)
        if not given.read_only:
            round_trip(folder, Path(place, "workspace"), given.turns)


def round_trip(folder: Path, workspace: Path, turns: int) -> None:
    with lamina.open(workspace, owner="ana") as memory:
        ana = memory.scope()
        before, cpu = time.perf_counter(), time.process_time()
        first = import_files(ana, [folder])
        told("imported", first.new, before, cpu)
        before, cpu = time.perf_counter(), time.process_time()
        again = import_files(ana, [folder])
        told(f"imported again ({again.read} read, {again.unchanged} files unchanged)", turns, before, cpu)
        before, cpu = time.perf_counter(), time.process_time()
        back = [turn.text for turn in turns_between(ana, START, START + timedelta(seconds=turns))]
        told("read back", len(back), before, cpu)
        print("the same, in order" if back == [text(n) for n in range(turns)] else "NOT THE SAME")
        print(f"store: {memory.status().bytes / 2**20:.0f} MiB")


def beside_noes(rows: int) -> None:
    """One file of JSON lines, ten of which the person said no to."""
    step = rows // 10
    with tempfile.TemporaryDirectory() as place, lamina.open(Path(place, "workspace"), owner="ana") as memory:
        ana, file = memory.scope(), Path(place, "chat.jsonl")
        with file.open("w", encoding="utf-8") as out:
            for number in range(rows):
                at = (START + timedelta(seconds=number)).isoformat()
                session = f"s{number // PER_SESSION}"
                line = {"role": "user", "content": text(number), "at": at, "session": session}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        for number in range(step // 2, rows, step):
            ana.forget(ana.remember(text(number)).ids[0])
        print(f"{rows:,} rows, {file.stat().st_size / 2**20:.1f} MiB, {len(ana.noes())} noes", flush=True)

        tenths = [0]

        def along(done: int, size: int) -> None:
            if done * 10 // size > tenths[-1]:
                tenths.append(done * 10 // size)
                print(f"  {tenths[-1]} of 10: peak {peak_mib():.0f} MiB", flush=True)

        before, cpu = time.perf_counter(), time.process_time()
        first = import_files(ana, [file], progress=along)
        told("imported", first.new, before, cpu)
        print(f"refused: {dict(first.refused)}; stored: {memory.status().memories}", flush=True)
        before, cpu = time.perf_counter(), time.process_time()
        again = import_files(ana, [file])
        told(f"imported again ({again.new} new)", again.unchanged, before, cpu)
        print(f"audit: {ana.verify_audit()}")
        print(f"store: {memory.status().bytes / 2**20:.0f} MiB")


def told(what: str, count: int, wall: float, cpu: float) -> None:
    seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    rate = f"{count / seconds:,.0f} turns/s, {used:.1f} s of processor"
    print(f"{what}: {count:,} in {seconds:.1f} s, {rate}, peak {peak_mib():.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
