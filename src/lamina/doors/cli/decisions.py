"""The commands for what was decided: decisions list, show, supersede."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.output import Output
from lamina.errors import InvalidInput

if TYPE_CHECKING:
    from lamina.jobs.decided import Kept
    from lamina.jobs.decision_list import DecisionList

commands = Commands()

decisions = commands.group("decisions", "What was decided: list it, show one, say what overrules it.")

_STATES = ("active", "superseded", "archived")
_COLOUR = {"active": "green", "superseded": "yellow", "archived": "dim"}


@decisions.command("list")
def list_decisions(
    ctx: typer.Context,
    status: Annotated[str | None, Option(help="Only those that are active, superseded or archived.")] = None,
) -> int:
    """Every decision in the workspace's files, oldest first, and sections that cannot be read."""
    call = call_of(ctx)
    if status is not None and status not in _STATES:
        raise InvalidInput(
            f"There is no status {status!r:.40}.", code="status_unknown", hint=f"Use {', '.join(_STATES)}."
        )
    with call.engine() as engine:
        found = call.doors.list_decisions(engine, status)
    return call.answer(found, _listed(call.out, found))


def _listed(out: Output, found: DecisionList) -> Iterator[str]:
    for kept in found.decisions:
        one = kept.decision
        yield f"{out.style(one.status, _COLOUR[one.status])} {one.date[:10]} {out.text(one.title)}"
        yield f"  {out.text(one.id)}  {out.text(kept.path)}:{one.line}"
    if not found.decisions:
        yield "No decisions."
    for flaw in found.problems:
        place = out.style(f"{out.text(flaw.path)}:{flaw.line}:", "yellow")
        yield f"{place} {out.text(flaw.message)} {out.text(flaw.hint)}"


@decisions.command()
def show(
    ctx: typer.Context,
    name: Annotated[str, Argument(metavar="ID", help="Its id, or a part that no other has.")],
) -> int:
    """One decision with everything that is known of it."""
    call = call_of(ctx)
    with call.engine() as engine:
        found = call.doors.find_decision(engine, name)
    return call.answer(found, _shown(call.out, found))


def _shown(out: Output, kept: Kept) -> Iterator[str]:
    one = kept.decision
    told = {
        "id": one.id,
        "date": one.date,
        "status": one.status.value,
        "confidence": f"{one.confidence:g}",
        "conclusion": one.conclusion,
        "why": one.why,
        "finding": one.finding,
        "impact": one.impact,
        "source": f"{one.session_path} {one.message_range}",
        "file": f"{kept.path}:{one.line}",
        "supersedes": ", ".join(one.supersedes),
        "superseded by": one.superseded_by,
        "superseded at": one.superseded_at,
        "because": one.superseded_because,
        "refs": ", ".join(one.refs),
        **dict(one.extra),
    }
    yield out.text(one.title)
    yield from out.table([(out.text(name), out.text(text)) for name, text in told.items() if text])


@decisions.command()
def supersede(
    ctx: typer.Context,
    name: Annotated[str, Argument(metavar="ID", help="The decision that no longer counts.")],
    by: Annotated[str, Option(metavar="ID", help="The decision that counts instead.")],
    because: Annotated[str, Option(metavar="TEXT", help="Why; what the new one says by default.")] = "",
) -> int:
    """Say that one decision overrules another; both sections name each other then."""
    call = call_of(ctx)
    with call.mind() as mind:
        told = call.doors.overrule_decision(mind, name, by, because)
    old, new = (call.out.text(one) for one in (told.id, told.superseded_by))
    return call.answer(told, [f"{old} is superseded by {new}."])
