"""`lamina install` as a person meets it: it shows what it would do, asks, does it, and takes it back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def lamina(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LAMINA_HOME": str(folder / "lamina")}
    command = [sys.executable, "-m", "lamina", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert lamina(tmp_path, "init", "notes", "--owner", "ana").returncode == 0
    return tmp_path


def test_a_dry_run_shows_everything_and_changes_nothing(folder: Path) -> None:
    done = lamina(folder, "-w", "notes", "install", "claude-code", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "~/.claude.json (new)" in done.stdout
    assert "hook session-start --harness claude-code" in done.stdout
    assert list((folder / "home").iterdir()) == []


def test_it_asks_first_and_nobody_to_ask_is_a_no(folder: Path) -> None:
    done = lamina(folder, "-w", "notes", "install", "codex")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert list((folder / "home").iterdir()) == []


def test_what_is_installed_starts_this_program_on_this_workspace_and_can_be_taken_back(folder: Path) -> None:
    done = lamina(folder, "-w", "notes", "--json", "install", "claude-code", "--yes")
    told = json.loads(done.stdout)["data"]
    assert [Path(one["path"]).name for one in told["changes"]] == [
        ".claude.json",
        "settings.json",
        "SKILL.md",
    ]
    entry = json.loads((folder / "home" / ".claude.json").read_text())["mcpServers"]["lamina"]
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "lamina", "-w", str(folder / "notes"), "--agent", "claude-code", "mcp"]
    again = lamina(folder, "-w", "notes", "install", "claude-code")
    assert "is installed already" in again.stdout
    gone = lamina(folder, "uninstall", "claude-code", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert list((folder / "home").iterdir()) == []


def test_a_project_has_entries_of_its_own_that_find_the_workspace_it_is_in(folder: Path) -> None:
    project = folder / "notes"
    home = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LAMINA_HOME": str(folder / "lamina")}
    command = [sys.executable, "-m", "lamina", "install", "cursor", "--scope", "project", "--yes"]
    done = subprocess.run(command, cwd=project, env=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    entry = json.loads((project / ".cursor" / "mcp.json").read_text())["mcpServers"]["lamina"]
    assert entry["args"] == ["-m", "lamina", "--agent", "cursor", "mcp"]
    hooks = json.loads((project / ".cursor" / "hooks.json").read_text())
    assert hooks["version"] == 1
    assert hooks["hooks"]["beforeSubmitPrompt"][0]["command"].endswith("hook prompt --harness cursor")
    assert list((folder / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("install", "emacs"), "client_unknown"),
        (("install", "codex", "--scope", "world"), "scope_invalid"),
        (("install", "codex"), "no_workspace"),
    ],
)
def test_what_cannot_be_installed_is_told(words: tuple[str, ...], code: str, tmp_path: Path) -> None:
    done = lamina(tmp_path, "--json", *words)
    assert json.loads(done.stdout)["error"]["code"] == code


def test_a_broken_file_stops_it_before_anything_is_written(folder: Path) -> None:
    settings = folder / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n  "model": "opus"\n  "hooks": {}\n}')
    done = lamina(folder, "-w", "notes", "install", "claude-code", "--yes")
    assert done.returncode == 2
    assert "settings.json, line 3: a comma" in done.stderr
    assert [path.name for path in (folder / "home").rglob("*") if path.is_file()] == ["settings.json"]
