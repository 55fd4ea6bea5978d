"""Everything that is known about one person, as files that they can read, keep and bring in elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from lamina.durable import make_folder, settle, settle_folder
from lamina.errors import Conflict, InvalidInput
from lamina.lifecycle.exchange import COGX_FILES, OMI_FILE, cogx, omi
from lamina.model import State, canonical, iso, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.export_rows import PersonRows
from lamina.storage.small_tables import Properties
from lamina.text.normalise import undirected
from lamina.workspace.files import explained
from lamina.write.store import Caller, Store

FORMAT, VERSION = "lamina-export", 1
MANIFEST, MEMORIES, RELATIONS, PAGE = "manifest.json", "memories.jsonl", "relations.jsonl", "memories.md"
_UNFINISHED = f"{MANIFEST}.unfinished"
HISTORY, SESSIONS = "history.jsonl", "sessions.jsonl"
_FILES = {"memory": MEMORIES, "history": HISTORY, "relation": RELATIONS, "session": SESSIONS}
_FORMS = {"omi": omi, "cogx": cogx}
#: The files that any export has.
_ANY = dict.fromkeys((MANIFEST, *_FILES.values(), PAGE, OMI_FILE, *COGX_FILES.values()))
_AT_ONCE = 500
_KNOWN = "export:"  #: the properties that name exports on this machine, by person


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An export that was made."""

    folder: str
    counts: dict[str, int]  #: memories by state, history, relation, session
    files: dict[str, dict[str, Any]]  #: name to its sha256, bytes and lines
    format: str = FORMAT
    left_out: dict[str, int] = field(default_factory=dict)  #: what the format has no room for


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


