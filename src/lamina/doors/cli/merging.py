"""The commands about what says the same: merge, unmerge."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.memories import MemoryId, Reason

commands = Commands()


@commands.add("merge")
def merge(
    ctx: typer.Context,
    ids: Annotated[list[str], Argument(metavar="IDS…", help="Memories that say the same.")],
    reason: Reason = None,
) -> int:
    """Make one memory of several that say the same."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.merge(ids, reason=reason or "")
    return call.receipt(receipt)


@commands.add("unmerge")
def unmerge(ctx: typer.Context, memory_id: MemoryId, reason: Reason = None) -> int:
    """Undo a merge, or bring back what a newer value replaced."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.unmerge(memory_id, reason=reason or "")
    return call.receipt(receipt)
