"""Whole memories: moved to another database, backed up and put back, saved out of a damaged store."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import tarfile
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from lamina.clock import SystemClock, random_token
from lamina.config import home_folder
from lamina.durable import make_folder, put_file, settle, settle_folder
from lamina.engine import Engine
from lamina.errors import ConfigError, Conflict, Damaged, InvalidInput, NotFound
from lamina.lifecycle.export import FORMAT as EXPORT
from lamina.lifecycle.export import HISTORY, MANIFEST, MEMORIES
from lamina.lifecycle.export import VERSION as EXPORT_VERSION
from lamina.model import HistoryOp, Memory, Role, Space, State, iso, plain, unquoted
from lamina.opening import Where, audit_key_file, load_part, locate, open_database, open_memory
from lamina.records import dataclass
from lamina.storage.copying import Sum, Tell, copy_store, sums_of
from lamina.storage.database import Database
from lamina.storage.documents import Documents
from lamina.storage.memories import from_micros
from lamina.storage.migrate import load_migrations
from lamina.storage.salvage import Salvage, salvaged
from lamina.storage.small_tables import Properties
from lamina.storage.sqlite import SqliteDatabase, tenant_file
from lamina.workspace.files import explained
from lamina.workspace.layout import CONFIG_FILE, DATABASE, PROFILE, README, SESSION, STATE_DIR, is_workspace

FORMAT, VERSION = "lamina-backup", 1
_MANIFEST, _STORE, _FILES, _KEY = "backup.json", "memory.db", "files/", "audit.key"
_OWN_FILES = (PROFILE, SESSION, README, CONFIG_FILE, "POLICY.md", "MEMORY.md")
_LEFT_OUT = (".db", ".db-wal", ".db-shm", ".lock")  #: what is in the backup in another form, or is nobody's
#: What an export tells of a memory, which of it are times, and the steps after which it is in no answer.
_TOLD = [one.name for one in fields(Memory) if one.name != "decay_score"]
_DATED = {name for name in _TOLD if name.endswith(("_at", "_from", "_until"))} | {"at"}
_ENDING = (HistoryOp.DELETE, HistoryOp.TTL)
_USUAL = 3  #: the importance of what nobody weighed
Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """How far the tables of a store are."""

    store: str
    version: int  #: the newest step that it has
    wanted: int  #: the newest that this version of Lamina has
    missing: tuple[str, ...]  #: by number and name, in the order in which they are made
    statements: tuple[str, ...]  #: what each of them does


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedStore:
    """A store that is in another database now, too."""

    store: str
    rows: int
    tables: Mapping[str, Sum]
    intact: bool  #: what the audit says of it there


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was made and read back."""

    file: str
    bytes: int
    rows: int
    files: int
    audit_key: str  #: the fingerprint of the key that seals it
    with_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """A memory that was put back."""

    workspace: str | None
    store: str
    rows: int
    files: int
    intact: bool
    made_at: str  #: when it was backed up; what came later is not in it, no no either


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """What could be read of a store that nothing else can open."""

    folder: str
    memories: int
    steps: int  #: of their histories
    mended: int  #: memories with bytes that are shown as they are, because they are no text
    left_out: int
    people: Mapping[str, str]  #: the folder of each person, which `lamina import` brings into a new memory


def move(workspace: Path | None, settings: Settings, url: str, tell: Tell) -> MovedStore:
    """Copy a memory's store into another database, with history, tokens and audit; the old one stays."""
    where = locate(workspace, settings, os.environ)
    if "://" not in url:
        raise InvalidInput(
            f"{url!r:.100} is not a store.",
            code="store_invalid",
            hint="Use sqlite:///file.db or postgresql://…",
        )
    with open_memory(workspace, create=False, **settings) as engine:
        engine.sync()
        with closing(open_database(url, where.loaded.config)) as target:
            sums = copy_store(engine.database, target, tell)
    with open_memory(workspace, create=False, **{**settings, "store": url}) as moved:
        intact = moved.verify_audit().intact
    return MovedStore(store=url, rows=_rows(sums), tables=sums, intact=intact)


