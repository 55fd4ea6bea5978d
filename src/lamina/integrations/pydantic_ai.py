"""A memory store for pydantic-ai's harness: versions are compared and swapped, receipts are replayed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemorySearchMatch,
    MemorySearchResult,
)

from lamina.errors import Conflict, LaminaError
from lamina.integrations.items import Items
from lamina.model import Memory
from lamina.scoped import ScopedMemory

_EMPTY = '{"file_text": ""}'  #: a file in which there is nothing to see; a memory always has words
_HITS = 50


class LaminaStore:
    """The notes of one person's agent. Each is a memory: a write may be refused, with words for the model."""

    def __init__(self, memory: ScopedMemory) -> None:
        self._memory = memory
        self._files = Items(memory, "note")
        apart = replace(memory.scope, session="receipts.pydantic-ai")
        self._receipts = Items(ScopedMemory(memory.engine, apart), "receipt", "session")

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """A file and its version; None where there is none."""
        found = await asyncio.to_thread(self._files.get, _checked(path))
        if found is None:
            return None
        text = _text(found)
        cut = len(text) > max_chars
        return MemoryFile(
            content=text[:max_chars], version=_version(found) or "", operation_id=None, truncated=cut
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """What came of an operation before; MemoryOperationConflictError where it asked something else."""
        return await asyncio.to_thread(self._receipt, operation)

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Make or replace a file that is at this version."""
        text = content if content.strip() else _EMPTY
        return await asyncio.to_thread(self._change, _checked(path), text, expected_version, operation)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Take away a file that is at this version; its person can restore it."""
        return await asyncio.to_thread(self._change, _checked(path), None, expected_version, operation)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The names of files that begin so, in order."""
        if limit <= 0:
            raise ValueError("limit must be positive")
        names = await asyncio.to_thread(self._files.all)
        return [name for name in names if name.startswith(prefix)][:limit]

    async def search(self, prefix: str, query: str, *, limit: int, **bounds: int) -> MemorySearchResult:
        """Files directly below a prefix that say something about a question, by their words and meaning."""
        if not query.strip() or limit <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        return await asyncio.to_thread(self._found, prefix, query, limit, bounds.get("max_chars", 2000))

    def _found(self, prefix: str, query: str, limit: int, room: int) -> MemorySearchResult:
        files = self._files.all()
        inside = {one.id: name for name, one in files.items() if _is_child(prefix, name)}
        hits = [hit for hit in self._memory.recall(query, k=_HITS).hits if hit.id in inside]
        share = max(1, room // max(1, min(limit, len(hits))))
        matches = [
            MemorySearchMatch(path=inside[hit.id], snippet=hit.text[:share], score=hit.confidence)
            for hit in hits[:limit]
        ]
        return MemorySearchResult(matches=matches, scanned=len(inside), truncated=len(hits) > limit)

    def _change(
        self, path: str, text: str | None, expected: str | None, operation: MemoryOperation | None
    ) -> MemoryMutation:
        if operation is not None and (known := self._receipt(operation)) is not None:
            return known
        before = self._files.get(path)
        if _version(before) != expected:
            raise MemoryConflictError(f"memory path {path!r} has another version")
        try:
            if text is None:
                after = None if self._files.drop(path) else before
            else:
                after = self._files.put(path, text, expect=before.revision if before else 0)
        except Conflict as error:
            raise MemoryConflictError(str(error)) from error
        except LaminaError as error:
            raise ModelRetry(str(error)) from error
        done = MemoryMutation(version=_version(after), replayed=False, existed=before is not None)
        if operation is not None:
            kept = {"fingerprint": operation.fingerprint, "version": done.version, "existed": done.existed}
            self._receipts.put(operation.id, json.dumps(kept))
        return done

    def _receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        if (found := self._receipts.get(operation.id)) is None:
            return None
        kept: dict[str, Any] = json.loads(found.text)
        if kept["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation {operation.id!r} was used for something else")
        return MemoryMutation(version=kept["version"], replayed=True, existed=kept["existed"])


def _checked(path: str) -> str:
    if not path or any(part in ("", ".", "..") or "\\" in part for part in path.split("/")):
        raise ValueError(f"invalid memory path: {path!r}")
    return path


def _version(memory: Memory | None) -> str | None:
    return None if memory is None else f"{memory.id}@{memory.revision}"


def _text(memory: Memory) -> str:
    return "" if memory.text == _EMPTY else memory.text


def _is_child(prefix: str, name: str) -> bool:
    return name.startswith(prefix) and "/" not in name.removeprefix(prefix)
