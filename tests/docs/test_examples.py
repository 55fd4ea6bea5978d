"""What the documentation shows is what happens: its Python runs, its commands succeed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    "agent_framework": "agent-framework-core",
    "agents": "openai-agents",
    "autogen_core": "autogen-core",
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


def test_the_commands_of_the_pages_succeed_in_their_order(tmp_path: Path) -> None:
    for place, text in blocks("console"):
        folder = tmp_path / re.sub(r"\W", "_", place.partition(":")[0])
        folder.mkdir(exist_ok=True)
        for command in re.findall(r"^\$ (lamina .*)$", text, re.M):
            done = run(["sh", "-c", command], folder)
            assert done.returncode == 0, f"{place}: {command}\n{done.stderr}"


@pytest.mark.parametrize("store", ["folder", "postgres"])
def test_a_supervisor_survives_the_death_of_its_process(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = str(tmp_path / "w") if store == "folder" else request.getfixturevalue("postgres_database")
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
