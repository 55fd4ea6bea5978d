"""Rows out of the pages of a file that SQLite does not open any more: its first page is gone, or its end."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from lamina.storage.migrate import load_migrations

#: Of every store: nothing else sets it.
_PAGE = 4096
_INDEX = (_PAGE - 12) * 64 // 255 - 23
#: By the first byte of a page with rows (of a table, and of one without row numbers, which has them inside
#: of its tree too) how much of a row it holds, and where its list of rows begins.
_LEAVES = {0x0D: (_PAGE - 35, 8), 0x0A: (_INDEX, 8), 0x02: (_INDEX, 12)}
_LEAST = (_PAGE - 12) * 32 // 255 - 23
_ID = re.compile(rb"(?:session|user|project|system):.{1,600}:[a-z_]{1,40}:[0-9]{1,18}", re.DOTALL)
#: How long a whole number is, by its type.
_WHOLE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

Key = tuple[bytes, ...]
Record = list[Any]


def table_columns() -> dict[str, list[str]]:
    """What a row of each table holds, in the order in which it is written."""
    with closing(apsw.Connection(":memory:")) as connection:
        for step in load_migrations("sqlite"):
            connection.execute(step.sql)
        sql = "SELECT name FROM pragma_table_info(?)"
        return {
            table: [str(name) for (name,) in connection.execute(sql, (table,))]
            for table in ("memory", "history")
        }


def carved(path: Path) -> tuple[dict[Key, Record], dict[Key, dict[int, Record]]]:
    """The newest row of each memory and its steps, by tenant and name, as far as their pages are whole."""
    pages, columns = _pages(path), table_columns()
    memories: dict[Key, Record] = {}
    steps: dict[Key, dict[int, Record]] = {}
    revision = columns["memory"].index("revision")
    for page in pages.values():
        for row in _rows(page, pages):
            key = tuple(row[:2])
            if len(row) == len(columns["history"]) and isinstance(row[2], int):
                steps.setdefault(key, {})[row[2]] = row
            elif len(row) == len(columns["memory"]) and isinstance(row[revision], int):
                old = memories.get(key)
                if old is None or old[revision] < row[revision]:
                    memories[key] = row
    return memories, steps


def _pages(path: Path) -> dict[int, bytes]:
    """The pages by number; what stands in the log is newer."""
    content = path.read_bytes()
    pages = {at // _PAGE + 1: content[at : at + _PAGE] for at in range(0, len(content), _PAGE)}
    log = path.with_name(f"{path.name}-wal")
    frames = log.read_bytes() if log.exists() else b""
    waiting: dict[int, bytes] = {}
    for at in range(32, len(frames) - _PAGE - 23, _PAGE + 24):
        number, committed = struct.unpack(">II", frames[at : at + 8])
        if frames[at + 8 : at + 16] != frames[16:24]:  # of an earlier round
            break
        waiting[number] = frames[at + 24 : at + 24 + _PAGE]
        if committed:
            pages |= waiting
    return pages


def _rows(page: bytes, pages: Mapping[int, bytes]) -> Iterator[Record]:
    """The rows on a page that may be one of a memory or of a step of its."""
    if len(page) < _PAGE or page[0] not in _LEAVES:
        return
    listed = _LEAVES[page[0]][1]
    for number in range(int.from_bytes(page[3:5], "big")):
        try:
            at = int.from_bytes(page[listed + 2 * number : listed + 2 * number + 2], "big")
            size, at = _number(page, at + (4 if listed == 12 else 0))
            if page[0] == 0x0D:
                _, at = _number(page, at)
            row = _record(_payload(page, at, size, pages))
        except (IndexError, KeyError, ValueError, struct.error):
            continue  # bytes that are no row
        if len(row) > 2 and isinstance(row[1], bytes) and _ID.fullmatch(row[1]):
            yield row


def _payload(page: bytes, at: int, size: int, pages: Mapping[int, bytes]) -> bytes:
    """A row with what of it stands on further pages."""
    most = _LEAVES[page[0]][0]
    if size <= most:
        return page[at : at + size]
    here = _LEAST + (size - _LEAST) % (_PAGE - 4)
    here = here if here <= most else _LEAST
    found, following = page[at : at + here], page[at + here : at + here + 4]
    for _ in range(size // (_PAGE - 4) + 1):
        if len(found) >= size:
            break
        more = pages[int.from_bytes(following, "big")]
        found, following = found + more[4:], more[:4]
    return found[:size]


def _record(payload: bytes) -> Record:
    """The values of a row, texts as bytes."""
    end, at = _number(payload, 0)
    sorts: list[int] = []
    while at < end:
        sort, at = _number(payload, at)
        sorts.append(sort)
    row: Record = []
    for sort in sorts:
        size = (sort - 12) // 2 if sort >= 12 else 8 if sort == 7 else _WHOLE.get(sort, 0)
        part, at = payload[at : at + size], at + size
        if len(part) < size:
            raise ValueError("a row is cut off")
        if sort >= 12:
            row.append(part)
        elif sort == 7:
            row.append(struct.unpack(">d", part)[0])
        else:
            row.append(None if sort == 0 else int.from_bytes(part, "big", signed=True) if size else sort - 8)
    return row


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of up to nine bytes, and where it ends."""
    value = 0
    for place in range(8):
        value = value << 7 | content[at + place] & 0x7F
        if content[at + place] < 0x80:
            return value, at + place + 1
    return value << 8 | content[at + 8], at + 9
