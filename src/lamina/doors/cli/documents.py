"""The commands about documents: search, index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.documents.settings import Citations
from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.output import Output
from lamina.doors.search_body import search_body
from lamina.errors import NotFound
from lamina.model import plain

if TYPE_CHECKING:
    from lamina.documents.results import LibraryStatus, SearchResults
    from lamina.retrieval.meaning import Meaning

commands = Commands()

_SHOWN = 10


@commands.add("search")
def search(
    ctx: typer.Context,
    query: Annotated[str, Argument(metavar="QUERY", help="A question, some words, a path, a decision's id.")],
    max_results: Annotated[int | None, Option("-k", "--max-results", help="How many at most.")] = None,
    corpus: Annotated[str, Option(help="all, documents or memories.")] = "all",
    archive: Annotated[bool, Option("--archive", help="Look into the archives, too.")] = False,
    citations: Annotated[
        Citations | None, Option(help="Cite documents (auto), memories too (on), or nothing (off).")
    ] = None,
    timeout_ms: Annotated[int | None, Option(help="How long it may take; 4000 by default.")] = None,
) -> int:
    """What documents and memories say, with where it stands."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.search(
            query,
            max_results=max_results,
            corpus=corpus,
            archive=archive,
            citations=citations,
            timeout_ms=timeout_ms,
        )
    if not call.out.json:
        _warn(call.out, found)
    return call.answer(search_body(found), _results(call.out, found))


def _warn(out: Output, found: SearchResults) -> None:
    if not found.results:
        out.note(f"Nothing was found in: {', '.join(found.searched) or 'nothing'}.")
    if found.partial:
        out.note(f"There was no time for: {', '.join(found.cut)}.")
    if found.stale:
        out.note(f"{found.warning} Run `{found.action}`.")


def _results(out: Output, found: SearchResults) -> Iterator[str]:
    for number, one in enumerate(found.results, 1):
        head = f"{number}. "
        indent = " " * len(head)
        yield f"{head}{out.text(one.snippet, indent)}"
        where = one.citation or (one.id if one.source == "memory" else "")
        parts = (where, one.date or "", one.status or "", f"uncertainty: {one.uncertainty} ({one.why})")
        yield indent + out.style("  ".join(out.text(part) for part in parts if part), "dim")


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