def schema_of(workspace: Path | None, settings: Settings) -> Schema:
    """How far the schema of a store is, without opening or changing it."""
    store = locate(workspace, settings, os.environ).store
    found = _driver().missing_steps(store) if _on_server(store) else []
    steps = load_migrations("postgres" if _on_server(store) else "sqlite")
    return Schema(
        store=store,
        version=max((one.version for one in steps if one not in found), default=0),
        wanted=steps[-1].version,
        missing=tuple(f"{one.version:04} {one.name}" for one in found),
        statements=tuple(re.sub(r"\n\s*\n+", "\n", one.sql).strip() for one in found),
    )


def bring_up_to_date(workspace: Path | None, settings: Settings, told: Callable[[str], None]) -> Schema:
    """Make the steps that a store lacks, one after the other; a file does that when it is opened."""
    store = locate(workspace, settings, os.environ).store
    if _on_server(store):
        _driver().apply_steps(store, told)
    else:
        open_memory(workspace, create=False, **settings).close()
    return schema_of(workspace, settings)


def _on_server(store: str) -> bool:
    return store.startswith(("postgresql://", "postgres://"))


def _driver() -> Any:
    return load_part("lamina.storage.postgres")


def back_up(workspace: Path | None, settings: Settings, out: Path, *, with_key: bool, tell: Tell) -> BackedUp:
    """Write a memory into one file, the store and the files people edit, and read it back.

    The audit key is in it only where it is asked for: whoever has both can forge what it seals. Raises
    Conflict where the file is there already.
    """
    if out.exists():
        raise Conflict(
            f"{out} is there already.", code="file_exists", hint="Name another file, or remove that one."
        )
    where = locate(workspace, settings, os.environ)
    key_file = audit_key_file(where.loaded.config, home_folder(os.environ))
    parent = out.absolute().parent
    with _told(out):
        make_folder(parent)
    with (
        _told(out),
        open_memory(workspace, create=False, **settings) as engine,
        _scratch(".lamina-backup-", parent) as folder,
    ):
        engine.sync()
        copy, draft = folder / _STORE, folder / out.name
        with closing(SqliteDatabase(copy, engine.database.tenant)) as target:
            sums = copy_store(engine.database, target, tell)
            target.scour()
        files = _files_of(engine)
        key_id = engine.ruleset.sealer.key_id
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "made_at": iso(SystemClock().now()),
            "tenant": engine.database.tenant,
            "audit_key": key_id,
            "tables": plain(sums),
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        }
        _pack(draft, manifest, copy, files, key_file.read_bytes() if with_key else None)
        _checked_backup(draft)
        draft.rename(out)
        settle_folder(parent)
    return BackedUp(
        file=str(out),
        bytes=out.stat().st_size,
        rows=_rows(sums),
        files=len(files),
        audit_key=key_id,
        with_key=with_key,
    )


def put_back(backup: Path, workspace: Path | None, settings: Settings, tell: Tell) -> PutBack:
    """Make a memory of a backup: in a folder that is no workspace yet, or in a store without files.

    It is a store of its own from then on: its audit notes that it begins behind what the backup holds. Raises
    Damaged where the file is not what was backed up, Conflict where there is a memory already.
    """
    manifest = _checked_backup(backup)
    if workspace is not None and is_workspace(workspace):
        raise Conflict(
            f"{workspace} is a workspace already.",
            code="workspace_there",
            hint="Name a new folder; what is there stays as it is.",
        )
    settings = {**settings, "tenant": settings.get("tenant") or manifest["tenant"]}
    with _told(workspace or backup), _scratch("lamina-restore-") as scratch:
        copy = scratch / _STORE
        with tarfile.open(backup) as tar, copy.open("wb") as file:
            _poured(tar, _STORE, file)
            if _KEY in tar.getnames():
                _install_key(_read(tar, _KEY), workspace, settings)
            if workspace is not None:
                for name in manifest["files"]:
                    _place(workspace / name, _read(tar, _FILES + name))
                make_folder(workspace / STATE_DIR)
        where = locate(workspace, settings, os.environ)
        with (
            closing(SqliteDatabase(copy, manifest["tenant"])) as source,
            closing(_target(where)) as target,
        ):
            sums = copy_store(source, target, tell)
            target.write(lambda tx: Properties(tx).set("store_id", random_token(12)))
    with open_memory(workspace, create=False, **settings) as engine:
        intact = engine.verify_audit().intact
    return PutBack(
        workspace=None if workspace is None else str(workspace),
        store=where.store,
        rows=_rows(sums),
        files=len(manifest["files"]) if workspace is not None else 0,
        intact=intact,
        made_at=manifest["made_at"],
    )


