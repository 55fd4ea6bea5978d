"""What changed between two phases of a shelf: counted, ordered, the same every time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamina.records import dataclass

TOP_CHANGES = 8


@dataclass(frozen=True, slots=True)
class MemoryThen:
    """A memory as it stood at the end of a phase."""

    id: str
    kind: str  #: the contract's kind
    identity: str  #: its key, or its wording


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDiff:
    """The difference of two phases in the contract's words."""

    added_count: int
    deleted_count: int
    replaced_count: int
    top_changes: tuple[dict[str, Any], ...]

    @property
    def summary_lines(self) -> tuple[str, ...]:
        return (
            f"Added {self.added_count} items",
            f"Deleted {self.deleted_count} items",
            f"Replaced {self.replaced_count} items",
        )


def compared(before: Iterable[MemoryThen], after: Iterable[MemoryThen]) -> PhaseDiff:
    """Replaced: the same key or wording under another id. Added and deleted: the rest."""
    old = {one.id: one for one in before}
    new = {one.id: one for one in after}
    gone = sorted((one for one in old.values() if one.id not in new), key=_order)
    come = sorted((one for one in new.values() if one.id not in old), key=_order)
    by_identity = {one.identity: one for one in come}
    replaced = [(one, by_identity[one.identity]) for one in gone if one.identity in by_identity]
    taken = {one.id for pair in replaced for one in pair}
    added = [one for one in come if one.id not in taken]
    deleted = [one for one in gone if one.id not in taken]
    changes = [
        *(_replacement(one, other) for one, other in replaced),
        *({"change": "added", "memory_id": one.id, "kind": one.kind} for one in added),
        *({"change": "deleted", "memory_id": one.id, "kind": one.kind} for one in deleted),
    ]
    return PhaseDiff(
        added_count=len(added),
        deleted_count=len(deleted),
        replaced_count=len(replaced),
        top_changes=tuple(changes[:TOP_CHANGES]),
    )


def _order(one: MemoryThen) -> tuple[str, str]:
    return one.identity, one.id


def _replacement(one: MemoryThen, other: MemoryThen) -> dict[str, Any]:
    return {
        "change": "replaced",
        "dedupe_key": one.identity,
        "from_id": one.id,
        "to_id": other.id,
        "from_kind": one.kind,
        "to_kind": other.kind,
    }
