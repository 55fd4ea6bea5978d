"""The commands about memories: remember, recall, revise, forget, restore, explain, history, trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from lamina.documents.settings import Citations
from lamina.doors.cli.call import Call, call_of, names, text_or_stdin
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.output import Output
from lamina.doors.cli.plain_view import plain_lines
from lamina.errors import InvalidInput
from lamina.model import HistoryEntry, Hit, Recollection, Related, iso, plain

if TYPE_CHECKING:
    from lamina.model.audit import TraceEvent

commands = Commands()

MemoryId = Annotated[str, Argument(metavar="ID", help="The memory's id, as `recall` shows it.")]
Reason = Annotated[str | None, Option(help="Why; it is kept in the history.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask.")]


@commands.add("remember")
def remember(
    ctx: typer.Context,
    text: Annotated[
        str | None, Argument(metavar="TEXT", help="What to remember; `-` or nothing reads what is piped in.")
    ] = None,
    key: Annotated[str | None, Option(help="A name of which there is one value, like response.tone.")] = None,
    kind: Annotated[str | None, Option(help="preference, constraint, fact, instruction, decision, …")] = None,
    space: Annotated[str | None, Option(help="session, user or project.")] = None,
    layer: Annotated[
        str | None, Option(help="working, episodic, semantic, procedural or user_model.")
    ] = None,
    category: Annotated[str | None, Option(help="A category, to narrow a recall by.")] = None,
    tag: Annotated[list[str] | None, Option(help="A tag; may be repeated.")] = None,
    ttl: Annotated[str | None, Option(help="How long it lives: 8h, 7d, 2w, a date, session_end.")] = None,
    priority: Annotated[int | None, Option(help="0 to 100.")] = None,
    importance: Annotated[int | None, Option(help="1 to 5.")] = None,
    confidence: Annotated[float | None, Option(help="0 to 1.")] = None,
    pin: Annotated[bool, Option("--pin", help="Keep it through every clean-up.")] = False,
    merge: Annotated[
        bool | None, Option("--merge/--no-merge", help="Make it one with what says the same, or not.")
    ] = None,
    reason: Reason = None,
    idempotency_key: Annotated[
        str | None, Option(help="The same key again gives the same receipt and no second memory.")
    ] = None,
) -> int:
    """Remember one thing, exactly as it is said."""
    call = call_of(ctx)
    details = {
        "key": key,
        "kind": kind,
        "space": space,
        "layer": layer,
        "category": category,
        "tags": tag,
        "ttl": ttl,
        "priority": priority,
        "importance": importance,
        "confidence": confidence,
        "pin": pin or None,
        "merge": merge,
        "reason": reason,
        "idempotency_key": idempotency_key,
    }
    words = text_or_stdin(text, "text")
    with call.mind() as mind:
        receipt = mind.remember(words, **_given(details))
    return call.receipt(receipt)


def _given(options: dict[str, Any]) -> Any:
    """Only what was said; everything else is for the engine to choose."""
    return {name: value for name, value in options.items() if value is not None}


@commands.add("recall")
def recall(
    ctx: typer.Context,
    query: Annotated[str, Argument(metavar="QUERY", help="A question, some words, a key or an id.")],
    k: Annotated[int | None, Option("-k", help="How many hits at most.")] = None,
    layer: Annotated[str | None, Option(help="Only these layers: a,b.")] = None,
    category: Annotated[str | None, Option(help="Only these categories: a,b.")] = None,
    kind: Annotated[str | None, Option(help="Only these kinds: a,b.")] = None,
    space: Annotated[str | None, Option(help="Only these spaces: a,b.")] = None,
    since: Annotated[str | None, Option(help="Not older than this date or time.")] = None,
    until: Annotated[str | None, Option(help="Not newer than this date or time.")] = None,
    budget: Annotated[int | None, Option(help="How many tokens the hits may have together.")] = None,
    across: Annotated[bool, Option("--across-phases", help="Earlier phases too.")] = False,
    trusted: Annotated[bool, Option("--trusted", help="Nothing that a tool or a document said.")] = False,
    as_of: Annotated[
        str | None, Option("--as-of", metavar="TIME", help="From what was known then: a date, or a revision.")
    ] = None,
    explain: Annotated[bool, Option("--explain", help="Say why each hit is there.")] = False,
    citations: Annotated[
        Citations, Option(help="Name the lines of documents (auto, on), or only their ids (off).")
    ] = Citations.AUTO,
) -> int:
    """What is known about a question, best first."""
    call = call_of(ctx)
    narrowing = {
        "k": k,
        "layers": names(layer),
        "categories": names(category),
        "kinds": names(kind),
        "spaces": names(space),
        "since": call.time(since, "--since"),
        "until": call.time(until, "--until"),
        "budget_tokens": budget,
        "across_phases": across or None,
        "trusted_only": trusted or None,
    }
    with call.mind() as mind:
        if as_of is not None:
            then = mind.moment_of(int(as_of)) if as_of.isdecimal() else call.time(as_of, "--as-of")
            narrowing["as_of"] = then
        found = mind.recall(query, **_given(narrowing))
    if not found.hits and not call.out.json:
        call.out.note("Nothing was found for that.")
    elif not call.out.json and all(hit.uncertainty == "high" for hit in found):
        call.out.note("Nothing is sure to answer that; this comes nearest.")
    return call.answer(found, _recollected(call.out, found, citations, explain))


def _recollected(out: Output, found: Recollection, citations: Citations, explain: bool) -> Iterator[str]:
    for number, hit in enumerate(found, 1):
        yield from _hit(out, number, hit, explain, cited=citations is not Citations.OFF)
    if found.left_out:
        yield out.style(f"{found.left_out} more did not fit the budget.", "dim")
    yield from related_lines(out, found.related)


def related_lines(out: Output, related: Sequence[Related]) -> Iterator[str]:
    """What is linked to an answer, as `recall` and `query` show it."""
    for one in related:
        yield f"~ {out.text(one.text, '  ')}  {out.style(f'{one.id}  {one.type} {one.to}', 'dim')}"


def _hit(out: Output, number: int, hit: Hit, explain: bool, *, cited: bool) -> Iterator[str]:
    head = f"{number}. "
    indent = " " * len(head)
    key = f"{hit.key}: " if hit.key else ""
    yield f"{head}{out.text(key + hit.text, indent)}"
    lines = f"{hit.source.path}#L{hit.source.start_line}-L{hit.source.end_line}"
    place = lines if cited and hit.source.start_line else hit.id
    said = f"{place}  {hit.at:%Y-%m-%d}  {hit.source.status or hit.kind}"
    yield indent + out.style(said + ("  unsure" if hit.uncertainty == "high" else ""), "dim")
    if explain:
        ranks = ", ".join(f"{name} {rank}" for name, rank in hit.ranks.items())
        where = hit.source.path or f"{hit.source.actor} through {hit.source.via}"
        yield f"{indent}why: {'; '.join(hit.reasons)} (rank: {ranks}; score {hit.score:.4f}); from {where}"
        found = ", ".join(f"{name} {value:.4f}" for name, value in hit.scores.items())
        changed = ", ".join(f"{name} {value:.4f}" for name, value in hit.adjustments.items())
        yield f"{indent}scores: {found}; adjusted: {changed or 'nothing'}"


@commands.add("revise")
def revise(
    ctx: typer.Context,
    memory_id: MemoryId,
    text: Annotated[
        str | None, Argument(metavar="TEXT", help="The new words; `-` or nothing reads what is piped in.")
    ] = None,
    expect: Annotated[int | None, Option(help="Only if it is still at this revision.")] = None,
    reason: Reason = None,
) -> int:
    """Say a memory in new words; the old ones stay known."""
    call = call_of(ctx)
    words = text_or_stdin(text, "text")
    with call.mind() as mind:
        receipt = mind.revise(memory_id, words, expect=expect, reason=reason or "")
    return call.receipt(receipt)


@commands.add("forget")
def forget(
    ctx: typer.Context,
    id_or_key: Annotated[str, Argument(metavar="ID-or-KEY", help="A memory's id, or its key.")],
    reason: Reason = None,
    yes: Yes = False,
) -> int:
    """Take a memory out of every answer; it can be restored."""
    call = call_of(ctx)
    if not call.confirmed(f"Forget {id_or_key!r}? `lamina restore` can bring it back.", yes):
        return call.declined()
    with call.mind() as mind:
        receipt = mind.forget(id_or_key, reason=reason or "")
    return call.receipt(receipt)


@commands.add("restore")
def restore(ctx: typer.Context, memory_id: MemoryId, reason: Reason = None) -> int:
    """Bring a forgotten memory back as it was."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.restore(memory_id, reason=reason or "")
    return call.receipt(receipt)


