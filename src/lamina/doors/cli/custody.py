"""The commands that look after whole memories: migrate, move, back up, put back, rescue."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from lamina.doors.cli.call import Call, CliCommand, Values
from lamina.doors.cli.exits import Failure
from lamina.doors.cli.machine import command
from lamina.doors.cli.output import hide_password
from lamina.model import plain
from lamina.operations.operation import Field
from lamina.records import dataclass
from lamina.workspace.layout import find_workspace

_NOT_INTACT = Failure(
    code="audit_findings", message="The audit of it has findings; see `lamina audit verify`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a store goes."""

    url: Annotated[
        str, Field("sqlite:///file.db or postgresql://user@host/name.", position=True, metavar="URL")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """Where a backup goes."""

    file: Annotated[Path, Field("The file to write; it must not be there.", position=True, metavar="FILE")]
    with_key: Annotated[bool, Field("Put the audit key in, too: whoever has both can forge.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreBackup:
    """What is put back, and where."""

    file: Annotated[Path, Field("A file that `lamina backup` made.", position=True, metavar="FILE")]
    folder: Annotated[
        Path | None, Field("The folder of the new workspace.", position=True, metavar="DIR")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """Where to save."""

    out: Annotated[Path, Field("A new folder for what can be saved.", position=True, metavar="OUT")]


def move(call: Call, values: Values) -> int:
    """Copy the whole store into another database and check it there; the old one stays.

    History, tokens and audit go along. Set `store` to the new one afterwards.
    """
    opening = call.opening()
    with _bar(call, "Moving") as tell:
        done = call.doors.custody().move(opening.workspace, opening.settings, values["url"], tell)
    told = hide_password(done.store)
    lines = [
        f"{done.rows} rows are in {call.out.text(told)}, read back and equal.",
        "The audit there is intact." if done.intact else "",
        "Use it from now on: set LAMINA_STORE to it, or pass --store. The old store stays as it is.",
    ]
    data = {**plain(done), "store": told}
    return call.answer(data, filter(None, lines), None if done.intact else _NOT_INTACT)


def backup(call: Call, values: Values) -> int:
    """Write store and files into one file, while it is in use, and read it back."""
    opening = call.opening()
    with _bar(call, "Backing up") as tell:
        done = call.doors.custody().back_up(
            opening.workspace,
            opening.settings,
            values["file"],
            with_key=values.get("with_key", False),
            tell=tell,
        )
    key = (
        "The audit key is in it: keep it where only you can read it."
        if done.with_key
        else f"The audit key {done.audit_key} is not in it: keep a copy of it elsewhere, or use --with-key."
    )
    head = f"{call.out.text(done.file)}: {done.rows} rows and {done.files} files, read back and equal."
    return call.answer(done, [head, key])


def put_back(call: Call, values: Values) -> int:
    """Make a workspace, or with --store a store, of a backup."""
    folder = values.get("folder")
    root = None if folder is None else find_workspace(Path(), folder, os.environ)
    if root is None and "store" not in call.given.settings:
        root = find_workspace(Path(), call.given.workspace or Path(), os.environ)
    with _bar(call, "Restoring") as tell:
        done = call.doors.custody().put_back(values["file"], root, call.given.settings, tell)
    where = done.workspace or hide_password(done.store)
    lines = [
        f"{done.rows} rows and {done.files} files are in {call.out.text(where)}.",
        *(["The audit is intact."] if done.intact else []),
        f"It is the memory of {done.made_at}: what was forgotten since then is in it again.",
    ]
    data = {**plain(done), "store": hide_password(done.store)}
    return call.answer(data, lines, None if done.intact else _NOT_INTACT)


def rescue(call: Call, values: Values) -> int:
    """Save every memory that can still be read out of a damaged store.

    It opens what no other command can, needs no key, and changes nothing.
    """
    opening = call.opening()
    done = call.doors.custody().rescue(opening.workspace, opening.settings, values["out"])
    head = f"{done.memories} memories with {done.steps} steps of history are in"
    if not done.memories:
        head = "No memory could be read. What was tried is in"
    places = "1 place" if done.left_out == 1 else f"{done.left_out} places"
    lines = [
        f"{head} {call.out.text(done.folder)}.",
        f"In {done.mended} of them unreadable bytes are shown as they are." if done.mended else "",
        f"{places} could not be read: left-out.jsonl says which and why." if done.left_out else "",
        *(f"In a new memory of {user}: lamina import {folder}" for user, folder in done.people.items()),
    ]
    return call.answer(done, filter(None, lines))


def migrate_status(call: Call, _: Values) -> int:
    """Say how far the store's tables are, and what this version of Lamina would change in them."""
    opening = call.opening()
    return _schema(call, call.doors.custody().schema_of(opening.workspace, opening.settings))


def migrate_plan(call: Call, _: Values) -> int:
    """Show the statements that `lamina migrate apply` would run; nothing is changed."""
    opening = call.opening()
    schema = call.doors.custody().schema_of(opening.workspace, opening.settings)
    told = zip(schema.missing, schema.statements, strict=True)
    return _schema(call, schema, [f"-- {name}\n{statements}" for name, statements in told])


def migrate_apply(call: Call, _: Values) -> int:
    """Bring the store's tables up to date, step by step, while servers of this version wait or go on.

    Killed half-way, it goes on where it was. Stop servers of older versions first.
    """
    opening = call.opening()
    return _schema(
        call, call.doors.custody().bring_up_to_date(opening.workspace, opening.settings, call.out.note)
    )


def _schema(call: Call, schema: Any, statements: Sequence[str] = ()) -> int:
    data = {**plain(schema), "store": hide_password(schema.store)}
    if not schema.missing:
        return call.answer(data, [f"The schema is current ({schema.version:04})."])
    lines = [f"The schema is at {schema.version:04}; this version wants {schema.wanted:04}. Missing:"]
    named = statements or [f"  {one}" for one in schema.missing]
    return call.answer(data, [*lines, *named, "Run: lamina migrate apply"])


@contextmanager
def _bar(call: Call, title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere nothing."""
    if call.out.json or sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    with call.doors.show_bar(title) as advance:
        yield advance


COMMANDS: tuple[CliCommand, ...] = (
    command("move", move, Move),
    command("migrate status", migrate_status),
    command("migrate plan", migrate_plan),
    command("migrate apply", migrate_apply),
    command("backup", backup, Backup),
    command("restore-backup", put_back, RestoreBackup),
    command("rescue", rescue, Rescue),
)
