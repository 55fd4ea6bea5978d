"""What governs a memory holds at the doors, too: declared origins, noes, proofs, receipts, undoing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mcp import Client

from lamina.doors.http.app import create_app
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right, State, Trust

SAID = "My sister Maria lives in Hanoi"
#: A text of each verb that says where it is from: the route, the tool, what is sent.
MADE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "remember": ("/v1/memories", "memory_remember", {"text": "One can swim at the place in question"}),
    "learn": ("/v1/learn", "oracle_learn", {"text": "Guests of that house may go swimming"}),
    "episode": ("/v1/episodes", "oracle_episodic_record", {"summary": "Bathing was arranged for all"}),
    "procedure": (
        "/v1/procedures",
        "oracle_procedural_learn",
        {"trigger": "booking", "steps": ["take towels"]},
    ),
}


@pytest.fixture
def http(engine: Engine) -> Callable[..., TestClient]:
    app = create_app(engine)

    def speaking(*rights: str, **who: Any) -> TestClient:
        _, text = create_token(engine, "t", rights=tuple(map(Right, rights)), **who)
        headers = {"Authorization": f"Bearer {text}", "X-Lamina-Session": "s1"}
        return TestClient(app, base_url="http://127.0.0.1", headers=headers)

    return speaking


def _web(engine: Engine) -> str:
    return engine.scope(role="tool", agent="web").remember("Hotel Aurora has a pool").ids[0]


def _doubted(engine: Engine, web: str) -> bool:
    """Whether the one other thing that is kept or waits has the web's text for its origin."""
    ana = engine.scope(session="s1")
    known = [*ana.list(limit=50).items, *ana.pending()]
    (one,) = [each for each in known if each.id != web]
    return one.provenance.origins == (web,) and one.provenance.trust is Trust.UNTRUSTED


@pytest.mark.parametrize("verb", MADE)
def test_a_declared_origin_counts_over_http(
    engine: Engine, http: Callable[..., TestClient], verb: str
) -> None:
    route, _, said = MADE[verb]
    web = _web(engine)
    answer = http("read", "write", agent="planner").post(route, json={**said, "derived_from": [web]})
    assert answer.status_code < 300
    assert _doubted(engine, web)


@pytest.mark.parametrize("verb", MADE)
def test_a_declared_origin_counts_over_mcp(engine: Engine, verb: str) -> None:
    _, tool, said = MADE[verb]
    web = _web(engine)

    async def told() -> Any:
        starter = Starter(engine, engine.scope(agent="writer", session="s1"))
        async with Client(build_server(starter, tools="all")) as client:
            return await client.call_tool(tool, {**said, "derived_from": [web]})

    assert not asyncio.run(told()).is_error
    assert _doubted(engine, web)


def test_a_no_its_proof_and_an_answers_receipt_over_http(
    engine: Engine, http: Callable[..., TestClient]
) -> None:
    person, agent = http("read", "write", "consent"), http("read", "write", agent="planner")
    one = person.post("/v1/memories", json={"text": SAID}).json()["ids"][0]
    answer = agent.post("/v1/recall", json={"query": "Where does Maria live?"}).json()["answer"]
    told = person.get(f"/v1/answers/{answer}", params={"replay": True}).json()
    assert (told["replay"], one in told["shown"]) == ("the same", True)
    assert [each["id"] for each in person.get(f"/v1/memories/{one}/answers").json()["items"]] == [answer]
    assert person.delete(f"/v1/memories/{one}").json()["code"] == "forgotten"
    refused = agent.post("/v1/memories", json={"text": SAID})
    assert (refused.status_code, refused.json()["code"]) == (403, "refused_stays")
    assert "Maria" not in refused.text
    (no,) = person.get("/v1/noes").json()["items"]
    assert (no["tries"], no["tried_by"]) == (1, "agent:planner")
    assert no["number"] in [each["number"] for each in person.get("/v1/review").json()["refused"]]
    proof = person.post("/v1/prove/forgotten", json={"what": SAID}).json()
    assert proof["forgotten"]
    assert "Maria" not in str(proof)
    assert agent.get("/v1/noes").status_code == 403
    assert agent.post("/v1/prove/forgotten", json={"what": SAID}).status_code == 403
    assert person.post(f"/v1/noes/{no['number']}/lift", json={}).json()["lifted_by"] == "user:ana"
    assert agent.post("/v1/memories", json={"text": SAID}).status_code == 201


@pytest.mark.parametrize(("by", "name"), [("session", "s1"), ("agent", "planner"), ("source", "web")])
def test_a_session_an_agent_and_a_source_are_erased_over_http(
    engine: Engine, http: Callable[..., TestClient], by: str, name: str
) -> None:
    kept = engine.scope(session="s2").remember("The kettle is on the shelf").ids[0]
    gone = {
        "session": lambda: engine.scope(session="s1").remember("The boat is called Petrel").ids[0],
        "agent": lambda: engine.scope(agent="planner").remember("The build takes nine minutes").ids[0],
        "source": lambda: _web(engine),
    }[by]()
    person, agent = http("read", "write", "consent"), http("read", "write", "consent", agent="planner")
    assert agent.post("/v1/undo", json={by: name}).status_code == 403
    planned = person.post("/v1/undo", json={by: name, "dry_run": True}).json()
    assert planned["memories"] == [gone]
    assert person.post("/v1/undo", json={by: name, "for_good": True}).json()["memories"] == [gone]
    assert person.get(f"/v1/memories/{gone}").status_code == 404
    assert engine.scope().get(kept).state is State.ACTIVE
