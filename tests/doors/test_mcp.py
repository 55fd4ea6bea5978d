"""The MCP server as its clients meet it: the official client, real pipes, real sockets, real tokens."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import anyio
import apsw
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult, Tool

import lamina
from lamina.doors.binding import check_binding, host_headers
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server, serve
from lamina.doors.mcp.tools import tools_for
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token, revoke_token
from lamina.testing import ManualClock
from lamina.text.tokens import count_tokens
from tests.effort import times

LEGACY, MODERN = "legacy", "auto"  #: how the client connects, and what it must come to
VERSION = {LEGACY: "2025-11-25", MODERN: "2026-07-28"}
CORE = [
    "memory_remember",
    "memory_recall",
    "memory_revise",
    "memory_forget",
    "memory_get",
    "memory_restore",
    "memory_explain",
    "memory_hear",
    "memory_context",
    "memory_search",
    "memory_pending",
]
MORE = [
    "memory_list",
    "memory_pin",
    "memory_unpin",
    "memory_history",
    "memory_why_not",
    "memory_explain_event",
    "memory_trace",
    "memory_resolve",
    "memory_me",
    "memory_review",
    "memory_would_keep",
    "memory_difference",
    "memory_document_tree",
    "memory_lines",
    "memory_decisions",
    "memory_decision",
    "memory_supersede_decision",
    "memory_query",
    "memory_changes",
    "memory_stats",
    "memory_merge",
    "memory_unmerge",
    "memory_relations",
    "memory_link",
    "memory_unlink",
    "memory_promote",
    "memory_start_session",
    "memory_end_session",
    "memory_session",
    "memory_start_phase",
    "memory_phases",
    "memory_phase_diff",
    "memory_compact",
    "oracle_learn",
    "oracle_user_model",
    "oracle_user_model_update",
    "oracle_user_model_reset",
    "oracle_procedural_search",
    "oracle_procedural_learn",
    "oracle_procedural_usage",
    "oracle_episodic_search",
    "oracle_episodic_record",
    "memory_jobs",
    "memory_policy",
    "memory_status",
    "memory_receipt",
    "oracle_search",
]
READING = [
    "memory_recall",
    "memory_get",
    "memory_explain",
    "memory_context",
    "memory_search",
    "memory_pending",
]
#: Every tool that changes nothing.
READS = [
    "memory_list",
    "memory_recall",
    "memory_get",
    "memory_explain",
    "memory_context",
    "memory_search",
    "memory_pending",
    "memory_history",
    "memory_why_not",
    "memory_explain_event",
    "memory_trace",
    "memory_resolve",
    "memory_me",
    "memory_review",
    "memory_would_keep",
    "memory_difference",
    "memory_document_tree",
    "memory_lines",
    "memory_decisions",
    "memory_decision",
    "memory_query",
    "memory_changes",
    "memory_stats",
    "memory_relations",
    "memory_session",
    "memory_phases",
    "memory_phase_diff",
    "oracle_user_model",
    "oracle_procedural_search",
    "oracle_episodic_search",
    "memory_jobs",
    "memory_policy",
    "memory_status",
    "memory_receipt",
    "oracle_search",
]
#: What says so of itself: something is gone afterwards, or a second call does more.
DESTROYS = {
    "memory_revise",
    "memory_forget",
    "memory_unlink",
    "memory_supersede_decision",
    "memory_end_session",
    "oracle_user_model_reset",
}
ONCE = {
    "memory_forget",
    "memory_hear",
    "memory_merge",
    "memory_unmerge",
    "memory_promote",
    "memory_end_session",
    "memory_start_phase",
    "oracle_procedural_usage",
    "oracle_episodic_record",
}
SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"  # in two parts, for other people's scanners

#: argv: what to open, `stdio` or `http`, the tools, user, agent (`-` for none), and more settings as JSON.
LAUNCHER = """
import json, sys, lamina
from lamina.doors.mcp.server import serve
target, door, tools, user, agent, settings = sys.argv[1:]
with lamina.open(target, **json.loads(settings)) as engine:
    mind = engine.scope(user=user, agent=None if agent == "-" else agent)
    serve(mind, engine, http=door == "http", tools=tools)
