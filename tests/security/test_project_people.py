"""A person with a list of categories in a project: nothing outside of it exists for them, at any door."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from starlette.testclient import TestClient

from lamina.__main__ import doors
from lamina.doors.cli.app import run
from lamina.doors.http.app import create_app, document
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right
from tests.backends import Place

PEOPLE = "projects: {atlas: {ana: [tasks, knowledge], bob: [tasks]}}"
TASK, FACT = "The CANARYTASK is due on Monday", "The CANARYFACT of the plan is lactose"
ASKED = "CANARYFACT CANARYTASK plan lactose Monday"


def _opened(place: Place, tmp_path: Path) -> tuple[Engine, str]:
    """A project of two with a task and a fact in it; and the id of the fact."""
    file = tmp_path / "categories.yaml"
    file.write_text(PEOPLE, "utf-8")
    engine = place.open(categories=str(file), project="atlas")
    ana = engine.scope()
    ana.remember(TASK, category="tasks", space="project")
    fact = ana.remember(FACT, category="knowledge", space="project").ids[0]
    return engine, fact


def test_over_http(place: Place, tmp_path: Path) -> None:
    engine, fact = _opened(place, tmp_path)
    client = TestClient(create_app(engine), base_url="http://127.0.0.1")
    told, wrote = {}, {}
    for name in ("ana", "bob"):
        token = create_token(engine, name, user=name, rights=(Right.READ, Right.WRITE, Right.CONSENT))[1]
        client.headers["Authorization"] = f"Bearer {token}"
        told[name] = "\n".join(_read(client, fact))
        said = {"text": f"{name} says the plan is long", "category": "knowledge", "space": "project"}
        wrote[name] = client.post("/v1/memories", json=said).json()["code"]
    assert FACT in told["ana"]
    assert "CANARYTASK" in told["bob"]
    assert FACT not in told["bob"]
    assert wrote == {"ana": "allowed", "bob": "category_disallowed"}


def _read(client: TestClient, memory: str) -> Iterator[str]:
    """What every route says that reads, asked for all there is and about one memory."""
    for path, methods in document()["paths"].items():
        where = re.sub(r"{[^}]+}", memory, path)
        if "get" in methods:
            yield client.get(where, params={"question": ASKED, "q": ASKED, "task": ASKED}).text
        if "post" in methods and path.endswith(("/recall", "/search", "/context", "/query")):
            yield from (client.post(where, json={name: ASKED}).text for name in ("question", "task", "query"))


def test_over_mcp(place: Place, tmp_path: Path) -> None:
    engine, fact = _opened(place, tmp_path)

    async def all_of(client: Client) -> str:
        said = []
        for tool in (await client.list_tools()).tools:
            needed = tool.input_schema.get("required", ())
            given = {one: fact if "id" in one or one == "memory" else ASKED for one in needed}
            if tool.annotations is not None and tool.annotations.read_only_hint:
                said.append((await client.call_tool(tool.name, given)).model_dump_json())
        wrote = await client.call_tool(
            "memory_remember", {"text": "The plan is long", "category": "knowledge", "space": "project"}
        )
        return "\n".join([*said, "WROTE", wrote.model_dump_json()])

    told = {name: anyio.run(_talk, engine, name, all_of) for name in ("ana", "bob")}
    assert "CANARYTASK" in told["bob"]
    assert FACT in told["ana"]
    assert FACT not in told["bob"]
    assert "category_disallowed" in told["bob"].split("WROTE")[1]
    assert "category_disallowed" not in told["ana"].split("WROTE")[1]


async def _talk(engine: Engine, user: str, work: Callable[[Client], Awaitable[str]]) -> str:
    server = build_server(Starter(engine, engine.scope(user=user)), tools="all")
    async with Client(server) as client:
        return await work(client)


def test_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place("sqlite", tmp_path / "w", None, tmp_path)
    _, fact = _opened(place, tmp_path)
    place.close()
    monkeypatch.setenv("LAMINA_CATEGORIES", str(tmp_path / "categories.yaml"))
    monkeypatch.setenv("LAMINA_PROJECT", "atlas")
    monkeypatch.chdir(tmp_path / "w")

    def says(user: str, *words: str) -> str:
        run(doors(), ["--user", user, "--json", *words])
        caught = capsys.readouterr()
        return caught.out + caught.err

    reads = [
        ("recall", ASKED),
        ("context", ASKED),
        ("query", ASKED),
        ("list",),
        ("get", fact),
        ("history", fact),
    ]
    reads += [("explain", fact), ("trace",), ("export",)]
    told = {user: "\n".join(says(user, *one) for one in reads) for user in ("ana", "bob")}
    assert FACT in told["ana"]
    assert "CANARYTASK" in told["bob"]
    assert FACT not in told["bob"]
    wrote = says("bob", "remember", "The plan is long", "--category", "knowledge", "--space", "project")
    assert "category_disallowed" in wrote
