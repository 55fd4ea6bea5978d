"""The commands that look after a workspace: init, status, doctor, rebuild, audit, config."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.errors import Conflict
from lamina.model.audit import AuditReport
from lamina.surfaces.cli.call import STATE_DIR, WORKSPACE_VARIABLE, Call, call_of
from lamina.surfaces.cli.exits import Failure
from lamina.surfaces.cli.output import Output

if TYPE_CHECKING:
    from lamina.engine.doctor import Check
    from lamina.engine.engine import Status

commands = typer.Typer()
audit = typer.Typer(help="The log of every change, sealed link by link.")
config = typer.Typer(help="The settings in force.")
commands.add_typer(audit, name="audit")
commands.add_typer(config, name="config")

_COLOUR = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}
# A password stands before the @ of a URL, or among its parameters.
_PASSWORD = re.compile(r"(?<=://)([^/?#@]*?):[^/?#]*@|([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)


@commands.command()
def init(
    ctx: typer.Context,
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="Where; the current folder by default.")] = None,
    owner: Annotated[str | None, typer.Option(help="Whose memories these are.")] = None,
) -> int:
    """Make a folder a workspace; what is there already stays as it is."""
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
    with placed.engine() as engine:  # the store and the audit key exist from here on, or the reason is told
        store = engine.status().store
    data = {"workspace": str(root), "owner": person, "created": created, "store": hide_password(store)}
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


@commands.command()
def status(ctx: typer.Context) -> int:
    """Figures about the memory, and lines of its files that are not used."""
    call = call_of(ctx)
    with call.engine() as engine:
        found = engine.status()
    return call.answer(found, _figures(call.out, found))


def _figures(out: Output, found: Status) -> Iterator[str]:
    counts = ", ".join(f"{count} {state}" for state, count in found.memories.items())
    yield from out.table(
        [
            ("workspace", found.workspace or "none"),
            ("store", f"{hide_password(found.store)} ({found.bytes / 1024:,.0f} KiB)"),
            ("tenant", found.tenant),
            ("memories", counts or "none yet"),
            ("shelves", f"{found.shelves}"),
            ("audit", f"{found.audit_records} records"),
            ("pending", f"{found.pending_operations} changes to files"),
            ("analyser", f"version {found.analyser}"),
        ]
    )
    for problem in found.problems:
        place = out.style(f"{problem.file}:{problem.line}:", "yellow")
        yield f"{place} {out.text(problem.message)} {out.text(problem.hint)}".rstrip()


@commands.command()
def doctor(ctx: typer.Context) -> int:
    """Check everything: versions, folder, store, index, files, audit, disk, and a round trip."""
    call = call_of(ctx)
    checks = call.doors.examine(call.opening())
    failed = [check.name for check in checks if check.state == "fail"]
    failure = Failure(code="doctor_failed", message=f"Not well: {', '.join(failed)}.") if failed else None
    return call.answer({"checks": checks}, _examined(call.out, checks), failure)


def _examined(out: Output, checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{out.style(f'{check.state:4}', _COLOUR[check.state])}  {check.name}: {out.text(check.detail)}"
        if check.hint:
            yield f"      {out.text(check.hint)}"


@commands.command()
def rebuild(ctx: typer.Context) -> int:
    """Make the search index and the audit's files anew, from the memories themselves."""
    call = call_of(ctx)
    with call.engine() as engine:
        count = engine.rebuild()
    return call.answer({"indexed": count}, [f"{count} memories are indexed anew."])


@audit.command()
def verify(ctx: typer.Context) -> int:
    """Check every record of the audit, its anchor and its files."""
    call = call_of(ctx)
    with call.engine() as engine:
        report = engine.verify_audit()
    data = {"intact": report.intact, "records": report.records, "findings": report.findings}
    if report.intact:
        return call.answer(data, [f"The audit is intact: {report.records} records."])
    failure = Failure(
        code="audit_findings",
        message=f"The audit has {len(report.findings)} findings in {report.records} records.",
        hint="Somebody or something changed what was recorded; compare with a backup.",
    )
    return call.answer(data, _findings(call.out, report), failure)


def _findings(out: Output, report: AuditReport) -> Iterator[str]:
    for finding in report.findings:
        place = "" if finding.seq is None else f" {finding.seq}"
        yield f"{out.style(finding.what, 'red')}{place}: {out.text(finding.detail)}"


@config.command("list")
def list_settings(ctx: typer.Context) -> int:
    """Every setting: its value, where it comes from, what it means."""
    call = call_of(ctx)
    loaded = call.doors.load_config(call.opening().workspace, call.given.settings)
    rows = [
        {
            "name": name,
            "value": _shown(getattr(loaded.config, name)),
            "origin": loaded.origins[name],
            "meaning": meaning,
        }
        for name, _, meaning, _ in call.doors.knobs()
    ]
    cells = [[str(cell) for cell in row.values()] for row in rows]
    return call.answer({"settings": rows}, call.out.table(cells))


def _shown(value: object) -> object:
    return hide_password(value) if isinstance(value, str) else value


def hide_password(url: str) -> str:
    """A URL that may be shown."""
    return _PASSWORD.sub(lambda found: f"{found[1]}:***@" if found[1] is not None else f"{found[2]}***", url)
