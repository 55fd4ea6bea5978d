"""The commands that look after a memory: status, doctor, rebuild, audit, config."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.documents import library_lines, meaning_line
from lamina.doors.cli.exits import Failure
from lamina.doors.cli.output import Output, hide_password

if TYPE_CHECKING:
    from lamina.doors.doctor import Check
    from lamina.engine import Status
    from lamina.model.audit import AuditReport

commands = Commands()

_COLOUR = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}


@commands.add("status")
def status(ctx: typer.Context) -> int:
    """Figures, and lines of the files that are not used."""
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
            ("jobs", f"given up: {', '.join(found.dead_jobs)}" if found.dead_jobs else "none given up"),
            ("analyser", f"version {found.analyser}"),
            ("meaning", meaning_line(found.meaning)),
        ]
    )
    if found.documents is not None:
        yield from library_lines(out, found.documents)
    for problem in found.problems:
        place = out.style(f"{problem.file}:{problem.line}:", "yellow")
        yield f"{place} {out.text(problem.message)} {out.text(problem.hint)}".rstrip()


@commands.add("doctor")
def doctor(ctx: typer.Context) -> int:
    """Check everything, with a round trip in a memory made for it."""
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


@commands.add("rebuild")
def rebuild(ctx: typer.Context) -> int:
    """Make the index and the audit's files anew, from what they show."""
    call = call_of(ctx)
    with call.engine() as engine:
        count = engine.rebuild()
    return call.answer({"indexed": count}, [f"{count} memories are indexed anew."])


audit = commands.group("audit", "The log of every change, sealed link by link.")


@audit.command()
def verify(ctx: typer.Context) -> int:
    """Check every record of the audit, its anchor and its files."""
    call = call_of(ctx)
    with call.engine() as engine:
        report = engine.verify_audit()
    data = {
        "intact": report.intact,
        "records": report.records,
        "findings": report.findings,
        "notes": report.notes,
    }
    mark = call.out.style("note", "yellow")
    told = [f"{mark} {one.seq}: {call.out.text(one.detail)}" for one in report.notes]
    if report.intact:
        return call.answer(data, [f"The audit is intact: {report.records} records.", *told])
    failure = Failure(
        code="audit_findings",
        message=f"The audit has {len(report.findings)} findings in {report.records} records.",
        hint="Somebody or something changed what was recorded; compare with a backup.",
    )
    return call.answer(data, [*_findings(call.out, report), *told], failure)


@audit.command("adopt-key")
def adopt_key(
    ctx: typer.Context,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Go on with the audit key here, where another sealed the store and is lost."""
    call = call_of(ctx)
    if not call.confirmed("What the other key sealed can then no longer be checked. Go on?", yes):
        return call.declined()
    with call.doors.open_memory(call.opening()._replace(adopt="key")) as engine:
        fingerprint = engine.ruleset.sealer.key_id
    return call.answer({"fingerprint": fingerprint}, [f"The key {fingerprint} seals this store from now on."])


def _findings(out: Output, report: AuditReport) -> Iterator[str]:
    for finding in report.findings:
        place = "" if finding.seq is None else f" {finding.seq}"
        yield f"{out.style(finding.what, 'red')}{place}: {out.text(finding.detail)}"


config = commands.group("config", "The settings in force.")


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
