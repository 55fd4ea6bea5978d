"""One new operation, declared in one file, is there at every door."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

import lamina
from lamina.__main__ import doors
from lamina.doors.cli.app import run
from lamina.doors.http.app import document
from lamina.doors.mcp.tools import tools_for
from lamina.lifecycle.tokens import create_token
from lamina.operations.operation import CATALOGUE, Door
from lamina.operations.wording import worded_for
from tests.operations.serving import serving

ONE_FILE = '''
"""An operation that is nowhere but here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from lamina.model import Space
from lamina.model import Right
from lamina.operations.operation import Field, Tool, operation
from lamina.scoped import ScopedMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Greet:
    """Whom to greet."""

    name: Annotated[str, Field("Whom.", position=True, longest=20)]
    times: Annotated[int, Field("How often.", low=1, high=3)] = 1
    spaces: Annotated[tuple[Space, ...], Field("Where.")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """A greeting."""

    words: tuple[str, ...]
    spaces: tuple[Space, ...]


@operation("POST /v1/greet", Right.READ, tool=Tool(title="Greet"))
def greet(memory: ScopedMemory, request: Greet) -> Greeting:
    """Say hello."""
    words = tuple(f"Hello {request.name}, from {memory.scope.user}" for _ in range(request.times))
    return Greeting(words=words, spaces=request.spaces)
'''


@pytest.fixture
def greeting(tmp_path: Path) -> Iterator[type]:
    """The module of that file, and the catalogue with what it declares."""
    file = tmp_path / "greetings.py"
    file.write_text(ONE_FILE)
    spec = importlib.util.spec_from_file_location("greetings", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["greetings"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module.Greeting
    finally:
        CATALOGUE.pop("greet", None)
        del sys.modules["greetings"]


def test_it_is_a_route_and_a_remote_verb(greeting: type, tmp_path: Path) -> None:
    described = document()["paths"]["/v1/greet"]["post"]
    assert (described["operationId"], described["description"]) == ("greet", "Say hello.")
    with lamina.open(tmp_path / "w", owner="ana") as engine, serving(engine) as url:
        _, token = create_token(engine, "test")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
            answer = client.post("/v1/greet", json={"name": "Bo", "times": 2, "spaces": ["user"]})
            assert answer.json() == {"words": ["Hello Bo, from ana"] * 2, "spaces": ["user"]}
            wrong = client.post("/v1/greet", json={"name": "Bo", "tims": 2}).json()
            assert wrong["errors"][0]["message"] == "There is no such field. Did you mean `times`?"
            assert client.post("/v1/greet", json={"name": "Bo", "times": 4}).status_code == 422
        with lamina.connect(url, token) as remote:
            found = remote.scope().greet("Bo", spaces=[lamina.Space.USER])
    assert found == greeting(words=("Hello Bo, from ana",), spaces=(lamina.Space.USER,))


@pytest.mark.usefixtures("greeting")
def test_it_is_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(doors(), ["-w", str(tmp_path / "w"), "init", "--owner", "ana"]) == 0
    capsys.readouterr()
    assert run(doors(), ["-w", str(tmp_path / "w"), "--json", "greet", "Bo", "--times", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["words"] == ["Hello Bo, from ana"] * 2
    assert run(doors(), ["greet", "--help"]) == 0
    assert "Say hello." in capsys.readouterr().out


@pytest.mark.usefixtures("greeting")
def test_it_is_a_tool_and_has_a_name_in_hints() -> None:
    (tool,) = [one for one in tools_for(cast(Any, None), "all") if one.name == "memory_greet"]
    assert tool.description == "Say hello."
    assert tool.parameters["required"] == ["name"]
    hint = "`lamina greet` says it."
    assert worded_for(Door.HTTP, hint) == "`POST /v1/greet` says it."
    assert worded_for(Door.MCP, hint) == "`memory_greet` says it."


def test_afterwards_it_is_gone() -> None:
    assert "/v1/greet" not in document()["paths"]
