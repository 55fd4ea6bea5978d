"""docs/reference/cli.md names every command, argument, option and exit code that there is, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from lamina.doors.cli.app import app
from lamina.doors.cli.exits import DONE, EXIT_CODES, INTERRUPTED

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
HELP = {"-h", "--help"}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its path; the program itself comes as the empty one."""
    context = typer.Context(command)
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    if not names or not path:
        yield " ".join(path), command
    for name in names:
        yield from commands(command.get_command(context, name), (*path, name))


def taken(command: Any) -> tuple[list[str], set[str]]:
    """A command's arguments as a usage line has them, and its options."""
    arguments, options = [], set()
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            name = parameter.metavar
            arguments.append(name if parameter.required else f"[{name}]")
        else:
            options |= {*parameter.opts, *parameter.secondary_opts} - HELP
    return arguments, options


def actual() -> dict[str, tuple[list[str], set[str]]]:
    return {path: taken(command) for path, command in commands(get_command(app))}


def options_of(section: str) -> set[str]:
    """What the first column of the option table names."""
    rows = re.findall(r"^\| (`-.*?) \|", section, re.M)
    return {name for row in rows for name in re.findall(r"`(--?[\w-]+)", row)}


def documented(page: str) -> dict[str, tuple[list[str], set[str]]]:
    told = {"": ([], options_of(page.partition("## Global options\n")[2].partition("\n## ")[0]))}
    for heading, section in re.findall(r"^### `lamina ([^`]+)`\n(.*?)(?=^#|\Z)", page, re.M | re.S):
        words = heading.split()
        path = [word for word in words if word.islower()]
        told[" ".join(path)] = (words[len(path) :], options_of(section))
    return told


def exit_codes(page: str) -> set[int]:
    section = page.partition("## Exit codes\n")[2].partition("\n## ")[0]
    return {int(code) for code in re.findall(r"^\| `(\d+)` \|", section, re.M)}


def test_the_page_and_the_program_have_the_same_commands_arguments_and_options() -> None:
    assert documented(PAGE.read_text("utf-8")) == actual()


def test_the_page_has_every_exit_code() -> None:
    assert exit_codes(PAGE.read_text("utf-8")) == {DONE, INTERRUPTED, *EXIT_CODES.values()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `--key KEY` |", "| `--kay KEY` |"),
        ("| `--pin` | Keep it through every clean-up. |\n", ""),
        ("### `lamina status`", "### `lamina state`"),
        ("`lamina revise ID [TEXT]`", "`lamina revise ID TEXT`"),
        ("| `--tenant NAME` |", "| `--tenants NAME` |"),
        ("### `lamina rebuild`", "### `lamina rebuild [DIR]`"),
    ],
)
def test_a_page_that_differs_is_found(old: str, new: str) -> None:
    page = PAGE.read_text("utf-8")
    assert old in page
    assert documented(page.replace(old, new, 1)) != actual()


def test_every_command_and_option_says_what_it_is_for() -> None:
    mute = []
    for path, command in commands(get_command(app)):
        mute += [f"{path} {p.name}" for p in command.params if not p.help]
        mute += [] if command.help else [path]
    assert mute == []


def test_the_list_of_commands_fits_a_terminal_of_80_columns() -> None:
    group = get_command(app)
    with typer.Context(group, terminal_width=80, max_content_width=80) as context:
        listed = context.get_help().partition("Commands:\n")[2]
    assert [line for line in listed.splitlines() if not re.match(r"  [a-z-]+ +\S.*\.$", line)] == []
