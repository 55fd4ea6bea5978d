"""A session of the OpenAI Agents SDK: the conversation as it was, and what is learnt from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.errors import Conflict, Denied
from lamina.imports.words import text_of
from lamina.integrations.items import Items
from lamina.language.secrets.privacy import redacted
from lamina.scoped import ScopedMemory

_NOT_KEPT = "[not kept]"
_TRIES = 100


class Session:
    """One conversation of one person. Items come back whole and in order; a secret in one is blacked out.

    The history is the state of a program, apart from memories: nobody recalls it. With `learn`, what the
    person says in it is heard besides, and what lasts is remembered for every other session.
    """

    session_settings: Any = None

    def __init__(self, session_id: str, memory: ScopedMemory, *, learn: bool = True) -> None:
        self.session_id = session_id
        self._learns = learn
        self._memory = ScopedMemory(memory.engine, replace(memory.scope, session=session_id))
        own = replace(memory.scope, session=f"history.{session_id}")
        self._items = Items(ScopedMemory(memory.engine, own), "item", "session")

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The latest items, oldest first."""
        found = await asyncio.to_thread(self._items.all)
        items = [json.loads(memory.text) for memory in found.values()]
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Items behind the others, in their order."""
        await asyncio.to_thread(self._add, [dict(item) for item in items])

    async def pop_item(self) -> Any | None:
        """The last item, which is in the session no more."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """No item any more; what was learned stays."""
        await asyncio.to_thread(lambda: [self._items.drop(name) for name in self._items.all()])

    def _add(self, items: Sequence[Mapping[str, Any]]) -> None:
        for item in items:
            self._append(item)
        for item in items if self._learns else ():
            text = text_of(item.get("content"))
            if text.strip() and item.get("role") in ("user", "assistant"):
                (self._memory.hear if item["role"] == "user" else self._memory.answer)(text)

    def _append(self, item: Mapping[str, Any]) -> None:
        """Put an item at the end; whoever else adds to the session takes turns with us."""
        text = json.dumps(item, ensure_ascii=False)
        for _ in range(_TRIES):
            last = max(self._items.all(), default="0")
            name = f"{int(last) + 1:010}"
            try:
                self._items.put(name, text, expect=0)
                return
            except Conflict:
                continue
            except Denied:
                text = json.dumps(_blacked_out(item, hard=text != json.dumps(item, ensure_ascii=False)))
        raise Conflict("Others keep adding to this session.", code="item_contended", retryable=True)

    def _pop(self) -> Any | None:
        for name, memory in sorted(self._items.all().items(), reverse=True):
            self._items.drop(name)
            return json.loads(memory.text)
        return None


def _blacked_out(value: Any, hard: bool) -> Any:
    """An item without its secrets; `hard`: without any of its words, where that was not enough."""
    if isinstance(value, Mapping):
        words = ("content", "text", "arguments", "output")
        return {
            key: _blacked_out(one, hard) if key in words or not isinstance(one, str) else one
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_blacked_out(one, hard) for one in value]
    return (_NOT_KEPT if hard else redacted(value)) if isinstance(value, str) else value
