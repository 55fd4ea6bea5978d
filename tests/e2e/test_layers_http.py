"""The reference's client over real HTTP: the six queries of its prompt builder, and what precedes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import lamina
from lamina.doors.http.app import create_app
from lamina.doors.http.server import listener_on, server_for
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.testing import ManualClock


def served(engine: Engine, **token: str) -> Iterator[httpx.Client]:
    with listener_on("127.0.0.1", 0) as listener:
        server = server_for(create_app(engine))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        headers = {"Authorization": f"Bearer {create_token(engine, 'docs', **token)[1]}"}
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock()) as engine:
        yield from served(engine)


def test_the_prompt_builders_six_queries_are_answered(client: httpx.Client) -> None:
    updates = {
        "expertise": {"docker": "expert"},
        "preferences": {"language": "th", "responseLength": "concise"},
    }
    assert client.post("/api/user-model", json={"userId": "default", "updates": updates}).json()["success"]
    steps = ["ถาม environment ก่อน", "ตรวจ docker-compose.yml", "แสดง checklist ก่อน deploy"]
    made = client.post(
        "/api/procedural",
        json={"trigger": "user ถามเรื่อง deploy Docker", "procedure": steps, "source": "repeated_pattern"},
    ).json()
    client.post("/api/procedural/usage", json={"id": made["id"]})
    happened = {
        "userId": "default",
        "groupId": "g1",
        "summary": "implement Smart Chunker",
        "topics": ["chunker"],
        "outcome": "success",
        "durationMs": 1000,
    }
    assert client.post("/api/episodic", json=happened).json()["success"]
    lesson = {"pattern": "Docker images are built on Mondays", "concepts": "docker,ci"}
    learnt = client.post("/api/learn", json=lesson).json()
    assert learnt["id"] == learnt["documentId"]
    assert learnt["file"].endswith("_docker-images-are-built-on-mondays.md")
    client.post("/v1/memories", json={"text": "Docker needs a rootless daemon", "kind": "decision"})

    knowledge = client.get("/api/search", params={"q": "docker images", "limit": 5, "mode": "hybrid"}).json()
    assert knowledge["results"][0]["content"] == "Docker images are built on Mondays"
    assert {one["memoryLayer"] for one in knowledge["results"]} == {"semantic"}
    model = client.get("/api/user-model", params={"userId": "default"}).json()
    assert (model["expertise"], model["preferences"]["responseLength"]) == ({"docker": "expert"}, "concise")
    consulted = client.get("/api/consult", params={"q": "docker daemon"}).json()
    assert consulted["principles"][0]["content"] == "Docker needs a rootless daemon"
    several = client.get("/api/search", params={"q": "docker", "layer": "procedural,episodic"}).json()
    assert several["results"][0]["memoryLayer"] == "procedural"
    procedures = client.get("/api/procedural", params={"q": "deploy docker ยังไง", "limit": 3}).json()
    assert procedures["results"][0]["procedure"] == steps
    assert procedures["results"][0]["successCount"] == 1
    episodes = client.get("/api/episodic", params={"userId": "default", "limit": 3}).json()
    assert episodes["results"][0]["summary"] == "implement Smart Chunker"
    assert episodes["results"][0]["created_at"].startswith("2026-01-01")
    assert episodes["results"][0]["recordedAt"] == 1767225600000

    everything = client.get("/api/search", params={"q": "docker", "layer": "all", "limit": 20}).json()
    assert {one["memoryLayer"] for one in everything["results"]} >= {"semantic", "procedural"}
    block = client.post("/v1/context", json={"task": "deploy docker"}).json()
    assert block["tokens"] <= 2000
    assert all(f"<{part}" in block["text"] for part in ("user_model", "procedural_memory", "recent_episodes"))
    assert client.get("/api/health").json()["status"] == "ok"
    assert client.delete("/api/user-model").json()["success"]
    assert client.get("/api/user-model").json()["expertise"] == {}


def test_the_second_page_is_not_the_first_and_bad_requests_are_told(client: httpx.Client) -> None:
    for number in range(4):
        client.post("/v1/memories", json={"text": f"zebra fact {number} of the herd"})
    pages = [
        client.get("/api/search", params={"q": "zebra", "limit": 2, "offset": at}).json() for at in (0, 2)
    ]
    ids = [one["id"] for page in pages for one in page["results"]]
    assert len(set(ids)) == 4
    missing = client.post("/api/learn", json={})
    assert (missing.status_code, missing.json()["detail"]) == (400, "Missing required field: pattern")
    assert client.get("/api/search", params={"q": "x", "layer": "seventh"}).status_code == 422
    assert client.get("/api/user-model", params={"userId": "ben"}).json()["code"] == "user_other"
    nobody = client.get("/api/user-model", params={"userId": ""})
    assert (nobody.status_code, nobody.json()["code"]) == (422, "name_invalid")


def test_writing_can_be_restricted(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock(), write_mode="selected") as engine:
        for client in served(engine):
            assert client.post("/api/learn", json={"pattern": "x y"}).json()["code"] == "write_mode"
            assert client.post("/api/episodic", json={"summary": "Met Lin"}).status_code == 200
            assert client.get("/api/search", params={"q": "x"}).status_code == 200
