"""docs/reference/mcp.md names every tool, argument and result that there is, and none that there is not."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import anyio
import pytest
from mcp_types import Tool

import lamina
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mcp.md"
RECEIPT = {"decision", "code", "ids", "acknowledgement", "warnings", "revision"}


@pytest.fixture
def offered(tmp_path: Path) -> list[Tool]:
    with lamina.open(tmp_path / "workspace") as engine:
        server = build_server(Starter(engine, engine.scope(agent="reader")), tools="all")
        return anyio.run(server.list_tools)


def sections(page: str) -> dict[str, str]:
    """What the page says about each tool, by its heading."""
    parts = re.split(r"^### ((?:memory|oracle)_\w+)\n", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def wrong(page: str, tools: list[Tool]) -> list[str]:
    """Everything the page says about the tools that is not so, or does not say that is."""
    told = sections(page)
    if list(told) != [tool.name for tool in tools]:
        return [f"the page has {list(told)}, the server {[tool.name for tool in tools]}"]
    complaints = []
    for tool in tools:
        arguments, results = arguments_of(told[tool.name]), results_of(told[tool.name])
        required = tool.input_schema.get("required", [])
        known = {name: name in required for name in properties(tool.input_schema)}
        if arguments != known:
            complaints.append(f"{tool.name} takes {known}, the page says {arguments}")
        if missing := properties(tool.output_schema or {}) - results:
            complaints.append(f"{tool.name} returns {sorted(missing)}, the page does not say so")
        if results - named_in(tool.output_schema or {}):
            complaints.append(f"{tool.name} does not return all of {sorted(results)}")
    return complaints


def arguments_of(section: str) -> dict[str, bool]:
    """The arguments in the table, and whether each is required."""
    found = {}
    for names, kind in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", section, re.M):
        found |= dict.fromkeys(re.findall(r"`(\w+)`", names), "required" in kind)
    return found


def results_of(section: str) -> set[str]:
    said = section.partition("\nReturns ")[2].partition("\n\n")[0]
    names = set(re.findall(r"`(\w+)`", said)) - {"memory_get"}
    return names | RECEIPT if said.startswith("a receipt") else names


def properties(schema: dict[str, object]) -> set[str]:
    return set(schema.get("properties", {}))  # type: ignore[call-overload]


def named_in(schema: dict[str, object]) -> set[str]:
    """The names of the result and of everything in it."""
    parts = schema.get("$defs", {}).values()  # type: ignore[attr-defined]
    return properties(schema).union(*(properties(part) for part in parts))


def test_the_page_and_the_server_say_the_same(offered: list[Tool]) -> None:
    assert wrong(PAGE.read_text("utf-8"), offered) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("### memory_trace\n", "### memory_other\n", "the page has"),
        ("| `question` | text, required |", "| `question` | text |", "memory_recall takes"),
        ("| `ttl` |", "| `lifetime` |", "memory_remember takes"),
        ("| `since`, `until` |", "| `since` |", "memory_recall takes"),
        ("`audit_records`, ", "", "memory_status returns ['audit_records']"),
        ("`audit_records`, ", "`audit_records`, `mood`, ", "memory_status does not return all"),
    ],
)
def test_a_false_line_is_found(offered: list[Tool], old: str, new: str, complaint: str) -> None:
    page = PAGE.read_text("utf-8")
    assert old in page
    assert any(found.startswith(complaint) for found in wrong(page.replace(old, new, 1), offered))


def test_the_receipt_and_the_sets_of_tools_are_described() -> None:
    page = PAGE.read_text("utf-8")
    about = page.partition("## Results and errors")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", about)) >= RECEIPT
    for choice in ("core", "all", "readonly"):
        assert f"`--tools {choice}`" in page


def test_the_snippets_can_be_read() -> None:
    page = PAGE.read_text("utf-8")
    readers = {"json": json.loads, "toml": tomllib.loads}
    found = [(kind, text) for kind, text in re.findall(r"^```(\w+)\n(.*?)^```", page, re.M | re.S)]
    assert {kind for kind, _ in found} == {"bash", *readers}
    for kind, text in found:
        if kind in readers:
            assert readers[kind](text)
