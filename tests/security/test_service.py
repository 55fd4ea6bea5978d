"""A service's token acts for the people that it names, within its rights, and reaches nobody else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import lamina
from lamina import InvalidInput
from lamina.doors.http.app import create_app, document
from lamina.doors.http.guard import OPEN_PATHS
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token, list_tokens
from lamina.model import Right

PEOPLE = {
    "bob": "The lantern is under the green bridge",
    "ภูมิ": "ตะเกียงอยู่ใต้สะพานสีเขียว",
    "小林": "燈籠放在綠色的橋下面",
}
ANA = "The kalomir stands in the cellar"
EVERY = tuple(Right)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana") as opened:
        opened.scope().remember(ANA)
        opened.scope().remember("kalomir", key="drink.favourite")
        for name, text in PEOPLE.items():
            opened.scope(user=name).remember(text)
        yield opened


@pytest.fixture
def client(engine: Engine) -> TestClient:
    return TestClient(create_app(engine), base_url="http://127.0.0.1")


def bearing(token: str, user: str = "", **more: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}", **more}
    if user:
        headers["X-Lamina-User"] = user.encode().decode("latin-1")
    return {name: value.encode("latin-1") for name, value in headers.items()}


def service(engine: Engine, **details: Any) -> str:
    given = {"agent": "builder", "acts_for": tuple(PEOPLE), "rights": EVERY, **details}
    return create_token(engine, "builder", **given)[1]  # type: ignore[arg-type]


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_it_acts_for_each_of_its_people_and_what_it_writes_is_theirs(
    engine: Engine, client: TestClient
) -> None:
    token = service(engine)
    for name, text in PEOPLE.items():
        found = client.post("/v1/recall", json={"query": text}, headers=bearing(token, name)).json()["hits"]
        assert [one["text"] for one in found] == [text]
        kept = client.post(
            "/v1/memories", json={"text": f"{name} asked today"}, headers=bearing(token, name)
        ).json()
        assert engine.scope(user=name).get(kept["ids"][0]).provenance.actor == "agent:builder"
    assert client.get("/v1/status", headers=bearing(token, "bob")).json()["caller"] == {
        "user": None,
        "agent": "builder",
        "role": "agent",
        "rights": sorted(EVERY),
        "acts_for": sorted(PEOPLE),
    }


def test_nobody_else_is_there_on_any_route_by_header_or_field(engine: Engine, client: TestClient) -> None:
    token, tried = service(engine), 0
    for path, operations in document()["paths"].items():
        for method in operations:
            if path in OPEN_PATHS:
                continue
            where = re.sub(r"\{\w+\}", "user:ana:semantic:1", path)
            body = {"json": {"q": "kalomir"}} if method in ("post", "patch") else {}
            for user in ("ana", "eve"):
                answer = client.request(method, where, headers=bearing(token, user), **body)
                assert told(answer) == (404, "user_other"), (method, path)
            if path.startswith("/api/"):
                for more in ({"params": {"userId": "ana"}}, {"json": {"userId": "ana"}}):
                    if "json" in more and method != "post":
                        continue
                    said = {**body, **more} if method == "post" else more
                    answer = client.request(method, where, headers=bearing(token), **said)
                    assert told(answer) == (404, "user_other"), (method, path)
            tried += 1
    assert tried > 70
    assert ANA in [one.text for one in engine.scope().list().items]


def test_who_it_acts_for_must_be_said_and_said_once(engine: Engine, client: TestClient) -> None:
    token = service(engine)
    asked = {"json": {"query": "lantern"}}
    assert told(client.post("/v1/recall", headers=bearing(token), **asked)) == (422, "user_missing")
    assert told(client.get("/api/user-model", headers=bearing(token))) == (422, "user_missing")
    assert told(client.get("/api/user-model?userId=default", headers=bearing(token))) == (422, "user_missing")
    two = client.get("/api/user-model?userId=bob", headers=bearing(token, "小林"))
    assert told(two) == (422, "user_twice")
    for name in ("", "a b", "\x80", "a" * 129):
        answer = client.post("/v1/recall", headers=bearing(token, **{"X-Lamina-User": name}), **asked)
        assert answer.status_code in (404, 422)
    one = service(engine, user="bob", acts_for=("小林",))
    found = client.post("/v1/recall", headers=bearing(one), **asked).json()["hits"]
    assert [hit["text"] for hit in found] == [PEOPLE["bob"]]


def test_the_documents_prompt_builder_works_with_one_token_for_many(
    engine: Engine, client: TestClient
) -> None:
    token = bearing(service(engine, speaks_for=True, role="user"))
    for name, text in PEOPLE.items():
        partial = {"userId": name, "updates": {"expertise": {"docker": "expert"}, "notes": [text]}}
        assert client.post("/api/user-model", json=partial, headers=token).json()["success"]
        done = {"userId": name, "summary": text, "topics": ["lantern"], "outcome": "success"}
        assert client.post("/api/episodic", json=done, headers=token).json()["success"]
        steps = {
            "userId": name,
            "trigger": f"find {text}",
            "procedure": ["look", "ask"],
            "source": "explicit",
        }
        assert client.post("/api/procedural", json=steps, headers=token).json()["success"]
        assert client.post("/api/learn", json={"userId": name, "pattern": f"{text} 7"}, headers=token).json()[
            "id"
        ]
    for name, text in PEOPLE.items():
        seen = ""
        for path, more in (
            ("user-model", {}),
            ("procedural", {"q": text}),
            ("episodic", {"q": text}),
            ("consult", {"q": text}),
            ("search", {"q": text, "layer": "all"}),
        ):
            answer = client.get(f"/api/{path}", params={"userId": name, **more}, headers=token)
            assert answer.status_code == 200, answer.text
            assert path == "consult" or text in json.dumps(answer.json(), ensure_ascii=False)
            seen += answer.text
        for other in {*PEOPLE} - {name}:
            assert PEOPLE[other] not in seen
        assert "kalomir" not in seen


def test_a_service_is_made_shown_and_revoked_over_http_and_audited(
    engine: Engine, client: TestClient
) -> None:
    admin = bearing(create_token(engine, "me", rights=EVERY)[1])
    wanted = {"label": "builder", "agent": "builder", "acts_for": ["bob"], "rights": ["read"]}
    made = client.post("/v1/tokens", json=wanted, headers=admin).json()
    (line,) = [one for one in client.get("/v1/tokens", headers=admin).json()["items"] if one["acts_for"]]
    assert (line["user"], line["acts_for"], line["state"]) == (None, ["bob"], "live")
    theirs = bearing(made["text"], "bob")
    assert client.get("/v1/me", headers=theirs).status_code == 200
    refused = client.post("/v1/memories", json={"text": "x"}, headers=theirs)
    assert told(refused) == (403, "right_missing")
    assert client.delete(f"/v1/tokens/{line['id']}", headers=admin).status_code == 204
    assert client.get("/v1/me", headers=theirs).status_code == 401
    told_of = [one for one in engine.scope().audit().records if one.scope == f"token:{line['id']}"]
    assert [(one.op, one.reason) for one in told_of] == [
        ("token_revoke", "revoked"),
        ("token_create", "agent, acts_for bob"),
    ]


def test_no_other_token_can_do_it_whatever_its_rights(engine: Engine, client: TestClient) -> None:
    for details in (
        {"agent": "planner"},
        {"agent": "planner", "rights": EVERY},
        {"user": "ana", "rights": EVERY},
        {"role": "admin", "rights": EVERY},
        {"role": "tool", "rights": EVERY},
    ):
        token = create_token(engine, "other", **details)[1]  # type: ignore[arg-type]
        asked = {"json": {"query": "lantern"}}
        assert told(client.post("/v1/recall", headers=bearing(token, "bob"), **asked)) == (404, "user_other")
        answer = client.get("/api/episodic?userId=bob", headers=bearing(token))
        assert told(answer) == (404, "user_other")
        own = client.post("/v1/recall", headers=bearing(token, "ana"), **asked)
        assert own.status_code == 200  # naming oneself is nothing new


def test_one_that_speaks_as_its_people_is_told_from_them(engine: Engine, client: TestClient) -> None:
    token = service(engine, role="user")
    kept = client.post("/v1/memories", json={"text": "I sing"}, headers=bearing(token, "bob")).json()
    origin = engine.scope(user="bob").get(kept["ids"][0]).provenance
    assert (origin.actor, origin.via, origin.agent) == ("user:bob", "http:builder", "builder")


def test_everybody_is_said_with_a_star_and_with_nothing_beside_it(engine: Engine, client: TestClient) -> None:
    token = service(engine, acts_for=("*",))
    found = client.post("/v1/recall", json={"query": "cellar"}, headers=bearing(token, "ana")).json()["hits"]
    assert found[0]["text"] == ANA
    for wrong in (
        {"acts_for": ("*", "bob")},
        {"acts_for": ("bob",), "agent": None},
        {"acts_for": "bob"},
        {"acts_for": ("a b",)},
        {"acts_for": ("",)},
        {"acts_for": tuple(f"p{number}" for number in range(1001))},
    ):
        with pytest.raises(InvalidInput):
            service(engine, **wrong)
    assert len(list_tokens(engine)) == 1


def test_who_is_erased_is_in_no_list_any_more(engine: Engine, client: TestClient) -> None:
    token = service(engine)
    receipt = engine.scope(role="admin").erase("bob")
    assert receipt.clean
    assert receipt.erased["token"] == 1
    assert [one.acts_for for one in list_tokens(engine)] == [tuple(sorted({*PEOPLE} - {"bob"}))]
    answer = client.post("/v1/recall", json={"query": "lantern"}, headers=bearing(token, "bob"))
    assert told(answer) == (404, "user_other")
