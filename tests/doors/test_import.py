"""`lamina import` as people meet it: the real program, in its own process."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "transcripts"
Run = Callable[..., Any]


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """How to start the program in a workspace of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LAMINA_HOME": str(tmp_path / "home"),
        "LAMINA_OWNER": "ana",
        "TERM": "xterm",
    }
    (tmp_path / "w").mkdir()

    def made(*words: str) -> dict[str, Any]:
        whole = [sys.executable, "-m", "lamina", *words]
        return {"args": whole, "cwd": tmp_path / "w", "env": environment}

    subprocess.run(**made("init"), check=True, capture_output=True)
    return made


def run(details: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**details, capture_output=True, text=True, check=False)


def test_a_person_imports_sees_what_came_of_it_and_finds_it(command: Run, tmp_path: Path) -> None:
    done = run(command("import", str(DATA / "openclaw"), str(DATA / "chatgpt")))
    again = run(command("--json", "import", str(DATA / "openclaw"), str(DATA / "chatgpt")))
    found = run(command("--json", "recall", "ตกลง LanceDB"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["files: 1 chatgpt, 4 openclaw", "9 read: 9 new, 0 known"]
    assert "s-main.jsonl:9: bad_line" in done.stderr
    assert "s-main.jsonl:14: truncated" in done.stderr
    assert "█" not in done.stderr
    envelope = json.loads(again.stdout)
    assert (envelope["ok"], envelope["data"]["read"], envelope["data"]["unchanged"]) == (True, 0, 5)
    (first, *_) = json.loads(found.stdout)["data"]["hits"]
    assert (first["text"], first["at"][:10]) == ("ตกลง ใช้ LanceDB", "2026-02-14")


def test_what_cannot_be_imported_is_said_in_a_sentence(command: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind")
    for words, code in (
        ([str(tmp_path / "missing")], "not_found"),
        ([str(tmp_path / "notes.txt")], "format_unknown"),
    ):
        failed = run(command("--json", "import", *words))
        assert json.loads(failed.stdout)["error"]["code"] == code
        assert "Traceback" not in failed.stderr


def test_a_bar_is_shown_in_a_terminal(command: Run) -> None:
    master, slave = pty.openpty()
    details = command("import", str(DATA / "codex"))
    done = subprocess.run(**details, stdout=subprocess.PIPE, stderr=slave, check=True)
    os.close(slave)
    drawn = os.read(master, 65536).decode()
    os.close(master)

    assert "Importing" in drawn
    assert done.stdout.decode().startswith("files: 5 codex\n8 read: 6 new, 2 known\n")


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_and_doubles_nothing(command: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"Sentence number {n}"}) for n in range(1200)]
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(lines) + "\n")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    killed = subprocess.Popen(**command("import", str(path)), **quiet)
    while killed.poll() is None and not list((tmp_path / "w").rglob("import*.jsonl")):
        pass  # until the first batch is stored
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    report = json.loads(run(command("--json", "import", str(path))).stdout)["data"]
    status = json.loads(run(command("--json", "status")).stdout)["data"]

    assert report["new"] + report["known"] == report["read"]
    assert status["memories"]["active"] == 1200
