"""What is heard where no session is named is found where none is named, at every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient
from mcp import Client

import lamina
from lamina.__main__ import doors as _doors
from lamina.doors.cli.app import run
from lamina.doors.http.app import create_app
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right

SAID, ASKED = "I live in Chiang Mai", "where do I live?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(_doors(), ["--json", "--workspace", str(folder), *words]) == 0
    return json.loads(capsys.readouterr().out)["data"]


def over_http(engine: Engine) -> TestClient:
    app = create_app(engine, allowed_hosts=["testserver"])
    _, token = create_token(engine, "t", rights=(Right.READ, Right.WRITE))
    headers = {"Authorization": f"Bearer {token}"}
    return TestClient(app, base_url="http://127.0.0.1:8765", headers=headers)


def over_mcp(engine: Engine, tool: str, **arguments: str) -> dict[str, Any]:
    async def called() -> dict[str, Any]:
        caller = Starter(engine, engine.scope(agent="planner"))
        async with Client(build_server(caller, tools="all")) as client:
            result = await client.call_tool(tool, dict(arguments))
            assert not result.is_error, result.content
            return result.structured_content or {}

    return anyio.run(called)


def test_the_command_line_finds_what_it_heard(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    on_the_command_line(folder, capsys, "init")
    on_the_command_line(folder, capsys, "hear", SAID)
    (hit,) = on_the_command_line(folder, capsys, "recall", ASKED)["hits"]
    assert hit["text"] == SAID
    told = on_the_command_line(folder, capsys, "explain", hit["id"])
    assert told["memory"]["text"] == SAID


def test_every_door_finds_what_another_heard(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lamina.open(folder) as engine:
        http = over_http(engine)
        heard = {
            "python": ("I live in Chiang Mai", "where do I live?"),
            "http": ("My sister plays the oboe", "what does my sister play?"),
            "mcp": ("The garage door code changes in May", "when does the garage code change?"),
        }
        engine.scope().hear(heard["python"][0])
        assert http.post("/v1/hear", json={"text": heard["http"][0]}).status_code == 200
        over_mcp(engine, "memory_hear", text=heard["mcp"][0])
        for said, question in heard.values():
            texts = [hit.text for hit in engine.scope().recall(question).hits]
            assert said in texts
            found = http.post("/v1/recall", json={"query": question}).json()["hits"]
            assert [hit["text"] for hit in found] == texts
            answer = over_mcp(engine, "memory_recall", question=question)
            assert said in [hit["text"] for hit in answer["hits"]]
    for said, question in heard.values():
        found = on_the_command_line(folder, capsys, "recall", question)["hits"]
        assert said in [hit["text"] for hit in found]
