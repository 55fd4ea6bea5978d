"""The record of a newcomer's first ten minutes is of what the program plays today, and ends well."""

from __future__ import annotations

import re

from tools.newcomer import PAGE, STEPS


def test_the_page_has_every_step_in_its_order() -> None:
    played = re.findall(r"^\$ (.+)$", PAGE.read_text("utf-8"), re.M)
    assert played == ["make run", *(step.command for step in STEPS)], "run `python -m tools.newcomer`"


def test_nobody_met_a_traceback_and_the_page_in_the_browser_was_there() -> None:
    page = PAGE.read_text("utf-8")
    assert "Traceback" not in page
    assert "The page in the browser: *Home · Lamina*" in page
    assert "something unexpected" not in page.lower()