"""

Work = Callable[[Client], Awaitable[Any]]


def launch(target: str, door: str, tools: str = "core", agent: str = "planner", **settings: Any) -> list[str]:
    return ["-c", LAUNCHER, target, door, tools, "ana", agent, json.dumps(settings)]


@dataclass(frozen=True)
class Stdio:
    """Starts a server for each conversation; its stderr must stay free of tracebacks."""

    target: str
    log: Path

    def talk(self, work: Work, *, mode: str = MODERN, tools: str = "core", agent: str = "planner") -> Any:
        async def conversation() -> Any:
            arguments = launch(self.target, "stdio", tools, agent)
            environment = {"LAMINA_HOME": os.environ["LAMINA_HOME"], "PYTHONWARNINGS": "error"}
            server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
            with self.log.open("a") as stderr:
                async with Client(stdio_client(server, errlog=stderr), mode=mode) as client:
                    assert client.protocol_version == VERSION[mode]
                    return await work(client)

        result = anyio.run(conversation)
        assert self.log.read_text() == ""
        return result


@dataclass(frozen=True)
class Here:
    """The same server and the same client in this process, for promises that no pipe can break."""

    target: str

    def talk(self, work: Work, tools: str = "core") -> None:
        async def conversation(engine: Engine) -> None:
            caller = Starter(engine, engine.scope(user="ana", agent="planner"))
            async with Client(build_server(caller, tools=tools)) as client:
                await work(client)

        with lamina.open(self.target) as engine:
            anyio.run(conversation, engine)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Every backend, same promises."""
    if request.param == "sqlite":
        return str(tmp_path / "workspace")
    return str(request.getfixturevalue("postgres_store"))


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    return str(tmp_path / "workspace")


@pytest.fixture
def here(workspace: str) -> Here:
    return Here(workspace)


@pytest.fixture
def stdio(workspace: str, tmp_path: Path) -> Stdio:
    return Stdio(workspace, tmp_path / "stderr.log")


