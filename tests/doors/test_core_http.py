"""Guesses and the administrator's channel over HTTP, with tokens of different rights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

import lamina
from lamina.doors.http.app import create_app
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right

POLICY = "- key:policy.allow.tools | value:read_file\n"
Caller = Callable[..., httpx.Client]


@pytest.fixture
def engine(tmp_path: Path):
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        yield engine


@pytest.fixture
def client(engine: Engine) -> Caller:
    app = create_app(engine, allowed_hosts=["testserver"])

    def with_rights(*rights: str, agent: str | None = None) -> TestClient:
        _, text = create_token(engine, "t", agent=agent, rights=tuple(Right(one) for one in rights))
        headers = {"Authorization": f"Bearer {text}", "X-Lamina-Run": "r1", "X-Lamina-Session": "s1"}
        return TestClient(app, base_url="http://127.0.0.1:8765", headers=headers)

    return with_rights


def test_a_run_lists_confirms_and_rejects_its_guesses(client: Caller, engine: Engine) -> None:
    person = client("read", "write", "consent")
    person.post("/v1/hear", json={"text": "briefly please"})
    items = person.get("/runs/r1/memory/pending").json()["items"]
    assert [(one["target_key"], one["value"]) for one in items] == [("response.verbosity", "concise")]
    assert person.get("/runs/r2/memory/pending").json() == {"items": []}
    assert person.get("/runs/r1/memory/metrics").json()["pending_count"] == 1

    answer = person.post("/runs/r1/memory/confirm", json={"key": "response.verbosity"})
    assert (answer.status_code, answer.json()["status"]) == (200, "confirmed")
    assert engine.scope().resolve()["response.verbosity"].value == "concise"
    assert person.post("/runs/r1/memory/confirm", json={"key": "response.verbosity"}).status_code == 404

    person.post("/v1/hear", json={"text": "ขอเป็นข้อๆ"})
    for item in person.get("/runs/r1/memory/pending").json()["items"]:
        answer = person.post("/runs/r1/memory/reject", json={"key": item["pending_key"]})
        assert answer.json()["status"] == "rejected"
    assert person.get("/runs/r1/memory/pending").json() == {"items": []}


def test_an_agent_cannot_agree_with_its_own_guess(client: Caller) -> None:
    client("read", "write").post("/v1/hear", json={"text": "briefly please"})
    agent = client("read", "write", "consent", agent="planner")
    answer = agent.post("/runs/r1/memory/confirm", json={"key": "response.verbosity"})
    assert (answer.status_code, answer.json()["code"]) == (403, "consent_needed")
    without = client("read", "write").post("/runs/r1/memory/confirm", json={"key": "response.verbosity"})
    assert (without.status_code, without.json()["code"]) == (403, "right_missing")


def test_an_agents_key_waits_a_no_to_it_stays_and_an_administrators_key_is_refused(
    client: Caller, engine: Engine
) -> None:
    agent, person = client("read", "write", agent="planner"), client("read", "write", "consent")
    for key, value in (("response.tone", "Friendly"), ("favourite.food", "ต้มยำ"), ("user.goal.x", "跑步")):
        held = agent.post("/v1/memories", json={"text": value, "key": key})
        assert (held.status_code, held.json()["decision"], held.json()["code"]) == (202, "held", "pending")
        assert key in held.json()["acknowledgement"]
        assert person.post("/runs/r1/memory/reject", json={"key": key}).status_code == 200
        for again in (value.lower(), f" {value}! "):
            denied = agent.post("/v1/memories", json={"text": again, "key": key})
            assert (denied.status_code, denied.json()["code"]) == (403, "refused_stays")
    assert person.get("/runs/r1/memory/pending").json() == {"items": []}
    for key in ("policy.allow.tools", "ＳＹＳＴＥＭ．prompt", "identity․role", "sеcurity.level"):
        for caller in (agent, person):
            denied = caller.post("/v1/memories", json={"text": "forged", "key": key})
            assert (denied.status_code, denied.json()["code"]) == (403, "key_reserved"), key
            assert "administrator" in denied.json()["detail"]
    assert engine.scope(session="s1").resolve() == {}
    assert person.post("/v1/memories", json={"text": "friendly", "key": "response.tone"}).status_code == 201


def test_a_policy_is_reloaded_with_the_admin_right_alone(
    client: Caller, engine: Engine, lamina_home: Path
) -> None:
    (lamina_home / "POLICY.md").write_text(POLICY)
    assert client("read", "write", "consent").post("/admin/policy/reload", json={}).status_code == 403
    answer = client("admin").post("/admin/policy/reload", json={})
    told = answer.json()
    assert told.pop("digest")
    assert told == {"status": "reloaded", "policy_entry_count": 1}
    assert not engine.scope().may_use("rm_rf")
    assert "read_file" not in answer.text


def test_jobs_are_listed_for_whoever_reads_and_run_for_an_administrator_alone(client: Caller) -> None:
    reader, admin = client("read", "write", "consent", agent="planner"), client("read", "admin")
    items = reader.get("/v1/jobs").json()["items"]
    assert {"insights", "lifecycle"} <= {one["job"] for one in items}
    assert reader.post("/v1/jobs/lifecycle/run", json={}).status_code == 403
    report = admin.post("/v1/jobs/insights/run", json={})
    assert (report.status_code, report.json()["status"]) == (200, "unchanged")
    assert "needs a language model" in report.json()["notes"][0]
    assert admin.post("/v1/jobs/nothing/run", json={}).json()["code"] == "job_unknown"
    assert admin.post("/v1/jobs/lifecycle/run", json={"dry_run": True}).json()["code"] == "no_dry_run"


def test_why_not_takes_what_narrows_a_question(client: Caller) -> None:
    ana = client("read", "write")
    known = ana.post("/v1/memories", json={"text": "Green tea is calming"}).json()["ids"][0]

    def why(**asked: object) -> list[str]:
        answer = ana.post(f"/v1/memories/{known}/why-not", json={"query": "green tea", **asked})
        lines: list[str] = answer.json()["lines"]
        return lines

    assert why() == ["It is recalled, as number 1."]
    assert why(layers=["procedural"], kinds=["decision"]) == [
        "It belongs to the layer semantic; asked for was procedural.",
        "It is of the kind fact; asked for was decision.",
    ]
    assert ana.post(f"/v1/memories/{known}/why-not", json={"query": "tea", "trace": True}).status_code == 422
