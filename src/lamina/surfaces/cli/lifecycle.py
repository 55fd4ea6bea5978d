"""The commands about how a memory ends: pin, unpin."""

from __future__ import annotations

import typer

from lamina.surfaces.cli.call import call_of
from lamina.surfaces.cli.commands import Commands
from lamina.surfaces.cli.memories import MemoryId, Reason

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
