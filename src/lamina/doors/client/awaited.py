"""The same verbs with `await`: each runs on a thread of its own, so that a loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from lamina.doors.client.remote import Remote, RemoteMemory
from lamina.doors.client.verbs import verb_of
from lamina.engine import Engine
from lamina.scoped import ScopedMemory


class AsyncMemory:
    """A memory to be opened or reached: `await` it, or use it in an `async with` statement."""

    def __init__(self, opener: Callable[[], Engine | Remote]) -> None:
        self._opener = opener
        self._opened: Engine | Remote | None = None

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> AsyncMemory:
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._opener)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def scope(self, **who: Any) -> AsyncScopedMemory:
        """The memory of one user as one caller sees it."""
        if self._opened is None:
            raise RuntimeError("Await the memory first, or use it in an `async with` statement.")
        return AsyncScopedMemory(self._opened.scope(**who))

    async def close(self) -> None:
        if self._opened is not None:
            await asyncio.to_thread(self._opened.close)


class AsyncScopedMemory:
    """One user's memory: the verbs of the one beneath, each to be awaited."""

    def __init__(self, memory: ScopedMemory | RemoteMemory) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        memory = self._memory
        verb = verb_of(memory, name) if isinstance(memory, ScopedMemory) else getattr(memory, name)

        async def awaited(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(verb, *args, **named)

        awaited.__name__, awaited.__doc__ = name, inspect.getdoc(verb)
        return awaited

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in dir(self._memory) if not name.startswith("_"))]
