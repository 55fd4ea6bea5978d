"""The tools about how a memory ends: pins."""

from __future__ import annotations

from lamina.doors.mcp import shapes
from lamina.doors.mcp.team import TeamTools
from lamina.doors.mcp.traits import MemoryId, Reason, Session, tool
from lamina.model.token import Right


class LifecycleTools(TeamTools):
    """Part of `Tools`."""

    __slots__ = ()

    @tool("Pin")
    def memory_pin(self, memory_id: MemoryId, reason: Reason = "", session: Session = "") -> shapes.Receipt:
        """Keep a memory through every clean-up: it neither fades nor is put aside unused.

        Use it only where the user says that something must stay.
        """
        return shapes.Receipt.of(self.caller.mind(Right.WRITE, session).pin(memory_id, reason=reason))

    @tool("Unpin")
    def memory_unpin(self, memory_id: MemoryId, reason: Reason = "", session: Session = "") -> shapes.Receipt:
        """Let a memory age again like any other."""
        return shapes.Receipt.of(self.caller.mind(Right.WRITE, session).unpin(memory_id, reason=reason))
