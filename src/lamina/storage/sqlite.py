"""SQLite through apsw: one file per tenant, one writer at a time, readers that never wait."""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import apsw

from lamina.durable import lock, make_folder, settle_folder, unlock
from lamina.errors import ConfigError, Damaged, LaminaError, Unavailable
from lamina.model import quoted
from lamina.storage.database import GroupCommit, Row, Transaction, job_running, load_queries, put_rows
from lamina.storage.ledger import LaneOrder, Ledger, Sealing
from lamina.storage.makers import judged
from lamina.storage.migrate import Migration, load_migrations, migrate
from lamina.storage.rows import (
    COUNTED,
    INDIVISIBLE,
    NAMELESS,
    UNREADABLE,
    Damage,
    DamagedRow,
    Making,
    damaged_row,
    incomplete,
    key_of,
    legible,
    missing_parts,
    numbered_twice,
    row_damaged,
    text_explained,
    unsound,
)

T = TypeVar("T")

BUSY_TIMEOUT_MS = 60_000
LONG_LOG = 4000  #: pages after which the log is folded in: a page that many writes touch is copied once
LONGEST_LOG = 4 * LONG_LOG  #: here a writer does it, so that the log does not outgrow the disk
OLDEST_SAFE = 3051003  # earlier versions can corrupt a WAL that several connections share

_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # an acknowledged write survives a power cut
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",  # what is forgotten does not stay in free pages
    "PRAGMA trusted_schema=OFF",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",
    "PRAGMA temp_store=MEMORY",
)

_listed = json.JSONEncoder(ensure_ascii=False).encode

