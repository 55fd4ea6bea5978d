"""The decisions of a workspace on the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from lamina.__main__ import doors as _doors
from lamina.doors.cli.app import run
from lamina.jobs.run import run_job
from lamina.testing import ManualClock


def test_decisions_are_listed_shown_and_overruled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str) -> str:
        assert run(_doors(), ["-w", str(tmp_path / "w"), "decisions", *words]) == 0
        return capsys.readouterr().out

    clock = ManualClock()
    clock.at = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
    with lamina.open(tmp_path / "w", clock=clock) as engine:
        mind = engine.scope(session="s")
        mind.hear("We decided to use ChromaDB for the vector store.")
        mind.hear("เราตัดสินใจใช้ LanceDB ในร้าน")
        clock.advance(hours=1)
        run_job(engine, "micro-sync", engine.now())
    with (tmp_path / "w/memory/2026-03-02.md").open("a") as file:
        file.write("\n## Decision: broken\n- id: nonsense\n")

    listed = told("list")
    assert "active 2026-03-02 We decided to use ChromaDB" in listed
    assert "memory/2026-03-02.md:33: This decision has no date." in listed
    told("supersede", "chroma", "--by", "lancedb", "--because", "faster")
    shown = json.loads(told("show", "chroma", "--json"))["data"]["decision"]
    assert (shown["status"], shown["superseded_because"]) == ("superseded", "faster")
    assert "because" in told("show", "chroma")
    assert "ChromaDB" not in told("list", "--status", "active")
    assert run(_doors(), ["-w", str(tmp_path / "w"), "decisions", "show", "mongo"]) == 3
