"""Episodes, procedures and use as rows, and what a shelf held at another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.model import Layer, Memory
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories, from_row, micros, moment

_PAGE = 500


class LayerRows:
    """The rows of one tenant's layers inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def newest(self, layer: Layer, shelf: int, now: datetime, limit: int) -> list[Memory]:
        """The newest episodes or procedures of a shelf first."""
        name = "episodes_on" if layer is Layer.EPISODIC else "procedures_on"
        return self._tx.each(from_row, name, shelf=shelf, now=micros(now), limit=limit)

    def unused(self, before: datetime, below: int, learnt: str, limit: int) -> list[Memory]:
        """What matters little and nobody found, changed or pinned since then, the longest unused first.

        Of what lives in a file only what begins with `learnt`.
        """
        asked = {"before": micros(before), "below": below, "learnt": f"{learnt}%", "limit": limit}
        return self._tx.each(from_row, "unused_memories", **asked)

    def over(self, now: datetime, limit: int) -> list[Memory]:
        """Episodes of anybody whose time is up, oldest first."""
        return self._tx.each(from_row, "episodes_over", now=micros(now), limit=limit)

    def procedure_slots(self, shelf: int, most: int) -> list[int] | None:
        """Where the procedures of a shelf stand in its index; None where there are more than so many."""
        rows = self._tx.all("procedure_slots", shelf=shelf, limit=most + 1)
        return None if len(rows) > most else [slot for (slot,) in rows]

    def topic_slots(self, shelf: int, topics: Sequence[str], most: int) -> list[int] | None:
        """The same of the memories of some categories."""
        found: list[int] = []
        for topic in topics:
            rows = self._tx.all("topic_slots", shelf=shelf, category=topic, limit=most + 1 - len(found))
            found += [slot for (slot,) in rows]
            if len(found) > most:
                return None
        return found

    def note(self, reads: Mapping[str, tuple[int, datetime]], renewed: timedelta) -> None:
        """Count what was found: how often and when last; an episode lives at least `renewed` from then."""
        self._tx.many(
            "note_access",
            [{"id": one, "count": count, "at": micros(at)} for one, (count, at) in sorted(reads.items())],
        )
        until = {one: micros(at + renewed) for one, (_, at) in reads.items()}
        ids = sorted(until)
        for start in range(0, len(ids), _PAGE):
            rows = self._tx.all("sealed_episodes", ids=ids[start : start + _PAGE])
            at = self._tx.ledger.place("memory", "expires_at")
            Memories(self._tx).set_ends(until, [row for row in rows if row[at] < until[row[0]]])

    def known_at(self, shelf: int, at: datetime) -> list[Memory]:
        """What a shelf held at a moment, in the words it had then."""
        return self._tx.each(
            lambda row: replace(from_row(row[1:]), text=row[0]), "known_at", shelf=shelf, at=micros(at)
        )

    def change_at(self, thread: str, revision: int) -> datetime | None:
        """When a thread reached a revision."""
        row = self._tx.one("change_at", thread=thread, revision=revision)
        return None if row is None else moment(row[0])
