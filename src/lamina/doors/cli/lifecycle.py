"""The commands about how a memory ends: pin, unpin, purge, export, erase."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lamina.doors.cli.call import Call, call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.exits import Failure
from lamina.doors.cli.memories import MemoryId, Reason, Yes
from lamina.errors import InvalidInput
from lamina.model import iso, quoted

if TYPE_CHECKING:
    from lamina.lifecycle.purge import PurgeReceipt

commands = Commands()


@commands.add("pin")
def pin(ctx: typer.Context, memory_id: MemoryId, reason: Reason = None) -> int:
    """Keep a memory through every clean-up."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.pin(memory_id, reason=reason or "")
    return call.receipt(receipt)


@commands.add("unpin")
def unpin(ctx: typer.Context, memory_id: MemoryId, reason: Reason = None) -> int:
    """Let a memory age again like any other."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.unpin(memory_id, reason=reason or "")
    return call.receipt(receipt)


@commands.add("purge")
def purge(
    ctx: typer.Context,
    memory_id: Annotated[
        str | None, Argument(metavar="ID", help="The memory; without one, all that is due.")
    ] = None,
    now: Annotated[bool, Option("--now", help="Also what could still be restored.")] = False,
    exports: Annotated[bool, Option("--exports", help="Remove known exports that hold it, too.")] = False,
    verify: Annotated[bool, Option("--verify", help="Purge nothing; look for what was purged.")] = False,
    yes: Yes = False,
) -> int:
    """Take a memory out of every place for good, and prove it."""
    call = call_of(ctx)
    if verify:
        if memory_id is None:
            raise InvalidInput("--verify needs the id of what was purged.", code="id_missing")
        with call.mind() as mind:
            return _purged(call, (call.doors.verify_purge(mind, memory_id),))
    what = repr(memory_id) if memory_id else f"everything that {'was forgotten' if now else 'is due'}"
    if not call.confirmed(f"Purge {what}? Nothing can bring it back.", yes):
        return call.declined()
    with call.mind() as mind:
        receipts = call.doors.purge(mind, memory_id or "", now=now, exports=exports)
    return _purged(call, receipts)


def _purged(call: Call, receipts: tuple[PurgeReceipt, ...]) -> int:
    if not receipts and not call.out.json:
        call.out.note("Nothing is due.")
    left = [one.memory_id for one in receipts if not one.clean]
    lines = [line for one in receipts for line in _receipt(call, one)]
    message = f"Something of {', '.join(left)} was found."
    failure = Failure(code="purge_incomplete", message=message, hint="Purge it again.") if left else None
    return call.answer({"receipts": receipts}, lines, failure)


def _receipt(call: Call, one: PurgeReceipt) -> Iterator[str]:
    yield call.out.style(f"{one.memory_id}  purged {iso(one.at)} by {one.actor}", "bold")
    yield from call.out.table([(f"  {place}", f"{count} left") for place, count in one.found.items()])
    if one.same_words:
        yield f"  The same words stand in {', '.join(one.same_words)}: purge those too if they are to go."
        yield "  (for one of a session: lamina --session NAME purge ID --now)"
    for folder in one.exports:
        yield f"  An export has it: {call.out.text(folder)} (--exports removes it)"


@commands.add("export")
def export(
    ctx: typer.Context,
    to: Annotated[
        Path | None, Option("--to", metavar="DIR", help="A new or empty folder; one beside you by default.")
    ] = None,
) -> int:
    """Everything known about you, as files to read and keep."""
    call = call_of(ctx)
    with call.mind() as mind:
        name = f"lamina-export-{quoted(mind.scope.user)}-{mind.engine.now():%Y-%m-%d}"
        made = call.doors.export(mind, to or Path(name))
    rows = [(name.replace("_", " "), str(count)) for name, count in sorted(made.counts.items())]
    return call.answer(made, [made.folder, *call.out.table(rows)])


@commands.add("erase")
def erase(
    ctx: typer.Context,
    user: Annotated[str, Option(help="Whose memories; there is no default.")],
    yes: Yes = False,
) -> int:
    """Take out everything of one person's, and prove it."""
    call = call_of(ctx)
    if not call.confirmed(f"Erase all of {user!r}, files and exports too? Nothing can bring it back.", yes):
        return call.declined()
    with call.engine() as engine:
        who = dict(call.given.who)
        # Whoever holds the workspace may erase anybody; others, and agents, what the verb lets them.
        holder = who.get("user", engine.config.owner) == engine.config.owner and "agent" not in who
        role = "admin" if holder and user != engine.config.owner else None
        receipt = call.doors.erase(engine.scope(**who, role=role, via="cli"), user)
    rows = [
        (f"  {place}", f"{count} erased", f"{receipt.found.get(place, 0)} left")
        for place, count in sorted(receipt.erased.items())
    ]
    lines = [call.out.style(f"{user}  erased {iso(receipt.at)}", "bold"), *call.out.table(rows)]
    if receipt.shared:
        lines.append(f"  {receipt.shared} memories that they said for a project stay there.")
    message = f"Something of {user} was found again."
    left = Failure(code="purge_incomplete", message=message, hint="Erase again.")
    return call.answer(receipt, lines, None if receipt.clean else left)
