"""What rows say: one that cannot be read is named and left out, and JSON is kept short.

What nearly every event and every memory says in the same words stands as one character each: canonical JSON
has no control characters. What people said stays as it is, so that what is forgotten can be looked for in the
files.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from lamina.errors import Damaged
from lamina.late import late
from lamina.records import dataclass
from lamina.storage.migrate import load_migrations

with late():
    import logging

T = TypeVar("T")
Row = tuple[Any, ...]

#: What a value that is not what its column holds raises when something is made of it.
UNREADABLE = (ValueError, KeyError, TypeError, OverflowError)
#: A state without one of its parts is another state: here nothing is left out.
INDIVISIBLE = frozenset({"load_checkpoint", "checkpoints_of_thread"})

_NAMED = re.compile(r"no such (?:table|column): [\w.]+|\w+ \"[\w.]+\" does not exist")
_TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)")


@dataclass(frozen=True, slots=True, order=True)
class DamagedRow:
    """A row that cannot be read: its table, its key and, where they are known, the column."""

    table: str
    key: str
    column: str = ""

    def __str__(self) -> str:
        return f"{self.table} {self.key or '(unknown)'}{f' ({self.column})' if self.column else ''}"


#: What is made of the rest, and can be made again.
DERIVED = frozenset({"fresh", "posting", "placement", "vector_block", "vector_fresh", "vector_shelf"})
#: What is counted, and never below nothing.
COUNTED = ("length", "next_slot", "number", "value", "members", "count", "block", "version")
#: A row of which nothing is known but that it cannot be read.
NAMELESS = str(DamagedRow("row", ""))


def row_damaged(row: DamagedRow) -> Damaged:
    """The error for whoever asks for such a row."""
    return Damaged(
        f"A row of the store is damaged and cannot be read: {row}.",
        code="row_damaged",
        hint="Make it again: `lamina doctor --fix`. Nothing that was said is lost."
        if row.table in DERIVED
        else "Restore it from a backup. `lamina doctor` names such rows, `lamina rescue` saves the others.",
    )


def numbered_twice() -> Damaged:
    """The error where something new gets the key of something that is there."""
    return Damaged(
        "Something in the store has the number that comes next; nothing was written.",
        code="row_damaged",
        hint="One of its counters may be damaged: `lamina doctor` names such rows. Restore it from a backup.",
    )


#: Triggers that both databases keep counts with.
COUNTING = ("memory_counted", "operational_counted")


def incomplete(problem: str) -> Damaged:
    """The error where a table or a column is not there: our own statements ask for nothing else."""
    named = _NAMED.search(problem)
    # Who makes all tables again does not know that they are there.
    what = "no such table: schema_migration" if "already exists" in problem else named[0] if named else ""
    return Damaged(
        f"A part of the store is missing ({what or 'unknown'}); nothing was written.",
        code="store_incomplete",
        hint="What does not need it still answers. Use `lamina restore-backup`, or save what is left:"
        " `lamina rescue`.",
    )


def missing_parts(there: Iterable[Row], triggers: Iterable[str] = ()) -> list[str]:
    """What is to be said of the tables, and triggers, that are not among these."""
    names = {str(name) for (name,) in there}
    tables = [f"the table {name} is missing" for name in sorted({*_keys(), "schema_migration"} - names)]
    return tables + [f"the trigger {name} is missing" for name in sorted({*COUNTING, *triggers} - names)]


class Damage:
    """What a process has met of a store's damaged rows; each is logged once."""

    def __init__(self) -> None:
        self._met: set[DamagedRow] = set()
        self._mutex = threading.Lock()

    def note(self, rows: Sequence[DamagedRow]) -> None:
        with self._mutex:
            new = sorted(set(rows) - self._met)
            self._met.update(new)
        for row in new:
            logging.getLogger("lamina.store").warning(
                "A row of the store cannot be read and is left out: %s. See `lamina doctor`.", row
            )

    def has(self, table: str, key: str) -> bool:
        """Whether a row with this key, or with one that begins so, was met."""
        with self._mutex:
            return any(row.table == table and f"{row.key} ".startswith(f"{key} ") for row in self._met)


class Making:
    """Rows made into things, for a transaction of either database."""

    damage: Damage
    once: dict[Any, Any] | None
    _queries: Mapping[str, str]

    def same(self, name: tuple[Any, ...], work: Callable[[], T]) -> T:
        """What some work comes to, done once on a snapshot; each time where the transaction may change it."""
        if self.once is None:
            return work()
        if name not in self.once:
            self.once[name] = work()
        found: T = self.once[name]
        return found

    def told(self, **values: Any) -> None:
        """What is near answers at once: nothing has to be known before."""

    def ahead(self, name: str, /, **values: Any) -> None:
        """The same: nothing has to be asked for before."""

    def each(self: Any, make: Callable[[Row], T], name: str, /, **values: Any) -> list[T]:
        """What `make` makes of every row; a row of which it cannot is noted and left out."""
        found: list[T] = []
        for row in self.all(name, **values):
            try:
                found.append(make(_words(name, row)))
            except UNREADABLE:
                damaged = self._named(name, values, row)
                if name in INDIVISIBLE:
                    raise row_damaged(damaged) from None
                self.damage.note([damaged])
        return found

    def only(self: Any, make: Callable[[Row], T], name: str, /, **values: Any) -> T | None:
        """What `make` makes of the first row, None without one; Damaged where it cannot be read."""
        row = self.one(name, **values)
        try:
            return None if row is None else make(_words(name, row))
        except UNREADABLE:
            raise row_damaged(self._named(name, values, row)) from None

    def _named(self: Any, name: str, values: Mapping[str, Any], row: Row) -> DamagedRow:
        sql = self._queries[name]
        return damaged_row(sql, values, dict(zip(selected(sql), row, strict=False)))


