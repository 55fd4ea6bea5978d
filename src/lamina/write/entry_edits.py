"""What a change does to one line of a file, as a value that can be written down and carried out later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Entries, KnownEntry, Operations
from lamina.text.entries import Entry

MOVE = "move"  #: an operation on a line alone: its memory is where it should be


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an operation does to one key of the file."""

    key: str
    entry: Entry | None  #: None: the key goes
    base: str | None  #: the key's value when the operation was planned


def release(transaction: Transaction, file: str, known: KnownEntry, now: datetime) -> None:
    """A memory that lives in a file no longer does: its line goes, whatever happens in between."""
    Entries(transaction).drop(file, known.key)
    if known.memory_id:
        Memories(transaction).set_home(known.memory_id, None)
        effect = Effect(key=known.key, entry=None, base=known.value)
        Operations(transaction).add(MOVE, file, {"effect": effect_to_plain(effect)}, now)


def fields_of(entry: Entry) -> dict[str, Any]:
    return {"kind": entry.kind, "priority": entry.priority, "ttl": entry.ttl, "source": entry.source}


def effect_to_plain(effect: Effect) -> dict[str, Any]:
    entry = effect.entry
    fields = None
    if entry is not None:
        fields = {"value": entry.value, "updated_at": entry.updated_at, **fields_of(entry)}
    return {"key": effect.key, "base": effect.base, "entry": fields}


def effect_from_plain(value: dict[str, Any]) -> Effect:
    entry = None if value["entry"] is None else Entry(key=value["key"], **value["entry"])
    return Effect(key=value["key"], entry=entry, base=value["base"])
