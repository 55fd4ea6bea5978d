"""The commands for a team of agents: query, changes, stats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from lamina.doors.cli.call import Call, call_of, names
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.memories import related_lines
from lamina.errors import InvalidInput
from lamina.model import iso

if TYPE_CHECKING:
    from lamina.read.stats import Stats

commands = Commands()


@commands.add("query")
def query(
    ctx: typer.Context,
    question: Annotated[str, Argument(metavar="QUERY", help="What an agent needs to know.")],
    category: Annotated[str | None, Option(help="Only these categories: a,b.")] = None,
    where: Annotated[
        list[str] | None, Option("--where", metavar="NAME=VALUE", help="A filter; may be repeated.")
    ] = None,
    top_k: Annotated[int, Option("-k", "--top-k", help="How many at most.")] = 3,
    returns: Annotated[str, Option("--return", help="bullets or full.")] = "bullets",
    budget: Annotated[int, Option(help="How many tokens they may have together.")] = 512,
    threshold: Annotated[float | None, Option(help="Leave out what is less close, 0 to 1.")] = None,
) -> int:
    """A few memories, as `memory.query` gives them to an agent."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.query(
            question,
            categories=names(category) or (),
            filters=_filters(where or []),
            top_k=top_k,
            returns=returns,
            budget_tokens=budget,
            threshold=threshold,
        )
    lines = [f"- {call.out.text(one.text, '  ')}  {call.out.style(one.id, 'dim')}" for one in found.bullets]
    lines += related_lines(call.out, [each for one in found.bullets for each in one.related])
    return call.answer(found, lines)


def _filters(given: list[str]) -> dict[str, Any]:
    """`pinned=true`, `importance_min=3`: names to values of the right sort."""
    filters: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise InvalidInput(f"{one!r:.60} is no filter.", code="filter_invalid", hint="Write name=value.")
        word = {"true": True, "false": False}.get(value.lower())
        filters[name] = int(value) if value.isdecimal() and name.startswith("importance") else value
        filters[name] = filters[name] if word is None else word
    return filters


@commands.add("changes")
def changes(
    ctx: typer.Context,
    since: Annotated[str, Option(metavar="CURSOR", help="The cursor of the last answer; else all.")] = "",
) -> int:
    """What changed since you last looked, in three lines."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.changes(since)
    if not found.changes and not call.out.json:
        call.out.note("Nothing changed.")
    return call.answer(found, [*map(call.out.text, found.text.splitlines()), f"cursor: {found.cursor}"])


@commands.add("stats")
def stats(
    ctx: typer.Context,
    by: Annotated[str, Option(help="hour or day.")] = "day",
    days: Annotated[int, Option(help="How many days back.")] = 7,
) -> int:
    """What was done lately, counted."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.stats(by=by, days=days)
    return call.answer(found, _counted(call, found))


def _counted(call: Call, found: Stats) -> Iterator[str]:
    if found.counts:
        rows = [(iso(one.since), one.node, one.op, one.status, str(one.count)) for one in found.counts]
        yield from call.out.table(rows)
    yield (
        f"{found.turns} turns, {found.turns_with_query} of them with memory asked on demand"
        f" ({found.query_share:.0%})."
    )
    for rate in call.doors.writing_rates(found.counts):
        yield f"{rate.written} of the kind {rate.kind} written, {rate.share:.0%} of them right at once."
    for category, states in found.memories.items():
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        yield f"{call.out.text(category)}: {told}"
