"""What rows are made into: a row of which that cannot be made is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lamina.storage.logs import event_of, record_of, step_of
from lamina.storage.memories import from_row
from lamina.storage.rows import UNREADABLE, DamagedRow, Row, key_of, legible, selected, unsound
from lamina.storage.small_tables import token_of

#: Table to a query that selects what its things are made of, and what makes them.
_MADE: dict[str, tuple[str, Callable[[Row], object]]] = {
    "memory": ("memory_by_id", from_row),
    "history": ("history_of", step_of),
    "event": ("event_by_seq", event_of),
    "audit": ("audit_after", record_of),
    "token": ("token_by_id", token_of),
}


def judged(queries: Mapping[str, str], table: str, values: Mapping[str, Any]) -> Iterator[DamagedRow]:
    """The row by its name, if it cannot be read; texts may come as bytes."""
    column = unsound(table, values)
    if column is None and table in _MADE:
        query, make = _MADE[table]
        try:
            make(tuple(legible(values[name]) for name in selected(queries[query])))
        except UNREADABLE:
            column = ""
    if column is not None:
        yield DamagedRow(table, key_of(table, values), column)