def _words(name: str, row: Row) -> Row:
    """The row; ValueError where it has bytes, which none of what is made here holds but the index."""
    if bytes in map(type, row) and name != "take_fresh":
        raise ValueError("bytes in the place of words")
    return row


def damaged_row(
    sql: str, values: Mapping[str, Any], row: Mapping[str, Any] | None = None, column: str = ""
) -> DamagedRow:
    """The name of a row, from what a query gave and what was bound to it."""
    table = next((name for name in _TABLES.findall(sql) if name in _keys()), "row")
    return DamagedRow(table, key_of(table, {**values, **(row or {})}), column)


def key_of(table: str, values: Mapping[str, Any]) -> str:
    """A row's key, without the tenant, as far as it is among some values."""
    parts = [legible(values.get(name)) for name in _keys().get(table, tuple(values)[:1])]
    return " ".join(str(part) for part in parts if part is not None)


def legible(value: Any) -> Any:
    """A value that can be shown, whatever its bytes are."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


def selected(sql: str) -> list[str]:
    """The names of the columns that a query gives."""
    text = sql.rpartition("RETURNING ")[2] if "RETURNING " in sql else sql.partition("SELECT ")[2]
    names, depth, last = list[str](), 0, ""
    for word in re.findall(r"[(),]|[^\s(),]+", text):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "FROM":
            break
        if depth == 0 and word == ",":
            names.append(last)
        elif depth == 0:
            last = word.rpartition(".")[2]
    return [*names, last]


@cache
def _keys() -> dict[str, tuple[str, ...]]:
    """The columns of each table's primary key, without the tenant."""
    text = "\n".join(step.sql for step in load_migrations("sqlite"))
    found = re.findall(r"CREATE TABLE (\w+) \((?:[^;]*?)PRIMARY KEY \(tenant, ([^)]*)\)", text)
    return {table: tuple(columns.split(", ")) for table, columns in found}


#: Columns of JSON.
_JSON = {
    ("memory", "tags"),
    ("memory", "provenance"),
    ("memory", "meta"),
    ("history", "decision"),
    ("event", "data"),
    ("operation", "payload"),
    ("idempotency", "response"),
    ("token", "scopes"),
    ("token", "acts_for"),
    ("entry", "fields"),
    ("document", "hidden"),
    ("fresh", "terms"),
    ("job_run", "report"),
    ("checkpoint", "channels"),
    ("checkpoint", "metadata"),
    ("supervisor_checkpoints", "checkpoint_data"),
    ("import_position", "place"),
}


def unsound(table: str, values: Mapping[str, Any]) -> str | None:
    """The column of a row that does not hold what it should, None where all do; texts may come as bytes."""
    for column, value in values.items():
        try:
            text = value.decode() if isinstance(value, bytes) else value
            if (table, column) in _JSON:
                json.loads(whole(text))
        except (*UNREADABLE, AttributeError):  # none where there is JSON
            return column
    return None


@contextmanager
def text_explained() -> Iterator[None]:
    """Text of the store that turns out to be unreadable after all, in our words."""
    try:
        yield
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise row_damaged(DamagedRow("row", "")) from error


#: Only ever longer: what is stored says `n` for the piece at that place. At most 27.
_PIECES = (
    '{"ai_profile":"',
    'assistant","reason":"interaction_recorded","session":"',
    '","trace_version":"2024-10-01","type":"memory_',
    'write","written":[{"created_at":',
    ',"id":"',
    ',"importance":',
    ',"kind":"',
    '","meta":{"authority":"',
    '","authority_reason":"source:',
    '","dedup_key":"',
    '","event_type":"',
    '"importance_reason":["event:',
    '","source:',
    '"],"owner":"',
    '","phase_id":"phase-',
    '"phase_name":null,"phase_reason":"auto","phase_started_at":',
    '"policy_tags":["allowed_by:privacy","allowed_by:write_policy:normal",'
    '"allowed_by:policy_event_types","allowed_by:promotion_rule"]',
    '"},"scope":"session","source":"',
    '","text":"',
    '"}]}',
    '{"action":"write",',
    '"ai_profile":"assistant","allowed":true,"from_space":"',
    '","policy_snapshot":"policy:',
    '","reason":"allowed","session":"',
    '","to_space":"',
    'border_check"}',
)
_SIGNS = [chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r"]
EVENT = tuple(zip(_PIECES, _SIGNS, strict=False))
#: Of a memory's own JSON only what is whole: queries look for names in quotes in it.
MEMORY = tuple((piece, sign) for piece, sign in EVENT if piece.startswith('"policy_tags"'))
_WHOLE = {ord(sign): piece for piece, sign in EVENT}


def shortened(text: str, pieces: Sequence[tuple[str, str]] = EVENT) -> str:
    """Canonical JSON as it is kept."""
    for piece, sign in pieces:
        text = text.replace(piece, sign)
    return text


def whole(text: str) -> str:
    """What `shortened` was given; JSON that never was shortened as it is."""
    return text.translate(_WHOLE)
