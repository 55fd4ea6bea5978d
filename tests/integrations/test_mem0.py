"""mem0's interface: the unmodified client works, people stay apart, nothing refused is called stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import lamina
from lamina.model import Right
from tests.operations.serving import serving

SECRET = "-".join(["hunter2", "Blue"])


class World:
    """A server, and tokens for it."""

    def __init__(self, engine: lamina.Engine, url: str) -> None:
        self.engine, self.host = engine, f"{url}/compat/mem0"

    def token(self, user: str | None = "ana", **details: Any) -> str:
        return self.engine.scope().create_token("mem0", **({"user": user} if user else {}), **details)[1]

    def client(self, token: str) -> httpx.Client:
        return httpx.Client(base_url=self.host, headers={"Authorization": f"Token {token}"}, timeout=30)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with lamina.open(tmp_path / "w", owner="ana") as engine, serving(engine) as url:
        yield World(engine, url)


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **more}


def test_what_is_added_is_found_changed_and_deleted(world: World) -> None:
    with world.client(world.token()) as client:
        assert client.get("/v1/ping/").json()["status"] == "ok"
        added = client.post(
            "/v3/memories/add/", json=said("Ana drinks green tea", infer=False, user_id="ana")
        )
        (one,) = added.json()["results"]
        assert (one["event"], one["memory"]) == ("ADD", "Ana drinks green tea")
        where = f"/v1/memories/{one['id']}/"
        again = client.post("/v3/memories/add/", json=said("Ana drinks green tea", infer=False)).json()
        assert [found["event"] for found in again["results"]] == ["NOOP"]
        asked = {"query": "What does Ana drink?", "filters": {"user_id": "ana"}, "top_k": 3}
        found = client.post("/v3/memories/search/", json=asked).json()["results"]
        assert found[0]["id"] == one["id"]
        assert 0 < found[0]["score"] <= 1
        listed = client.post("/v3/memories/", json={"filters": {"AND": [{"user_id": "ana"}]}}).json()
        assert (listed["count"], listed["next"], listed["results"][0]["id"]) == (1, None, one["id"])
        assert (
            client.put(where, json={"text": "Ana drinks black tea"}).json()["memory"]
            == "Ana drinks black tea"
        )
        steps = client.get(f"{where}history/").json()
        assert [step["event"] for step in steps] == ["ADD", "UPDATE"]
        assert client.delete(where).json()["message"] == "Memory deleted successfully!"
        assert client.post("/v3/memories/", json={"filters": {"user_id": "ana"}}).json()["count"] == 0


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Remember that our deploy day is Thursday", "our deploy day is Thursday"),
        ("จำไว้ว่าฉันแพ้กุ้ง", "ฉันแพ้กุ้ง"),
        ("记住：我的预算是五千元", "我的预算是五千元"),
    ],
)
def test_a_conversation_is_heard(words: str, kept: str, world: World) -> None:
    token = world.token()
    messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "OK."}]
    with world.client(token) as client:
        results = client.post("/v3/memories/add/", json={"messages": messages, "user_id": "ana"}).json()[
            "results"
        ]
    assert kept in [one["memory"] for one in results]


def test_what_is_refused_is_not_called_stored(world: World) -> None:
    with world.client(world.token()) as client:
        body = said(f"My wifi password is {SECRET}", infer=False)
        assert client.post("/v3/memories/add/", json=body).json() == {"results": []}
        (one,) = client.post("/v3/memories/add/", json=said("The wifi is slow", infer=False)).json()[
            "results"
        ]
        answer = client.put(f"/v1/memories/{one['id']}/", json={"text": f"The wifi password is {SECRET}"})
        assert answer.status_code == 403
        assert client.get(f"/v1/memories/{one['id']}/").json()["memory"] == "The wifi is slow"


def test_people_stay_apart(world: World) -> None:
    with world.client(world.token("ana")) as ana, world.client(world.token("bob")) as bob:
        (one,) = ana.post("/v3/memories/add/", json=said("Ana drinks tea", infer=False)).json()["results"]
        assert bob.get(f"/v1/memories/{one['id']}/").status_code == 404
        assert bob.put(f"/v1/memories/{one['id']}/", json={"text": "x"}).status_code == 404
        assert bob.delete(f"/v1/memories/{one['id']}/").status_code == 404
        assert bob.post("/v3/memories/", json={"filters": {"user_id": "ana"}}).status_code == 404
        asked = {"query": "tea", "filters": {"user_id": "ana"}}
        assert bob.post("/v3/memories/search/", json=asked).status_code == 404
        assert bob.delete("/v1/memories/", params={"user_id": "ana"}).status_code == 404
        assert bob.get("/v1/entities/").json()["results"] == [{"type": "user", "name": "bob"}]
        assert ana.get(f"/v1/memories/{one['id']}/").status_code == 200


def test_a_services_token_speaks_for_many(world: World) -> None:
    with world.client(world.token(None, role="user", agent="app", acts_for=("ana", "bob"))) as client:
        assert [one["name"] for one in client.get("/v1/entities/").json()["results"]] == ["ana", "bob"]
        assert client.post("/v3/memories/", json={"filters": {"user_id": "eve"}}).status_code == 404
        for name in ("ana", "bob"):
            body = said(f"{name} likes tea", infer=False, user_id=name)
            assert len(client.post("/v3/memories/add/", json=body).json()["results"]) == 1
        for name in ("ana", "bob"):
            listed = client.post("/v3/memories/", json={"filters": {"user_id": name}}).json()
            assert [one["memory"] for one in listed["results"]] == [f"{name} likes tea"]
        assert client.delete("/v2/entities/user/bob/").status_code == 200
        assert client.post("/v3/memories/", json={"filters": {"user_id": "bob"}}).json()["count"] == 0
        assert client.post("/v3/memories/", json={"filters": {"user_id": "ana"}}).json()["count"] == 1


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v3/memories/add/", {"messages": "hello"}, "messages_invalid"),
        ("/v3/memories/add/", {}, "messages_invalid"),
        ("/v3/memories/search/", {"query": "tea", "filters": {"OR": []}}, "filter_invalid"),
        ("/v3/memories/search/", {"query": "tea", "filters": {"user_id": {"gt": "a"}}}, "filter_invalid"),
        ("/v3/memories/search/", {"query": "tea", "top_k": 0}, "k_invalid"),
        ("/v3/memories/search/", {"query": ""}, "text_empty"),
    ],
)
def test_what_cannot_be_used_is_told(path: str, body: dict[str, Any], code: str, world: World) -> None:
    with world.client(world.token()) as client:
        answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["detail"]


def test_without_a_token_nobody_is_answered(world: World) -> None:
    assert httpx.get(f"{world.host}/v1/ping/").status_code == 401
    read_only = world.token(rights=(Right.READ,))
    with world.client(read_only) as client:
        assert client.post("/v3/memories/add/", json=said("x", infer=False)).status_code == 403


@pytest.mark.filterwarnings("default")  # the client's own
def test_the_unmodified_client_works(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    mem0 = pytest.importorskip("mem0", reason="pip install mem0ai, in an environment of its own")
    token = world.token(None, role="user", agent="app", acts_for=("ana", "bob", "nobody"))
    client = mem0.MemoryClient(api_key=token, host=world.host)
    added = client.add("Ana drinks green tea", user_id="ana", infer=False)["results"][0]
    assert (
        client.search("What does Ana drink?", filters={"user_id": "ana"})["results"][0]["id"] == added["id"]
    )
    assert client.get_all(filters={"user_id": "ana"})["count"] == 1
    assert client.get(added["id"])["memory"] == "Ana drinks green tea"
    assert client.update(added["id"], text="Ana drinks black tea")["memory"] == "Ana drinks black tea"
    assert [one["event"] for one in client.history(added["id"])] == ["ADD", "UPDATE"]
    assert [one["name"] for one in client.users()["results"]] == ["ana", "bob", "nobody"]
    client.batch_update([{"memory_id": added["id"], "text": "Ana drinks white tea"}])
    client.batch_delete([{"memory_id": added["id"]}])
    assert client.get_all(filters={"user_id": "ana"})["count"] == 0
    heard = client.add([{"role": "user", "content": "Remember that I live in Osaka"}], user_id="bob")
    assert heard["results"]
    client.delete_all(user_id="bob")
    assert client.get_all(filters={"user_id": "bob"})["count"] == 0
    with pytest.raises(Exception, match="here"):
        client.get("user:nobody:semantic:99")

    async def awaited() -> int:
        async with mem0.AsyncMemoryClient(api_key=world.token(), host=world.host) as other:
            await other.add("Ana reads at night", user_id="ana", infer=False)
            return int((await other.get_all(filters={"user_id": "ana"}))["count"])

    assert asyncio.run(awaited()) == 1
