"""What is HTTP's own: how a field is said, refused and named; statuses, tags, problems and their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

import lamina
from lamina.doors.http.app import create_app, document
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right
from lamina.operations.operation import Door
from lamina.operations.wording import worded_for
from lamina.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(tmp_path: Path, clock: ManualClock) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana", clock=clock) as engine:
        yield engine


Client = Callable[..., httpx.Client]


@pytest.fixture
def client(engine: Engine) -> Client:
    app = create_app(engine)

    def of(**who: str) -> TestClient:
        _, text = create_token(engine, "t", rights=tuple(Right), **who)  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {text}"}
        return TestClient(app, base_url="http://127.0.0.1:8765", headers=headers)

    return of


@pytest.fixture
def ana(client: Client) -> httpx.Client:
    return client()


def remembered(client: httpx.Client, text: str = "Ana likes oat milk", **details: object) -> str:
    return str(client.post("/v1/memories", json={"text": text, **details}).json()["ids"][0])


@pytest.mark.parametrize(
    ("path", "body", "near"),
    [
        ("/v1/memories", {"text": "x", "importence": 3}, "importance"),
        ("/v1/memories", {"content": "x"}, "text"),
        ("/v1/recall", {"query": "x", "category": ["a"]}, "categories"),
        ("/v1/relations", {"memory_id": "a", "to": "b"}, "from"),
        ("/v1/query", {"query": "x", "returns": "full"}, "return"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known_name(
    ana: httpx.Client, path: str, body: dict[str, object], near: str
) -> None:
    answer = ana.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    told = [one["message"] for one in answer.json()["errors"] if one["code"] == "extra_forbidden"]
    assert told == [f"There is no such field. Did you mean `{near}`?"]


def test_an_unknown_field_that_resembles_none_is_told_what_there_is(ana: httpx.Client) -> None:
    (error,) = ana.get("/v1/trace?colour=red").json()["errors"]
    assert error["message"] == "There is no such field; there are last."
    (error,) = ana.post(
        "/v1/memories/user:ana:semantic:1/promote?x=1", json={"to": "project", "9hunter2Z!": 1}
    ).json()["errors"]
    assert "hunter2" not in str(error)
    assert ana.get("/v1/policy?user=bob").json()["errors"][0]["message"] == "It takes no fields."


def test_what_is_known_then_is_recalled_over_http(ana: httpx.Client, clock: ManualClock) -> None:
    one = remembered(ana)
    clock.advance(days=2)
    ana.patch(f"/v1/memories/{one}", json={"text": "Ana likes soy milk"})
    for then, text in (("2026-01-02", "oat"), ("2026-01-04", "soy")):
        found = ana.post("/v1/recall", json={"query": "milk", "as_of": then})
        assert text in found.json()["hits"][0]["text"]
    assert ana.post("/v1/recall", json={"query": "milk", "as_of": "soon"}).json()["code"] == "time_invalid"


def test_a_memory_is_forgotten_by_its_key(ana: httpx.Client) -> None:
    remembered(ana, "Thai", key="response.language")
    wrong = ana.delete("/v1/memories/response.language", headers={"If-Match": '"9"'})
    assert (wrong.status_code, wrong.json()["code"]) == (412, "revision_mismatch")
    gone = ana.delete("/v1/memories/response.language?reason=she+said+so", headers={"If-Match": '"1"'})
    assert (gone.status_code, gone.json()["code"]) == (200, "forgotten")
    (*_, last) = ana.get(f"/v1/memories/{gone.json()['ids'][0]}/history").json()["items"]
    assert last["decision"]["reason"] == "she said so"
    assert ana.delete("/v1/memories/response.language").json()["code"] == "not_found"


def test_every_change_of_one_memory_takes_a_reason(ana: httpx.Client) -> None:
    one = remembered(ana)
    for verb in ("pin", "unpin"):
        assert ana.post(f"/v1/memories/{one}/{verb}", json={"reason": f"to {verb}"}).status_code == 200
    ana.delete(f"/v1/memories/{one}")
    ana.post(f"/v1/memories/{one}/restore", json={"reason": "a change of mind"})
    reasons = [
        step["decision"].get("reason") for step in ana.get(f"/v1/memories/{one}/history").json()["items"]
    ]
    assert {"to pin", "to unpin", "a change of mind"} <= set(reasons)


def test_null_is_as_good_as_left_out(ana: httpx.Client) -> None:
    one = remembered(ana, kind=None, reason=None, tags=None)
    assert ana.patch(f"/v1/memories/{one}", json={"text": "soy", "reason": None}).status_code == 200
    assert ana.post("/v1/phases", json={"space": None, "name": None}).status_code == 201
    assert ana.post("/v1/memories", json={"text": None}).status_code == 422


def test_a_denial_has_its_receipt(ana: httpx.Client) -> None:
    answer = ana.post("/v1/memories", json={"text": "my password is hunter2Xq9vLw7"})
    told = answer.json()
    assert (answer.status_code, told["receipt"]["decision"]) == (403, "denied")
    assert (told["receipt"]["code"], told["receipt"]["warnings"][0]) == (told["code"], told["detail"])
    assert "events" not in told["receipt"]
    assert "hunter2" not in answer.text


def test_hints_are_in_the_words_of_this_door(ana: httpx.Client) -> None:
    nothing = ana.post("/v1/pending/confirm", json={})
    assert nothing.status_code == 404
    event = ana.get("/v1/trace/99/explain").json()
    decision = ana.get("/v1/decisions/none").json()
    for told in (nothing.json(), event, decision):
        assert "`lamina " not in told.get("hint", "")
    spoken = "`lamina pending` lists what does, `lamina pending confirm k` keeps it; `lamina doctor` helps."
    assert worded_for(Door.HTTP, spoken) == (
        "`GET /v1/pending` lists what does, `POST /v1/pending/confirm` keeps it; `lamina doctor` helps."
    )
    assert worded_for(Door.MCP, spoken) == (
        "`memory_pending` lists what does, `lamina pending confirm k` keeps it; `lamina doctor` helps."
    )


def test_a_method_that_no_route_knows_is_405_whatever_it_holds(ana: httpx.Client) -> None:
    for kind in ("text/plain", "application/json", ""):
        answer = ana.put("/v1/memories", content=b"x", headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
        assert "POST" in answer.headers["allow"]


def test_decisions_are_the_owners_alone(client: Client, engine: Engine) -> None:
    assert engine.root is not None
    ana, bob = client(), client(user="bob")
    assert ana.get("/v1/decisions").status_code == 200
    for answer in (
        bob.get("/v1/decisions"),
        bob.get("/v1/decisions/oat"),
        bob.post("/v1/decisions/oat/supersede", json={"by": "soy"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_the_document_has_every_problem_that_a_route_can_answer_with() -> None:
    for path, methods in document()["paths"].items():
        for method, described in methods.items():
            statuses = set(described["responses"])
            if described["security"]:
                assert {"401", "403", "404", "422", "429"} <= statuses, path
            if method in ("post", "patch"):
                assert {"400", "413", "415"} <= statuses, path


def test_tokens_are_made_listed_and_ended_by_an_administrator(client: Client) -> None:
    ana = client()
    made = ana.post("/v1/tokens", json={"label": "phone", "rights": ["read"], "expires_at": "2026-02-01"})
    assert made.status_code == 201
    known, text = made.json()["token"]["id"], made.json()["text"]
    listed = {one["id"]: one for one in ana.get("/v1/tokens").json()["items"]}
    assert (listed[known]["rights"], listed[known]["expires_at"]) == (["read"], "2026-02-01T00:00:00Z")
    assert text not in ana.get("/v1/tokens").text
    ended = ana.delete(f"/v1/tokens/{known}")
    assert (ended.status_code, ended.content) == (204, b"")
    assert ana.get("/v1/status", headers={"Authorization": f"Bearer {text}"}).status_code == 401
