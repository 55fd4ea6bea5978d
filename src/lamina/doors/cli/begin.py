"""The command that begins: init."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import STATE_DIR, WORKSPACE_VARIABLE, Call, call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.output import Output, hide_password
from lamina.errors import Conflict

commands = Commands()


@commands.add("init")
def init(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, Argument(metavar="DIR", readable=False, help="Where; by default right here.")
    ] = None,
    owner: Annotated[str | None, Option(help="Whose memories these are.")] = None,
    adopt: Annotated[
        bool, Option("--adopt", help="Take over entries that live in another workspace's file.")
    ] = False,
) -> int:
    """Make a folder a workspace; what is there stays."""
    call = call_of(ctx)
    root = _place(call, folder)
    was_there = (root / STATE_DIR).is_dir()
    person = call.doors.load_config(root if was_there else None, call.given.settings).config.owner
    if was_there and owner is not None and owner != person:
        raise Conflict(
            f"{root} is already the workspace of {person}.",
            code="workspace_exists",
            hint="Change `owner` in its lamina.toml, or choose another folder.",
        )
    person = owner or person
    created = call.doors.create_workspace(root, person)
    placed = replace(call, given=replace(call.given, workspace=root))
    # The store and the audit key exist from here on, or the reason is told.
    with call.doors.open_memory(placed.opening()._replace(adopt=adopt)) as engine:
        found = engine.status()
    for problem in found.problems:
        call.out.note(f"{problem.file}:{problem.line}: {problem.message} {problem.hint}")
    store = hide_password(found.store)
    data = {"workspace": str(root), "owner": person, "created": created, "store": store}
    return call.answer(data, _made(call.out, root, person, created))


def _place(call: Call, folder: Path | None) -> Path:
    named = folder or call.given.workspace or os.environ.get(WORKSPACE_VARIABLE) or "."
    return call.doors.find_workspace(Path(), Path(named), os.environ)


def _made(out: Output, root: Path, person: str, created: list[str]) -> Iterator[str]:
    where = out.text(str(root))
    if created:
        yield f"{where} is a workspace of {out.text(person)} now. Made in it: {', '.join(created)}"
    else:
        yield f"{where} is a workspace of {out.text(person)} already; nothing was changed."
    enter = "" if root == Path.cwd() else f"-w {_quoted(out.text(str(root)))} "
    yield "Try next:"
    yield f'  lamina {enter}remember "I prefer short answers" --key response.style'
    yield f'  lamina {enter}recall "how should answers be?"'


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else "'" + text.replace("'", "'\\''") + "'"
