"""A whole store as it is, table by table: how it comes into another database, and how that is checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from lamina.errors import Conflict, Damaged
from lamina.records import dataclass
from lamina.storage.database import Database, Transaction
from lamina.storage.rows import Row

_PAGE = 500
#: Their rows come by themselves, with those that they count; they are compared like all others.
_COUNTED = frozenset({"memory_count", "operational_count"})
#: Told how many rows of how many are there.
Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a tenant's rows: its columns, and those of its key without the tenant, in their order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def page(self, *, first: bool) -> str:
        """The rows from the first on or behind a key, in the order of keys; the same on both databases."""
        key = ", ".join(self.key)
        after = "" if first else f" AND ({key}) > ({', '.join(f':{name}' for name in self.key)})"
        return (
            f"SELECT {', '.join(self.columns)} FROM {self.name}"  # noqa: S608 names of our own tables
            f" WHERE tenant = :tenant{after} ORDER BY {key} LIMIT {_PAGE}"
        )

    @property
    def insert(self) -> str:
        values = ", ".join(f":{name}" for name in self.columns)
        return f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({values})"  # noqa: S608 as above

    def key_of(self, row: Row) -> dict[str, Any]:
        return {name: row[self.columns.index(name)] for name in self.key}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a table holds: how many rows, and a hash over all of them."""

    rows: int
    sha256: str


def tables_of(transaction: Transaction) -> list[Table]:
    """Every table that has rows of tenants."""
    found = []
    for name, rows in groupby(transaction.all("tables_of_tenants"), key=lambda row: str(row[0])):
        columns = [(str(column), int(place)) for _, column, place in rows]
        key = [column for place, column in sorted((place, column) for column, place in columns if place)]
        found.append(Table(name, tuple(name for name, _ in columns), tuple(key[1:])))
    return found


def rows_of(transaction: Transaction, table: Table) -> Iterator[list[Row]]:
    """Everything of a table in the order of its key, a page at a time."""
    page = transaction.every(table.page(first=True), {})
    while page:
        yield page
        page = transaction.every(table.page(first=False), table.key_of(page[-1]))


def sums_of(transaction: Transaction) -> dict[str, Sum]:
    """What a store holds, by table; equal sums are equal stores, whatever database they are in."""
    return {table.name: _summed(rows_of(transaction, table)) for table in tables_of(transaction)}


def _summed(pages: Iterator[list[Row]]) -> Sum:
    digest, count = hashlib.sha256(), 0
    for page in pages:
        count += len(page)
        for row in page:
            digest.update(json.dumps(row, default=bytes.hex, ensure_ascii=False).encode() + b"\n")
    return Sum(rows=count, sha256=digest.hexdigest())


def copy_store(source: Database, target: Database, tell: Tell) -> dict[str, Sum]:
    """Bring everything of a store's tenant into an empty one, all or nothing, and read it back.

    Raises Conflict where the target has something already, or where the source went on meanwhile, and Damaged
    where a row cannot be read or what was read back differs; the target is then as it was.
    """
    before = source.read(sums_of)
    total = sum(one.rows for one in before.values())

    def fill(into: Transaction) -> dict[str, Sum]:
        for table in tables_of(into):
            if into.every(table.page(first=True), {}):
                raise Conflict(
                    "There is a memory in the store to be filled already.",
                    code="store_not_empty",
                    hint="Name a new file, an empty database or another tenant.",
                )
        source.read(lambda out: _poured(out, into, lambda done: tell(done, total)))
        if (there := sums_of(into)) != before:
            raise _differing(source, before)
        highest = into.one("highest_shared")
        into.one("raise_shared", value=highest[0] if highest else 0)
        counted = [table for table in tables_of(into) if table.name == "counter"]
        return there | {table.name: _summed(rows_of(into, table)) for table in counted}

    return target.write(fill)


def _poured(out: Transaction, into: Transaction, tell: Callable[[int], None]) -> None:
    done = 0
    for table in tables_of(out):
        for page in rows_of(out, table):
            done += len(page)
            tell(done)
            if table.name in _COUNTED:
                continue
            into.put(table.insert, [dict(zip(table.columns, row, strict=True)) for row in page])


def _differing(source: Database, before: dict[str, Sum]) -> Conflict | Damaged:
    if source.read(sums_of) != before:
        return Conflict(
            "The store was written to while it was copied.",
            code="store_went_on",
            hint="Stop what writes to it, and run this again. Nothing was copied.",
        )
    if damage := source.check():
        return Damaged(
            f"The store is damaged, {damage[0]}; nothing was kept.",
            code="store_incomplete",
            hint="Use an older backup with `lamina restore-backup`, or save what is left: `lamina rescue`.",
        )
    return Damaged(
        "What was copied is not what was read.",
        code="copy_differs",
        hint="Nothing was kept of it. `lamina doctor` looks at every row of the store.",
    )
