"""What the documentation shows is what happens: its Python runs, its commands succeed."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.__main__ import doors
from lamina.doors.cli import app as cli

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
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
            (place, command)
            for command in re.findall(r"^\$ ((?:lamina|echo|printf|mkdir|cd) .*)$", text, re.M)
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
        if command.startswith("cd "):
            monkeypatch.chdir(command.removeprefix("cd "))
            continue
        if not command.startswith("lamina ") or re.search(r"[|<>;&`]|\$\w", command):
            done = run(["sh", "-c", command], Path.cwd())
            code, said = done.returncode, done.stderr
        else:
            code, said = cli.run(doors(), shlex.split(command)[1:]), capfd.readouterr().err
        assert code == 0, f"{place}: {command}\n{said}"


def shown_only() -> list[tuple[str, str]]:
    """Commands of ours that a page shows and nobody can run here, and those that a sentence names."""
    found = []
    for language in ("text", "bash", "console-postgres"):
        for place, text in blocks(language):
            if not place.startswith("docs/ten-minutes.md"):
                lines = re.findall(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(lamina [^\n#]*)", text, re.M)
                found += [(place, line) for line in lines]
    named = [*PAGES, ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", *EXAMPLES.rglob("*.md")]
    for page in (one for one in named if "decisions" not in one.parts):
        lines = re.findall(r"`(lamina [a-z][^`\n]*)`", page.read_text("utf-8"))
        found += [(str(page.relative_to(ROOT)), line) for line in lines]
    return found


def test_a_command_that_is_only_shown_is_one_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    everything = cli.help_text()
    names = set(re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)  +\S", everything, re.M))
    groups = {name.split()[0] for name in names if " " in name}
    helps = {"": everything}
    assert len(shown_only()) > 300
    for place, command in shown_only():
        words = command.split()[1:]
        options = [word.strip("…[],.").partition("=")[0] for word in words if word.startswith("--")]
        pairs = [" ".join(each) for each in itertools.pairwise(words)]
        name = next((one for one in (*pairs, *words) if one in names), "")
        assert name or words[0] in groups, f"{place}: {command}"
        if name not in helps:
            assert cli.run(doors(), [*name.split(), "--help"]) == 0
            helps[name] = capsys.readouterr().out + everything
        assert [one for one in options if one not in helps[name]] == [], f"{place}: {command}"


def test_what_the_readme_shows_of_the_command_line_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each command in its order; the lines below it are printed, before any that the page leaves out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)
    shown = next(text for place, text in blocks("text") if place.startswith("README.md"))
    played = 0
    for command, lines in re.findall(r"^\$ (.+)\n((?:[^$].*\n)*)", shown, re.M):
        if not command.startswith("lamina serve"):
            cli.run(doors(), shlex.split(command)[1:])
            said = capfd.readouterr()
            assert (said.out or said.err).splitlines()[: lines.count("\n")] == lines.splitlines(), command
            played += 1
    assert played >= 5


@pytest.mark.parametrize("store", ["folder", "postgres"])
def test_a_supervisor_survives_the_death_of_its_process(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = str(tmp_path / "w") if store == "folder" else request.getfixturevalue("postgres_store")
    done = run([sys.executable, str(EXAMPLES / "langgraph-team" / "team.py"), where], tmp_path)
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


def example(name: str, folder: Path, *words: str) -> list[str]:
    done = run([sys.executable, str(EXAMPLES / name), *words], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_chatbot_knows_what_it_was_told_and_forgets_it(tmp_path: Path) -> None:
    said = example("chatbot/bot.py", tmp_path, "--script")
    assert said[:4] == [
        "> Remember that I am allergic to peanuts.",
        "Remembered.",
        "> จำไว้ว่า ฉันชอบคำตอบสั้น ๆ",
        "จำไว้แล้ว",
    ]
    assert said[-1] == "Forgotten."
    profile = (tmp_path / "chatbot-memory" / "PROFILE.md").read_text("utf-8")
    assert "peanuts" not in profile
    assert "ฉันชอบคำตอบสั้น ๆ" in profile


def test_the_bot_of_a_group_keeps_people_apart_and_deletes_one_of_them(tmp_path: Path) -> None:
    said = [line.removeprefix("  bot: ") for line in example("group-bot/bot.py", tmp_path)[1::2]]
    assert said == [
        "Remembered.",
        "จำไว้แล้ว",
        "I know about you: I am allergic to peanuts",
        "I know about you: ฉันชอบอาหารเผ็ด",
        "(noted as somebody else's words)",
        "Everything about you is deleted; 0 traces were found afterwards.",
        "I know about you: nothing",
        "I know about you: ฉันชอบอาหารเผ็ด",
    ]


def test_the_entry_for_an_mcp_client_starts_a_server_that_works(tmp_path: Path) -> None:
    said = example("mcp-setup/check.py", tmp_path, str(EXAMPLES / "mcp-setup" / "mcp.json"))
    assert (
        said
        == (EXAMPLES / "mcp-setup" / "README.md").read_text("utf-8").split("mcp.json\n")[-1].split("\n")[:3]
    )


def test_questions_to_a_folder_of_notes_are_answered_with_file_and_lines(tmp_path: Path) -> None:
    assert example("notes-folder/ask.py", tmp_path)[1::2] == [
        "  notes/2026-03-kiln.md, lines 3 to 15",
        "  notes/2026-03-kiln.md, lines 3 to 15",
        "  notes/shop.md, lines 5 to 7",
        "  notes/shop.md, lines 9 to 11",
    ]


def test_the_tests_of_a_policy_pass_and_notice_a_policy_that_refuses_less(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "governance-in-ci", tmp_path / "ci")
    pytest_there = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_policy.py"]
    assert run(pytest_there, tmp_path / "ci").returncode == 0
    (tmp_path / "ci" / "policy.toml").write_text('extends = "normal"\n')
    assert "2 failed" in run(pytest_there, tmp_path / "ci").stdout


def test_every_example_has_a_page_and_the_list_names_it() -> None:
    folders = {one.parent.name for one in EXAMPLES.glob("*/*.py")}
    listed = set(re.findall(r"\]\(([\w-]+)/README\.md\)", (EXAMPLES / "README.md").read_text("utf-8")))
    assert listed == folders == {one.parent.name for one in EXAMPLES.glob("*/README.md")}


#: What a program of a user may import; every other module is ours to move.
PUBLIC = re.compile(r"lamina|lamina\.testing|lamina\.integrations\.\w+")


def imported(code: str) -> set[str]:
    """The modules of ours that a program imports."""
    trees = list(ast.walk(ast.parse(code)))
    named = {node.module or "" for node in trees if isinstance(node, ast.ImportFrom)}
    named |= {one.name for node in trees if isinstance(node, ast.Import) for one in node.names}
    return {name for name in named if name.partition(".")[0] == "lamina"}


def private(code: str) -> set[str]:
    """Those of them that are not for users."""
    return {name for name in imported(code) if not PUBLIC.fullmatch(name)}


def test_what_is_shown_imports_the_public_names_alone() -> None:
    files = [(str(one.relative_to(ROOT)), one.read_text("utf-8")) for one in EXAMPLES.rglob("*.py")]
    shown = [*blocks("python"), *files]
    assert sum("lamina" in imported(code) for _, code in shown) > 20
    assert {place: private(code) for place, code in shown if private(code)} == {}
    assert private("import lamina.engine\nfrom lamina.model import Kind\nfrom lamina import Hit") == {
        "lamina.engine",
        "lamina.model",
    }


def test_there_are_examples_to_run() -> None:
    assert len(blocks("python")) >= 3
    assert sum("$ lamina" in text for _, text in blocks("console")) >= 2
