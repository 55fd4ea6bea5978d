"""What is made from declarations is current, and a page that is not is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lamina.doors.cli.commands import commands
from lamina.doors.cli.exits import DONE, EXIT_CODES, INTERRUPTED
from tools.reference import MADE, PAGES, made


@pytest.mark.parametrize("path", made(), ids=lambda path: path.name)
def test_it_is_what_the_declarations_make_of_it(path: Path) -> None:
    assert path.read_text("utf-8") == made()[path], "run `python -m tools.reference`"


def test_the_part_that_a_person_wrote_stays_when_a_page_is_made() -> None:
    for name in ("cli.md", "mcp.md"):
        page = (PAGES / name).read_text("utf-8")
        assert page.count(MADE) == 1
        assert page.startswith("# ")


def test_the_page_has_every_exit_code() -> None:
    section = (PAGES / "cli.md").read_text("utf-8").partition("## Exit codes\n")[2].partition("\n## ")[0]
    told = {int(code) for code in re.findall(r"^\| `(\d+)` \|", section, re.M)}
    assert told == {DONE, INTERRUPTED, *EXIT_CODES.values()}


def test_every_command_and_field_says_what_it_is_for() -> None:
    known = commands().values()
    assert [one.words for one in known if not one.about.strip()] == []
    assert [
        f"{one.words} {each.name}" for one in known for each in one.parameters if not each.about.help
    ] == []


@pytest.mark.parametrize("name", ["help.txt", "first.txt"])
def test_the_list_of_commands_fits_a_terminal_of_80_columns(name: str) -> None:
    (text,) = (text for path, text in made().items() if path.name == name)
    listed = text.partition("Every day:\n")[2].splitlines()
    assert [line for line in listed if len(line) > 80] == []


def test_who_types_no_command_reads_one_screen() -> None:
    (text,) = (text for path, text in made().items() if path.name == "first.txt")
    assert len(text.splitlines()) <= 30
    assert "lamina --help" in text


def test_the_page_of_python_has_what_people_call_with_its_arguments_and_answers() -> None:
    page = (PAGES / "python.md").read_text("utf-8")
    parts = dict(re.findall(r"^### `([\w.]+)`\n(.*?)(?=^##)", page, re.M | re.S))
    assert {"scope", "close", "remember", "recall", "hear", "turn", "lamina.Hit", "lamina.Receipt"} <= set(
        parts
    )
    assert "| `ttl` | text | How long it holds" in parts["remember"]
    assert (
        "| `confidence` | `float` | the probability that this answers the question |" in parts["lamina.Hit"]
    )
    assert not {"apply_reads", "carry_out", "id_of", "shelf"} & set(parts)  # for Lamina itself
