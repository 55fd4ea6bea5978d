"""A memory service for Google's Agent Development Kit: each event is heard once, whatever is added again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from lamina.engine import Engine
from lamina.integrations.heard import hear_once
from lamina.integrations.items import refused
from lamina.model import Outcome
from lamina.scoped import ScopedMemory

_HITS = 10


class LaminaMemory(BaseMemoryService):
    """The memories of an application's users, each their own; the agent is the application."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def add_session_to_memory(self, session: Any) -> None:
        """Hear what is new in a session."""
        await asyncio.to_thread(self._hear, session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 the framework's form
    ) -> None:
        """Hear some events."""
        await asyncio.to_thread(self._hear, app_name, user_id, session_id, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 the framework's form
    ) -> None:
        """Remember as the application says it; raises Denied where that is refused or waits."""
        memory = self._memory(app_name, user_id)
        for text in filter(None, (_words(one.content) for one in memories)):
            receipt = await asyncio.to_thread(memory.remember, text)
            if receipt.decision in (Outcome.DENIED, Outcome.HELD):
                raise refused(receipt)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What is known about a question, best first."""
        memory = self._memory(app_name, user_id)
        found = await asyncio.to_thread(memory.recall, query, k=_HITS)
        entries = [
            MemoryEntry(
                id=hit.id,
                content=types.Content(role="user", parts=[types.Part(text=hit.text)]),
                author=hit.source.actor,
                timestamp=hit.at.isoformat(),
                custom_metadata={"confidence": hit.confidence, "trust": str(hit.trust)},
            )
            for hit in found.hits
        ]
        return SearchMemoryResponse(memories=entries)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory; its person can restore it. NotFound for one that is not theirs, Denied for a
        person's own word, which an application does not take back."""
        if memory_id:
            receipt = await asyncio.to_thread(self._memory(app_name, user_id).forget, memory_id)
            if receipt.decision is Outcome.DENIED:
                raise refused(receipt)

    def _memory(self, app: str, user: str, session: str | None = None) -> ScopedMemory:
        return self._engine.scope(user=user, agent=app, session=session)

    def _hear(self, app: str, user: str, session: str | None, events: Sequence[Any]) -> None:
        memory = self._memory(app, user, session)
        for event in events:
            own = event.id or f"{event.invocation_id}:{event.timestamp}"
            hear_once(memory, f"adk:{app}:{session}:{own}", event.author == "user", _words(event.content))


def _words(content: Any) -> str:
    """What is said in a content; calls of tools and their answers are not."""
    parts = getattr(content, "parts", None) or ()
    return "\n".join(part.text for part in parts if getattr(part, "text", None) and not part.thought)
