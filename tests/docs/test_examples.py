"""What the documentation shows is what happens: its Python runs, its commands succeed."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.__main__ import doors
from lamina.doors.cli import app as cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """Every block of a language, with the page and line it stands on."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S):
            line = text.count("\n", 0, match.start()) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", match[1]))
    return found


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "PYTHONUTF8": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


#: Frameworks that are too heavy for everybody's environment; their pages' programs run where they are there.
OPTIONAL = {
    "agent": "hermes-agent",
    "agent_framework": "agent-framework-core",
    "agents": "openai-agents",
    "autogen_core": "autogen-core",
    "crewai": "crewai",
    "deepagents": "deepagents",
    "google.adk": "google-adk",
    "llama_index.core": "llama-index-core",
    "pydantic_ai_harness": "pydantic-ai-harness",
    "strands": "strands-agents",
}


def needed(code: str) -> list[str]:
    """The optional packages that a program imports and that are not there."""
    names = {name for name in OPTIONAL if re.search(rf"^(?:from|import) {re.escape(name)}\b", code, re.M)}
    return [OPTIONAL[name] for name in sorted(names) if not is_there(name)]


def is_there(name: str) -> bool:
    """Whether a package can be imported; `google` may be there without `google.adk`."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize(("place", "code"), [pytest.param(*b, id=b[0]) for b in blocks("python")])
def test_a_python_example_runs(place: str, code: str, tmp_path: Path) -> None:
    if missing := needed(code):
        pytest.skip(f"pip install {' '.join(missing)}, in an environment of its own")
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, f"{place}\n{done.stderr}"


def commands() -> dict[str, list[tuple[str, str]]]:
    """The commands of each page in their order, with the place where each stands."""
    found: dict[str, list[tuple[str, str]]] = {}
    for place, text in blocks("console"):
        page = found.setdefault(place.partition(":")[0], [])
        page += [
            (place, command) for command in re.findall(r"^\$ ((?:lamina|echo|printf|mkdir) .*)$", text, re.M)
        ]
    return {page: all_ for page, all_ in found.items() if all_}


@pytest.mark.parametrize("page", commands())
def test_the_commands_of_a_page_succeed_in_their_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, as `test_cli.py` has them in processes; what needs a shell gets one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", None)
    for place, command in commands()[page]:
        if not command.startswith("lamina ") or re.search(r"[|<>;&`]|\$\w", command):
            done = run(["sh", "-c", command], tmp_path)
            code, said = done.returncode, done.stderr
        else:
            code, said = cli.run(doors(), shlex.split(command)[1:]), capfd.readouterr().err
        assert code == 0, f"{place}: {command}\n{said}"


@pytest.mark.parametrize("store", ["folder", "postgres"])
def test_a_supervisor_survives_the_death_of_its_process(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = str(tmp_path / "w") if store == "folder" else request.getfixturevalue("postgres_store")
    done = run([sys.executable, str(ROOT / "examples" / "langgraph_supervisor.py"), where], tmp_path)
    said = done.stdout.splitlines()
    report = "plan: What do people drink?; found out about tea; found out about ชา; found out about 茶"
    assert said == [
        "waiting for a person: Publish this?",
        "-- process `ask` ended with 0",
        "-- process `answer` ended with 9",
        f"published: {report}",
        f"remembered: Report approved by Ana: {report}",
        "-- process `finish` ended with 0",
    ], done.stderr


def test_there_are_examples_to_run() -> None:
    assert len(blocks("python")) >= 3
    assert sum("$ lamina" in text for _, text in blocks("console")) >= 2
