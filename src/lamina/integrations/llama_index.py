"""A memory block for LlamaIndex: what is known about the conversation, and what it says that lasts."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import PrivateAttr

from lamina.integrations.heard import hear_once
from lamina.scoped import ScopedMemory

_VOICES = (MessageRole.USER, MessageRole.ASSISTANT)


class LaminaMemoryBlock(BaseMemoryBlock[str]):
    """One person's memory in a chat: a block for the prompt; turns that leave the chat's window are heard."""

    name: str = "lamina"
    description: str | None = "What is known about the person and the task, from their own memory."
    priority: int = 1
    budget_tokens: int = 1200
    _memory: ScopedMemory = PrivateAttr()

    def __init__(self, memory: ScopedMemory, **fields: Any) -> None:
        super().__init__(**fields)
        self._memory = memory

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        said = [one.content for one in messages or () if one.role == MessageRole.USER and one.content]
        if not said:
            return ""
        found = await asyncio.to_thread(self._memory.context, said[-1], budget_tokens=self.budget_tokens)
        return found.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self._hear, messages)

    def _hear(self, messages: list[ChatMessage]) -> None:
        for one in messages:
            if one.role in _VOICES and one.content:
                session = one.additional_kwargs.get("session_id", "")
                own = one.additional_kwargs.get("id") or f"{one.role}:{one.content}"
                key = f"llama-index:{self._memory.scope.user}:{session}:{own}"
                hear_once(self._memory, key, one.role == MessageRole.USER, one.content)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The block is made for its budget and whole: where there is no room for it, it is left out."""
        return None if tokens_to_truncate > 0 else content