_SCHEMA_TABLE = """CREATE TABLE IF NOT EXISTS schema_migration (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""


class SqliteTransaction(Making):
    """Named queries on one connection."""

    def __init__(self, connection: apsw.Connection, database: SqliteDatabase) -> None:
        self.tenant = database.tenant
        self.reach = self.project_reach = ""
        self.once: dict[Any, Any] | None = None
        self.settled = True
        self.kept = database.kept
        self.noted: dict[Any, Any] = {}
        self.damage = database.damage
        self._connection = connection
        self._database = database
        self._queries = database.queries

    @cached_property
    def ledger(self) -> Ledger:
        """What keeps the seal in step; who only reads needs none."""
        database = self._database
        return Ledger(self, database.queries, database.sealing, LaneOrder(database.chains))

    def all(self, name: str, /, **values: Any) -> list[Row]:
        rows, bad, _ = self._fetched(name, self._bound(values))
        if bad and name in INDIVISIBLE:
            raise row_damaged(bad[0])
        self.damage.note(bad)
        return rows

    def one(self, name: str, /, **values: Any) -> Row | None:
        # Fetching everything lets the statement finish: an unfinished INSERT … RETURNING blocks the commit.
        rows, bad, first = self._fetched(name, self._bound(values))
        if first:
            raise row_damaged(bad[0])
        return rows[0] if rows else None

    def _fetched(self, name: str, bound: dict[str, Any]) -> tuple[list[Row], list[DamagedRow], bool]:
        """The rows that can be read, the others by name, and whether the first is one of these."""
        cursor = self._connection.execute(self._queries[name], bound)
        rows: list[Row] = []
        columns: list[tuple[str, str | None]] = []  #: name, and the table it comes out of
        first = False
        while True:
            try:
                rows.extend(cursor)  # keeps what it got before one that is no UTF-8
                break
            except UnicodeDecodeError:
                first = first or not rows
                columns = [(name, table) for name, _, _, table, _ in cursor.description_full]
        return rows, self._unreadable(name, bound, columns) if columns else [], first

    def _unreadable(
        self, name: str, bound: dict[str, Any], columns: list[tuple[str, str | None]]
    ) -> list[DamagedRow]:
        """The rows of a query that are no UTF-8, by their keys; what changes rows is not run once more."""
        sql = self._queries[name]
        if not sql.startswith(("SELECT", "WITH")):
            return [damaged_row(sql, bound)]
        numbered = [f"c{number}" for number in range(len(columns))]
        raw = ", ".join(map(_raw, numbered))
        again = f"WITH q({', '.join(numbered)}) AS ({sql}) SELECT {raw} FROM q"  # noqa: S608 of our own queries
        names, tables = [one for one, _ in columns], dict(columns)
        rows = (dict(zip(names, row, strict=True)) for row in self._connection.execute(again, bound))
        return [
            damaged_row(f"FROM {tables[column] or ''} {sql}", bound, row, column)
            for row in rows
            if (column := unsound("", row)) is not None
        ]

    def run(self, name: str, /, **values: Any) -> None:
        self._connection.execute(self._queries[name], self._bound(values))

    def later(self, name: str, /, **values: Any) -> Callable[[], list[Row]]:
        rows = self.all(name, **values)
        return lambda: rows

    def many(self, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None:
        own = {"tenant": self.tenant, "reach": self.reach, "project_reach": self.project_reach}
        self._connection.executemany(self._queries[name], ({**own, **row} for row in rows))

    def every(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        return self._connection.execute(sql, {"tenant": self.tenant, **values}).fetchall()

    def put(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._connection.executemany(sql, rows)

    @contextmanager
    def part(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:  # an interrupt takes its part back too
            if not self._connection.getautocommit():
                self._connection.execute("ROLLBACK TO part; RELEASE part")
            raise
        self._connection.execute("RELEASE part")

    def narrowed(self, reach: str, project_reach: str) -> Transaction:
        view = copy(self)
        view.reach, view.project_reach = reach, project_reach
        return view

    def _bound(self, values: dict[str, Any]) -> dict[str, Any]:
        for name, value in values.items():
            if type(value) is list:
                values[name] = _listed(value) if value else "[]"
        values["tenant"] = self.tenant
        values["reach"] = self.reach
        values["project_reach"] = self.project_reach
        return values


class SqliteDatabase:
    """One tenant's file."""

    may_be_away = False
    most_chains = 0
    read_only = False
    revision = ""

    def __init__(self, path: Path, tenant: str = "default") -> None:
        if apsw.SQLITE_VERSION_NUMBER < OLDEST_SAFE:
            raise Damaged(
                f"SQLite {apsw.sqlite_lib_version()} is too old to be shared by processes.",
                code="sqlite_too_old",
                hint="Install apsw 3.51.3 or later.",
            )
        self.url = f"sqlite:///{path}"
        self.tenant = tenant
        self._path = path
        self.kept: dict[str, Any] = {}
        self.damage = Damage()
        self.sealing: Sealing | None = None
        self.chains = 0
        self.queries = dict(load_queries("sqlite"))
        self._idle: list[apsw.Connection] = []
        self._mutex = threading.Lock()
        self._closed = False
        with _explained(path):
            _create_private(path)
            self._writer = self._connect()
            try:
                self._prepare()
            except BaseException:  # an interrupt must not leave the store open
                _let_go(self._writer)
                raise
        self._folding: threading.Thread | None = None
        self._fold_at = LONG_LOG
        self._writer.set_wal_hook(self._log_grew)
        self._commits = GroupCommit(self._batch)

    def read(
        self,
        work: Callable[[Transaction], T],
        *,
        brief: bool = False,
        elsewhere: str | None = None,  # noqa: ARG002 a file is nowhere else
    ) -> T:
        with self._told():
            if brief:
                with self._commits.standstill() as free:
                    if (
                        free
                    ):  # the writer has in its cache what was just written; a reader would fetch it anew
                        return self._read_on(self._writer, work)
            connection = self._borrow()
            try:
                return self._read_on(connection, work)
            finally:
                self._give_back(connection)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Where a value is not what its column holds, whatever that led to: the row by its name."""
        try:
            yield
        except (Damaged, AttributeError, IndexError, struct.error, *UNREADABLE) as error:
            nameless = not isinstance(error, Damaged) or NAMELESS in error.message
            if not nameless or not (rows := self.damaged()):
                raise
            raise row_damaged(rows[0]) from error

    def _read_on(self, connection: apsw.Connection, work: Callable[[Transaction], T]) -> T:
        with _explained(self._path):
            connection.execute("BEGIN")
            try:
                transaction = SqliteTransaction(connection, self)
                transaction.once = {}
                return work(transaction)
            finally:
                connection.execute("ROLLBACK")

    def ask(self, name: str, /, **values: Any) -> list[Row]:
        return self.read(lambda tx: tx.all(name, **values), brief=True)

    def write(self, work: Callable[[Transaction], T], *, lanes: Sequence[str] | None = None) -> T:  # noqa: ARG002 a file has one writer
        with self._told(), _explained(self._path):
            return self._commits.run(work)

    def put(self, common: Mapping[str, Any], rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self.write(lambda tx: put_rows(tx, common, rows))

    def size_bytes(self) -> int:
        files = (self._path, Path(f"{self._path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def check(self) -> list[str]:
        connection = self._borrow()
        try:
            with _explained(self._path):
                rows = connection.execute("PRAGMA quick_check").fetchall()
                parts = connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'trigger')"
                ).fetchall()
        finally:
            self._give_back(connection)
        return [*missing_parts(parts, _TRIGGERS), *(str(row[0]) for row in rows if row[0] != "ok")]

    def damaged(self) -> list[DamagedRow]:
        connection = self._borrow()
        try:
            return self._read_on(connection, lambda _: sorted(self._damaged_on(connection)))
        finally:
            self._give_back(connection)

    def _damaged_on(self, connection: apsw.Connection) -> Iterator[DamagedRow]:
        tables = connection.execute(
            "SELECT t.name, json_group_object(c.name, c.type ORDER BY c.cid) FROM sqlite_schema t"
            " JOIN pragma_table_info(t.name) c WHERE t.type = 'table' GROUP BY t.name"
        ).fetchall()
        for table, listed in tables:
            held: dict[str, str] = json.loads(str(listed))
            columns = [name for name, kind in held.items() if kind != "BLOB"]
            wrong = " ".join(f"WHEN {_strange(name, kind)} THEN '{name}'" for name, kind in held.items())
            found = f"SELECT CASE {wrong} END, {', '.join(map(_raw, columns))} FROM {table}"  # noqa: S608 names of our tables
            for strange, *row in connection.execute(found):
                values = dict(zip(columns, row, strict=True))
                if strange is None:
                    yield from judged(self.queries, str(table), values)
                else:
                    yield DamagedRow(str(table), key_of(str(table), values), str(strange))

    def scour(self, words: Sequence[str] = ()) -> int | None:
        """Fold the log in. Deleted bytes are overwritten by then, but for what a split page may have kept."""
        with _explained(self._path):
            connection = self._connect()
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                if left := self._holding(words):
                    connection.execute("VACUUM")
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    left = self._holding(words)
            finally:
                _let_go(connection)
        return left

    def _holding(self, words: Sequence[str]) -> int:
        """How many of the words the files of the store hold."""
        sought, found = {word.encode() for word in words}, set[bytes]()
        longest = max(map(len, sought), default=0)
        for path in (self._path, Path(f"{self._path}-wal")):
            with suppress(FileNotFoundError), path.open("rb") as file:
                end = b""
                while sought and (chunk := file.read(1 << 22)):
                    found |= {word for word in sought if word in end + chunk}
                    end = (end + chunk)[-longest:]
        return len(found)

    @contextmanager
    def alone(self, name: str) -> Iterator[Callable[[], bool]]:
        with _explained(self._path):
            try:
                held = lock(self._path.with_name(f"{self._path.name}-{quoted(name)}.lock"), 0.0)
            except TimeoutError:
                raise job_running(name) from None
        try:
            yield lambda: True  # the kernel keeps it as long as this process lives
        finally:
            unlock(held)

    def close(self) -> None:
        if self._folding is not None:
            self._folding.join()
        with self._mutex:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in (*idle, self._writer):
            _let_go(connection)

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            # A plan does not depend on the values bound to it; otherwise a range is planned anew at each use.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        except BaseException:  # an interrupt must not leave the file open
            _let_go(connection)
            raise
        return connection

    def _prepare(self) -> None:
        _switch_to_wal(self._writer)
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            self._writer.execute(_SCHEMA_TABLE)
            rows: list[Row] = self._writer.execute(
                "SELECT version, CAST(hash AS BLOB) FROM schema_migration"
            ).fetchall()
            if strange := [version for version, _ in rows if not isinstance(version, int)]:
                raise row_damaged(DamagedRow("schema_migration", str(strange[0]), "version"))
            applied = {version: str(legible(digest)) for version, digest in rows}
            migrate(applied, load_migrations("sqlite"), self._apply)
        except BaseException:  # an interrupt must not leave half a migration
            self._writer.execute("ROLLBACK")
            raise
        self._writer.execute("COMMIT")

    def _apply(self, step: Migration) -> None:
        self._writer.execute(step.sql)
        self._writer.execute(
            "INSERT INTO schema_migration (version, name, hash) VALUES (?, ?, ?)",
            (step.version, step.name, step.hash),
        )

    @contextmanager
    def _batch(self) -> Iterator[Transaction]:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield SqliteTransaction(self._writer, self)
            self._writer.execute("COMMIT")
        except BaseException:  # an interrupt must not leave the writer in a transaction
            if not self._writer.getautocommit():
                self._writer.execute("ROLLBACK")
            raise

    def _log_grew(self, writer: apsw.Connection, _: str, pages: int) -> int:
        """Fold the log into the file beside the writers; they wait for it only where it outgrows that.

        It begins anew with a write that finds all of it folded. Who writes all the time leaves no such
        moment, so the next thread waits until the log has grown by as much again.
        """
        if pages < LONG_LOG:
            self._fold_at = LONG_LOG
        elif pages >= LONGEST_LOG:
            if self._folding is not None:
                self._folding.join()
            with suppress(apsw.BusyError):  # another process folds it; what was committed stays committed
                writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        elif pages >= self._fold_at and (self._folding is None or not self._folding.is_alive()):
            self._fold_at = pages + LONG_LOG
            self._folding = threading.Thread(target=self._fold, name="lamina-fold", daemon=True)
            self._folding.start()
        return apsw.SQLITE_OK

    def _fold(self) -> None:
        # Whatever stops it here, a later commit or the next opening does it.
        with suppress(apsw.Error, LaminaError):
            connection = self._borrow()
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            finally:
                self._give_back(connection)

    def _borrow(self) -> apsw.Connection:
        with self._mutex:
            if self._closed:
                raise Unavailable("This store is closed.", code="closed", hint="Open it again.")
            if self._idle:
                return self._idle.pop()
        with _explained(self._path):
            return self._connect()

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._mutex:
            if not self._closed and len(self._idle) < 16:
                self._idle.append(connection)
                return
        _let_go(connection)


def _let_go(connection: apsw.Connection) -> None:
    """Close it; where the disk fails then, all that was acknowledged is in the log, and stays there."""
    with suppress(apsw.Error):
        connection.close()


def tenant_file(url: str, tenant: str) -> Path:
    """The file of a tenant behind a store URL; each but the default one has a file beside it."""
    if not url.startswith("sqlite:///") or url == "sqlite:///":
        raise ConfigError(
            "This is not a store URL.",
            hint="Use sqlite:///path/to/file.db or postgresql://user@host/database.",
        )
    path = Path(url.removeprefix("sqlite:///"))  # sqlite:///a.db is relative, sqlite:////a.db absolute
    if tenant != "default":
        path = path.parent / "tenants" / f"{quoted(tenant)}.db"
    return path.absolute()


def _raw(column: str) -> str:
    """A column whose text comes as bytes, whatever they are, and whose bytes do not come."""
    as_bytes = f"WHEN 'text' THEN CAST({column} AS BLOB) WHEN 'blob' THEN NULL"
    return f"CASE typeof({column}) {as_bytes} ELSE {column} END"


#: The first and the last microsecond that can be a moment, and more than anything is counted to.
_FIRST, _LAST, _MOST = -62_135_596_800_000_000, 253_402_300_799_999_999, 2**62
_TRIGGERS = (
    "audit_never_changes",
    "audit_never_shrinks",
    "memory_recounted",
    "memory_uncounted",
    "operational_uncounted",
)
_HELD = {"TEXT": "'text'", "BLOB": "'blob'", "DOUBLE PRECISION": "'real', 'integer'"}


def _strange(column: str, kind: str) -> str:
    """Whether a column holds what it never does: another sort of value, or one out of all bounds."""
    if kind == "BIGINT":
        first, last = (_FIRST, _LAST) if column.endswith(("at", "_from", "_until")) else (-_MOST, _MOST)
        within = f"AND {column} BETWEEN {0 if column in COUNTED else first} AND {last}"
        return f"NOT (typeof({column}) = 'integer' {within} OR {column} IS NULL)"
    # A table that is none of ours may say anything of its columns.
    return f"typeof({column}) NOT IN ({_HELD[kind]}, 'null')" if kind in _HELD else "0"


def _create_private(path: Path) -> None:
    """A new store is readable by its owner only."""
    make_folder(path.parent)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    settle_folder(path.parent)


def _switch_to_wal(connection: apsw.Connection) -> None:
    """Several processes may open a new store at once, and this change does not honour the busy timeout."""
    pause = threading.Event()
    for attempt in range(200):
        try:
            # To its end: what fails there would be swallowed with the cursor, and the store not in that mode.
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except apsw.BusyError:
            pause.wait(0.005 * min(attempt + 1, 20))
    raise Unavailable("The store is busy.", code="store_busy", retryable=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """SQLite's own errors in our words; ours pass through."""
    try:
        with text_explained():
            yield
    except LaminaError:
        raise
    except apsw.ConnectionClosedError as error:
        raise Unavailable("This store is closed.", code="closed", hint="Open it again.") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable(
            "The store is busy with other writers.",
            code="store_busy",
            hint="Try again; nothing was written.",
            retryable=True,
        ) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        pages = isinstance(error, apsw.CorruptError)
        raise Damaged(
            f"Pages of {path.name} are damaged." if pages else f"{path.name} is not a readable Lamina store.",
            code="store_damaged",
            hint=f"{'What stands on others may still answer. ' if pages else ''}Use `lamina restore-backup`,"
            " or save what is left: `lamina rescue`. Nothing was changed.",
        ) from error
    except apsw.SQLError as error:
        if any(sign in str(error) for sign in ("malformed JSON", "integer overflow")):
            raise row_damaged(DamagedRow("row", "")) from error
        raise incomplete(str(error)) from error
    except apsw.ConstraintError as error:
        raise numbered_twice() from error
    except (apsw.FullError, apsw.IOError) as error:
        raise Unavailable(
            "The disk is full or failing; nothing was written.",
            code="disk_failure",
            hint="Free some space and try again.",
            retryable=True,
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, PermissionError, OSError) as error:
        raise Damaged(
            f"{path.name} cannot be opened for writing.",
            code="store_unwritable",
            hint=f"Check that the folder, it and `{path.name}-wal` beside it are there, belong to you and are"
            " not read-only. `lamina rescue` saves what can be read.",
        ) from error
