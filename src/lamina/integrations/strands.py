"""A memory store for Strands Agents: what is searched, added and said; a batch that comes again is known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from strands.memory import MemoryEntry

from lamina.clock import random_token
from lamina.imports.words import text_of
from lamina.integrations.heard import hear_once
from lamina.integrations.items import refused
from lamina.model import Outcome
from lamina.scoped import ScopedMemory

_HITS = 10


class LaminaStore:
    """One person's memory as one agent of theirs has it."""

    writable = True
    max_search_results: int | None = _HITS

    def __init__(
        self,
        memory: ScopedMemory,
        *,
        name: str = "lamina",
        description: str | None = "The person's own memory.",
        extraction: Any = None,
    ) -> None:
        self.name, self.description, self.extraction = name, description, extraction
        self._memory, self._run = memory, random_token(12)  # its numbers begin anew with every run

    async def search(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryEntry]:
        """What is known about a question, best first."""
        count = (options or {}).get("max_search_results") or self.max_search_results or _HITS
        found = await asyncio.to_thread(self._memory.recall, query, k=count)
        return [
            MemoryEntry(
                content=hit.text, metadata={"id": hit.id, "score": hit.confidence, "trust": str(hit.trust)}
            )
            for hit in found.hits
        ]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> str:  # noqa: ARG002
        """Remember in the agent's name; the memory's id. Denied where that is refused or waits."""
        receipt = await asyncio.to_thread(self._memory.remember, content)
        if receipt.decision in (Outcome.DENIED, Outcome.HELD):
            raise refused(receipt)
        return receipt.ids[0]

    async def add_messages(self, messages: Sequence[Mapping[str, Any]], context: Any = None) -> None:
        """Hear some messages, each once."""
        numbers = getattr(context, "sequence_numbers", None) or range(len(messages))
        await asyncio.to_thread(self._hear, messages, numbers)

    def _hear(self, messages: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> None:
        for number, message in zip(numbers, messages, strict=True):
            person, text = message.get("role") == "user", text_of(message.get("content"))
            hear_once(self._memory, f"strands:{self._run}:{number}", person, text)