def rescue(workspace: Path | None, settings: Settings, out: Path) -> Rescued:
    """Save every memory that can be read out of a store's file, which stays as it is, however broken."""
    try:
        where = locate(workspace, settings, os.environ)
    except ConfigError:  # settings that cannot be read keep nobody from what was said
        if workspace is None or not (workspace / DATABASE).is_file():
            raise
        where = locate(f"sqlite:///{workspace / DATABASE}", settings, os.environ)
    if not where.store.startswith("sqlite:///"):
        raise InvalidInput(
            "Only a store in a file can be rescued here.",
            code="rescue_unsupported",
            hint="PostgreSQL has tools of its own: pg_dump, and its backups. See the guide `operate`.",
        )
    file = tenant_file(where.store, where.loaded.config.tenant)
    if not file.is_file():
        raise NotFound(f"There is no store at {file}.", hint="Name it with --store sqlite:///FILE.")
    if out.exists():
        raise Conflict(f"{out} is there already.", code="file_exists", hint="Name a new folder.")
    with _told(out):
        found = salvaged(file)
        make_folder(out.absolute())
        _write_lines(out / "memories.jsonl", found.memories)
        _write_lines(out / "left-out.jsonl", found.left_out)
        put_file(out / "memories.md", "\n".join(_page(found)).encode())
        people = {owner: _as_export(out, owner, mine) for owner, mine in _by_person(found)}
    return Rescued(
        folder=str(out),
        memories=len(found.memories),
        steps=sum(len(memory["history"]) for memory in found.memories),
        mended=found.mended,
        left_out=len(found.left_out),
        people=people,
    )


def _by_person(found: Salvage) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each person's own memories, with those of their sessions, in the order of an export."""
    people: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in sorted(found.memories, key=lambda memory: str(memory["id"])):
        space, owner = one.get("space"), str(one.get("owner")).partition(",")[0]
        if space in (Space.USER, Space.SESSION) and re.fullmatch(r"[\w.@~-]+", owner, re.ASCII):
            people[owner].append(one)
    return sorted(people.items())


