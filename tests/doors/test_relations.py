"""Links over the command line, HTTP and MCP: the same edges, whoever asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

import lamina
from lamina.__main__ import doors as _doors
from lamina.doors.cli.app import run
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.testing import ManualClock
from tests.doors.test_layers_http import served

TEA, BUS = "user:ana:semantic:1", "user:ana:semantic:2"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock()) as engine:
        engine.scope().remember("Ana likes green tea")
        engine.scope().remember("รถเมล์มาสาย")
        engine.scope(user="bob").remember("Bob likes green tea")
        yield engine


def test_http_links_shows_exports_and_unlinks(engine: Engine) -> None:
    client = next(clients := served(engine))
    made = client.post("/v1/relations", json={"from": TEA, "to": BUS, "type": "delays", "strength": 0.5})
    assert (made.status_code, made.json()["explicit"]) == (201, True)
    assert [edge["type"] for edge in client.get("/v1/relations").json()["edges"]] == ["delays"]
    around = client.get("/v1/relations", params={"of": BUS, "depth": 2}).json()
    assert [node["id"] for node in around["nodes"]] == [TEA, BUS]
    dot = client.get("/v1/relations", params={"format": "dot"})
    assert dot.headers["content-type"].startswith("text/vnd.graphviz")
    assert 'label="รถเมล์มาสาย"' in dot.text
    found = client.post("/v1/recall", json={"query": "green tea", "k": 1}).json()
    assert [(one["id"], one["to"]) for one in found["related"]] == [(BUS, TEA)]
    asked = client.post("/memory/query", json={"query": "green tea", "top_k": 1}).json()
    assert asked[0]["related"][0]["text"] == "รถเมล์มาสาย"
    theirs = {"from": TEA, "to": "user:bob:semantic:1"}
    assert client.post("/v1/relations", json=theirs).json()["code"] == "not_found"
    assert client.post("/v1/relations", json={**theirs, "type": "a b"}).json()["code"] == "relation_invalid"
    edge = {"from": BUS, "to": TEA, "type": "delays"}
    assert client.delete("/v1/relations", params=edge).status_code == 200
    assert client.delete("/v1/relations", params=edge).status_code == 404
    assert_closed(clients)


def assert_closed(clients: Iterator[httpx.Client]) -> None:
    assert next(clients, None) is None


def test_mcp_links_and_shows(engine: Engine) -> None:
    server = build_server(Starter(engine, engine.scope(agent="planner")), tools="all")

    async def talk() -> list[Any]:
        async with Client(server) as client:
            ends = {"memory_id": TEA, "other_id": BUS, "type": "delays"}
            link = await client.call_tool("memory_link", ends)
            shown = await client.call_tool("memory_relations", {"memory_id": TEA})
            recalled = await client.call_tool("memory_recall", {"question": "green tea", "k": 1})
            gone = await client.call_tool("memory_unlink", ends)
            return [one.structured_content for one in (link, shown, recalled, gone)]

    link, shown, recalled, gone = anyio.run(talk)
    assert link["explicit"]
    assert gone["type"] == "delays"
    assert [edge["to_id"] for edge in shown["edges"]] == [BUS]
    assert [one["id"] for one in recalled["related"]] == [BUS]


def test_the_command_line_links_shows_and_exports(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.close()

    def said(*words: str, code: int = 0) -> str:
        assert run(_doors(), ["-w", str(tmp_path / "w"), *words]) == code, capsys.readouterr().err
        return capsys.readouterr().out

    assert said("relations") == ""
    assert said("relations", "link", TEA, BUS, "--type", "delays") == f"{TEA} delays {BUS}\n"
    shown = f"{TEA}  Ana likes green tea\n  delays 1.00, said: {BUS}  รถเมล์มาสาย\n"
    for words in ([], [BUS], [TEA, "--depth", "2"]):
        assert said("relations", *words) == shown
    assert said("recall", "green tea", "-k", "1").splitlines()[-1] == f"~ รถเมล์มาสาย  {BUS}  delays {TEA}"
    assert said("relations", "export", "--format", "dot").startswith("digraph memories {\n")
    assert [one["id"] for one in json.loads(said("relations", "export"))["nodes"]] == [TEA, BUS]
    assert json.loads(said("--json", "relations", TEA))["data"]["edges"][0]["type"] == "delays"
    said("relations", "unlink", BUS, TEA, "--type", "delays")
    said("relations", "unlink", BUS, TEA, "--type", "delays", code=3)
    said("relations", "user:bob:semantic:1", code=3)
