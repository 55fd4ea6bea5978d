"""What a newcomer reads after their first commands: their own words, and plain ones of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lamina.__main__ import doors
from lamina.doors.cli.app import run

Says = Callable[..., tuple[str, str]]


@pytest.fixture
def lamina(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Says:
    """A new workspace of Ana's; what a command prints, and what it notes beside that."""
    monkeypatch.chdir(tmp_path)
    assert run(doors(), ["init", "--owner", "ana"]) == 0
    capsys.readouterr()

    def says(*words: str) -> tuple[str, str]:
        assert run(doors(), list(words)) == 0
        out, err = capsys.readouterr()
        return out, err

    return says


def test_a_note_is_shown_in_its_words_and_not_with_a_key_that_was_made_up(lamina: Says) -> None:
    lamina("hear", "Remember that I am allergic to peanuts.")
    assert lamina("recall", "peanuts")[0].startswith("1. I am allergic to peanuts\n")
    assert "note." not in lamina("list")[0] + lamina("me")[0]
    lamina("remember", "short", "--key", "response.style")
    assert "response.style: short" in lamina("list")[0]


def test_what_became_of_a_message_is_told_in_plain_words(lamina: Says) -> None:
    told = lamina("hear", "Remember that I am allergic to peanuts.")[0]
    assert told.splitlines() == ["Remembered.", "user:ana:profile:1"]
    assert lamina("hear", "I live in Oslo.")[0].splitlines() == [
        "Noted: I live in Oslo.",
        "user:ana:semantic:1",
    ]
    forgotten = lamina("hear", "Forget that I am allergic to peanuts.")[0].splitlines()
    assert forgotten[0] == "Forgotten."
    assert forgotten[1].startswith("user:ana:profile:1")
    told = lamina("hear", "What is the weather like?")[0]
    assert told == "not kept: write_policy_context (`lamina explain write_policy_context` says why)\n"
    assert lamina("explain", "write_policy_context")[0]


def test_a_no_is_answered_in_words(lamina: Says) -> None:
    lamina("--agent", "planner", "remember", "long answers", "--key", "response.style")
    told = lamina("pending", "reject", "response.style")[0]
    assert told.startswith("Rejected. You will not be asked about this again.\n")
