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
    assert knowledge["results"][0]["concepts"] == ["docker", "ci"]
    assert {one["memoryLayer"] for one in knowledge["results"]} >= {"semantic", "procedural"}
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


def test_every_field_of_a_search_narrows_it_or_is_refused(client: httpx.Client) -> None:
    """L-1."""

    def found(**asked: object) -> list[str]:
        body = client.get("/api/search", params={"q": "harbour crane", **asked}).json()
        limit, offset = int(str(asked.get("limit", 10))), int(str(asked.get("offset", 0)))
        assert len(body["results"]) == min(body["total"] - offset, limit)
        return [one["content"] for one in body["results"]]

    here, there = "github.com/ana/port", "github.com/ana/yard"
    lessons = [
        ("The harbour crane is painted every spring", here),
        ("The crane of the harbour lifts forty tonnes", there),
        ("Nobody stands under a harbour crane", None),
    ]
    for text, project in lessons:
        said = {"pattern": text, "concepts": ["crane"] if project else ["principle"], "project": project}
        assert client.post("/api/learn", json=said).json()["success"]
    client.post("/v1/memories", json={"text": "Ana prefers the red crane", "kind": "preference"})
    client.post("/api/episodic", json={"summary": "Repaired the harbour crane"})
    texts = [text for text, _ in lessons]

    assert found(limit=2, offset=1) == found()[1:3]
    assert set(found()) >= {*texts, "Repaired the harbour crane"}  # no layer means every layer
    assert set(found(layer="semantic")) >= set(texts)
    assert "Repaired the harbour crane" not in found(layer="semantic")
    assert found(type="retro") == ["Repaired the harbour crane"]
    assert found(type="principle", limit=1) == [texts[2]]  # narrowed before it is cut
    assert "Ana prefers the red crane" in found(type="preference")
    assert texts[1] not in found(project=here)
    assert set(found(project=here)) >= {texts[0], texts[2]}
    assert found(cwd="/home/ana/code/github.com/ana/port/src") == found(project=here)
    by_words = client.get("/api/search", params={"q": "harbour", "mode": "fts"}).json()
    assert "Ana prefers the red crane" not in [one["content"] for one in by_words["results"]]
    by_meaning = client.get("/api/search", params={"q": "quay lifting gear", "mode": "vector"}).json()
    assert by_meaning["total"] > 0
    assert all(one["source"] in ("vector", "hybrid") for one in by_meaning["results"])
    assert client.get("/api/search", params={"q": "x", "mode": "telepathy"}).status_code == 422
    assert client.get("/api/search", params={"q": "x", "type": "song"}).status_code == 422
    first = client.get("/api/search", params={"q": "harbour crane", "project": there}).json()["results"]
    assert {one["project"] for one in first} == {None, there}

    consulted = client.get("/api/consult", params={"q": "may I stand under the harbour crane?"}).json()
    assert [one["content"] for one in consulted["principles"]] == [texts[2]]
    assert texts[2] not in [one["content"] for one in consulted["patterns"]]
    assert "Repaired the harbour crane" not in [one["content"] for one in consulted["patterns"]]


def test_health_says_that_the_store_does_not_answer(tmp_path: Path) -> None:
    """L-1."""
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock()) as engine:
        for client in served(engine):
            assert client.get("/api/health").json()["status"] == "ok"
            engine.database.close()
            away = client.get("/api/health")
            assert (away.status_code, away.json()["status"]) == (503, "unavailable")


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
