"""A memory for AutoGen: what is known about the last message goes before the model, fenced as data."""

from __future__ import annotations

import asyncio
from typing import Any

from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import SystemMessage

from lamina.errors import InvalidInput
from lamina.integrations.items import refused
from lamina.model import Hit, Outcome
from lamina.scoped import ScopedMemory


class LaminaMemory(Memory):
    """One person's memory as one agent of theirs has it."""

    def __init__(self, memory: ScopedMemory, *, budget_tokens: int = 1200) -> None:
        self._memory, self._budget = memory, budget_tokens
        self._said: set[str] = set()  #: what was added here, and `clear` takes away

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what is known about the last message before the model."""
        messages = await model_context.get_messages()
        last = next((one.content for one in reversed(messages) if isinstance(one.content, str)), "")
        if not last.strip():
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        block = await asyncio.to_thread(self._memory.context, last, budget_tokens=self._budget)
        if block.text:
            await model_context.add_message(SystemMessage(content=block.text))
        return UpdateContextResult(memories=await self.query(last))

    async def query(self, query: str | MemoryContent, *_: Any, **__: Any) -> MemoryQueryResult:
        """What is known about a question, best first."""
        found = await asyncio.to_thread(self._memory.recall, _words(query))
        return MemoryQueryResult(results=[_content(hit) for hit in found.hits])

    async def add(self, content: MemoryContent, *_: Any) -> None:
        """Remember in the agent's name; Denied where that is refused or waits for the person."""
        receipt = await asyncio.to_thread(self._memory.remember, _words(content))
        if receipt.decision in (Outcome.DENIED, Outcome.HELD):
            raise refused(receipt)
        self._said.update(receipt.ids)

    async def clear(self) -> None:
        """Forget what was added through this object; the rest is the person's."""
        for one in sorted(self._said):
            await asyncio.to_thread(self._memory.forget, one)
        self._said.clear()

    async def close(self) -> None:
        """Nothing to do: whoever opened the memory closes it."""


def _words(content: str | MemoryContent) -> str:
    words = content if isinstance(content, str) else content.content
    if not isinstance(words, str):
        raise InvalidInput("Only text is remembered.", code="text_type", hint="Hand over a text.")
    return words


def _content(hit: Hit) -> MemoryContent:
    about = {"id": hit.id, "score": hit.confidence, "trust": str(hit.trust)}
    return MemoryContent(content=hit.text, mime_type=MemoryMimeType.TEXT, metadata=about)
