"""The commands that bring the memory to where agents live: `install`, `uninstall`, and the hooks' switch."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from lamina.config import home_folder
from lamina.doors.cli.call import PROGRAM, STATE_DIR, WORKSPACE_VARIABLE, Call
from lamina.doors.cli.machine import Command
from lamina.doors.harness.clients import CLIENTS, Launch, Place
from lamina.doors.harness.install import (
    Plan,
    carry_out,
    client_of,
    plan_install,
    plan_uninstall,
    shown,
    state_of,
)
from lamina.errors import Damaged, InvalidInput
from lamina.operations.operation import Field, parameters_of

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which client, and whose."""

    client: Annotated[str, Field(f"{', '.join(CLIENTS)}.", position=True, metavar="CLIENT")]
    scope: Annotated[str, Field("user: in every project; project: in this one.")] = "user"
    dry_run: Annotated[bool, Field("Show what would change, and change nothing.")] = False


def install(call: Call, values: Values) -> int:
    """Give a client this memory: its MCP server, its hooks, and a page that says how to use it."""
    client, place = client_of(values["client"]), _place(values)
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
    client, place = client_of(values["client"]), _place(values)
    plan = plan_uninstall(client, place, home_folder(os.environ))
    return _settled(call, values, plan, "Removed", "has nothing of ours; nothing was changed")


def _settled(call: Call, values: Values, plan: Plan, done: str, nothing: str) -> int:
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
    return call.answer(data, [f"{done}: {plan.client.title}, {files}. Start it anew to have it so."])


def _place(values: Values) -> Place:
    scope = values.get("scope", "user")
    if scope not in ("user", "project"):
        raise InvalidInput(f"{scope!r:.40} is no scope.", code="scope_invalid", hint="Use user or project.")
    return Place(home=Path.home(), project=Path.cwd(), environment=os.environ, scope=scope)


def _launcher() -> tuple[str, ...]:
    """How to start this program from anywhere: its own file, or the interpreter with its module."""
    started = Path(sys.argv[0])
    if started.name == PROGRAM and (found := shutil.which(str(started.absolute()))):
        return (found,)
    return (sys.executable, "-m", PROGRAM)


COMMANDS = tuple(
    Command(words=run.__name__, about=run.__doc__ or "", run=run, parameters=parameters_of(Where), asks=True)
    for run in (install, uninstall)
)
