"""The contract's shapes as a user meets them (G-7, G-9, G-12): in Python, over HTTP and over MCP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from starlette.testclient import TestClient

import lamina
from lamina.__main__ import doors
from lamina.doors.cli.app import run
from lamina.doors.http.app import create_app
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.model import Right

SAID = ("I prefer green tea.", "ฉันชอบชาเขียว", "我喜欢喝绿茶。")


def _opened(folder: Path, policy: str = "", **options: Any) -> Engine:
    folder.mkdir(parents=True)
    (folder / "own.toml").write_text(policy, "utf-8")
    return lamina.open(
        folder,
        owner="ana",
        policy=str(folder / "own.toml"),
        understanding=False,
        trace_recalls=True,
        **options,
    )


def _denied(engine: Engine) -> list[dict[str, Any]]:
    agent = engine.scope(agent="planner", session="s")
    for text in SAID:
        agent.remember(text, key="policy.allow.tools")
    return [one.data for one in engine.scope(session="s").trace(100) if one.type == "memory_denied"]


def test_two_policies_have_two_snapshots_and_one_has_the_same_everywhere(
    tmp_path: Path, lamina_home: Path
) -> None:
    """A pattern, an order, a mode: each of them is told apart; where the file lies is not told."""
    policies = {
        "plain": "",
        "pattern": '[privacy]\ndeny_patterns = ["tea"]\n',
        "other": '[privacy]\ndeny_patterns = ["coffee"]\n',
        "mode": '[phase]\nmode = "current_plus_history"\n',
    }
    told: dict[str, Any] = {}
    for name, policy in policies.items():
        for place in ("one", "two/deeper"):
            with _opened(tmp_path / place / name, policy) as engine:
                told[f"{name} {place}"] = _denied(engine)[0]["policy_snapshot"]
    for name in policies:
        assert told[f"{name} one"] == told[f"{name} two/deeper"]
    assert len({json.dumps(one, sort_keys=True) for one in told.values()}) == len(policies)
    assert str(tmp_path) not in json.dumps(told)
    assert told["mode one"]["phase"]["mode"] == "current_plus_history"


def test_the_snapshot_is_told_once_and_then_by_its_digest(
    tmp_path: Path, lamina_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _opened(tmp_path / "w") as engine:
        _denied(engine)
    assert run(doors(), ["-w", str(tmp_path / "w"), "--session", "s", "trace", "--plain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    orders = [line for line in lines if "authority_order.1" in line]
    digests = [line for line in lines if "policy_snapshot.digest" in line]
    assert len(orders) == 1
    assert len(digests) >= len(SAID)


def test_an_empty_store_names_the_spaces_that_were_consulted(tmp_path: Path, lamina_home: Path) -> None:
    with _opened(tmp_path / "w", project="p") as engine:
        mind = engine.scope(session="s")
        mind.recall("tea")
        events = [one.data for one in mind.trace(100)]
    (recall,) = [one for one in events if one["type"] == "memory_recall"]
    allowed = [one["from_space"] for one in events if one["type"] == "memory_border_check" and one["allowed"]]
    assert recall["spaces_consulted"] == allowed
    assert recall["recall_counts"] == dict.fromkeys(allowed, 0)


def test_what_was_attempted_is_like_an_item_and_one_turn_has_one_name(
    tmp_path: Path, lamina_home: Path
) -> None:
    with _opened(tmp_path / "w") as engine:
        denied = _denied(engine)
        names = {one.data["ai_profile"] for one in engine.scope(session="s").trace(100)}
        kept = engine.scope(session="s").recall("tea", trace=True)
    for one in denied:
        assert {"id", "kind", "scope", "text", "source", "created_at", "importance", "meta"} <= set(
            one["attempted"]
        )
        assert not [text for text in SAID if text in json.dumps(one, ensure_ascii=False)]
    assert len(names) == 1
    assert kept.events


def test_a_recall_says_where_recency_or_importance_decided(tmp_path: Path, lamina_home: Path) -> None:
    with _opened(tmp_path / "w") as engine:
        mind = engine.scope(session="s")
        mind.remember("The kettle of the office is blue", importance=5)
        mind.remember("The kettle of the office is old")
        (event,) = [
            one for one in mind.recall("kettle office", trace=True).events if one["type"] == "memory_recall"
        ]
    reasons = {reason for one in event["recalled"] for reason in one["meta"]["recall_reason"]}
    assert {"recency", "importance"} <= reasons


def test_the_same_shapes_over_http_and_mcp(tmp_path: Path, lamina_home: Path) -> None:
    with _opened(tmp_path / "w") as engine:
        told = _denied(engine)[0]
        token = engine.scope().create_token("mine", user="ana", rights=(Right.READ, Right.WRITE))[1]
        client = TestClient(create_app(engine), base_url="http://127.0.0.1")
        client.headers.update({"Authorization": f"Bearer {token}", "X-Lamina-Session": "s"})
        events = client.get("/v1/trace").json()["items"]

        async def asked() -> Any:
            async with Client(build_server(Starter(engine, engine.scope(session="s")), tools="all")) as mcp:
                return (await mcp.call_tool("memory_trace", {})).structured_content

        shown = asyncio.run(asked())
    for answer in (events, shown["events"]):
        found = [one["data"] for one in answer if one["type"] == "memory_denied"]
        assert found
        assert found[0]["attempted"].keys() == told["attempted"].keys()
        assert all(one["policy_snapshot"] == told["policy_snapshot"] for one in found)
