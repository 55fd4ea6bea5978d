"""docs/reference/configuration.md has every setting as the code has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lamina.config import _RESERVED, knobs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"

Row = tuple[str, str, str, str]


def actual() -> list[Row]:
    return [
        (name, shown(default), meaning, "not in `lamina.toml`" if machine else "anywhere")
        for name, default, meaning, machine in knobs()
    ]


def shown(default: Any) -> str:
    return f"`{default}`" if default != "" else "(empty)"


def documented(page: str) -> list[Row]:
    return re.findall(r"^\| `([a-z_]+)` \| (.*?) \| (.*?) \| (.*?) \|$", page, re.M)


def test_the_page_has_every_setting_with_its_default_meaning_and_place() -> None:
    assert documented(PAGE.read_text("utf-8")) == actual()


def test_the_page_has_every_variable_that_is_no_setting() -> None:
    named = set(re.findall(r"^\| `(LAMINA_[A-Z_]+)` \|", PAGE.read_text("utf-8"), re.M))
    assert named == _RESERVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `6` |", "| `7` |"),
        ("| `undo_days` |", "| `undo_hours` |"),
        ("| not in `lamina.toml` |", "| anywhere |"),
    ],
)
def test_a_page_that_differs_is_found(old: str, new: str) -> None:
    page = PAGE.read_text("utf-8")
    assert old in page
    assert documented(page.replace(old, new, 1)) != actual()
