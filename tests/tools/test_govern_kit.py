"""The kit for other memories: its checks tell a memory that forgets from one that does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lamina_govern.__main__ import main, table
from lamina_govern.checks import Result, laundering, purged_everywhere, run
from lamina_govern.system import Party
from lamina_govern.systems import lamina as ours
from lamina_govern.systems import langgraph, plain
from lamina_govern.systems.plain import Plain


class Deaf(Plain):
    """Keeps nothing: every check of something that is gone would hold, and shows nothing."""

    def add(self, text: str) -> None:
        """Nothing is kept."""


def test_a_plain_list_fails_where_it_must_and_holds_where_it_can() -> None:
    found = {one.check: one for one in run(plain.fresh, few=True)}
    assert found["stays gone after forget"].held < found["stays gone after forget"].cases
    assert found["a tool's words stay out of the prompt"].held == 0
    assert found["people are kept apart"].verdict == "5/5"
    assert all(one.control for one in found.values())


def test_a_check_that_could_not_fail_says_so() -> None:
    assert purged_everywhere(Deaf, True).verdict == "not shown"
    assert laundering(Deaf, True).verdict == "not shown"


def test_langgraphs_store_is_measured_with_the_same_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert langgraph.fresh().speaking_as(Party.STRANGER).search("x") == []
    assert main(["plain", "langgraph", "sqlite_fts", "--few"]) == 0
    told = capsys.readouterr().out
    assert "| check | a plain list | LangGraph InMemoryStore | SQLite FTS5 |" in told
    assert main(["no_such_system"]) == 2


def test_the_system_of_the_readme_has_fifty_lines_and_is_run_from_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(plain.__file__).read_text("utf-8")
    assert len(source.splitlines()) <= 50
    (tmp_path / "my_memory.py").write_text(source.replace("a plain list", "my memory"), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["my_memory", "--few"]) == 0
    assert "| check | my memory |" in capsys.readouterr().out


def test_the_jobs_of_lamina_run() -> None:
    memory = ours.fresh()
    memory.add("The office is in Leoben")
    memory.jobs()
    states = {one.state for one in memory.engine.scope(user="ana").jobs()}
    memory.engine.close()
    memory.folder.cleanup()
    assert states != {"waiting"}


def test_the_table_has_a_row_for_each_check() -> None:
    assert table({"A": [Result("c", 1, 2, True)]}).splitlines()[-1] == "| c | 1/2 |"