def parts_of(caller: Caller) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every memory in whatever state, each step of its history, its relations, the sessions: what, and it.

    Of the caller's own user, within the caller's allowlist; in an order that is always the same, and a page
    in memory at a time. An agent gets what is active, in the words it has now.
    """
    if caller.sees_past:
        yield from _all_parts(caller)
        return
    active: dict[str, str] = {}
    for what, part in _all_parts(caller):
        if what == "memory" and part["state"] == State.ACTIVE:
            active[part["id"]] = part["text"]
        elif what == "memory" or (what == "relation" and part["to_id"] not in active):
            continue
        elif what == "history":
            if part["memory_id"] not in active:
                continue
            part = _as_now(part, active[part["memory_id"]])
        yield what, part


def _as_now(step: dict[str, Any], text: str) -> dict[str, Any]:
    """A step of a memory without the words of another time."""
    decision = {name: value for name, value in step["decision"].items() if name != "before"}
    words = {name: text if step[name] == text else None for name in ("old_text", "new_text")}
    return {**step, **words, "decision": decision}


def _all_parts(caller: Caller) -> Iterator[tuple[str, dict[str, Any]]]:
    store, user = caller.store, caller.scope.user
    store.sync()
    after: str | None = ""
    while after is not None:
        last = after
        after, parts = store.database.read(
            lambda tx: PersonRows(tx, quoted(user)).page(last, _AT_ONCE)  # noqa: B023 read at once
        )
        yield from parts
    yield from store.database.read(lambda tx: PersonRows(tx, quoted(user)).sessions(user))


def lines_of(caller: Caller) -> Iterator[str]:
    """The same as lines of JSON; the last one counts the others and seals them with a SHA-256."""
    digest, counts = hashlib.sha256(), dict[str, int]()
    for what, part in parts_of(caller):
        line = canonical({"type": what, **part}) + "\n"
        digest.update(line.encode())
        counts[what] = counts.get(what, 0) + 1
        yield line
    yield canonical({"type": "end", "format": FORMAT, "counts": counts, "sha256": digest.hexdigest()}) + "\n"


def default_folder(caller: Caller) -> Path:
    """Where an export goes if nobody says: a folder here, named after the person and the day."""
    return Path(f"lamina-export-{quoted(caller.scope.user)}-{caller.store.now():%Y-%m-%d}")


def export(caller: Caller, folder: Path, form: str = "lamina") -> Exported:
    """Write an export into a folder that is new or empty: in our own form, or as other tools exchange.

    The manifest comes last, so a folder without one is no export. The store keeps the folder's name, so that
    a purge can say whether the export still has what was purged. Raises Conflict where the folder is in use,
    InvalidInput (`format_invalid`) for a form that there is not.
    """
    if form != "lamina" and form not in _FORMS:
        known = ", ".join(("lamina", *_FORMS))
        raise InvalidInput(
            f"{form!r:.40} is not a format.", code="format_invalid", hint=f"Choose one of: {known}."
        )
    folder = Path(os.path.normpath(folder.expanduser().absolute()))
    try:
        make_folder(folder)
        if any(folder.iterdir()):
            raise Conflict(
                f"{folder} is not empty.", code="export_exists", hint="Name a folder that is new or empty."
            )
        done = _whole(caller, folder) if form == "lamina" else _exchanged(caller, folder, form)
        settle_folder(folder)
    except OSError as error:
        raise explained(str(folder), error) from error

    def work(transaction: Transaction) -> None:
        mark = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        Properties(transaction).set(f"{_KNOWN}{quoted(caller.scope.user)}:{mark}", str(folder))

    caller.store.database.write(work)
    return done


def _exchanged(caller: Caller, folder: Path, form: str) -> Exported:
    """What is active, in the form of another tool."""
    lost: Counter[str] = Counter()
    sheets: dict[str, _Sheet] = {}
    with ExitStack() as open_files:
        for name, line in _FORMS[form](caller, lambda: parts_of(caller), lost):
            if name not in sheets:
                sheets[name] = _sheet(open_files, folder / name)
            sheets[name].add(line)
        files = {name: sheet.told for name, sheet in sheets.items()}
    counts = {name: told["lines"] for name, told in files.items()}
    return Exported(folder=str(folder), counts=counts, files=files, format=form, left_out=dict(lost))


def _whole(caller: Caller, folder: Path) -> Exported:
    """Everything, in our own form: JSON lines, a page to read, and a manifest."""
    counts: dict[str, int] = {}
    with ExitStack() as open_files:
        sheets = {name: _sheet(open_files, folder / name) for name in (*_FILES.values(), PAGE)}
        heading = ""
        for what, part in parts_of(caller):
            sheets[_FILES[what]].add(canonical(part))
            name = f"memories_{part['state']}" if what == "memory" else what
            counts[name] = counts.get(name, 0) + 1
            if what == "memory" and part["state"] == State.ACTIVE:
                heading = _on_page(sheets[PAGE], part, heading)
        files = {name: sheet.told for name, sheet in sheets.items()}
    scope = caller.scope
    told = {
        "format": FORMAT,
        "version": VERSION,
        "user": scope.user,
        "tenant": scope.tenant,
        "exported_at": iso(caller.store.now()),
        "counts": counts,
        "files": files,
    }
    with ExitStack() as open_files:
        text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
        _sheet(open_files, folder / _UNFINISHED).add(text)
    (folder / _UNFINISHED).rename(folder / MANIFEST)  # whoever sees it sees all of it
    return Exported(folder=str(folder), counts=counts, files=files)


def _sheet(open_files: ExitStack, path: Path) -> _Sheet:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    return _Sheet(open_files.enter_context(_settled(handle)))


@contextmanager
def _settled(handle: int) -> Iterator[BinaryIO]:
    """A file that is on the disk when it is closed."""
    with os.fdopen(handle, "wb") as file:
        yield file
        file.flush()
        settle(handle)


def _on_page(page: _Sheet, memory: dict[str, Any], heading: str) -> str:
    """One active memory for a person to read, below a heading for each sort; returns the heading."""
    now = f"{memory['space']} {memory['owner']}: {memory['layer']}"
    if now != heading:
        page.add(f"{'' if not heading else chr(10)}## {now}\n")
    words = _as_words(memory["text"])
    key = f"**{_as_words(memory['key'])}**: " if memory["key"] else ""
    pin = ", pinned" if memory["pinned"] else ""
    page.add(f"- {key}{words}  \n  {memory['created_at'][:10]}, {memory['kind']}{pin}, `{memory['id']}`")
    return now


def _as_words(text: str) -> str:
    """A text as one line of a page that shows it and does nothing else: no markup, links or turned words."""
    plain = escape(" ".join(text.split()), quote=False)
    return undirected(re.sub(r"([\\`\[\]])", r"\\\1", plain))


def exports_with(transaction: Transaction, owner: str, memory_id: str) -> tuple[str, ...]:
    """The known exports of a person that are still on this machine and hold a memory."""
    known = Properties(transaction).below(f"{_KNOWN}{owner}:") if owner else {}
    sought = f'"{memory_id}"'.encode()
    return tuple(sorted(folder for folder in known.values() if _holds(Path(folder), sought)))


def _holds(folder: Path, sought: bytes) -> bool:
    for name in (MEMORIES, OMI_FILE):
        with suppress(OSError), (folder / name).open("rb") as file:
            if any(sought in line for line in file):
                return True
    return False


def drop_exports(store: Store, owner: str, ids: Sequence[str] | None = None) -> int:
    """Remove the known exports of a person that hold one of these memories, or all; how many.

    Only the files that an export has are removed, and its folder where nothing else is in it.
    """
    known = store.database.read(lambda tx: Properties(tx).below(f"{_KNOWN}{owner}:"))
    removed = 0
    for mark, place in sorted(known.items()):
        folder = Path(place)
        if ids is not None and not any(_holds(folder, f'"{one}"'.encode()) for one in ids):
            continue
        try:
            for name in _ANY:
                (folder / name).unlink(missing_ok=True)
            if folder.is_dir():
                settle_folder(folder)
        except OSError as error:
            raise explained(str(folder), error) from error
        with suppress(OSError):  # something else is in it, or it is gone already
            folder.rmdir()
        removed += 1
        store.database.write(lambda tx: Properties(tx).drop(f"{_KNOWN}{owner}:{mark}"))  # noqa: B023
    return removed
