"""A storage for CrewAI's memory: each record is a memory, found by the vectors that CrewAI hands over."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryRecord, ScopeInfo

from lamina.errors import Denied
from lamina.integrations.items import Items
from lamina.scoped import ScopedMemory


class LaminaStorage:
    """One person's records. The words of one are a memory that passes the gates; its scope, categories,
    vector and the like are kept apart as the state of a program, which nobody recalls.

    What the person forgets is no record any more. A record that is refused, or that waits for the person,
    raises Denied when it is saved; the others of its batch are kept.
    """

    def __init__(self, memory: ScopedMemory) -> None:
        self._texts = Items(memory, "crewai")
        own = ScopedMemory(memory.engine, replace(memory.scope, session="state.crewai"))
        self._fields = Items(own, "record", "session")

    def save(self, records: list[MemoryRecord]) -> None:
        """Keep records, each under its id; one that is there gets these words and fields."""
        objections: list[Denied] = []
        for record in records:
            try:
                self._fields.put(record.id, _fields(record))
                self._texts.put(record.id, record.content)
            except Denied as objection:
                self._fields.drop(record.id) if self._texts.get(record.id) is None else None
                objections.append(objection)
        if objections:
            raise objections[0]

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """The records whose vectors are nearest, best first."""
        found = [one for one in self._some(scope_prefix, categories, metadata_filter) if one.embedding]
        if not found:
            return []
        if len(found[0].embedding or ()) != len(query_embedding):
            raise EmbeddingDimensionMismatchError(len(found[0].embedding or ()), len(query_embedding))
        scores = np.array([one.embedding for one in found]) @ _unit(query_embedding)
        order = np.lexsort((np.arange(len(found)), -scores))[:limit]
        best = [(found[at], float(min(1.0, max(0.0, scores[at])))) for at in order]
        return [(record, score) for record, score in best if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget records; how many. The person can restore their words."""
        gone = [
            one.id
            for one in self._some(scope_prefix, categories, metadata_filter)
            if (record_ids is None or one.id in record_ids)
            and (older_than is None or _utc(one.created_at) < _utc(older_than))
        ]
        for name in gone:
            self._texts.drop(name)
            self._fields.drop(name)
        return len(gone)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """One record; None where there is none, or the person has forgotten it."""
        return next((one for one in self._some() if one.id == record_id), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """The records of a scope, newest first."""
        found = sorted(self._some(scope_prefix), key=lambda one: _utc(one.created_at), reverse=True)
        return found[max(0, offset) : max(0, offset) + max(0, limit)]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What is in a scope and below it."""
        found = self._some(scope)
        times = sorted((one.created_at for one in found), key=_utc)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(found),
            categories=sorted({name for one in found for name in one.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes directly below one."""
        start = parent.rstrip("/") + "/"
        below = (one.scope.removeprefix(start) for one in self._some(parent) if one.scope.startswith(start))
        return sorted({start + rest.partition("/")[0] for rest in below if rest})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """How many records have each category."""
        return dict(Counter(name for one in self._some(scope_prefix) for name in one.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records there are."""
        return len(self._some(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget every record of a scope; nothing else of the person's."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Save, awaited."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, *args: Any, **more: Any) -> list[tuple[MemoryRecord, float]]:
        """Search, awaited."""
        return await asyncio.to_thread(self.search, *args, **more)

    async def adelete(self, *args: Any, **more: Any) -> int:
        """Delete, awaited."""
        return await asyncio.to_thread(self.delete, *args, **more)

    def _some(
        self,
        scope: str | None = None,
        categories: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[MemoryRecord]:
        """The records that fit, in the order of their ids."""
        fields, start = self._fields.all(), "/" + (scope or "").strip("/")
        records = (
            _record(name, one.text, fields[name].text)
            for name, one in self._texts.all().items()
            if name in fields
        )
        return [
            one
            for one in records
            if (start == "/" or one.scope == start or one.scope.startswith(f"{start}/"))
            and (not categories or set(categories) & set(one.categories))
            and all(one.metadata.get(name) == value for name, value in (metadata or {}).items())
        ]


def _fields(record: MemoryRecord) -> str:
    """What there is of a record beside its words; of its vector the direction, eight bits a number."""
    told = record.model_dump(mode="json", exclude={"id", "content", "last_accessed"})
    if record.embedding:
        numbers = np.asarray(record.embedding, dtype=np.float64)
        rounded = np.rint(numbers * (127 / max(float(np.abs(numbers).max()), 1e-12))).astype(np.int8)
        told["vector"] = base64.b64encode(rounded.tobytes()).decode("ascii")
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def _record(name: str, content: str, kept: str) -> MemoryRecord:
    told = json.loads(kept)
    numbers = np.frombuffer(base64.b64decode(told.pop("vector", "")), dtype=np.int8)
    vector = _unit(numbers).tolist() if len(numbers) else None
    return MemoryRecord(id=name, content=content, embedding=vector, **told)


def _unit(numbers: Any) -> Any:
    vector = np.asarray(numbers, dtype=np.float64)
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _utc(at: datetime) -> datetime:
    """CrewAI's times are UTC without saying so."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)
