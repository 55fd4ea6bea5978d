"""Everything on one person's shelves as rows that leave the store, a page at a time."""

from __future__ import annotations

import json
from typing import Any

from lamina.model import iso, plain
from lamina.storage.database import Row, Transaction
from lamina.storage.ends import of_person
from lamina.storage.memories import Edges, Memories, from_micros, from_row, moment

Part = tuple[str, dict[str, Any]]


class PersonRows:
    """The rows of one person inside one transaction."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._who = transaction, of_person(owner)

    def page(self, after: str, limit: int) -> tuple[str | None, list[Part]]:
        """The last id, None behind the end, and so many memories with their history and edges."""
        memories = self._tx.each(_told, "export_memories", after=after, limit=limit, **self._who)
        if not memories:
            return None, []
        ids = [one["id"] for one in memories]
        last = ids[-1]
        parts: list[Part] = [("memory", one) for one in memories]
        steps = self._tx.each(_step, "export_history", after=after, last=last, **self._who)
        parts += [("history", one) for one in steps]
        parts += [("relation", one) for one in self._edges(ids)]
        return last, parts

    def sessions(self, user: str) -> list[Part]:
        """When each session began, was last used and ended."""
        return [("session", one) for one in self._tx.each(_session, "export_sessions", user=user)]

    def _edges(self, ids: list[str]) -> list[dict[str, Any]]:
        """The edges from these memories to such as the caller may see."""
        rows = Edges(self._tx).between(ids[0], f"{ids[-1]} ")
        seen, own = Memories(self._tx).load(sorted({row[1] for row in rows})), set(ids)
        return [_edge(row) for row in rows if row[0] in own and row[1] in seen]


def _session(row: Row) -> dict[str, Any]:
    at = [None if one is None else iso(one) for one in map(from_micros, row[1:])]
    return {"name": row[0], "started_at": at[0], "last_at": at[1], "ended_at": at[2]}


def _step(row: Row) -> dict[str, Any]:
    return {
        "memory_id": row[0],
        "number": row[1],
        "revision": row[2],
        "op": row[3],
        "at": iso(moment(row[4])),
        "actor": row[5],
        "via": row[6],
        "old_text": row[7],
        "new_text": row[8],
        "decision": json.loads(row[9]),
    }


def _edge(row: Row) -> dict[str, Any]:
    return {
        "from_id": row[0],
        "to_id": row[1],
        "type": row[2],
        "strength": row[3],
        "explicit": bool(row[4]),
        "created_at": iso(moment(row[5])),
    }


def _told(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {**plain(from_row(row[1:])), "place": row[0]}
    del told["decay_score"]  # it follows from the rest and from the time
    return told
