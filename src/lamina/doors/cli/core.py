"""The commands about what a person and their agent agreed on: session, pending, compact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import Call, call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.output import Output
from lamina.model import Receipt, iso, plain

if TYPE_CHECKING:
    from lamina.lifecycle.consent import Proposal

commands = Commands()

session = commands.group("session", "Conversations: begin one, end it, see how it stands.")


@session.command("start")
def start_session(
    ctx: typer.Context, name: Annotated[str, Argument(metavar="NAME", help="What to call it.")]
) -> int:
    """Begin a session or go on with it; SESSION.md is about it from now on."""
    call = call_of(ctx)
    with call.mind() as mind:
        mind.start_session(name)
    return call.answer({"session": name}, [f"SESSION.md is about {call.out.text(name)} now."])


@session.command("end")
def end_session(ctx: typer.Context) -> int:
    """End the session; what it keeps until its end goes."""
    call = call_of(ctx)
    with call.mind() as mind:
        count = mind.end_session()
    return call.answer({"cleared": count}, [f"The session is over; {count} entries went with it."])


@session.command("status")
def session_status(ctx: typer.Context) -> int:
    """When the session began, was last used and ended."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.session()
    if found is None:
        return call.answer(None, ["It has not been used yet."])
    ended = iso(found.ended_at) if found.ended_at else "not yet"
    rows = [
        ("session", call.out.text(found.name)),
        ("began", iso(found.started_at)),
        ("last used", iso(found.last_at)),
        ("ended", ended),
    ]
    return call.answer(found, call.out.table(rows))


pending = commands.group("pending", "Guesses about you that wait for your word.")


@pending.callback(invoke_without_command=True)
def pending_alone(ctx: typer.Context) -> int:
    """Guesses about you, and what agents want to set of you, that wait for your word."""
    return list_pending(ctx) if ctx.invoked_subcommand is None else 0


@pending.command("list")
def list_pending(
    ctx: typer.Context,
    decided: Annotated[bool, Option("--all", help="Also what was approved, denied or expired.")] = False,
) -> int:
    """What waits, oldest first: how it is treated, how many turns said it, and who proposed it."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = call.doors.proposals(mind, decided=decided)
    if not found and not call.out.json:
        call.out.note("Nothing waits.")
    return call.answer({"items": plain(found)}, _waiting(call.out, found))


def _waiting(out: Output, found: list[Proposal]) -> Iterator[str]:
    for one in found:
        turns = f"{one.signals} turn{'' if one.signals == 1 else 's'}"
        left = f"{one.days_left} day{'' if one.days_left == 1 else 's'} left"
        when = left if one.status == "proposed" else one.status
        told = f"{one.care}, {one.confidence:.0%} sure, {turns}, by {out.text(one.proposed_by)}, {when}"
        yield f"{one.key} = {out.text(one.text)}  {out.style(told, 'dim')}"


Key = Annotated[str | None, Argument(metavar="KEY", help="Which; else the newest.")]


@pending.command()
def confirm(ctx: typer.Context, key: Key = None) -> int:
    """Keep what was guessed."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipts = mind.confirm(key)
    return _decided(call, receipts)


@pending.command()
def reject(ctx: typer.Context, key: Key = None) -> int:
    """Drop what was guessed."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipts = mind.reject(key)
    return _decided(call, receipts)


def _decided(call: Call, receipts: list[Receipt]) -> int:
    return max(call.receipt(receipt) for receipt in receipts)


@commands.add("compact")
def compact(
    ctx: typer.Context,
    space: Annotated[str, Option("--space", help="session, user or project.")] = "session",
) -> int:
    """Put aside what is past its time, lines in files too."""
    call = call_of(ctx)
    with call.mind() as mind:
        count = mind.compact(space)
    return call.answer({"removed": count}, [f"{count} entries were past their time."])
