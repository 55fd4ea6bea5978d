"""Everything that is known about one person, as files that they can read, keep and bring in elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from lamina.engine import Engine
from lamina.errors import Conflict
from lamina.model import State, canonical, iso, plain, quoted
from lamina.scoped import ScopedMemory
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import Memories, from_micros, from_row, moment
from lamina.storage.small_tables import Properties
from lamina.workspace.files import explained

FORMAT, VERSION = "lamina-export", 1
MANIFEST, MEMORIES, RELATIONS, PAGE = "manifest.json", "memories.jsonl", "relations.jsonl", "memories.md"
_FILES = {
    "memory": MEMORIES,
    "history": "history.jsonl",
    "relation": RELATIONS,
    "session": "sessions.jsonl",
}
_AT_ONCE = 500
_KNOWN = "export:"  #: the properties that name exports on this machine, by person


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An export that was made."""

    folder: str
    counts: dict[str, int]  #: memories by state, history, relation, session
    files: dict[str, dict[str, Any]]  #: name to its sha256, bytes and lines


@dataclass(slots=True)
class _Sheet:
    """A file of an export being written."""

    file: BinaryIO
    size: int = 0
    lines: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: str) -> None:
        data = f"{line}\n".encode()
        self.file.write(data)
        self.digest.update(data)
        self.size += len(data)
        self.lines += data.count(b"\n")

    @property
    def told(self) -> dict[str, Any]:
        return {"sha256": self.digest.hexdigest(), "bytes": self.size, "lines": self.lines}


