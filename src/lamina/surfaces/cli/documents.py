"""The commands about documents: index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from lamina.errors import NotFound
from lamina.model import plain
from lamina.surfaces.cli.call import call_of
from lamina.surfaces.cli.commands import Commands
from lamina.surfaces.cli.output import Output

if TYPE_CHECKING:
    from lamina.engine.library import LibraryStatus
    from lamina.engine.meaning import Meaning

commands = Commands()

_SHOWN = 10


@commands.add("index")
def index(
    ctx: typer.Context,
    full: Annotated[bool, Option("--full", help="Read every file again, changed or not.")] = False,
    yes: Annotated[
        bool, Option("--yes", help="Let go of documents that are gone, however many they are.")
    ] = False,
) -> int:
    """Take in changed markdown, and make vectors that are missing."""
    call = call_of(ctx)
    with call.engine() as engine:
        if engine.library is None:
            raise NotFound("There is no workspace with documents here.", hint="Name one with --workspace.")
        tell = None if call.out.json or sys.stderr is None or not sys.stderr.isatty() else _tell
        found = engine.library.index(engine.now(), full=full, agreed=yes, progress=tell)
        engine.indexed()
        embedded = 0
        while some := engine.embed_missing():
            embedded += some
        meaning = engine.status().meaning
    lines = [*library_lines(call.out, found), f"meaning: {meaning_line(meaning)}; {embedded} vectors made"]
    return call.answer({**plain(found), "meaning": meaning, "embedded": embedded}, lines)


def _tell(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done} of {total} files" + ("\n" if done == total else ""))
    sys.stderr.flush()


def library_lines(out: Output, found: LibraryStatus) -> Iterator[str]:
    """The disk and the index in a few lines, and what somebody should look at."""
    tiers = ", ".join(f"{count} {tier}" for tier, count in found.documents.items()) or "none"
    yield f"documents: {tiers}; {found.passages} passages of {found.files} files"
    if found.dirty:
        yield f"behind: {found.dirty} files changed and are not indexed yet"
    if found.weekly_job:
        yield "waiting: the weekly job is at work"
    if found.is_paused:
        yield (
            f"paused: {found.gone} documents are gone at once and are not shown;"
            " `lamina index --yes` lets go of them"
        )
    if found.hidden:
        yield f"kept out: what looks like a secret in {', '.join(found.hidden[:_SHOWN])}"
    for path, why in sorted(found.skipped.items())[:_SHOWN]:
        yield f"skipped: {out.text(path)}: {out.text(why)}"
    for note in found.notes:
        yield f"note: {out.text(note)}"


def meaning_line(found: Meaning) -> str:
    """Whether search by meaning is on, and what it lacks."""
    waiting = f", {found.missing} texts wait for a vector" if found.missing else ""
    return found.problem or f"{found.embedder}{waiting}"
