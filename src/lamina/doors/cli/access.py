"""The commands for other programs: token, serve, mcp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.errors import InvalidInput
from lamina.model import iso, plain

if TYPE_CHECKING:
    from lamina.doors.cli.call import Call
    from lamina.engine import Engine
    from lamina.model.token import Token

commands = Commands()
token = commands.group("token", "Tokens by which other programs are let in over the network.")

Host = Annotated[str | None, Option(help="The address to listen on; 127.0.0.1 unless configured.")]
Port = Annotated[int | None, Option(help="The port to listen on; 8765 unless configured.")]


@token.command("create")
def create(
    ctx: typer.Context,
    label: Annotated[str, Argument(metavar="LABEL", help="What it is for, to recognise it by.")],
    user: Annotated[str | None, Option(help="Whose memories it opens; the owner's by default.")] = None,
    agent: Annotated[str | None, Option(help="The agent that speaks with it.")] = None,
    role: Annotated[str | None, Option(help="user, agent, tool, document, system or admin.")] = None,
    right: Annotated[
        list[str] | None, Option(help="read, write, consent or admin; may be repeated. Else read, write.")
    ] = None,
    expires_in: Annotated[str | None, Option(help="When it ends: 30d, 12h, a date; else never.")] = None,
) -> int:
    """Make a token; its text is shown this once."""
    call = call_of(ctx)
    who = {name: call.given.who.get(name) for name in ("user", "agent")}
    said = {"user": user, "agent": agent, "role": role, "rights": right}
    details = who | {name: value for name, value in said.items() if value is not None}
    with call.engine() as engine:
        given = {name: value for name, value in details.items() if value is not None}
        made, text = call.doors.create_token(engine, label, **given, **_end(call, engine, expires_in))
    call.out.note("Keep this now; it is not shown again.")
    return call.answer({"token": _without_hash(made), "text": text}, [text])


def _end(call: Call, engine: Engine, expires_in: str | None) -> dict[str, Any]:
    if expires_in is None or expires_in.strip().lower() == "none":
        return {}
    _, at = call.doors.parse_ttl(expires_in, engine.now())
    if at is None:
        raise InvalidInput("A token ends at a time.", code="ttl_invalid", hint="Write 30d or a date.")
    return {"expires_at": at}


def _without_hash(made: Token) -> dict[str, Any]:
    return {name: value for name, value in plain(made).items() if name != "hash"}


@token.command("list")
def list_all(ctx: typer.Context) -> int:
    """Every token there is or was, without its secret."""
    call = call_of(ctx)
    with call.engine() as engine:
        tokens, now = call.doors.list_tokens(engine), engine.now()
    rows = [("id", "label", "user", "agent", "role", "rights", "state")]
    for one in tokens:
        state = "live" if one.expires_at is None else f"live until {iso(one.expires_at)}"
        if one.expires_at is not None and one.expires_at <= now:
            state = f"ended {iso(one.expires_at)}"
        if one.revoked_at is not None:
            state = f"revoked {iso(one.revoked_at)}"
        rows.append((one.id, one.label, one.user, one.agent or "-", one.role, ",".join(one.rights), state))
    return call.answer({"tokens": [_without_hash(one) for one in tokens]}, call.out.table(rows))


@token.command("revoke")
def revoke(
    ctx: typer.Context,
    token_id: Annotated[str, Argument(metavar="ID", help="Its id, as `token list` shows it.")],
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> int:
    """End a token at once and for good."""
    call = call_of(ctx)
    if not call.confirmed(f"Revoke the token {token_id!r}? This cannot be undone.", yes):
        return call.declined()
    with call.engine() as engine:
        call.doors.revoke_token(engine, token_id)
    return call.answer({"id": token_id}, ["Revoked."])


@commands.add("serve")
def serve(ctx: typer.Context, host: Host = None, port: Port = None) -> int:
    """Serve the HTTP API until interrupted."""
    call = call_of(ctx)
    with call.engine(host=host, port=port) as engine:
        call.doors.serve_http(engine, call.out.note)
    return call.answer(None)


@commands.add("mcp")
def mcp(
    ctx: typer.Context,
    http: Annotated[bool, Option("--http", help="Over HTTP instead of stdin and stdout.")] = False,
    host: Host = None,
    port: Port = None,
    tools: Annotated[Literal["core", "all", "readonly"], Option(help="Which tools to offer.")] = "core",
    role: Annotated[Literal["agent", "user"], Option(help="Who speaks through it.")] = "agent",
) -> int:
    """Serve the Model Context Protocol, for agents."""
    call = call_of(ctx)
    if call.out.json and not http:
        raise InvalidInput("Over stdin and stdout there is no room for --json.", hint="Leave --json out.")
    with call.engine(host=host, port=port) as engine:
        mind = engine.scope(**call.given.who, role=role, via="mcp")
        call.doors.serve_mcp(mind, engine, http, tools)
    return call.answer(None) if http else 0