def _as_export(out: Path, owner: str, memories: list[dict[str, Any]]) -> str:
    """One person's memories in the form of their export, so that a new memory takes them in; its folder."""
    folder, user = out / owner, unquoted(owner)
    make_folder(folder.absolute())
    steps = [_dated(step) for memory in memories for step in memory["history"]]
    _write_lines(folder / MEMORIES, [_as_told(memory) for memory in memories])
    _write_lines(folder / HISTORY, steps)
    files = {
        name: {"sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}
        for name in (MEMORIES, HISTORY)
    }
    told = {"format": EXPORT, "version": EXPORT_VERSION, "user": user, "files": files}
    put_file(folder / MANIFEST, json.dumps(told).encode())
    return str(folder)


def _as_told(memory: Mapping[str, Any]) -> dict[str, Any]:
    """A memory as an export has it; what cannot be read of its row its steps say, or nobody."""
    row = _dated({name: memory.get(name) for name in _TOLD if name in memory})
    steps = memory["history"]
    if not isinstance(row.get("provenance"), dict):
        spoke = steps and steps[0]["actor"] == f"user:{row['owner'].partition(',')[0]}"
        row["provenance"] = {"role": Role.USER if spoke else Role.AGENT}
    if row["state"] == "unknown":
        guessed = State.PENDING if ":pending:" in row["id"] else State.ACTIVE
        row |= {"importance": _USUAL, "state": State.ARCHIVED if steps[-1]["op"] in _ENDING else guessed}
    meta = row.get("meta") if isinstance(row.get("meta"), dict) else {}
    return {**row, "meta": meta, "pinned": bool(row.get("pinned")), "place": memory.get("identity", "")}


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its times in words."""
    return row | {name: _moment(row[name]) for name in _DATED & row.keys()}


def _moment(micros: Any) -> str | None:
    at = from_micros(micros) if isinstance(micros, int) else None
    return None if at is None else iso(at)


def _rows(sums: Mapping[str, Sum]) -> int:
    return sum(one.rows for one in sums.values())


def _target(where: Where) -> Database:
    return open_database(where.store, where.loaded.config)


def _files_of(engine: Engine) -> dict[str, bytes]:
    """What people and jobs keep in files, by name below the workspace."""
    root = engine.root
    if root is None:
        return {}
    documents = engine.database.read(lambda tx: Documents(tx).known())
    own = [path for path in (root / STATE_DIR).rglob("*") if path.is_file()]
    paths = {root / name for name in (*_OWN_FILES, *documents)} | set(own)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(paths)
        if path.is_file() and path.is_relative_to(root) and not path.name.endswith(_LEFT_OUT)
    }


def _pack(
    draft: Path, manifest: Mapping[str, Any], copy: Path, files: Mapping[str, bytes], key: bytes | None
) -> None:
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            _add(tar, _MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())
            tar.add(copy, _STORE)
            for name, data in files.items():
                _add(tar, _FILES + name, data)
            if key is not None:
                _add(tar, _KEY, key)
        out.flush()
        settle(out.fileno())


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o600
    with tempfile.SpooledTemporaryFile(1 << 22) as file:
        file.write(data)
        file.seek(0)
        tar.addfile(entry, file)


def _checked_backup(path: Path) -> dict[str, Any]:
    """What a backup says of itself, once everything in it is as it says."""
    with _explained(path), gzip.open(path) as whole, tarfile.open(path) as tar:
        while whole.read(1 << 20):  # its checksum stands at the end
            pass
        manifest: dict[str, Any] = json.loads(_read(tar, _MANIFEST))
        if manifest["format"] != FORMAT or manifest["version"] != VERSION:
            raise InvalidInput(
                f"{path.name} is a backup of another form.",
                code="backup_unknown",
                hint="Use the version of Lamina that made it, or a later one.",
            )
        for name, digest in manifest["files"].items():
            if hashlib.sha256(_read(tar, _FILES + name)).hexdigest() != digest:
                raise ValueError(name)
        with _scratch("lamina-check-") as scratch:
            copy = scratch / _STORE
            with copy.open("wb") as file:
                _poured(tar, _STORE, file)
            with closing(SqliteDatabase(copy, manifest["tenant"])) as store:
                if plain(store.read(sums_of)) != manifest["tables"]:
                    raise ValueError(_STORE)
    return manifest


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """What the system refuses, in our words."""
    try:
        yield
    except OSError as error:
        raise explained(str(place), error) from error


@contextmanager
def _scratch(prefix: str, folder: Path | None = None) -> Iterator[Path]:
    """A folder for as long as it is needed; a failing disk may keep it, and fails no work that is done."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True) as made:
        yield Path(made)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.", hint="Check the path.") from error
    except (tarfile.TarError, zlib.error, EOFError, OSError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise explained(path.name, error) from error
        raise Damaged(
            f"{path.name} is not a backup of Lamina, or it is damaged.",
            code="backup_damaged",
            hint="Use another copy of it; nothing was changed.",
        ) from error


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file.read()


def _poured(tar: tarfile.TarFile, name: str, out: IO[bytes]) -> None:
    file = tar.extractfile(name)
    if file is None:
        raise KeyError(name)
    while chunk := file.read(1 << 20):
        out.write(chunk)


def _place(path: Path, data: bytes) -> None:
    make_folder(path.parent)
    put_file(path, data, replace=False)


def _install_key(key: bytes, workspace: Path | None, settings: Settings) -> None:
    """The key of a backup, where there is none here; one that is there stays, and opening looks at it."""
    config = locate(workspace, settings, os.environ).loaded.config
    path = audit_key_file(config, home_folder(os.environ))
    make_folder(path.parent)
    put_file(path, key, replace=False)


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    put_file(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())


def _page(found: Salvage) -> Iterator[str]:
    """What was saved, for a person to read."""
    yield "# Rescued memories"
    shelf = ""
    for memory in found.memories:
        named = f"{memory.get('space')}:{memory.get('owner')}"
        if named != shelf:
            shelf = named
            yield f"\n## {shelf}\n"
        text = str(memory.get("text", "")).replace("\n", " ")
        yield f"- {text.replace('<', '&lt;')} ({memory.get('state')}, `{memory.get('id')}`)"
    yield ""