@commands.add("explain")
def explain(
    ctx: typer.Context,
    subject: Annotated[str, Argument(metavar="ID-or-EVENT", help="A memory's id, or an event's number.")],
    question: Annotated[
        str | None, Option("--question", help="Say why the memory is not recalled for this question.")
    ] = None,
) -> int:
    """Why a memory is there, was refused, won, or is not recalled."""
    call, out = call_of(ctx), call_of(ctx).out
    with call.mind() as mind:
        if question is not None or subject.isdecimal():
            known = mind.why_not(question, subject) if question else mind.explain_event(int(subject))
            lines = [out.style(out.text(known.subject), "bold"), *map(out.text, known.lines)]
            return call.answer(known, lines)
        told = mind.explain(subject)
    memory = told.memory
    words = f"{memory.key}: {memory.text}" if memory.key else memory.text
    return call.answer(told, [out.style(out.text(words), "bold"), *map(out.text, told.lines)])


@commands.add("history")
def history(ctx: typer.Context, memory_id: MemoryId) -> int:
    """Every step in the life of a memory, oldest first."""
    call = call_of(ctx)
    with call.mind() as mind:
        steps = mind.history(memory_id)
    return call.answer({"id": memory_id, "history": steps}, (_step(call.out, step) for step in steps))


def _step(out: Output, step: HistoryEntry) -> str:
    words = " -> ".join(out.text(text, "  ") for text in (step.old_text, step.new_text) if text is not None)
    code = ":".join(str(step.decision[one]) for one in ("code", "channel") if one in step.decision)
    head = f"{iso(step.at)}  {step.op}  revision {step.revision}  {step.actor} ({step.via})  {code}"
    return f"{out.style(head, 'dim')}\n  {words}"


