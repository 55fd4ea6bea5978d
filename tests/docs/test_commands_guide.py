"""docs/guides/commands.md says nothing that does not work: every utterance in its tables is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.language.amend import amended, corrections
from lamina.language.command import Command, Target
from lamina.language.commands import commands
from lamina.language.infer import infer
from lamina.language.rulebook import rulebook

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "commands.md"
TARGETS = {Target.LATEST: ", the latest", Target.ABOUT: ", about", Target.EVERYTHING: ", everything"}


def rows(heading: str) -> Iterator[tuple[str, str]]:
    """Every utterance of a table with what its last column says."""
    for line in GUIDE.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 4 and cells[0].startswith("`"):
            yield from ((cell.strip("`"), cells[3]) for cell in cells[:3])


def told(command: Command) -> str:
    """A command in the words of the guide."""
    said = command.action + TARGETS.get(command.target, "")
    if command.target is Target.KEY and command.key:
        said += f" {command.key}" + (f"={command.value}" if command.value else "")
    if command.lifetime:
        said += f" for {command.lifetime}"
    return said + (f" in {command.space}" if command.space else "")


SAID = [
    row
    for heading in (
        "Remember",
        "For how long, and how far",
        "How to answer",
        "Change and correct",
        "Forget",
        "Agree, decline, keep out",
    )
    for row in rows(heading)
]


@pytest.mark.parametrize(("say", "expected"), SAID)
def test_what_the_guide_says_one_can_say_works(say: str, expected: str) -> None:
    assert [told(command) for command in commands(say)] == [expected]


def in_passing() -> list[str]:
    section = GUIDE.read_text("utf-8").partition("\n## Put right in passing\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [cell.strip("` ") for line in lines for cell in line.strip("|").split(" | ")]


@pytest.mark.parametrize("say", in_passing())
def test_what_the_guide_puts_right_in_passing_is_put_right(say: str) -> None:
    known = [
        "we meet on Monday",
        "the deadline is Thursday",
        "I live in Osaka",
        "เราประชุมวันจันทร์",
        "กำหนดส่งคือวันพฤหัส",
        "ผมอยู่โอซาก้า",
        "我们周一开会",
        "我們週一開會",
        "截止日是周四",
        "我住在大阪",
    ]
    readings = corrections(say, rulebook())
    made = [one for reading in readings for text in known if (one := amended(reading, text, rulebook()))]
    assert [one.text for one in made if one.text]
    assert not commands(say)


@pytest.mark.parametrize(("say", "because"), list(rows("What is not a command")))
def test_what_the_guide_says_is_no_command_is_none(say: str, because: str) -> None:
    assert commands(say) == [], because


@pytest.mark.parametrize(("say", "guess"), list(rows("Hints")))
def test_what_the_guide_calls_a_hint_is_one(say: str, guess: str) -> None:
    assert [f"{it.key}={it.value} {it.confidence:.2f}" for it in infer(say)] == [guess]
    assert not commands(say)


def test_the_guide_has_tables() -> None:
    assert len(SAID) >= 90
    assert len(in_passing()) == 21
    assert len(re.findall(r"[ก-๎]", "".join(say for say, _ in SAID))) > 500
