"""The mistakes that people make first: each is answered with what is wrong and what to do next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import lamina
from lamina.__main__ import doors
from lamina.doors.cli.app import run

KNOWN = "user:ana:profile:1"

#: A command as somebody types it, and a part of what it is answered with.
TYPED = {
    "rember x": "Did you mean `remember`?",
    "remember tea --importanze 3": "There is no option `--importanze`. Did you mean `--importance`?\n",
    "recall tea --trusted-onyl": "Did you mean `--trusted`?",
    "--workspce w recall tea": "Did you mean `--workspace`?",
    "remember": "Give it after the command, or pipe it in.",
    "remember I like tea": 'Put a text in quotes: `lamina remember "…"`.',
    "recall tea and milk": 'Put a text in quotes: `lamina recall "…"`.',
    "hear": "Give it after the command, or pipe it in.",
    "recall": "Give it after the command, or pipe it in.",
    "recall tea --limit 3": "`lamina recall --help` shows what is possible.",
    "remember tea --space galaxy": "Choose one of: session, user, project, system.",
    "remember tea --kind joke": "Choose one of: preference, constraint",
    "remember tea --ttl soon": "Write none, session_end, a duration such as 90s",
    "remember tea --importance 11": "from 1 to 5",
    "remember tea --priority high": "is not a whole number",
    "revise": "`lamina revise --help` shows what is possible.",
    f"revise {KNOWN} nuts --expect 7": "Read it again and decide again.",
    "forget user:ana:profile:99 --yes": "`lamina recall` shows the ids",
    "forget tea --yes": '`lamina hear "forget …"` takes words.',
    f"forget {KNOWN}": "Add --yes to go ahead.",
    f"restore {KNOWN}": "There is no forgotten memory",
    "get nonsense": "`lamina recall` shows the ids",
    "explain nonsense": "An id looks like user:ana:semantic:1",
    "me ana": "`lamina me --help` shows what is possible.",
    "pending confirm response.tone": "`lamina pending` lists what does.",
    "-w nowhere recall tea": "Run `lamina init` there",
    "policy check none.toml": "Check its path",
    "import none.json": "Check the path.",
    "import lamina.toml": "Name its format with --format",
    "restore-backup none.tar.gz": "Check the path.",
    "serve --port 99999": "Choose one from 0 to 65535.",
    "serve --host 0.0.0.0": "Run `lamina token create` first",
    "difference yesterday": "Write it like 2026-11-30",
    "diff yesterday": "Write it like 2026-11-30",
    "policy reload": "Add --yes to go ahead.",
    "list --state sleeping": "Choose one of: pending, active",
    "list --limit -1": "from 1 to 500",
    "job run cleaning": "Jobs: micro-sync",
    "install chatgpt": "Choose one of: claude-code",
    "init lamina.toml": "Name a folder.",
    "erase": "--user",
    "undo": "Add --yes to go ahead.",
    "config set a b": "`lamina config --help` shows what is possible.",
    "--store mysql://x recall tea": "Use sqlite:///path/to/file.db",
    "--agent  recall tea": "Give a name, or leave the field out.",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    assert run(doors(), ["init", "--owner", "ana"]) == 0
    assert run(doors(), ["hear", "Remember that I am allergic to peanuts."]) == 0
    capsys.readouterr()
    return tmp_path


def test_a_wrong_command_is_answered_with_what_to_do_next(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed, wanted in TYPED.items():
        assert run(doors(), typed.split(" ")) != 0, typed
        said = capsys.readouterr()
        assert said.out == "", typed
        assert said.err.startswith("Error: "), typed
        assert wanted in said.err, (typed, said.err)
    assert run(doors(), ["get", KNOWN]) == 0  # and nothing was changed


def test_a_key_without_a_value_and_a_passing_wish_are_not_answered_with_silence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(doors(), ["resolve", "response.tone"]) == 0
    assert capsys.readouterr().out == "There is no value for that.\n"
    assert run(doors(), ["hear", "I would like jazz tonight"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "Kept for this conversation."


def test_a_wrong_call_is_answered_with_what_to_do_next(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as memory:
        ana = memory.scope()
        wrong: list[tuple[Callable[[], object], str]] = [
            (lambda: lamina.open("mysql://x"), "sqlite:///path/to/file.db"),
            (lambda: lamina.open(tmp_path / "w" / "lamina.toml"), "is a file, not a folder. Name a folder"),
            (lambda: lamina.open(tmp_path / "v", ownr="x"), "Did you mean `owner`?"),
            (lambda: memory.scope(usr="bo"), "Did you mean `user`?"),  # type: ignore[call-arg]
            (lambda: memory.remember("tea"), "`memory.scope().remember(…)`"),  # type: ignore[attr-defined]
            (lambda: ana.remember("tea", tag="x"), "Did you mean `tags`?"),  # type: ignore[call-arg]
            (lambda: ana.remember("tea", tags="x"), "must be a list"),
            (lambda: ana.remember(["tea"]), "Pass a string."),  # type: ignore[arg-type]
            (lambda: ana.recall("tea", limit=3), "The details are: "),  # type: ignore[call-arg]
            (lambda: ana.recall("tea", layers="semantic"), "layers must be a list of texts."),
            (lambda: ana.recall("tea", layers=["soil"]), "Choose one of: working"),
            (lambda: ana.forget("nonsense"), "`lamina recall` shows ids and keys"),
            (lambda: ana.confirm("nonsense"), "`lamina pending` lists what does."),
            (lambda: lamina.connect("127.0.0.1:1", "lam_x"), "Write it like http://127.0.0.1:8765."),
        ]
        for call, wanted in wrong:
            with pytest.raises((lamina.LaminaError, AttributeError)) as told:
                call()
            assert wanted in str(told.value)
    with pytest.raises(lamina.Unavailable, match="Open it again"):
        ana.recall("tea")
