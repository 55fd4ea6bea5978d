"""The command that brings in what other tools hold: import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import Call, call_of
from lamina.doors.cli.commands import Commands

if TYPE_CHECKING:
    from lamina.imports.bring_in import Report

commands = Commands()


@commands.add("import")
def import_(
    ctx: typer.Context,
    paths: Annotated[
        list[Path], Argument(metavar="PATH…", help="Transcripts, exports, or folders that hold some.")
    ],
    format_: Annotated[
        str,
        Option(
            "--format",
            help="auto, lamina, openclaw, claude-code, codex, jsonl, gemini, chatgpt, claude, mem0, "
            "memory-server or oracle.",
        ),
    ] = "auto",
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would happen, and write nothing.")] = False,
    since: Annotated[str | None, Option(help="Nothing said before this date or time.")] = None,
    tool_output: Annotated[
        bool, Option("--tool-output", help="What tools returned, too, each cut to 2,000 characters.")
    ] = False,
    user: Annotated[str | None, Option(help="Whose memories they become; else as for every command.")] = None,
) -> int:
    """Bring in conversations and memories of other tools, once each."""
    call = call_of(ctx)
    after = call.time(since, "--since")
    who = {**call.given.who, **({} if user is None else {"user": user})}
    with call.engine() as engine, _progress(call) as advance:
        report = call.doors.import_files(
            engine.scope(**who, via="cli"),
            paths,
            advance,
            format=format_,
            since=after,
            tool_output=tool_output,
            dry_run=dry_run,
        )
    for one in report.problems:
        call.out.note(f"{one.path}:{one.line}: {one.reason}" if one.line else f"{one.path}: {one.reason}")
    return call.answer(report, _told(report))


def _progress(call: Call) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """A bar, where there is somebody to see it."""
    if call.out.json or sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    return call.doors.show_bar("Importing")


def _told(report: Report) -> Iterator[str]:
    files = _counts(report.files) or "none"
    yield f"files: {files}" + (f"; {report.unchanged} unchanged" if report.unchanged else "")
    new = "would be new" if report.dry_run else "new"
    yield f"{report.read} read: {report.new} {new}, {report.known} known"
    if report.held:
        yield f"{report.held} {'would wait' if report.dry_run else 'wait'} for your word: `lamina pending`"
    if report.skipped:
        yield f"not taken: {_counts(report.skipped)}"
    if report.refused:
        yield f"refused: {_counts(report.refused)}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
