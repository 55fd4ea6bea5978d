"""The commands that bring the memory to where agents live: `install`, `uninstall`, and the hooks' switch."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from lamina.config import home_folder
from lamina.doors.cli.call import PROGRAM, STATE_DIR, WORKSPACE_VARIABLE, Call, CliCommand, Values
from lamina.doors.harness.clients import CLIENTS, VERBS, Client, ClientHome, Launch
from lamina.doors.harness.install import (
    InstallPlan,
    carry_out,
    client_of,
    plan_install,
    plan_uninstall,
    shown,
    state_of,
)
from lamina.doors.harness.switch import ANY, Switch, read, standing, turn
from lamina.errors import Damaged, InvalidInput
from lamina.operations.operation import Field, parameters_of
from lamina.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Which client, and whose."""

    client: Annotated[str, Field(f"{', '.join(CLIENTS)}.", position=True, metavar="CLIENT")]
    scope: Annotated[str, Field("user: in every project; project: in this one.")] = "user"
    dry_run: Annotated[bool, Field("Show what would change, and change nothing.")] = False


def install(call: Call, values: Values) -> int:
    """Give a client this memory: its MCP server, its hooks, and a page that says how to use it."""
    client = client_of(values["client"])
    place = _place(values, client)
    root = call.opening().workspace
    if root is not None and not (root / STATE_DIR).is_dir():
        raise Damaged(
            "There is no workspace here that a client could be given.",
            code="no_workspace",
            hint=f"Make one with `{PROGRAM} init ~/memory`, then `{PROGRAM} -w ~/memory {call.command} …`.",
        )
    named = call.given.workspace is not None or os.environ.get(WORKSPACE_VARIABLE)
    fixed = place.scope == "user" or named
    launch = Launch(words=_launcher(), workspace=str(root) if root is not None and fixed else "")
    plan = plan_install(client, place, launch, home_folder(os.environ))
    return _settled(call, values, plan, "Installed", "is installed already; nothing was changed")


def uninstall(call: Call, values: Values) -> int:
    """Take everything of ours out of a client's files again; what is not ours stays as it is."""
    client = client_of(values["client"])
    place = _place(values, client)
    plan = plan_uninstall(client, place, home_folder(os.environ))
    return _settled(call, values, plan, "Removed", "has nothing of ours; nothing was changed")


def _settled(call: Call, values: Values, plan: InstallPlan, done: str, nothing: str) -> int:
    short = [(str(Path.home()), "~")]
    lines = [call.out.text(line) for line in shown(plan, short)]
    trial = values.get("dry_run", False)
    data = {
        "client": plan.client.name,
        "changes": [
            {"path": str(one.path), "state": state_of(one), "lines": one.shown} for one in plan.changes
        ],
        "left": plan.left,
        "dry_run": trial,
    }
    if not plan.changes:
        return call.answer(data, [*lines, f"{plan.client.title} {nothing}."])
    if trial:
        return call.answer(data, [*lines, "Nothing was changed: this was a dry run."])
    if not call.out.json:
        for line in lines:
            call.out.note(line)
    if not call.confirmed("Make these changes?", values.get("yes", False)):
        return call.declined()
    carry_out(plan, removal=done == "Removed")
    files = f"{len(plan.changes)} file{'s' if len(plan.changes) > 1 else ''}"
    return call.answer(data, [f"{done}: {plan.client.title}, {files}. Restart it for this to take effect."])


def _place(values: Values, client: Client) -> ClientHome:
    scope = values.get("scope", "user")
    if scope not in client.scopes:
        hint = f"Use {' or '.join(client.scopes)}."
        raise InvalidInput(
            f"{scope!r:.40} is not a scope of {client.title}.", code="scope_invalid", hint=hint
        )
    return ClientHome(home=Path.home(), project=Path.cwd(), environment=os.environ, scope=scope)


def _launcher() -> tuple[str, ...]:
    """How to start this program from anywhere: its own file, or the interpreter with its module."""
    started = Path(sys.argv[0])
    if started.name == PROGRAM and (found := shutil.which(str(started.absolute()))):
        return (found,)
    return (sys.executable, "-m", PROGRAM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Which client calls."""

    harness: Annotated[str, Field("The client that calls.", metavar="CLIENT")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """For which client, and where."""

    folder: Annotated[Path | None, Field("Where; right here by default.", position=True, metavar="DIR")] = (
        None
    )
    client: Annotated[str, Field("For this client only; every one by default.")] = ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute(Here):
    """How far."""

    told: Annotated[bool, Field("Go on telling what is known.")] = False


def _called(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """What a client's hook does; its object comes on standard input."""
    raise InvalidInput("A hook is called by its client.", code="hook_unknown", hint="See `lamina install`.")


def hook_off(call: Call, values: Values) -> int:
    """Remember nothing in a folder and below; nothing is told there either, unless `--told`."""
    return _switched(call, values, Switch.MUTE if values.get("told") else Switch.OFF)


def hook_on(call: Call, values: Values) -> int:
    """Remember again in a folder and below."""
    return _switched(call, values, Switch.ON)


def _switched(call: Call, values: Values, state: Switch) -> int:
    folder = (values.get("folder") or Path()).expanduser().absolute()
    client = values.get("client", ANY)
    if client != ANY:
        client_of(client)
    turn(home_folder(os.environ), client, folder, state)
    who = "Every client" if client == ANY else client_of(client).title
    says = {
        Switch.ON: "remembers again",
        Switch.MUTE: "remembers nothing, and is told what is known",
        Switch.OFF: "remembers nothing and is told nothing",
    }
    data = {"client": client, "folder": str(folder), "state": state}
    return call.answer(data, [f"{who} {says[state]} in {call.out.text(str(folder))}."])


def hook_list(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """Where the switches stand, and what holds here."""
    home = home_folder(os.environ)
    rows = [{"client": one, "folder": where, "state": state} for (one, where), state in read(home).items()]
    here = {name: standing(home, name, Path.cwd()) for name in CLIENTS}
    lines = call.out.table([[*map(str, row.values())] for row in rows]) if rows else []
    lines += [f"here: {', '.join(f'{name} {state}' for name, state in here.items())}"]
    return call.answer({"switches": rows, "here": here}, lines)


def _command(
    words: str, run: Callable[[Call, Values], int], takes: type | None, asks: bool = False
) -> CliCommand:
    parameters = () if takes is None else parameters_of(takes)
    listed = run is not _called
    return CliCommand(
        words=words, about=run.__doc__ or "", run=run, parameters=parameters, asks=asks, listed=listed
    )


COMMANDS = (
    _command("install", install, ClientOptions, asks=True),
    _command("uninstall", uninstall, ClientOptions, asks=True),
    *(_command(f"hook {verb}", _called, Moment) for verb in VERBS),
    _command("hook off", hook_off, Mute),
    _command("hook on", hook_on, Here),
    _command("hook list", hook_list, None),
)