def parts_of(mind: ScopedMemory) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every memory in whatever state, each step of its history, its relations, the sessions: what, and it.

    Of the caller's own user, within the caller's allowlist; in an order that is always the same, and a page
    in memory at a time.
    """
    engine, owner, after = mind.engine, quoted(mind.scope.user), ""
    engine.sync()
    who = {"owner": owner, "first": f"{owner},", "beyond": f"{owner}-"}

    def page(transaction: Transaction) -> tuple[list[Any], list[Any], list[Any]]:
        memories = transaction.each(_memory, "export_memories", after=after, limit=_AT_ONCE, **who)
        if not memories:
            return [], [], []
        ids = [one["id"] for one in memories]
        steps = transaction.each(_step, "export_history", after=after, last=ids[-1], **who)
        return memories, steps, _edges(transaction, ids)

    while (found := engine.database.read(page))[0]:
        memories, steps, edges = found
        yield from (("memory", one) for one in memories)
        yield from (("history", one) for one in steps)
        for edge in edges:
            yield (
                "relation",
                {
                    "from_id": edge[0],
                    "to_id": edge[1],
                    "type": edge[2],
                    "strength": edge[3],
                    "explicit": bool(edge[4]),
                    "created_at": iso(moment(edge[5])),
                },
            )
        after = memories[-1]["id"]
    for name, *times in engine.database.read(lambda tx: tx.all("export_sessions", user=mind.scope.user)):
        at = [None if one is None else iso(one) for one in map(from_micros, times)]
        yield "session", {"name": name, "started_at": at[0], "last_at": at[1], "ended_at": at[2]}


def _memory(row: Row) -> dict[str, Any]:
    told = {**plain(from_row(row[1:])), "place": row[0]}
    del told["decay_score"]  # it follows from the rest and from the time
    return told


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


def _edges(transaction: Transaction, ids: list[str]) -> list[Any]:
    """The edges from these memories to such as the caller may see."""
    rows = transaction.all("relations_between", first=ids[0], beyond=f"{ids[-1]} ")
    seen, own = Memories(transaction).load(sorted({row[1] for row in rows})), set(ids)
    return [row for row in rows if row[0] in own and row[1] in seen]


def lines_of(mind: ScopedMemory) -> Iterator[str]:
    """The same as lines of JSON; the last one counts the others and seals them with a SHA-256."""
    digest, counts = hashlib.sha256(), dict[str, int]()
    for what, part in parts_of(mind):
        line = canonical({"type": what, **part}) + "\n"
        digest.update(line.encode())
        counts[what] = counts.get(what, 0) + 1
        yield line
    yield canonical({"type": "end", "format": FORMAT, "counts": counts, "sha256": digest.hexdigest()}) + "\n"


def export(mind: ScopedMemory, folder: Path) -> Exported:
    """Write an export into a folder that is new or empty: JSON lines, a page to read, and a manifest.

    The manifest comes last, so a folder without one is no export. The store keeps the folder's name, so that
    a purge can say whether the export still has what was purged. Raises Conflict where the folder is in use.
    """
    folder = Path(os.path.normpath(folder.expanduser().absolute()))
    counts: dict[str, int] = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Conflict(
                f"{folder} is not empty.", code="export_exists", hint="Name a folder that is new or empty."
            )
        with ExitStack() as open_files:
            sheets = {name: _sheet(open_files, folder / name) for name in (*_FILES.values(), PAGE)}
            heading = ""
            for what, part in parts_of(mind):
                sheets[_FILES[what]].add(canonical(part))
                name = f"memories_{part['state']}" if what == "memory" else what
                counts[name] = counts.get(name, 0) + 1
                if what == "memory" and part["state"] == State.ACTIVE:
                    heading = _on_page(sheets[PAGE], part, heading)
            files = {name: sheet.told for name, sheet in sheets.items()}
        scope = mind.scope
        told = {
            "format": FORMAT,
            "version": VERSION,
            "user": scope.user,
            "tenant": scope.tenant,
            "exported_at": iso(mind.engine.now()),
            "counts": counts,
            "files": files,
        }
        with ExitStack() as open_files:
            text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
            _sheet(open_files, folder / MANIFEST).add(text)
    except OSError as error:
        raise explained(str(folder), error) from error

    def work(transaction: Transaction) -> None:
        mark = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        Properties(transaction).set(f"{_KNOWN}{quoted(scope.user)}:{mark}", str(folder))

    mind.engine.database.write(work)
    return Exported(folder=str(folder), counts=counts, files=files)


def _sheet(open_files: ExitStack, path: Path) -> _Sheet:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    return _Sheet(open_files.enter_context(os.fdopen(handle, "wb")))


def _on_page(page: _Sheet, memory: dict[str, Any], heading: str) -> str:
    """One active memory for a person to read, below a heading for each sort; returns the heading."""
    now = f"{memory['space']} {memory['owner']}: {memory['layer']}"
    if now != heading:
        page.add(f"{'' if not heading else chr(10)}## {now}\n")
    words = " ".join(str(memory["text"]).split())
    key = f"**{memory['key']}**: " if memory["key"] else ""
    pin = ", pinned" if memory["pinned"] else ""
    page.add(f"- {key}{words}  \n  {memory['created_at'][:10]}, {memory['kind']}{pin}, `{memory['id']}`")
    return now


def exports_with(transaction: Transaction, owner: str, memory_id: str) -> tuple[str, ...]:
    """The known exports of a person that are still on this machine and hold a memory."""
    known = Properties(transaction).below(f"{_KNOWN}{owner}:") if owner else {}
    sought = f'"{memory_id}"'.encode()
    return tuple(sorted(folder for folder in known.values() if _holds(Path(folder), sought)))


def _holds(folder: Path, sought: bytes) -> bool:
    with suppress(OSError), (folder / MEMORIES).open("rb") as file:
        return any(sought in line for line in file)
    return False


def drop_exports(engine: Engine, owner: str, ids: Sequence[str] | None = None) -> int:
    """Remove the known exports of a person that hold one of these memories, or all; how many.

    Only the files that an export has are removed, and its folder where nothing else is in it.
    """
    known = engine.database.read(lambda tx: Properties(tx).below(f"{_KNOWN}{owner}:"))
    removed = 0
    for mark, place in sorted(known.items()):
        folder = Path(place)
        if ids is not None and not any(_holds(folder, f'"{one}"'.encode()) for one in ids):
            continue
        for name in (MANIFEST, *_FILES.values(), PAGE):
            with suppress(FileNotFoundError):
                (folder / name).unlink()
        with suppress(OSError):  # something else is in it, or it is gone already
            folder.rmdir()
        removed += 1
        engine.database.write(lambda tx: tx.run("drop_property", name=f"{_KNOWN}{owner}:{mark}"))  # noqa: B023
    return removed