@commands.add("trace")
def trace(
    ctx: typer.Context,
    last: Annotated[int, Option(help="How many events, the newest ones.")] = 20,
    plain_view: Annotated[bool, Option("--plain", help="One `key: value` a line.")] = False,
) -> int:
    """The newest events: written, refused, replaced, taken out."""
    call = call_of(ctx)
    if plain_view and call.out.json:
        raise InvalidInput("--plain and --json ask for two forms at once.", hint="Choose one of them.")
    with call.mind() as mind:
        events = mind.trace(last)
    return call.answer({"events": events}, _traced(call, events, plain_view))


def _traced(call: Call, events: tuple[TraceEvent, ...], plain_view: bool) -> Iterator[str]:
    if plain_view:
        yield from map(call.out.text, plain_lines({"events": plain(events)}))
        return
    for event in events:
        yield f"{event.seq}  {iso(event.at)}  {event.type}  {call.out.text(_gist(event.data))}"


def _gist(data: dict[str, Any]) -> str:
    """What an event is about, in a few words."""
    if written := data.get("written"):
        return "; ".join(f"{one['id']}  {one['text']}" for one in written)
    names = ("query", "action", "from_id", "to_id", "memory_id", "winner_id", "rule", "phase_id", "reason")
    parts = (data.get(name) for name in names)
    return "  ".join(str(part) for part in parts if part)
