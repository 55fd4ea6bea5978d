"""The written fortnight through the jobs: the same bytes on both databases, and what its key says."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lamina.engine import Engine
from lamina.jobs.job import JobStatus
from lamina.jobs.run import Asked, run_job
from lamina.jobs.wrap_up import SECTIONS
from lamina.testing import ManualClock
from lamina.text.decision_entries import Decision, DecisionFile, Status
from lamina.text.normalise import dedup_key
from tests.backends import Place

DATA = Path(__file__).parents[1] / "data/fortnight"
SESSIONS = [json.loads(line) for line in (DATA / "sessions.jsonl").read_text("utf-8").splitlines()]
KEY: dict[str, list[Any]] = json.loads((DATA / "key.json").read_text("utf-8"))
SETTINGS = {"timezone": "Asia/Bangkok"}
WRAPPED = {"actions": SECTIONS[1], "lessons": SECTIONS[3], "open_loops": SECTIONS[4]}
BY_CLOCK = Asked(scheduled=True)


def name_of(session: dict[str, Any]) -> str:
    return f"{session['kind']}:{session['session']}" if session["kind"] != "chat" else session["session"]


def say(engine: Engine, clock: ManualClock, session: dict[str, Any]) -> None:
    """Hold one conversation, a minute to a turn."""
    at = datetime.fromisoformat(session["at"])
    for number, turn in enumerate(session["turns"]):
        clock.at = (at + timedelta(minutes=number)).astimezone(UTC)
        mind = engine.scope(session=name_of(session))
        if turn["role"] == "assistant":
            mind.answer(turn["text"])
        else:
            engine.scope(session=name_of(session), role=turn["role"]).hear(turn["text"])


def live(place: Place) -> Engine:
    """The fortnight as it went, with the jobs at their times."""
    engine = place.open(**SETTINGS)
    times = {"micro-sync": (10, 13, 16, 19, 22), "daily-wrap-up": (4,), "weekly-compound": (5,)}
    due = sorted(
        (datetime(2026, 3, 2, hour, 15, tzinfo=UTC) + timedelta(days=day, hours=-7), job)
        for job in times
        for hour in times[job]
        for day in range(15)
        if job != "weekly-compound" or day in (6, 13)
    )
    waiting = list(SESSIONS)
    for at, job in due:
        while waiting and datetime.fromisoformat(waiting[0]["at"]) < at:
            say(engine, place.clock, waiting.pop(0))
        place.clock.at = max(at, place.clock.at)
        report = run_job(engine, job, engine.now(), BY_CLOCK)
        assert report.status in (JobStatus.DONE, JobStatus.UNCHANGED), report
    assert not waiting
    return engine


def written(place: Place) -> dict[str, bytes]:
    """What the jobs wrote."""
    assert place.folder is not None
    tops = (place.folder / "memory", place.folder / "second-brain")
    found = [place.folder / "MEMORY.md", *(path for top in tops for path in sorted(top.rglob("*.md")))]
    return {path.relative_to(place.folder).as_posix(): path.read_bytes() for path in found}


def decisions(place: Place) -> list[Decision]:
    files = [DecisionFile.parse(data) for name, data in written(place).items() if name.startswith("memory/2")]
    assert not [problem for file in files for problem in file.problems]
    return [one for file in files for one in file.decisions]


def says(one: Decision, expected: dict[str, Any]) -> bool:
    told, wanted = (dedup_key("", text)[1:] for text in (one.conclusion, expected["sentence"]))
    return one.session_id == expected["session"] and (told in wanted or wanted in told)


def section(text: str, heading: str) -> str:
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


def test_the_fortnight_gives_the_same_files_everywhere_and_they_say_what_the_key_says(
    workspace: Place,
) -> None:
    engine = live(workspace)
    files = written(workspace)
    together = "".join(f"==== {name}\n{data.decode()}" for name, data in files.items())
    if os.environ.get("UPDATE_GOLDENS"):
        (DATA / "expected.txt").write_text(together, "utf-8")
    assert together == (DATA / "expected.txt").read_text("utf-8")

    found = decisions(workspace)
    named = {one.id: each["name"] for one in found for each in KEY["decisions"] if says(one, each)}
    assert len(set(named.values())) / len(KEY["decisions"]) >= 0.95  # recall
    assert len(named) / len(found) >= 0.95  # precision
    pairs = {(named[old], named[one.id]) for one in found for old in one.supersedes}
    assert pairs == {(old, new) for old, new in KEY["superseded"]}
    assert {named[one.id] for one in found if one.status is Status.SUPERSEDED} == {old for old, _ in pairs}

    for kind, heading in WRAPPED.items():
        for each in KEY[kind]:
            (at,) = (session["at"][:10] for session in SESSIONS if session["session"] == each["session"])
            told = section(files[f"second-brain/summaries/{at}-wrapup.md"].decode(), heading)
            (line,) = (line for line in told.splitlines() if each["sentence"].rstrip(".。") in line)
            assert not each.get("owner") or f"owner: {each['owner']}" in line
            assert not each.get("due") or f"due: {each['due']}" in line
    assert not [secret for secret in KEY["never"] if secret in together]
    assert "evil.example" not in together

    for job in ("micro-sync", "daily-wrap-up", "weekly-compound"):
        assert run_job(engine, job, engine.now()).status is JobStatus.UNCHANGED
    assert written(workspace) == files