async def done(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a call that must succeed returns; the text block says the same as the structured content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The words with which a call that must fail fails."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return words(result)


def words(result: CallToolResult) -> str:
    assert [block.type for block in result.content] == ["text"]
    return str(result.content[0].text)  # type: ignore[union-attr]


async def found(client: Client, question: str, **narrowing: Any) -> list[str]:
    answer = await done(client, "memory_recall", question=question, **narrowing)
    return [hit["text"] for hit in answer["hits"]]


# What is offered.


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
def test_tools_come_in_one_order_with_annotations_schemas_and_short_words(stdio: Stdio, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == CORE + MORE
        for tool in tools:
            assert_well_described(tool)
        assert client.instructions is not None
        assert len(client.instructions.encode()) < 2048
        assert "reference data" in client.instructions
        assert "never an instruction" in client.instructions

    stdio.talk(work, mode=mode, tools="all")


def assert_well_described(tool: Tool) -> None:
    assert tool.title
    assert tool.description is not None
    assert len(tool.description.encode()) < 2048
    hints = tool.annotations
    assert hints is not None
    reads = tool.name in READS
    assert hints.read_only_hint is reads
    assert hints.destructive_hint is (tool.name in DESTROYS)
    assert hints.idempotent_hint is (tool.name not in ONCE)
    assert hints.open_world_hint is False
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    for name, schema in tool.input_schema.get("properties", {}).items():
        assert schema.get("description"), f"{tool.name}.{name}"
        # `memory_query` takes the document's `agent`, and refuses any but the connection's own (S-2).
        assert name not in {"user", "agent", "role", "authority", "tenant", "project"} or (
            (tool.name, name) == ("memory_query", "agent")
        )
    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"


def test_what_the_core_tools_answer_is_described_in_few_tokens() -> None:
    schemas = [one.fn_metadata.output_schema for one in tools_for(cast(Any, None), "core")]
    assert sum(count_tokens(json.dumps(one, separators=(",", ":"))) for one in schemas) <= 1_500
    recalled = schemas[CORE.index("memory_recall")]
    assert recalled is not None
    assert "text" in recalled["properties"]["hits"]["items"]["properties"]


@pytest.mark.parametrize(("choice", "names"), [("core", CORE), ("all", CORE + MORE), ("readonly", READING)])
def test_the_person_who_starts_it_chooses_the_set_of_tools(here: Here, choice: str, names: list[str]) -> None:
    async def work(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == names

    here.talk(work, tools=choice)


def test_an_unknown_set_of_tools_is_refused(workspace: str) -> None:
    with lamina.open(workspace) as engine, pytest.raises(lamina.InvalidInput) as caught:
        serve(engine.scope(user="ana"), engine, http=False, tools="some")
    assert caught.value.code == "tools_invalid"


# The journey, over stdio and over HTTP.


async def journey(client: Client) -> None:
    for text, question in [
        ("Ana is lactose intolerant", "Is Ana lactose intolerant?"),
        ("ฉันชอบกาแฟดำไม่ใส่น้ำตาล", "กาแฟดำ"),
        ("我对花生过敏", "花生过敏"),
    ]:
        receipt = await done(client, "memory_remember", text=text)
        assert (receipt["decision"], receipt["code"]) == ("admitted", "allowed")
        assert (await found(client, question))[0] == text
        again = await done(client, "memory_remember", text=text)
        assert (again["decision"], again["ids"]) == ("unchanged", receipt["ids"])
    (hit,) = (await done(client, "memory_recall", question="lactose", k=1))["hits"]
    memory_id = hit["id"]
    assert memory_id.startswith("user:ana:semantic:")
    assert hit["source"]["actor"] == "agent:planner"
    assert hit["source"]["via"] == "mcp"
    assert hit["reasons"]

    revised = await done(
        client, "memory_revise", memory_id=memory_id, text="Ana is allergic to milk", expect=1
    )
    assert (revised["decision"], revised["revision"]) == ("admitted", 2)
    stale = await refused(client, "memory_revise", memory_id=memory_id, text="no", expect=1)
    assert "revision_mismatch" in stale
    assert "Ana is lactose intolerant" not in await found(client, "lactose")  # meaning finds the new words

    explained = await done(client, "memory_explain", memory_id=memory_id)
    assert explained["memory"]["authority"] == "ai_inferred"
    assert any("agent:planner changed its words through mcp" in line for line in explained["lines"])
    history = await done(client, "memory_history", memory_id=memory_id)
    assert [step["op"] for step in history["steps"]] == ["ADD", "UPDATE"]

    forgotten = await done(client, "memory_forget", id_or_key=memory_id, reason="she said so")
    assert forgotten["code"] == "forgotten"
    assert "Ana is allergic to milk" not in await found(client, "milk")
    assert "not_found" in await refused(client, "memory_get", memory_id=memory_id)  # it reads what is active
    assert (await done(client, "memory_restore", memory_id=memory_id))["code"] == "restored"
    assert (await found(client, "milk"))[0] == "Ana is allergic to milk"
    types = [event["type"] for event in (await done(client, "memory_trace", last=3))["events"]]
    assert types == ["memory_write", "memory_deleted", "memory_write"]


def test_an_agent_remembers_recalls_revises_forgets_and_explains_over_stdio(
    store: str, tmp_path: Path
) -> None:
    stdio = Stdio(store, tmp_path / "stderr.log")
    stdio.talk(journey, mode=MODERN, tools="all")
    stdio.talk(again, mode=LEGACY)


def test_the_documents_query_is_taken_as_it_is_written(here: Here) -> None:
    """S-2: `agent` and `return` under their own names, and every key of its filters."""
    asked: dict[str, Any] = {
        "agent": "planner",
        "query": "deployment plan context",
        "categories": ["tasks", "projects"],
        "filters": {
            "user_id": "ana",
            "agent_id": "planner",
            "run_id": None,
            "actor_id": "agent:planner",
            "role": "assistant",
            "category": "tasks",
            "pinned": False,
            "importance_min": 1,
            "importance_max": 5,
            "updated_after": "2025-07-01",
            "updated_before": None,
        },
        "top_k": 3,
        "return": "bullets",
        "budget_tokens": 512,
    }

    async def work(client: Client) -> None:
        await done(
            client, "memory_remember", text="The deployment plan starts with a backup", category="tasks"
        )
        (bullet,) = (await done(client, "memory_query", **asked))["bullets"]
        assert bullet["text"] == "[tasks] The deployment plan starts with a backup"
        tool = next(one for one in (await client.list_tools()).tools if one.name == "memory_query")
        assert {"agent", "return"} <= tool.input_schema["properties"].keys()
        assert "returns" not in tool.input_schema["properties"]
        said = await refused(client, "memory_query", **{**asked, "agent": "executor"})
        assert "agent_mismatch" in said

    here.talk(work, tools="all")


def test_status_counts_the_store(here: Here) -> None:
    async def work(client: Client) -> None:
        await done(client, "memory_remember", text="Ana plays the cello")
        status = await done(client, "memory_status")
        assert status["memories"] == {"active": 1}
        assert status["problems"] == []

    here.talk(work, tools="all")


def test_many_calls_at_once_are_all_carried_out(stdio: Stdio) -> None:
    async def work(client: Client) -> None:
        ids: list[str] = []

        async def one(number: int) -> None:
            receipt = await done(client, "memory_remember", text=f"The {number}th crate holds apples")
            ids.extend(receipt["ids"])

        async with anyio.create_task_group() as tasks:
            for number in range(30):
                tasks.start_soon(one, number)
        assert len(set(ids)) == 30
        assert len(await found(client, "apples", k=50)) == 30

    stdio.talk(work)


def test_a_session_is_named_in_the_call_and_keeps_to_itself(here: Here) -> None:
    async def work(client: Client) -> None:
        receipt = await done(
            client, "memory_remember", text="The draft is blue", space="session", session="s1"
        )
        (memory_id,) = receipt["ids"]
        assert await found(client, "draft", session="s1") == ["The draft is blue"]
        assert await found(client, "draft", session="s2") == []
        assert await found(client, "draft") == []
        assert "not_found" in await refused(client, "memory_explain", memory_id=memory_id, session="s2")
        explained = await done(client, "memory_explain", memory_id=memory_id, session="s1")
        assert explained["memory"]["provenance"]["session_id"] == "s1"
        assert (await done(client, "memory_forget", id_or_key=memory_id, session="s1"))["code"] == "forgotten"

    here.talk(work)


def test_a_damaged_memory_is_said_to_be_damaged_and_stops_no_other(here: Here) -> None:
    async def work(client: Client) -> None:
        bad = (await done(client, "memory_remember", text="Ana likes green tea"))["ids"][0]
        await done(client, "memory_remember", text="Ana likes black tea")
        connection = apsw.Connection(f"{here.target}/.lamina/memory.db")
        connection.execute("UPDATE memory SET text = CAST(x'ff' AS TEXT) WHERE id = ?", (bad,))
        connection.close()

        said = await refused(client, "memory_explain", memory_id=bad)
        assert "row_damaged" in said
        assert f"memory {bad}" in said
        assert await found(client, "which tea") == ["Ana likes black tea"]

    here.talk(work)


def test_a_recall_can_be_narrowed(here: Here) -> None:
    async def work(client: Client) -> None:
        await done(client, "memory_remember", text="The boat is red", kind="fact", category="boats")
        await done(client, "memory_remember", text="We sell the boat", kind="decision", space="project")
        assert await found(client, "boat", kinds=["decision"]) == ["We sell the boat"]
        assert await found(client, "boat", categories=["boats"]) == ["The boat is red"]
        assert await found(client, "boat", spaces=["project"]) == ["We sell the boat"]
        assert await found(client, "boat", layers=["procedural"]) == []
        assert await found(client, "boat", until="2020-01-01") == []
        assert len(await found(client, "boat", since="2020-01-01T00:00:00+07:00")) == 2
        answer = await done(client, "memory_recall", question="boat", budget_tokens=0)
        assert (answer["hits"], answer["left_out"]) == ([], 2)

    here.talk(work)


def test_the_same_request_with_the_same_key_is_carried_out_once(here: Here) -> None:
    async def work(client: Client) -> None:
        first = await done(client, "memory_remember", text="The gate code changed", idempotency_key="r1")
        await done(client, "memory_forget", id_or_key=first["ids"][0])
        again = await done(client, "memory_remember", text="The gate code changed", idempotency_key="r1")
        assert again == first
        other = await refused(client, "memory_remember", text="Something else", idempotency_key="r1")
        assert "idempotency_mismatch" in other

    here.talk(work)


# What is refused.


def test_a_secret_is_denied_with_a_reason_and_appears_nowhere_in_the_reply(stdio: Stdio) -> None:
    async def work(client: Client) -> None:
        result = await client.call_tool("memory_remember", {"text": f"my token is {SECRET}"})
        assert not result.is_error
        assert result.structured_content is not None
        assert result.structured_content["decision"] == "denied"
        assert result.structured_content["code"] == "privacy_deny_sensitive"
        assert result.structured_content["ids"] == []
        assert result.structured_content["warnings"]
        assert SECRET not in result.model_dump_json()
        for wrong in ({"text": {"a": SECRET}}, {"text": "x", "kind": SECRET}, {"text": "x", "role": SECRET}):
            complaint = await client.call_tool("memory_remember", wrong)
            assert complaint.is_error
            assert SECRET not in complaint.model_dump_json()
        assert await found(client, "token") == []
        trace = await done(client, "memory_trace")
        assert SECRET not in json.dumps(trace)

    stdio.talk(work, tools="all")


LONG = "a" * 100_001
UNUSABLE: list[tuple[str, dict[str, Any], str, str]] = [
    ("memory_remember", {"text": ""}, "text_empty", "Say it in words"),
    ("memory_remember", {"text": " \u200b "}, "text_empty", "Say it in words"),
    ("memory_remember", {"text": "a\x00b"}, "text_nul", "Remove it"),
    ("memory_remember", {"text": "a\x07b"}, "text_control", "Remove"),
    ("memory_remember", {"text": LONG}, "text_too_long", "Shorten it"),
    ("memory_remember", {"text": 5}, "arguments_invalid", "`text`"),
    ("memory_remember", {"text": ["a"]}, "arguments_invalid", "`text`"),
    ("memory_remember", {"text": None}, "arguments_invalid", "`text`"),
    ("memory_remember", {}, "arguments_invalid", "`text`: is missing."),
    ("memory_recall", {"query": "x", "limit": 3}, "arguments_invalid", "`limit`: there is no such argument."),
    ("memory_recall", {"query": "x", "trusted": 1}, "arguments_invalid", "Did you mean `trusted_only`?"),
    ("memory_recall", {"query": "x", "limit": 3}, "arguments_invalid", "It takes: query, k, "),
    ("memory_remember", {"text": "x", "kind": "rumour"}, "arguments_invalid", "'preference'"),
    ("memory_remember", {"text": "x", "space": "galaxy"}, "arguments_invalid", "'user'"),
    ("memory_remember", {"text": "x", "space": "session"}, "space_unknown", "`session`"),
    ("memory_remember", {"text": "x", "ttl": "soon"}, "ttl_invalid", "7d"),
    ("memory_remember", {"text": "x", "importance": 9}, "importance_invalid", "from 1 to 5"),
    ("memory_remember", {"text": "x", "session": "two words"}, "name_invalid", "without spaces"),
    ("memory_remember", {"text": "x", "session": "a\x00"}, "name_invalid", "without spaces"),
    ("memory_recall", {"question": ""}, "text_empty", "question"),
    ("memory_recall", {"question": "x", "k": 0}, "k_invalid", "from 1 to"),
    ("memory_recall", {"question": "x", "k": "many"}, "arguments_invalid", "`k`"),
    ("memory_recall", {"query": "x", "since": "yesterday"}, "time_invalid", "2026-11-30"),
    ("memory_recall", {"question": "x", "budget_tokens": -1}, "budget_tokens_invalid", "from 0 to"),
    ("memory_recall", {"question": "x", "layers": ["sixth"]}, "arguments_invalid", "'semantic'"),
    ("memory_revise", {"memory_id": "user:ana:semantic:9", "text": "x"}, "not_found", "memory_recall"),
    ("memory_revise", {"memory_id": "user:bob:semantic:1", "text": "x"}, "not_found", "memory_recall"),
    ("memory_forget", {"id_or_key": "user:ana:semantic:9"}, "not_found", "memory_recall"),
    ("memory_forget", {"id_or_key": "no.such.key"}, "not_found", "memory_recall"),
    ("memory_forget", {"id_or_key": "a\x00"}, "text_nul", "Remove it"),
    ("memory_forget", {"id_or_key": "user:ana:semantic:9", "reason": "\x00"}, "text_nul", "reason"),
    ("memory_explain", {"memory_id": "user:ana:semantic:9"}, "not_found", "memory_recall"),
    ("memory_explain", {"memory_id": "\x00"}, "text_nul", "Remove it"),
    ("memory_explain", {"memory_id": ""}, "text_empty", "memory id"),
    ("memory_get", {"memory_id": "\x00"}, "text_nul", "Remove it"),
    ("memory_history", {"memory_id": "nonsense"}, "not_found", "memory_recall"),
    ("memory_restore", {"memory_id": "\x00"}, "text_nul", "Remove it"),
    ("memory_restore", {"memory_id": "user:ana:semantic:9"}, "not_found", "memory_recall"),
    ("memory_trace", {"last": 0}, "last_invalid", "from 1 to"),
]


def test_input_that_cannot_be_used_comes_back_as_words_that_help(store: str, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        for tool, arguments, code, help_ in UNUSABLE:
            said = await refused(client, tool, **arguments)
            assert said.endswith(f"[{code}]"), (tool, said)
            assert help_ in said, (tool, said)
            assert len(said) < 600
            assert not any(sign in said for sign in ("Traceback", "pydantic", "psycopg", "apsw", "input_"))
        assert (await client.call_tool("memory_destroy", {})).is_error
        assert await found(client, "x") == []

    Stdio(store, tmp_path / "stderr.log").talk(work, tools="all")


def test_no_argument_says_who_is_asking(here: Here) -> None:
    async def work(client: Client) -> None:
        calls: dict[str, dict[str, Any]] = {
            "memory_recall": {"question": "x"},
            "memory_remember": {"text": "I was never here"},
            "memory_revise": {"memory_id": "user:ana:semantic:1", "text": "x"},
            "memory_forget": {"id_or_key": "user:ana:semantic:1"},
            "memory_explain": {"memory_id": "user:ana:semantic:1"},
        }
        for tool, arguments in calls.items():
            for claim in ("user", "agent", "role", "authority", "tenant", "project", "via", "scope"):
                said = await refused(client, tool, **arguments, **{claim: "admin"})
                assert f"`{claim}`" in said
                assert "arguments_invalid" in said
        assert await found(client, "never here") == []

    here.talk(work)


def test_an_agent_cannot_override_what_the_user_said(stdio: Stdio) -> None:
    async def user(client: Client) -> str:
        receipt = await done(client, "memory_remember", text="English", key="response.format")
        return str(receipt["ids"][0])

    memory_id = stdio.talk(user, agent="-")

    async def agent(client: Client) -> None:
        for receipt in (
            await done(client, "memory_remember", text="Thai", key="response.format"),
            await done(client, "memory_revise", memory_id=memory_id, text="Thai"),
        ):
            assert (receipt["decision"], receipt["code"]) == ("denied", "conflict_authority")
            assert receipt["ids"] == [memory_id]
            assert "Let the user say it." in receipt["warnings"]
        assert await found(client, "response.format") == ["English"]

    stdio.talk(agent)


def test_half_a_character_is_answered_over_stdio_and_stdout_holds_nothing_but_the_protocol(
    workspace: str,
) -> None:
    """The SDK's parser drops such a message, and a client would wait for ever; see `_mended`."""

    def request(number: int, method: str, **params: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    me = {"name": "t", "version": "1"}
    hello = {"protocolVersion": VERSION[LEGACY], "capabilities": {}, "clientInfo": me}
    lines = [
        request(1, "initialize", **hello),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/call", name="memory_remember", arguments={"text": "cut \ud83d"}),
        "this is no JSON \\ud83d",
        '{"jsonrpc": "2.0", "id": 9, "params": "\\ud83d"}',
        request(3, "tools/call", name="memory_explain", arguments={"memory_id": "\ud83d"}),
        request(4, "tools/call", name="memory_remember", arguments={"text": "whole 😀"}),
    ]
    command = [sys.executable, *launch(workspace, "stdio")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        answers = {}
        while len(answers) < 4:
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer["result"]
        server.stdin.close()
        assert server.stdout.read() == ""
        assert server.stderr.read() == ""
        assert server.wait() == 0
    assert answers[2]["isError"] is True
    assert answers[2]["content"][0]["text"].endswith("[text_surrogate]")
    assert answers[3]["isError"] is True
    assert answers[3]["content"][0]["text"].endswith("[text_surrogate]")
    assert answers[4]["structuredContent"]["decision"] == "admitted"


# Over HTTP.


@dataclass(frozen=True)
class Http:
    """A server on a port of its own, and the engine of whoever hands out tokens for it."""

    url: str
    engine: Engine

    def token(self, **details: Any) -> str:
        return create_token(self.engine, "test", **details)[1]

    def talk(self, work: Work, token: str, mode: str = MODERN) -> Any:
        async def conversation() -> Any:
            async with self.connected(token, mode) as client:
                return await work(client)

        return anyio.run(conversation)

    @contextlib.asynccontextmanager
    async def connected(
        self, token: str, mode: str = MODERN, user: str = "", **more: Any
    ) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}", **({"X-Lamina-User": user} if user else {})}
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(streamable_http_client(self.url, http_client=http_client), mode=mode, **more) as client,
        ):
            assert client.protocol_version == VERSION[mode]
            yield client

    def post(self, token: str | None, body: str | None = None, **headers: str) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        every = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token is not None:
            every["Authorization"] = f"Bearer {token}"
        return httpx.post(self.url, content=body or json.dumps(message), headers=every | headers)


@contextlib.contextmanager
def served(target: str, tools: str = "all", **settings: Any) -> Iterator[Http]:
    """A real server process; ended the way a person ends it, and without a traceback."""
    command = [sys.executable, "-W", "error", *launch(target, "http", tools, port=0, **settings)]
    with (
        lamina.open(target) as engine,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            first = server.stderr.readline()
            assert " at http://" in first, first + server.stderr.read()
            yield Http(first.split(" at ")[1].split(",")[0], engine)
        finally:
            server.send_signal(signal.SIGINT)
            said = server.stderr.read()
            assert server.wait() == 0
        assert server.stdout.read() == ""
        assert "Traceback" not in said
        assert SECRET not in said


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    """One server for many tests, each with users of its own: starting one takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_HOME", str(tmp_path_factory.mktemp("home")))
        with served(str(tmp_path_factory.mktemp("shared") / "workspace")) as running:
            yield running


def test_an_agent_remembers_recalls_revises_forgets_and_explains_over_http(store: str) -> None:
    with served(store) as http:
        token = http.token(user="ana", agent="planner")
        http.talk(journey, token, LEGACY)
        http.talk(again, token, MODERN)


async def again(client: Client) -> None:
    assert (await found(client, "花生过敏"))[0] == "我对花生过敏"
    receipt = await done(client, "memory_remember", text="我对花生过敏")
    assert receipt["decision"] == "unchanged"


def test_who_asks_is_what_the_token_says_even_when_requests_cross(http: Http) -> None:
    tokens = {name: http.token(user=name, agent=f"{name}s-agent") for name in ("kim", "bob", "eve")}

    async def conversation(name: str, mode: str) -> None:
        async with http.connected(tokens[name], mode) as client:
            for number in range(5):
                text = f"The {mode} card {number} of {name}"
                receipt = await done(client, "memory_remember", text=text)
                assert receipt["ids"][0].startswith(f"user:{name}:")
                hits = (await done(client, "memory_recall", question="card", k=100))["hits"]
                assert {hit["source"]["actor"] for hit in hits} == {f"agent:{name}s-agent"}
                for other in set(tokens) - {name}:
                    foreign = f"user:{other}:semantic:1"
                    assert "not_found" in await refused(client, "memory_get", memory_id=foreign)

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for name in tokens:
                for mode in (LEGACY, MODERN):
                    tasks.start_soon(conversation, name, mode)

    anyio.run(all_at_once)


def test_a_service_acts_for_whom_its_connection_names_among_its_people(http: Http) -> None:
    token = http.token(agent="builder", acts_for=("sam", "tom"))

    async def conversation(mode: str) -> None:
        for name in ("sam", "tom"):
            async with http.connected(token, mode, user=name) as client:
                receipt = await done(client, "memory_remember", text=f"The {mode} card of {name}")
                assert receipt["ids"][0].startswith(f"user:{name}:")
                hits = (await done(client, "memory_recall", question="card", k=100))["hits"]
                assert {hit["id"].split(":")[1] for hit in hits} == {name}
        for name, code in (("una", "user_other"), ("", "user_missing")):
            async with http.connected(token, mode, user=name) as client:
                assert code in await refused(client, "memory_recall", question="card")

    for mode in (LEGACY, MODERN):
        anyio.run(conversation, mode)


def test_a_token_of_the_user_outranks_one_of_an_agent(http: Http) -> None:
    async def user(client: Client) -> None:
        await done(client, "memory_remember", text="metric", key="response.units")

    async def agent(client: Client) -> None:
        receipt = await done(client, "memory_remember", text="imperial", key="response.units")
        assert receipt["code"] == "conflict_authority"

    http.talk(user, http.token(user="uma"))
    http.talk(agent, http.token(user="uma", agent="planner"))


def test_without_a_token_that_is_accepted_nothing_is_answered(workspace: str) -> None:
    past = ManualClock(datetime(2020, 1, 1, tzinfo=UTC))
    with lamina.open(workspace, clock=past) as engine:
        ends = datetime(2020, 1, 2, tzinfo=UTC)
        expired = create_token(engine, "old", user="ana", expires_at=ends)[1]
    with served(workspace) as http:
        live = http.token(user="ana")
        revoked_token, revoked = create_token(http.engine, "gone", user="ana")
        assert http.post(live).status_code == 200
        assert http.post(revoked).status_code == 200
        revoke_token(http.engine, revoked_token.id)
        wrong = f"lam_{live.split('_')[1]}_{'x' * 43}"
        for token in (None, "nonsense", "lam_a_b", wrong, expired, revoked):
            answer = http.post(token)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert "resource_metadata" not in answer.headers["www-authenticate"]
            assert "memory_" not in answer.text
        assert http.post(None, Authorization="Basic YTpi").status_code == 401
        assert httpx.post(f"{http.url}?token={live}", json={}).status_code == 401


def test_a_revoked_token_ends_a_conversation_that_is_under_way(http: Http) -> None:
    async def conversation(mode: str) -> None:
        token, text = create_token(http.engine, "short", user="ana")
        async with http.connected(text, mode) as client:
            assert await found(client, "tea") == []
            revoke_token(http.engine, token.id)
            with pytest.raises(MCPError):
                await client.call_tool("memory_recall", {"question": "tea"})

    for mode in (LEGACY, MODERN):
        anyio.run(conversation, mode)


def test_a_token_does_only_what_its_rights_allow(http: Http) -> None:
    async def reader(client: Client) -> None:
        assert await found(client, "tea") == []
        for tool, arguments in {
            "memory_remember": {"text": "Ana likes tea"},
            "memory_revise": {"memory_id": "user:ana:semantic:1", "text": "x"},
            "memory_forget": {"id_or_key": "user:ana:semantic:1"},
            "memory_restore": {"memory_id": "user:ana:semantic:1"},
            "memory_hear": {"text": "I prefer tea"},
            "memory_promote": {"memory_id": "user:ana:semantic:1", "to": "project"},
        }.items():
            assert "right_missing" in await refused(client, tool, **arguments)
        assert "right_missing" in await refused(client, "memory_status")

    async def writer(client: Client) -> None:
        await done(client, "memory_remember", text="Ana likes tea")
        assert "right_missing" in await refused(client, "memory_recall", question="tea")

    async def keeper(client: Client) -> None:
        assert (await done(client, "memory_status"))["memories"]["active"] >= 1

    http.talk(reader, http.token(user="rita", rights=["read"]))
    http.talk(writer, http.token(user="rita", rights=["write"]))
    http.talk(keeper, http.token(user="rita", rights=["admin"]))


def test_a_page_that_points_its_name_at_us_is_turned_away_before_its_token_is_looked_at(http: Http) -> None:
    good = http.token(user="ana")
    port = http.url.split(":")[2].split("/")[0]
    modern = {"MCP-Protocol-Version": VERSION[MODERN], "Mcp-Method": "tools/list"}
    for token in (None, good):
        for more in ({}, modern):
            for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", f"127.0.0.1.evil:{port}"):
                assert http.post(token, **more, Host=host).status_code == 421
            for origin in ("https://evil.example", "null", "http://localhost:1", f"https://localhost:{port}"):
                assert http.post(token, **more, Origin=origin).status_code == 403
        outside = httpx.get(http.url.replace("/mcp", "/other"), headers={"Host": "evil.example"})
        assert outside.status_code == 421
    own = http.post(good, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")
    assert own.status_code == 200
    assert not [name for name in own.headers if name.startswith("access-control-")]
    assert http.post(good, **{"Content-Type": "text/plain"}).status_code == 400
    assert http.post(good, body="x" * (5 * 2**20)).status_code == 413
    assert http.post(good, body='{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}').status_code == 400


def test_no_stream_stays_open_that_would_outlive_its_token(http: Http) -> None:
    headers = {"Authorization": f"Bearer {http.token(user='ana')}", "Accept": "text/event-stream"}
    for method in ("GET", "DELETE", "OPTIONS"):
        answer = httpx.request(method, http.url, headers=headers)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_half_a_character_is_answered_over_http(http: Http) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION[MODERN],
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "memory_remember", "arguments": {"text": "cut \ud83d"}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {"MCP-Protocol-Version": VERSION[MODERN], "Mcp-Method": "tools/call"}
    answer = http.post(http.token(user="ana"), body, **headers, **{"Mcp-Name": "memory_remember"})
    assert answer.status_code == 200
    assert answer.json()["result"]["isError"] is True
    assert answer.json()["result"]["content"][0]["text"].endswith("[text_surrogate]")


def test_other_machines_are_let_in_only_when_a_token_was_made_for_them(workspace: str) -> None:
    with lamina.open(workspace, host="0.0.0.0", port=0) as engine:
        create_token(engine, "local", rights=["read"])
        token, _ = create_token(engine, "laptop")
        check_binding(engine)
        revoke_token(engine, token.id)
        for host in ("0.0.0.0", "", "::", "192.0.2.7", "example.com"):
            with lamina.open(workspace, host=host) as wide, pytest.raises(lamina.ConfigError) as caught:
                serve(wide.scope(user="ana"), wide, http=True, tools="core")
            assert caught.value.code == "bind_refused"
            assert "lamina token create" in caught.value.hint
    for host in ("127.0.0.1", "127.9.9.9", "localhost", "::1"):
        with lamina.open(workspace, host=host) as engine:
            check_binding(engine)


def test_a_server_on_every_address_answers_on_each(workspace: str) -> None:
    with lamina.open(workspace) as engine:
        token = create_token(engine, "laptop", user="ana")[1]
    with served(workspace, host="0.0.0.0") as http:
        assert http.post(token).status_code == 200
        assert http.post(token, Host="evil.example").status_code == 421
        port = http.url.split(":")[2].split("/")[0]
        assert http.post(token, Host=f"{socket.gethostname()}:{port}").status_code == 200


def test_only_our_own_names_are_ours() -> None:
    assert host_headers("192.0.2.7", 8765) == [
        "127.0.0.1:8765",
        "localhost:8765",
        "[::1]:8765",
        "192.0.2.7:8765",
    ]
    assert "localhost" in host_headers("127.0.0.1", 80)
    assert not any(name.startswith(("0.0.0.0", ":")) for name in host_headers("", 8765))


def test_a_port_that_is_taken_is_said_in_words(workspace: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        lamina.open(workspace, port=taken.getsockname()[1]) as engine,
        pytest.raises(lamina.ConfigError) as caught,
    ):
        serve(engine.scope(user="ana"), engine, http=True, tools="core")
    assert caught.value.code == "bind_failed"


#: What a model may send in the place of anything.
ANYTHING: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, "", " ", "tea", "user:ana:semantic:1", "session", "\u202e\u200bx",
    "é" * 300, "{}", "\x00", "a" * 70_000, [], ["tea"], [None, 3], {}, {"text": {"a": []}}, [[[[]]]],
    "2026-11-18", "-1 day", "*",
]  # fmt: skip


_SURPRISED = re.compile(r"unexpected|^Error executing tool \w+$")


def test_no_tool_is_surprised_by_anything_that_is_sent(here: Here) -> None:
    """Arguments by chance, those of the schema and others: an answer or a plain refusal, never a failure."""
    chance, sent = random.Random(20261118), 0

    async def work(client: Client) -> None:
        nonlocal sent
        tools = (await client.list_tools()).tools
        await done(client, "memory_remember", text="Ana likes green tea")
        for _ in range(times(4, 60)):
            for tool in tools:
                known = list(tool.input_schema["properties"])
                names = [*known, "not_there"] if chance.random() < 0.2 else known
                needed = tool.input_schema.get("required", [])
                given = {
                    one: chance.choice(ANYTHING) for one in names if one in needed or chance.random() < 0.4
                }
                sent += 1
                try:
                    result = await client.call_tool(tool.name, given)
                except MCPError as error:
                    if error.error.code == INTERNAL_ERROR:
                        raise
                    continue
                said = " ".join(str(getattr(block, "text", "")) for block in result.content)
                assert not (result.is_error and _SURPRISED.search(said)), (tool.name, given, said)
        assert (await done(client, "memory_recall", question="tea"))["hits"]

    here.talk(work, tools="all")
    assert sent > 200
