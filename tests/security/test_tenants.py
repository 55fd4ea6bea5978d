"""One server, one PostgreSQL, several tenants: a token opens its own tenant's store, and no other's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

import lamina
from lamina.doors.http.app import create_app
from lamina.doors.http.guard import Limits
from lamina.doors.mcp.server import http_app
from lamina.engine import Engine
from lamina.errors import Unauthenticated
from lamina.jobs.run import due_jobs
from lamina.lifecycle.tokens import create_token, revoke_token
from lamina.model import Right
from lamina.opening import open_tenants
from lamina.storage.postgres import PostgresDatabase
from lamina.studio.app import Studio
from lamina.testing import ManualClock

TENANTS = ("acme", "globex", "บริษัท ไทย".replace(" ", "-"), "公司")


@dataclass
class House:
    """A server with several tenants in it."""

    engine: Engine
    client: TestClient
    tokens: dict[str, str] = field(default_factory=dict)

    def ask(self, tenant: str, method: str, path: str, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[tenant]}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def recalled(self, tenant: str, question: str) -> list[str]:
        answer = self.ask(tenant, "POST", "/v1/recall", json={"query": question, "k": 50})
        assert answer.status_code == 200, answer.text
        return [hit["text"] for hit in answer.json()["hits"]]


def make_tokens(url: str, **more: Any) -> dict[str, str]:
    """A token of each tenant for a person of the same name, with every right."""
    made = {}
    for tenant in ("default", *TENANTS):
        with lamina.open(url, tenant=tenant, owner="owner", clock=ManualClock(), **more) as engine:
            made[tenant] = create_token(engine, "t", user="ana", rights=tuple(Right))[1]
    return made


@pytest.fixture
def house(postgres_store: str) -> Iterator[House]:
    tokens = make_tokens(postgres_store)
    with lamina.open(postgres_store, owner="owner", clock=ManualClock()) as engine:
        engine.tenants = open_tenants(engine, os.environ)
        app = create_app(engine, limits=Limits(failures_per_minute=10**6))
        yield House(engine, TestClient(app, base_url="http://127.0.0.1"), tokens)


def test_a_token_opens_its_own_tenants_memory_and_no_others(house: House) -> None:
    for tenant in house.tokens:
        made = house.ask(
            tenant, "POST", "/v1/memories", json={"text": f"The canary of {tenant} is in a cage"}
        )
        assert made.status_code == 201, made.text

    for tenant in house.tokens:
        assert house.recalled(tenant, "canary cage") == [f"The canary of {tenant} is in a cage"]
        status = house.ask(tenant, "GET", "/v1/status").json()["store"]
        assert (status["tenant"], status["memories"]) == (tenant, {"active": 1})
    with psycopg.connect(house.engine.database.url) as server:
        rows = server.execute("SELECT tenant, count(*) FROM lamina.memory GROUP BY 1").fetchall()
    assert dict(rows) == dict.fromkeys(house.tokens, 1)


def attempts(own: str, other: str) -> list[str]:
    """Texts by which the bearer of a token of one tenant might try to be somebody in another."""
    bare, _, _ = own.partition(".")
    prefix, token_id, secret = bare.split("_", 2)
    named = other.partition(".")[2]
    return [
        f"{bare}.{named}",
        f"{bare}.{named}.acme",
        f"{bare}.",
        f"{bare}..{named}",
        f"{bare}.{named}%00",
        f"{bare}.~00",
        f"{bare}.*~20tenants",
        f"{bare}.'; DROP TABLE token; --",
        f"{prefix}_{other.split('_')[1]}_{secret}.{named}",
        f"{prefix}_{token_id}_{other.split('_', 2)[2]}",
        f"{prefix}_{token_id}_.{named}",
        f"{bare}.nobody",
        f"{bare}.{'x' * 1500}",
        bare,
    ]


def test_no_way_of_naming_another_tenant_is_accepted(house: House) -> None:
    house.ask("globex", "POST", "/v1/memories", json={"text": "The canary of globex"})
    for own, other in (("acme", "globex"), ("default", "globex"), ("公司", TENANTS[2])):
        for presented in attempts(house.tokens[own], house.tokens[other]):
            if presented == house.tokens[own]:
                continue
            answer = house.client.post(
                "/v1/recall",
                json={"query": "canary"},
                headers={"Authorization": f"Bearer {presented}"},
            )
            assert answer.status_code == 401, presented
            assert answer.json()["detail"] == "This token is not accepted." or " " in presented


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Lamina-Tenant": "globex"},
        {"X-Tenant": "globex"},
        {"X-Lamina-User": "ana@globex"},
        {"X-Lamina-Session": "globex:ana"},
    ],
)
def test_nothing_in_a_request_names_a_tenant(house: House, headers: dict[str, str]) -> None:
    house.ask("globex", "POST", "/v1/memories", json={"text": "The canary of globex"})
    body = {"query": "canary", "k": 5}
    answer = house.ask("acme", "POST", "/v1/recall", json=body, headers=headers)
    assert "globex" not in answer.text or answer.status_code >= 400
    refused = house.ask("acme", "POST", "/v1/recall", json={**body, "tenant": "globex"})
    assert refused.status_code == 422


def test_ids_cursors_and_tokens_of_another_tenant_are_worth_nothing(house: House) -> None:
    made = house.ask("globex", "POST", "/v1/memories", json={"text": "The canary of globex"}).json()
    cursor = house.ask("globex", "GET", "/v1/changes").json()["cursor"]
    theirs = house.ask("globex", "GET", "/v1/tokens").json()
    token_id = (theirs if isinstance(theirs, list) else theirs["items"])[0]["id"]

    assert house.ask("acme", "GET", f"/v1/memories/{made['ids'][0]}").status_code == 404
    assert house.ask("acme", "DELETE", f"/v1/memories/{made['ids'][0]}").status_code == 404
    assert house.ask("acme", "DELETE", f"/v1/tokens/{token_id}").status_code == 404
    followed = house.ask("acme", "GET", f"/v1/changes?since={cursor}")
    assert followed.status_code == 422 or not followed.json()["changes"]
    assert "The canary of globex" in house.recalled("globex", "canary")


def test_without_row_security_the_queries_own_filter_holds(house: House) -> None:
    with psycopg.connect(house.engine.database.url, autocommit=True) as server:
        rows = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'lamina'").fetchall()
        for (table,) in rows:
            server.execute(f"ALTER TABLE lamina.{table} DISABLE ROW LEVEL SECURITY".encode())
    test_a_token_opens_its_own_tenants_memory_and_no_others(house)
    test_no_way_of_naming_another_tenant_is_accepted(house)
    test_ids_cursors_and_tokens_of_another_tenant_are_worth_nothing(house)


def test_row_security_holds_for_the_list_of_tenants_too(house: House) -> None:
    with psycopg.connect(house.engine.database.url, options="-c search_path=lamina") as server:
        server.execute(
            "SELECT set_config('role', 'lamina_app', true), set_config('lamina.tenant', 'acme', true)"
        )
        rows = server.execute("SELECT DISTINCT tenant FROM property").fetchall()
    assert rows == [("acme",)]


def test_a_stranger_opens_no_store_and_leaves_no_trace(house: House) -> None:
    tenants = house.engine.tenants
    assert tenants is not None
    before = tenants.names()
    for number in range(20):
        with pytest.raises(Unauthenticated):
            house.engine.recognise(f"lam_abc_def.stranger{number}")
    assert (tenants.names(), tenants.open_now()) == (before, [])
    with psycopg.connect(house.engine.database.url) as server:
        rows = server.execute("SELECT count(*) FROM lamina.property WHERE tenant LIKE 'stranger%'").fetchone()
    assert rows == (0,)


def test_a_revoked_token_ends_at_once_and_in_its_tenant_alone(house: House) -> None:
    engine, token = house.engine.recognise(house.tokens["acme"])
    revoke_token(engine, token.id)

    assert house.ask("acme", "GET", "/v1/status").status_code == 401
    assert house.ask("globex", "GET", "/v1/status").status_code == 200


def test_numbers_about_everybody_are_for_the_servers_own_administrator(house: House) -> None:
    for tenant in TENANTS:
        refused = house.ask(tenant, "GET", "/metrics")
        assert (refused.status_code, refused.json()["code"]) == (403, "tenant_other")
        assert house.ask(tenant, "GET", "/v1/status").json()["store"]["bytes"] == 0
    page = house.ask("default", "GET", "/metrics").text
    assert f"lamina_tenants_open {len(TENANTS)}.0" in page
    assert not [tenant for tenant in TENANTS if tenant in page]


def test_only_so_many_stores_stay_open_and_the_others_come_back(house: House) -> None:
    tenants = house.engine.tenants
    assert tenants is not None
    tenants._most = 2
    for turn in range(3):
        for tenant in TENANTS:
            made = house.ask(tenant, "POST", "/v1/memories", json={"text": f"{tenant} saw bird {turn}"})
            assert made.status_code == 201
            assert len(tenants.open_now()) <= 2
    for tenant in TENANTS:
        assert sorted(house.recalled(tenant, "bird")) == [f"{tenant} saw bird {turn}" for turn in range(3)]
        assert house.engine.of(tenant).verify_audit().findings == ()


def test_all_tenants_share_the_connections_of_one_pool(house: House) -> None:
    for tenant in house.tokens:
        house.recalled(tenant, "canary")
    with psycopg.connect(house.engine.database.url) as server:
        row = server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lamina'"
            " AND datname = current_database()"
        ).fetchone()
    assert row is not None
    assert row[0] <= house.engine.config.postgres_connections


def test_a_tenant_that_another_key_seals_is_refused_and_stands_in_nobodys_way(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    url = house.engine.database.url
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("LAMINA_HOME", str(tmp_path / "elsewhere"))
        with lamina.open(url, tenant="foreign", owner="owner", clock=ManualClock()) as engine:
            house.tokens["foreign"] = create_token(engine, "t", user="ana")[1]

    assert house.ask("foreign", "GET", "/v1/status").status_code == 500
    assert house.ask("acme", "GET", "/v1/status").status_code == 200
    assert house.client.get("/readyz").status_code == 200


def test_a_browser_signs_in_to_its_own_tenant(house: House) -> None:
    studio = Studio(house.engine)
    app = studio.around(create_app(house.engine))
    for tenant in ("acme", "globex", "default"):
        house.ask(tenant, "POST", "/v1/memories", json={"text": f"A page of {tenant}"})
    for tenant in ("acme", "globex", "default"):
        browser = TestClient(app, base_url="http://127.0.0.1", headers={"Accept": "text/html"})
        assert browser.post("/sign-in", data={"token": house.tokens[tenant]}).status_code == 200
        page = browser.get("/memories").text
        assert f"A page of {tenant}" in page
        assert page.count("A page of") == page.count(f"A page of {tenant}")
    with pytest.raises(Unauthenticated):
        studio.signed.with_token(attempts(house.tokens["acme"], house.tokens["globex"])[0])


def test_tools_act_in_the_tenant_of_the_token(house: House) -> None:
    call = {"name": "memory_remember", "arguments": {"text": "The bird sings"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with TestClient(http_app(house.engine, 80), base_url="http://127.0.0.1") as client:
        for presented, status in (
            (house.tokens["globex"], 200),
            (attempts(house.tokens["acme"], house.tokens["globex"])[0], 401),
        ):
            headers = {
                "Authorization": f"Bearer {presented}",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-06-18",
            }
            assert client.post("/mcp", json=asked, headers=headers).status_code == status
    found = {tenant: house.recalled(tenant, "bird") for tenant in house.tokens}
    assert {tenant for tenant, texts in found.items() if texts} == {"globex"}


def test_jobs_of_every_tenant_are_looked_at_in_turn_whether_it_is_open_or_not(house: House) -> None:
    tenants = house.engine.tenants
    assert tenants is not None
    seen = [[store.config.tenant for store in tenants.some(3)] for _ in range(4)]

    assert sorted({*seen[0], *seen[1]}) == sorted(TENANTS)
    assert [len(one) for one in seen] == [3, 3, 3, 3]
    assert tenants.open_now() == []
    for store in tenants.some(len(TENANTS)):
        due_jobs(store, store.now())  # what is met for the first time is written down
    for tenant in TENANTS:
        assert house.engine.of(tenant).verify_audit().findings == ()


def test_a_server_with_a_tenant_of_its_own_and_one_on_a_file_know_no_other(
    postgres_store: str, tmp_path: Any
) -> None:
    tokens = make_tokens(postgres_store)
    with lamina.open(postgres_store, tenant="acme", owner="owner", clock=ManualClock()) as engine:
        assert open_tenants(engine, os.environ) is None
        assert engine.recognise(tokens["acme"])[1].user == "ana"
        for other in ("default", "globex"):
            with pytest.raises(Unauthenticated):
                engine.recognise(tokens[other])
    file = f"sqlite:///{tmp_path}/memory.db"
    tokens = make_tokens(file)
    with lamina.open(file, owner="owner", clock=ManualClock()) as engine:
        assert open_tenants(engine, os.environ) is None
        assert engine.recognise(tokens["default"])[1].user == "ana"
        with pytest.raises(Unauthenticated):
            engine.recognise(tokens["acme"])


def test_tenants_on_two_servers_are_served_by_one(
    postgres_store: str, own_postgres: Any, tmp_path: Any
) -> None:
    """The second server goes away and comes back: those on it are told within a second, others go on."""
    away = tmp_path / "tenants.toml"
    away.write_text(f'globex = "{own_postgres.url}"\n', "utf-8")
    tokens = make_tokens(postgres_store, tenants=str(away))
    with lamina.open(postgres_store, owner="owner", clock=ManualClock(), tenants=str(away)) as engine:
        engine.tenants = open_tenants(engine, os.environ)
        app = create_app(engine, limits=Limits(failures_per_minute=10**6))
        house = House(engine, TestClient(app, base_url="http://127.0.0.1"), tokens)
        test_no_way_of_naming_another_tenant_is_accepted(house)
        for tenant in house.tokens:
            house.ask(tenant, "POST", "/v1/memories", json={"text": f"{tenant} saw a bird"})
            assert f"{tenant} saw a bird" in house.recalled(tenant, "bird")

        with psycopg.connect(own_postgres.url) as server:
            there = server.execute("SELECT DISTINCT tenant FROM lamina.memory").fetchall()
        with psycopg.connect(postgres_store) as server:
            here = server.execute("SELECT count(*) FROM lamina.memory WHERE tenant = 'globex'").fetchall()
        assert (there, here) == ([("globex",)], [(0,)])

        own_postgres.stop()
        refused = house.ask("globex", "GET", "/v1/status")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert house.recalled("acme", "bird") == ["acme saw a bird"]
        assert house.client.get("/readyz").status_code == 200
        own_postgres.start()
        assert "globex saw a bird" in house.recalled("globex", "bird")


def test_a_store_that_is_no_postgresql_is_refused_by_its_name(tmp_path: Any) -> None:
    away = tmp_path / "tenants.toml"
    away.write_text('acme = "sqlite:////tmp/x.db"\n', "utf-8")
    with pytest.raises(lamina.ConfigError) as refused:
        lamina.open(f"sqlite:///{tmp_path}/memory.db", tenants=str(away))
    assert refused.value.code == "tenants_invalid"
    assert "acme" in str(refused.value)


def test_a_database_without_anybodys_store_lists_nobody(postgres_store: str) -> None:
    database = PostgresDatabase(postgres_store, "x")
    try:
        assert database.tenants() == []
        database.enrol()
        database.enrol()
        assert database.of("y").tenants() == ["x"]
        database.of("y").close()
        assert database.tenants() == ["x"]
    finally:
        database.close()
