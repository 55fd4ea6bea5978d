"""The tools for a team of agents: one query with filters, what changed, and how much was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from lamina.doors.mcp import shapes
from lamina.doors.mcp.identity import Caller
from lamina.doors.mcp.traits import Session, tool
from lamina.model.token import Right


@dataclass(frozen=True, slots=True)
class TeamTools:
    """Part of `Tools`."""

    caller: Caller

    @tool("Query", reads=True)
    def memory_query(
        self,
        query: Annotated[str, Field(description="What you need to know, in a few words.")],
        categories: Annotated[
            tuple[str, ...], Field(description="Only these; all that you may read if none.")
        ] = (),
        filters: Annotated[
            dict[str, Any] | None,
            Field(
                description="user_id, agent_id, run_id, actor_id, role, pinned, importance_min,"
                " importance_max, updated_after, updated_before."
            ),
        ] = None,
        top_k: Annotated[int, Field(description="How many at most, up to 64.")] = 3,
        returns: Annotated[str, Field(description="bullets or full.")] = "bullets",
        budget_tokens: Annotated[int, Field(description="How many tokens they may have together.")] = 512,
        threshold: Annotated[float | None, Field(description="Leave out what is less close, 0 to 1.")] = None,
        session: Session = "",
    ) -> shapes.Queried:
        """A few memories for the step at hand, narrowed by category and filters, within a token budget.

        Use it when what you were given at the start of the turn is not enough. Categories outside your
        allowlist are refused by name; nothing is widened to find more.
        """
        found = self.caller.mind(Right.READ, session).query(
            query,
            categories=categories,
            filters=filters or {},
            top_k=top_k,
            returns=returns,
            budget_tokens=budget_tokens,
            threshold=threshold,
        )
        return shapes.Queried.of(found)

    @tool("Changes", reads=True)
    def memory_changes(
        self,
        since: Annotated[str, Field(description="The cursor of the last answer; everything if none.")] = "",
        session: Session = "",
    ) -> shapes.Delta:
        """What changed in the memory since you last looked: at most three lines, what matters most first."""
        return shapes.Delta.of(self.caller.mind(Right.READ, session).changes(since))

    @tool("Statistics", reads=True)
    def memory_stats(
        self,
        by: Annotated[str, Field(description="hour or day.")] = "day",
        days: Annotated[int, Field(description="How many days back, up to 90.")] = 7,
        session: Session = "",
    ) -> shapes.Stats:
        """How often memory was read and changed lately, and what there is by category and state."""
        return shapes.Stats.of(self.caller.mind(Right.READ, session).stats(by=by, days=days))
