"""A context provider for Microsoft's Agent Framework: what is known before a run, what was said after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from agent_framework import ContextProvider, Message

from lamina.integrations.heard import hear_once
from lamina.scoped import ScopedMemory


class LaminaProvider(ContextProvider):
    """One person's memory as one agent of theirs has it."""

    def __init__(self, memory: ScopedMemory, *, source_id: str = "lamina", budget_tokens: int = 1200) -> None:
        super().__init__(source_id)
        self._memory, self._budget = memory, budget_tokens

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002
        """Add what is known about what is asked, as data in a message of its own."""
        asked = "\n".join(one.text for one in context.input_messages if one.role == "user" and one.text)
        if not asked.strip():
            return
        block = await asyncio.to_thread(self._within(session).context, asked, budget_tokens=self._budget)
        if block.text:
            context.extend_messages(self, [Message(role="user", contents=[block.text])])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ARG002
        """Hear what the person said and keep what the agent answered, once for each run."""
        run = state["runs"] = int(state.get("runs", 0)) + 1
        said = [(True, one.text) for one in context.input_messages if one.role == "user"]
        reply = getattr(context.response, "text", "") or ""
        memory, name = self._within(session), getattr(session, "session_id", "")
        for number, (person, text) in enumerate([*said, (False, reply)]):
            key = f"agent-framework:{name}:{run}:{number}"
            await asyncio.to_thread(hear_once, memory, key, person, text or "")

    def _within(self, session: Any) -> ScopedMemory:
        name = getattr(session, "session_id", None) or self._memory.scope.session
        return ScopedMemory(self._memory.engine, replace(self._memory.scope, session=name))
