"""A year of days through the weekly compound: MEMORY.md within its limits, and what a run costs over time.

`python -m bench.jobs [--days 365] [--decisions 6]` makes decisions for each day, some about what was decided
before, runs `weekly-compound` every Sunday twice, and prints the longest MEMORY.md, the time of a run by
quarter and the size of what is written.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lamina
from lamina.clock import monotonic
from lamina.jobs.run import run_job
from lamina.testing import ManualClock
from lamina.text.decision_entries import Decision, DecisionFile, decision_id
from lamina.text.memory_page import MemoryPage

SENTENCES = (
    "The {what} of service {n} uses version {v}",
    "บริการ {n} ใช้ {what} รุ่น {v} ตั้งแต่วันนี้เป็นต้นไป",
    "服務 {n} 的 {what} 改用第 {v} 版，其他設定不變",
)
WHATS = ("cache", "queue", "index", "gateway", "scheduler")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def decisions_of(day: int, count: int) -> list[Decision]:
    """What was decided on a day; every third one is about something decided a fortnight before."""
    found = []
    for n in range(count):
        about = day - 14 if n % 3 == 0 and day >= 14 else day
        at = START + timedelta(days=day, minutes=n)
        words = SENTENCES[n % 3].format(what=WHATS[about % 5], n=about * count + n, v=day)
        found.append(
            Decision(
                id=decision_id(at.date(), words),
                title=words,
                date=at.isoformat(),
                session_id=f"s{day}",
                session_path=f"sessions/s{day}.jsonl",
                message_range=f"{n}-{n}",
                conclusion=f"{words}.",
                why="measured",
                finding="it was slow",
                impact="less waiting",
                confidence=0.6 + (day * 7 + n) % 40 / 100,
            )
        )
    return found


def main() -> None:
    """Run the year and print what it came to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--decisions", type=int, default=6)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAMINA_HOME"] = f"{folder}/home"
        root, clock = Path(folder) / "w", ManualClock(START)
        seconds, lines, chars, settled = [], 0, 0, 0
        with lamina.open(root, clock=clock) as engine:
            (root / "memory").mkdir(exist_ok=True)
            for day in range(asked.days):
                file = DecisionFile.parse(b"")
                for one in decisions_of(day, asked.decisions):
                    file = file.add(one)
                clock.at = START + timedelta(days=day, hours=12)
                (root / f"memory/{clock.at:%Y-%m-%d}.md").write_bytes(file.to_bytes())
                if clock.at.weekday() != 6:
                    continue
                start = monotonic()
                report = run_job(engine, "weekly-compound", engine.now())
                seconds.append(monotonic() - start)
                again = run_job(engine, "weekly-compound", engine.now())
                settled += report.status == "done" and again.status == "unchanged"
                text = (root / "MEMORY.md").read_text("utf-8")
                lines, chars = max(lines, text.count("\n")), max(chars, len(text))
            items = len(MemoryPage.parse((root / "MEMORY.md").read_bytes()).items)
        archive = sum(one.stat().st_size for one in (root / "memory/archive").glob("*.md"))
        count = asked.days * asked.decisions
        print(f"{len(seconds)} runs, {count} decisions; {settled} changed nothing when run again")
        print(f"MEMORY.md at most {lines} lines and {chars} characters; {items} items at the end")
        quarter = max(1, len(seconds) // 4)
        parts = [seconds[at : at + quarter] for at in range(0, quarter * 4, quarter)]
        medians = ", ".join(f"{statistics.median(one):.2f}" for one in parts)
        print("seconds a run, median by quarter:", medians)
        print(f"archive {archive / 1024:,.0f} KiB, {archive / len(seconds) / 1024:,.1f} KiB a week")


if __name__ == "__main__":
    main()
