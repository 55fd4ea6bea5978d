"""The command line as a whole: its global options, its commands, and how every run of it ends."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Option
from typer.main import get_command

from lamina.doors.cli import (
    access,
    begin,
    core,
    decisions,
    demo,
    documents,
    governance,
    imports,
    jobs,
    layers,
    lifecycle,
    memories,
    merging,
    relations,
    team,
    upkeep,
)
from lamina.doors.cli.call import PROGRAM, Call, Globals, command_path
from lamina.doors.cli.commands import HELP, Commands, LazyGroup
from lamina.doors.cli.doors import Doors
from lamina.doors.cli.exits import DONE, FAILED, INTERRUPTED, Failure, failure_of
from lamina.doors.cli.output import Output, prepare_streams


class LaminaGroup(LazyGroup):
    """Every command there is."""

    parts = (
        begin,
        memories,
        merging,
        core,
        team,
        relations,
        documents,
        governance,
        imports,
        decisions,
        jobs,
        layers,
        lifecycle,
        upkeep,
        access,
        demo,
    )
    known = Commands(part.commands for part in parts)


# Plain help: it needs no markup, so nothing in it is ever taken for markup, and it appears at once.
app = typer.Typer(
    name=PROGRAM,
    cls=LaminaGroup,
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings=HELP,
)


@app.callback()
def main(
    ctx: typer.Context,
    workspace: Annotated[
        Path | None,
        Option(
            "-w",
            "--workspace",
            metavar="DIR",
            readable=False,
            help="The workspace. By default $LAMINA_WORKSPACE, else the nearest folder above with `.lamina`.",
        ),
    ] = None,
    store: Annotated[
        str | None, Option(metavar="URL", help="The store: sqlite:///file.db or postgresql://user@host/name.")
    ] = None,
    tenant: Annotated[str | None, Option(help="Whose store, where several share one server.")] = None,
    user: Annotated[str | None, Option(help="Whose memories; the workspace's owner by default.")] = None,
    agent: Annotated[str | None, Option(help="Speak as this agent instead of the person.")] = None,
    session: Annotated[str | None, Option(help="The session this belongs to.")] = None,
    run: Annotated[str | None, Option(help="The run whose audit file gets the changes.")] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON envelope on stdout; may stand last.")] = False,
    now: Annotated[str | None, Option(metavar="ISO", help="Let it be this time, for replays.")] = None,
    debug: Annotated[bool, Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[bool, Option("--version", help="The version, and nothing else.")] = False,
) -> int:
    """Memory for AI agents that its owner can read, govern and prove."""
    call: Call = ctx.obj
    if version:
        raise typer.Exit(call.answer({"version": call.doors.version}, [f"{PROGRAM} {call.doors.version}"]))
    if ctx.invoked_subcommand is None:
        if as_json:
            ctx.fail("Missing command.")
        return call.answer(None, [ctx.get_help()])
    who = {"user": user, "agent": agent, "session": session, "run": run}
    settings = {"store": store, "tenant": tenant}
    ctx.obj = replace(
        call,
        out=replace(call.out, debug=debug),
        given=Globals(
            workspace=workspace,
            settings={name: value for name, value in settings.items() if value is not None},
            who={name: value for name, value in who.items() if value is not None},
            at=call.time(now, "--now"),
        ),
    )
    return DONE


def run(doors: Doors, arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code; whatever happens, nothing is raised."""
    prepare_streams()
    arguments, wanted = _json_first(arguments)
    call = Call(doors=doors, out=Output(json=wanted, debug="--debug" in arguments))
    try:
        code = _carried_out(call, arguments)
    except SystemExit as ended:  # how Typer leaves when its reader has gone, and after a completion
        code = ended.code if isinstance(ended.code, int) else FAILED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError:  # not even the reason could be written
        code = FAILED
    return code if _delivered(call.out) else FAILED


def _json_first(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """`--json` may stand anywhere before `--`, because people type it last; it belongs before the command."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    head = [word for word in words[:end] if word != "--json"]
    wanted = len(head) < end
    return ["--json"] * wanted + head + words[end:], wanted


def _carried_out(call: Call, arguments: list[str]) -> int:
    try:
        code = get_command(app).main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=call)
    except typer.Abort:
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 people get a sentence for every error there may be
        failure = failure_of(error)
        if not isinstance(error, typer.TyperException):
            call.out.trace(error)
        call.out.answer(_command_of(call, error), None, failure=failure)
        return failure.exit_code
    if code == INTERRUPTED and call.out.json:
        stopped = Failure(code="interrupted", message="Interrupted.", exit_code=INTERRUPTED)
        call.out.answer(_command_of(call), None, failure=stopped)
    return code if isinstance(code, int) else DONE


def _command_of(call: Call, error: Exception | None = None) -> str:
    """The command that was being carried out, or that a usage error is about."""
    context = getattr(error, "ctx", None)
    if context is not None:
        return command_path(context)
    return call.entered[-1] if call.entered else ""


def _delivered(out: Output) -> bool:
    """Whether everything printed has left; if not, Python must not try again at exit and complain."""
    stream = sys.__stdout__
    if stream is None:
        return True
    try:
        stream.flush()
        return True
    except OSError as error:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            out.note(f"Error: The answer could not be written: {error.strerror}.")
        return False
