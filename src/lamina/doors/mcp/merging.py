"""The tools about what says the same: merge, unmerge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lamina.doors.mcp import shapes
from lamina.doors.mcp.jobs import JobTools
from lamina.doors.mcp.traits import MemoryId, Reason, Session, tool
from lamina.model.token import Right


class MergingTools(JobTools):
    """Part of `Tools`."""

    __slots__ = ()

    @tool("Merge", repeatable=False)
    def memory_merge(
        self,
        ids: Annotated[tuple[str, ...], Field(description="Two to ten ids of memories that say the same.")],
        reason: Reason = "",
        session: Session = "",
    ) -> shapes.Receipt:
        """Make one memory of several that say the same; memory_unmerge undoes it.

        It is denied where they give different values: then revise or forget the one that no longer holds.
        """
        return shapes.Receipt.of(self.caller.mind(Right.WRITE, session).merge(ids, reason=reason))

    @tool("Unmerge", repeatable=False)
    def memory_unmerge(
        self, memory_id: MemoryId, reason: Reason = "", session: Session = ""
    ) -> shapes.Receipt:
        """Take a memory apart again that was merged, or bring back what a newer value replaced."""
        return shapes.Receipt.of(self.caller.mind(Right.WRITE, session).unmerge(memory_id, reason=reason))
