"""An agent's wish about its user becomes a form in the user's MCP client, or else it waits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult

import lamina
from lamina.__main__ import doors as _doors
from lamina.doors.cli.app import run
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.lifecycle.consent import proposals
from lamina.lifecycle.tokens import create_token
from tests.doors.test_mcp import LEGACY, MODERN, VERSION, served

Answer = Callable[[str], ElicitResult]
WISH = {"text": "Ada", "key": "user.name"}


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with lamina.open(tmp_path / "workspace", owner="ana") as engine:
        yield engine


def asked(engine: Engine, answer: Answer | None, mode: str = MODERN, **wish: str) -> tuple[Any, list[str]]:
    """What an agent's wish comes to with a client that answers so (None: none are shown), and its forms."""
    shown: list[str] = []

    async def person(_: Any, params: ElicitRequestParams) -> ElicitResult:
        shown.append(params.message)
        assert answer is not None
        return answer(params.message)

    async def conversation() -> Any:
        server = build_server(Starter(engine, engine.scope(user="ana", agent="planner")))
        async with Client(server, mode=mode, elicitation_callback=person if answer else None) as client:
            assert client.protocol_version == VERSION[mode]
            result = await client.call_tool("memory_remember", wish or WISH)
            assert not result.is_error, result.content
            return result.structured_content

    return anyio.run(conversation), shown


def yes(_: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"agree": True})


def unticked(_: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"agree": False})


def declines(_: str) -> ElicitResult:
    return ElicitResult(action="decline")


def cancels(_: str) -> ElicitResult:
    return ElicitResult(action="cancel")


def last_step(engine: Engine) -> dict[str, Any]:
    ana = engine.scope(user="ana")
    return ana.history(proposals(ana, decided=True)[-1].id)[-1].decision


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
def test_the_person_accepts_and_it_is_kept_as_their_word(engine: Engine, mode: str) -> None:
    receipt, shown = asked(engine, yes, mode)
    assert (receipt["decision"], receipt["code"]) == ("admitted", "confirmed")
    assert len(shown) == 1
    assert "planner" in shown[0]
    assert "user.name = Ada" in shown[0]
    assert engine.scope(user="ana").layers.user_model.get()["name"] == "Ada"
    assert last_step(engine) == {"code": "confirmed", "channel": "elicitation"}
    again, shown = asked(engine, yes, mode)
    assert (again["decision"], shown) == ("unchanged", [])


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
@pytest.mark.parametrize("answer", [declines, unticked])
def test_the_person_declines_and_it_is_denied(engine: Engine, answer: Answer, mode: str) -> None:
    receipt, _ = asked(engine, answer, mode)
    assert (receipt["decision"], receipt["code"]) == ("denied", "consent_denied")
    assert engine.scope(user="ana").resolve() == {}
    assert engine.scope(user="ana").pending() == []
    assert last_step(engine) == {"code": "rejected", "channel": "elicitation"}
    again, shown = asked(engine, yes, mode, text=" ADA ", key="user.name")
    assert (again["decision"], again["code"], shown) == ("denied", "refused_stays", [])


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
@pytest.mark.parametrize("answer", [cancels, None])
def test_without_an_answer_or_a_form_it_waits_in_the_queue(
    engine: Engine, answer: Answer | None, mode: str
) -> None:
    receipt, _ = asked(engine, answer, mode)
    assert (receipt["decision"], receipt["code"]) == ("held", "pending")
    assert [one.key for one in engine.scope(user="ana").pending()] == ["user.name"]


def test_nobody_is_asked_about_what_is_not_sensitive_or_cannot_be_kept(engine: Engine) -> None:
    assert asked(engine, yes, text="Ana likes tea")[1] == []
    assert asked(engine, yes, text="vim", key="editor")[1] == []
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    receipt, shown = asked(engine, yes, text=secret, key="user.name")
    assert (receipt["decision"], shown) == ("denied", [])


def test_every_key_waits_and_the_agent_reads_so_and_an_administrators_key_is_refused(engine: Engine) -> None:
    for key in ("response.tone", "favourite.food", "user.goal.run"):
        receipt, shown = asked(engine, None, text="tea", key=key)
        assert (receipt["decision"], receipt["code"], shown) == ("held", "pending", [])
        assert "waits for their yes or no" in receipt["acknowledgement"]
    for key in ("policy.allow.tools", "Ｐｏｌｉｃｙ.allow.tools", "рolicy.allow.tools"):
        receipt, _ = asked(engine, None, text="rm_rf", key=key)
        assert (receipt["decision"], receipt["code"]) == ("denied", "key_reserved")
    assert engine.scope(user="ana").resolve() == {}


def test_an_agent_that_updates_the_user_model_reads_what_waits(engine: Engine) -> None:
    async def conversation() -> Any:
        server = build_server(Starter(engine, engine.scope(agent="planner")), tools="all")
        async with Client(server) as client:
            updates = {"expertise": {"docker": "expert"}, "notes": ["likes tea"]}
            result = await client.call_tool("oracle_user_model_update", {"updates": updates})
            return result.structured_content

    told = anyio.run(conversation)
    assert told["pending"] == [one.id for one in engine.scope().pending()]
    assert (len(told["pending"]), told["model"]["known"]) == (2, [])


def test_the_owner_of_the_machine_can_let_no_form_count(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "workspace", owner="ana", consent_elicitation=False) as engine:
        receipt, shown = asked(engine, yes)
        assert (receipt["decision"], shown) == ("held", [])


def test_over_http_only_a_token_with_the_right_to_consent_speaks_for_the_person(tmp_path: Path) -> None:
    shown: list[str] = []

    async def person(_: Any, params: ElicitRequestParams) -> ElicitResult:
        shown.append(params.message)
        return yes(params.message)

    with served(str(tmp_path / "workspace")) as server:

        def wished(*rights: str, mode: str = MODERN) -> Any:
            token = create_token(server.engine, "t", user="ana", agent="planner", rights=rights)[1]

            async def conversation() -> Any:
                async with server.connected(token, mode, elicitation_callback=person) as client:
                    return (await client.call_tool("memory_remember", WISH)).structured_content

            return anyio.run(conversation)

        assert wished("read", "write")["decision"] == "held"
        assert wished("read", "write", "consent", mode=LEGACY)["decision"] == "held"  # no way to ask back
        assert shown == []
        assert wished("read", "write", "consent")["code"] == "confirmed"
        assert len(shown) == 1


def test_the_command_line_lists_what_waits_and_what_was_decided(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def typed(*words: str) -> str:
        assert run(_doors(), ["--user", "ana", *words]) == 0
        return capfd.readouterr().out

    typed("init")
    typed("--agent", "planner", "remember", "Bangkok", "--key", "user.city")
    told = "sensitive, 100% sure, 0 turns, by agent:planner"
    assert typed("pending").strip() == f"user.city = Bangkok  {told}, 7 days left"
    typed("pending", "confirm", "user.city")
    assert typed("pending", "list") == ""
    assert typed("pending", "list", "--all").strip() == f"user.city = Bangkok  {told}, approved"
    item = json.loads(typed("--json", "pending", "list", "--all"))["data"]["items"][0]
    assert (item["care"], item["status"], item["field"]) == ("sensitive", "approved", "city")
    assert "confirmed:cli" in typed("history", item["id"])
