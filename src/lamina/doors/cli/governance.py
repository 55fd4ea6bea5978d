"""The commands about a life in sessions and under a policy: hear, promote, phase, policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from lamina.doors.cli.call import call_of, text_or_stdin
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.exits import DENIED, Failure
from lamina.doors.cli.memories import MemoryId, Reason, Yes
from lamina.doors.cli.output import Output
from lamina.doors.cli.plain_view import plain_lines
from lamina.model import Effective, Heard, Outcome, Phase, iso, plain

commands = Commands()

OfSpace = Annotated[str, Option("--space", help="session, user or project.")]


@commands.add("hear")
def hear(
    ctx: typer.Context,
    text: Annotated[
        str | None, Argument(metavar="TEXT", help="What you say; `-` or nothing reads what is piped in.")
    ] = None,
    reply: Annotated[str | None, Option(help="What the agent answered.")] = None,
) -> int:
    """One turn of a conversation; what lasts of it is kept."""
    call = call_of(ctx)
    words = text_or_stdin(text, "text")
    with call.mind() as mind:
        heard = mind.hear(words, reply=reply)
    return call.answer(heard, _heard(call.out, heard), _undone(heard))


def _undone(heard: Heard) -> Failure | None:
    """The first command that was refused or asked back: then what was said was not done, or not all of it."""
    refused = [one for one in heard.receipts[: heard.asked] if one.decision is Outcome.DENIED]
    if not refused:
        return None
    why, *hints = refused[0].warnings or ("Nothing was changed.",)
    return Failure(refused[0].code, why, " ".join(hints), DENIED)


def _heard(out: Output, heard: Heard) -> Iterator[str]:
    if heard.acknowledgement:
        yield heard.acknowledgement
    for receipt in heard.receipts:
        if receipt.decision is Outcome.DENIED:
            yield out.style(f"not kept: {receipt.code}", "dim")
        else:
            yield out.style(f"{receipt.decision}: {', '.join(receipt.ids)}", "dim")


@commands.add("resolve")
def resolve(
    ctx: typer.Context,
    keys: Annotated[list[str] | None, Argument(metavar="KEY...", help="Only these; else all.")] = None,
) -> int:
    """The values in force, and what each of them hides."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.resolve(keys or ())
    return call.answer({"values": found}, _resolved(call.out, found))


def _resolved(out: Output, found: dict[str, Effective]) -> Iterator[str]:
    for key, one in found.items():
        yield f"{key}: {out.text(one.value)}  {out.style(f'({one.provenance.scope})', 'dim')}"
        for hidden in one.shadows:
            yield out.style(f"  hides the {hidden.scope}'s: {out.text(hidden.value)}", "dim")


@commands.add("context")
def context(
    ctx: typer.Context,
    task: Annotated[str, Argument(metavar="TASK", help="What the agent is about to do.")],
    budget: Annotated[int, Option(help="How many tokens it may have.")] = 2000,
    form: Annotated[str, Option("--format", help="xml or markdown.")] = "xml",
    explain: Annotated[bool, Option("--explain", help="Say how many tokens each part takes.")] = False,
) -> int:
    """The block an agent puts in its prompt."""
    call = call_of(ctx)
    with call.mind() as mind:
        made = mind.context(task, budget_tokens=budget, form=form)
    lines = [made.text] if made.text else []
    if explain:
        lines += [f"{name}: {tokens} tokens" for name, tokens in made.parts.items()]
        lines.append(f"in all: {made.tokens} tokens, {made.left_out} lines left out")
    return call.answer(made, lines)


@commands.add("promote")
def promote(
    ctx: typer.Context,
    memory_id: MemoryId,
    to: Annotated[str, Option(help="The wider space: user or project.")],
    reason: Reason = None,
) -> int:
    """Move a memory to a wider space, if the policy lets it."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.promote(memory_id, to, reason=reason or "")
    return call.receipt(receipt)


phase = commands.group("phase", "The stretches a space's life is divided into.")


@phase.command()
def start(
    ctx: typer.Context,
    space: OfSpace = "session",
    name: Annotated[str | None, Option(help="What to call it.")] = None,
    reason: Annotated[str | None, Option(help="Why; it is kept in the trace.")] = None,
) -> int:
    """Begin the next phase; from then on a recall looks at that one only."""
    call = call_of(ctx)
    with call.mind() as mind:
        begun = mind.start_phase(space, name=name or "", reason=reason or "manual")
    return call.answer({"id": begun.id, **plain(begun)}, [_phase(call.out, begun)])


@phase.command("list")
def list_phases(ctx: typer.Context, space: OfSpace = "session") -> int:
    """The phases that are kept, oldest first."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.phases(space)
    rows = [{"id": one.id, **plain(one)} for one in found]
    return call.answer({"phases": rows}, (_phase(call.out, one) for one in found))


def _phase(out: Output, one: Phase) -> str:
    name = f"  {out.text(one.name)}" if one.name else ""
    return f"{one.id}{name}  {out.style(f'since {iso(one.started_at)} ({out.text(one.reason)})', 'dim')}"


@phase.command()
def diff(
    ctx: typer.Context,
    before: Annotated[int, Argument(metavar="FROM", help="The number of the earlier phase.")],
    after: Annotated[int, Argument(metavar="TO", help="The number of the later phase.")],
    space: OfSpace = "session",
) -> int:
    """What was added, deleted and replaced between the ends of two phases."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.phase_diff(before, after, space)
    lines = [*found.summary_lines, *(_change(change) for change in found.top_changes)]
    return call.answer({**plain(found), "summary_lines": found.summary_lines}, lines)


def _change(change: dict[str, Any]) -> str:
    if change["change"] == "replaced":
        return f"  replaced  {change['from_id']} -> {change['to_id']}"
    return f"  {change['change']}  {change['memory_id']}"


policy = commands.group("policy", "What may be kept, for how long, and whose word weighs more.")


@policy.command()
def show(ctx: typer.Context) -> int:
    """The policy in force, one `key: value` a line."""
    call = call_of(ctx)
    loaded = call.doors.load_config(call.opening().workspace, call.given.settings)
    found = call.doors.read_policy(loaded.config.policy).snapshot()
    return call.answer(found, map(call.out.text, plain_lines(found)))


@policy.command()
def accept(ctx: typer.Context, yes: Yes = False) -> int:
    """Put POLICY.md of the configuration folder in force."""
    call = call_of(ctx)
    if not call.confirmed("Put POLICY.md as it is now in force?", yes):
        return call.declined()
    with call.engine() as engine:
        made = engine.accept_policy(engine.scope(role="admin", via="cli").scope)
    count = len(made.entries or {})
    return call.answer({"entries": count, "digest": made.digest}, [f"{count} entries are in force."])


@policy.command()
def allow(
    ctx: typer.Context,
    fingerprint: Annotated[list[str], Argument(metavar="FINGERPRINT...", help="As the refusal names it.")],
) -> int:
    """Let a value pass that was taken for a secret and is none."""
    call = call_of(ctx)
    with call.mind() as mind:
        for one in fingerprint:
            mind.allow(one)
    return call.answer({"allowed": fingerprint}, ["It passes from now on, for this user."])


@policy.command()
def check(
    ctx: typer.Context,
    file: Annotated[Path, Argument(metavar="FILE", help="A policy in TOML or YAML.")],
) -> int:
    """Whether a policy file can be used; an error names its line."""
    call = call_of(ctx)
    found = call.doors.read_policy(str(file))
    return call.answer(found.snapshot(), [f"{call.out.text(str(file))} is a valid policy."])
