"""What a page shows of settings is read by what it is for, and every claim of SECURITY.md has its test."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lamina.__main__ import doors
from lamina.config import knobs
from lamina.documents.settings import from_openclaw
from lamina.doors.cli.app import run
from lamina.language.rulebook import rulebook
from lamina.opening import read_tenants
from lamina.policy.categories import load_categories
from lamina.policy.consent import load_fields
from lamina.policy.loading import load_policy

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shown() -> list[tuple[str, str, str]]:
    """Every block of settings: page, language, text."""
    found = []
    for page in PAGES:
        for language, text in re.findall(
            r"^```(toml|yaml|json|js)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
        ):
            found.append((str(page.relative_to(ROOT / "docs")), language, text))
    return found


def knobs_only(text: str) -> None:
    known = {name: type(default) for name, default, *_ in knobs()}
    for name, value in tomllib.loads(text).items():
        assert type(value) is known[name], name


def client(text: str) -> None:
    """What starts `lamina` in a client's settings is a command line that Lamina takes."""
    found: dict[str, Any] = json.loads(text) if text.startswith("{") else tomllib.loads(text)
    (servers,) = found.values()
    if "args" in servers["lamina"]:
        assert run(doors(), [*servers["lamina"]["args"], "--help"]) == 0
    else:
        assert servers["lamina"]["url"].endswith("/mcp")


def envelope(text: str) -> None:
    """`--json` has one form of answer, line for line."""
    for line in text.splitlines():
        assert set(json.loads(line)) == {"ok", "command", "data", "error"}


#: What reads the settings of a page.
READ_BY: dict[tuple[str, str], Callable[[str], object]] = {
    ("guides/consent.md", "toml"): lambda text: load_fields(text, "shown"),
    ("guides/jobs.md", "toml"): knobs_only,
    ("guides/policy.md", "toml"): lambda text: load_policy(text, "shown"),
    ("guides/rules.md", "toml"): rulebook,
    ("guides/search.md", "json"): lambda text: from_openclaw(json.loads(text)),
    ("guides/search.md", "toml"): knobs_only,
    ("guides/team.md", "yaml"): lambda text: load_categories(text, "shown"),
    ("reference/cli.md", "json"): envelope,
    ("reference/mcp.md", "json"): client,
    ("reference/mcp.md", "toml"): client,
}
#: Read from a file, or by a program that is not ours (its client is tried in tests/doors/test_typescript.py).
ELSEWHERE = {("guides/deploy.md", "toml"), ("guides/mem0.md", "js"), ("guides/openclaw.md", "json")}


def test_every_block_of_settings_has_something_that_reads_it() -> None:
    assert {(page, language) for page, language, _ in shown()} <= set(READ_BY) | ELSEWHERE


@pytest.mark.parametrize(
    ("page", "language", "text"), [one for one in shown() if one[:2] in READ_BY], ids=lambda one: one[:24]
)
def test_the_settings_that_a_page_shows_are_accepted(page: str, language: str, text: str) -> None:
    READ_BY[page, language](text)


def test_the_tenants_that_the_page_shows_are_accepted(tmp_path: Path) -> None:
    (text,) = (text for page, language, text in shown() if (page, language) == ("guides/deploy.md", "toml"))
    (file := tmp_path / "tenants.toml").write_text(text, "utf-8")
    assert set(read_tenants(str(file))) == {"globex", "公司"}


def claims() -> list[tuple[str, list[str]]]:
    """What SECURITY.md promises, with the files that it names for each."""
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    table = page.partition("| claim | test |\n")[2].partition("\n\n")[0]
    rows = [row.strip("|").split(" | ") for row in table.splitlines()[1:]]
    return [(claim.strip(), re.findall(r"\]\(([^)#]+)\)", tests)) for claim, tests in rows]


def test_every_claim_of_security_names_tests_that_there_are() -> None:
    assert len(claims()) >= 10
    for claim, files in claims():
        assert files, claim
        for file in files:
            assert "\ndef test_" in (ROOT / file).read_text("utf-8"), (claim, file)
