"""The end of memories over HTTP: pinned, purged, exported and erased, each with the rights it takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

import lamina
from lamina.doors.http.app import create_app
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right

Caller = Callable[..., httpx.Client]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        yield engine


@pytest.fixture
def client(engine: Engine) -> Caller:
    app = create_app(engine)

    def with_rights(*rights: str, **who: Any) -> Any:
        _, text = create_token(engine, "t", rights=tuple(map(Right, rights)), **who)
        headers = {"Authorization": f"Bearer {text}"}
        return TestClient(app, base_url="http://127.0.0.1:8765", headers=headers)

    return with_rights


def test_a_memory_is_pinned_purged_and_shown_to_be_gone(client: Caller) -> None:
    person, agent = client("read", "write", "consent"), client("read", "write", "consent", agent="planner")
    one = person.post("/v1/memories", json={"text": "อนาแพ้แลคโตส"}).json()["ids"][0]
    assert person.post(f"/v1/memories/{one}/pin", json={}).json()["code"] == "pinned"
    assert person.get(f"/v1/memories/{one}").json()["pinned"] is True
    assert person.post(f"/v1/memories/{one}/unpin", json={}).json()["code"] == "unpinned"

    early = person.post(f"/v1/memories/{one}/purge", json={})
    assert (early.status_code, early.json()["code"]) == (409, "purge_not_due")
    denied = agent.post(f"/v1/memories/{one}/purge", json={"now": True})
    assert (denied.status_code, denied.json()["code"]) == (403, "purge_not_allowed")
    (receipt,) = person.post(f"/v1/memories/{one}/purge", json={"now": True}).json()
    assert (receipt["memory_id"], set(receipt["found"].values())) == (one, {0})
    assert set(person.get(f"/v1/memories/{one}/purge").json()["found"].values()) == {0}
    assert person.get(f"/v1/memories/{one}").status_code == 404
    assert person.get(f"/memory/{one}/history").status_code == 404


def test_an_export_is_streamed_and_sealed_by_its_last_line(client: Caller) -> None:
    person = client("read", "write")
    for number in range(3):
        person.post("/v1/memories", json={"text": f"安娜喜歡第{number}種茶"})
    answer = person.get("/v1/export")
    *lines, last = answer.text.splitlines(keepends=True)
    end = json.loads(last)
    assert (end["type"], end["counts"]["memory"]) == ("end", 3)
    assert end["sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert client("read", user="bo").get("/v1/export").text.count("\n") == 1


def test_a_person_erases_themselves_and_nobody_else(client: Caller, engine: Engine) -> None:
    ana, bo = client("read", "write", "consent"), client("read", "write", "consent", user="bo")
    for person in (ana, bo):
        person.post("/v1/memories", json={"text": "The harbour closes at nine"})
    refused = bo.post("/v1/erase", json={"user": "ana"})
    assert (refused.status_code, refused.json()["code"]) == (403, "erase_not_allowed")
    receipt = bo.post("/v1/erase", json={"user": "bo"}).json()
    assert set(receipt["found"].values()) == {0}
    assert bo.get("/v1/export").status_code == 401  # the token went too
    assert ana.post("/v1/recall", json={"query": "harbour"}).json()["hits"]
    assert engine.verify_audit().findings == ()
