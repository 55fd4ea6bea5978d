"""What can be read out of a store's file that nothing opens any more: bad pages, bad rows, missing tables."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import Any

import apsw

from lamina.records import dataclass
from lamina.storage.carving import carved, table_columns
from lamina.storage.rows import legible, whole

_JSON = frozenset({"tags", "provenance", "meta", "decision"})


@dataclass(slots=True)
class Salvage:
    """What was saved, and what was not with the reason."""

    memories: list[dict[str, Any]] = field(default_factory=list)  #: each with its history
    left_out: list[dict[str, Any]] = field(default_factory=list)
    mended: int = 0

    def miss(self, table: str, key: str, why: str) -> None:
        self.left_out.append({"table": table, "key": key, "why": why})


def salvaged(path: Path) -> Salvage:
    """Every memory that can be read, by a copy of the file; the file itself is only read."""
    found = Salvage()
    with tempfile.TemporaryDirectory(prefix="lamina-rescue-") as folder:
        copy = Path(folder) / "memory.db"
        shutil.copyfile(path, copy)
        log = path.with_name(f"{path.name}-wal")
        if log.is_file():  # what was written last stands there
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        try:
            with closing(apsw.Connection(str(copy))) as connection:
                _read(connection, found)
        except apsw.Error as error:
            found.miss("store", path.name, f"the file is not a database any more ({type(error).__name__})")
        if found.left_out:
            _carve(copy, found)
    return found


def _carve(copy: Path, found: Salvage) -> None:
    """Add what still stands on whole pages, wherever those are."""
    columns, (memories, steps) = table_columns(), carved(copy)
    known = {(str(one.get("tenant", "")), one["id"]): one for one in found.memories}
    for key in sorted({*memories, *steps}):
        history = [_made(columns["history"], steps[key][at])[0] for at in sorted(steps.get(key, ()))]
        name = (str(legible(key[0])), legible(key[1]))
        one = known.get(name) or known.get(("", name[1]))
        if one is None or (key in memories and one["state"] == "unknown"):
            memory, mended = (
                _made(columns["memory"], memories[key])
                if key in memories
                else (_from_steps(name[1], history), False)
            )
            found.mended += mended
            found.memories = [other for other in found.memories if other is not one]
            found.memories.append({**memory, "history": history})
        elif len(history) > len(one["history"]):
            one["history"] = history


def _read(connection: apsw.Connection, found: Salvage) -> None:
    columns = {table: _columns(connection, table) for table in ("memory", "history")}
    if not columns["memory"]:
        found.miss("memory", "", "the table is gone")
    ids = _ids(connection, found, columns)
    for tenant, name in ids:
        key = (tenant, name)
        rows, whole = _scan(connection, _select("memory", columns["memory"], "id"), key)
        steps, all_steps = (
            _scan(connection, _select("history", columns["history"], "memory_id"), key)
            if columns["history"]
            else ([], True)
        )
        shown = legible(name)
        if not all_steps:
            found.miss("history", shown, "some of its steps are on a page that cannot be read")
        if not rows and (not steps or whole):
            found.miss("memory", shown, "its row cannot be read" if not whole else "its row is gone")
        history = [_made(columns["history"], step)[0] for step in steps]
        memory, mended = _made(columns["memory"], rows[0]) if rows else (_from_steps(shown, history), False)
        if rows or steps:
            found.mended += mended
            found.memories.append({**memory, "history": history})


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    try:
        return [str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    except apsw.Error:
        return []


def _ids(
    connection: apsw.Connection, found: Salvage, columns: dict[str, list[str]]
) -> list[tuple[bytes, bytes]]:
    """The names of all memories, from wherever they stand: either end of a table, its index, their steps."""
    places = {
        "memory": (
            "tenant",
            "id",
            ("memory", "memory ORDER BY rowid DESC", "memory ORDER BY tenant, id DESC"),
        ),
        "history": (
            "tenant",
            "memory_id",
            ("history", "history ORDER BY tenant DESC, memory_id DESC, number DESC"),
        ),
    }
    names: set[tuple[bytes, bytes]] = set()
    for table, (tenant, name, ways) in places.items():
        if not columns[table]:
            continue
        whole = False
        for way in ways:
            sql = f"SELECT CAST({tenant} AS BLOB), CAST({name} AS BLOB) FROM {way}"  # noqa: S608 names of our own
            rows, complete = _scan(connection, sql, ())
            names.update((row[0], row[1]) for row in rows)
            whole = whole or complete
        if not whole:
            found.miss(table, "", "a page of the table cannot be read; what only stood there is lost")
    return sorted(names)


def _select(table: str, columns: list[str], name: str) -> str:
    """The rows of one memory, whose name may be no text any more, with texts as bytes."""
    raw = (f"CASE typeof({one}) WHEN 'text' THEN CAST({one} AS BLOB) ELSE {one} END" for one in columns)
    return (
        f"SELECT {', '.join(raw)} FROM {table}"  # noqa: S608 names of our own
        f" WHERE tenant = CAST(? AS TEXT) AND {name} = CAST(? AS TEXT)"
    )


def _scan(connection: apsw.Connection, sql: str, values: tuple[Any, ...]) -> tuple[list[Any], bool]:
    """The rows until one cannot be read, and whether that were all."""
    rows: list[Any] = []
    try:
        for row in connection.execute(sql, values):
            rows.append(row)
    except apsw.Error:
        return rows, False
    return rows, True


def _made(columns: list[str], row: Any) -> tuple[dict[str, Any], bool]:
    """A row as plain data, and whether bytes of it are shown as they are because they are no text."""
    made, mended = dict[str, Any](), False
    for name, value in zip(columns, row, strict=True):
        text = legible(value)
        mended = mended or (isinstance(value, bytes) and value != str(text).encode())
        made[name] = _parsed(text) if name in _JSON and isinstance(text, str) else text
    return made, mended


def _parsed(text: str) -> Any:
    try:
        return json.loads(whole(text))
    except ValueError:
        return text


def _from_steps(name: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    """A memory whose own row is lost, as its last step tells it."""
    last = max(history, key=lambda step: step.get("number") or 0, default={})
    space, _, rest = name.partition(":")
    return {
        "id": name,
        "space": space,
        "owner": rest.partition(":")[0],
        "text": last.get("new_text") or last.get("old_text") or "",
        "state": "unknown",
    }
