"""docs/reference/http.md names every route and no other, and its examples are what the server says."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import lamina
from lamina.doors.http.app import create_app, document
from lamina.doors.http.server import listener_on, server_for
from lamina.lifecycle.tokens import create_token
from lamina.testing import ManualClock

PAGE = (Path(__file__).parents[2] / "docs/reference/http.md").read_text("utf-8")
HEADING = re.compile(r"^### `([A-Z]+) (\S+)`$", re.MULTILINE)
EXAMPLE = re.compile(r"```http\n(.*?)```\n```http\n(.*?)```", re.DOTALL)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        lamina.open(tmp_path / "workspace", owner="ana", clock=ManualClock()) as engine,
        listener_on("127.0.0.1", 0) as listener,
    ):
        server = server_for(create_app(engine))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        headers = {"Authorization": f"Bearer {create_token(engine, 'docs')[1]}"}
        try:
            with httpx.Client(
                base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", headers=headers, timeout=60
            ) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(30)


def parts(block: str) -> tuple[str, dict[str, str], Any]:
    """First line, headers and JSON body of a block."""
    head, _, body = block.strip().partition("\n\n")
    first, *lines = head.splitlines()
    headers = dict(line.split(": ", 1) for line in lines)
    return first, headers, json.loads(body) if body else None


def different(shown: Any, actual: Any, where: str = "") -> list[str]:
    """Where what the page shows is not what the server said; the page may leave fields out."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        return [
            one
            for name, value in shown.items()
            for one in (
                different(value, actual[name], f"{where}.{name}") if name in actual else [f"{where}.{name}"]
            )
        ]
    if isinstance(shown, list) and isinstance(actual, list) and len(shown) == len(actual):
        pairs = enumerate(zip(shown, actual, strict=True))
        return [one for at, (left, right) in pairs for one in different(left, right, f"{where}[{at}]")]
    return [] if shown == actual else [f"{where}: {shown!r} is {actual!r}"]


def test_every_route_has_its_section_and_every_section_its_route() -> None:
    routes = {
        (method.upper(), path) for path, operations in document()["paths"].items() for method in operations
    }
    named = HEADING.findall(PAGE)
    assert sorted(named) == sorted(routes | {("GET", "/openapi.json")})


def test_every_section_has_an_example_of_its_own_route() -> None:
    _, *pieces = HEADING.split(PAGE)
    for method, path, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        found = EXAMPLE.search(text)
        assert found is not None, f"{method} {path} has no example"
        shown = re.sub(r"\\\{\w+\\\}", r"[^/?]+", re.escape(path))
        assert re.match(rf"{method} {shown}(\?\S*)?\n", found[1]), f"{method} {path} has another's example"


def test_the_examples_are_what_the_server_says(client: httpx.Client) -> None:
    for request, response in EXAMPLE.findall(PAGE):
        (line, headers, body), (status, promised, shown) = parts(request), parts(response)
        method, path = line.split(" ")
        answer = client.request(method, path, json=body, headers=headers)
        assert answer.status_code == int(status), f"{line}: {answer.text}"
        assert {name: answer.headers.get(name) for name in promised} == promised, line
        # Of lines of JSON the page shows the last one.
        assert different(shown, json.loads(answer.text.splitlines()[-1])) == [], line
