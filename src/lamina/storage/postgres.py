"""PostgreSQL through psycopg: row-level security under every query, one writer per tenant at a time."""

from __future__ import annotations

import logging
import re
import selectors
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from importlib import resources
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from lamina.errors import Damaged, LaminaError, Unavailable
from lamina.storage.damage import Damage, DamagedRow, Making, numbered_twice, row_damaged, text_explained
from lamina.storage.database import GroupCommit, Row, Transaction, job_running, load_queries
from lamina.storage.ledger import Ledger, Sealing
from lamina.storage.makers import judged
from lamina.storage.migrate import Migration, load_migrations, migrate

T = TypeVar("T")

# A server that is away is told to whoever asks, in our words, not in the driver's with its address.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

MIGRATION_LOCK = 0x1A3171A
_SOON_S, _BUSY_S = 0.5, 30  #: for a connection: until the server is asked whether it is there, and after that
OLDEST = 140000  #: of the server; below 14 nothing was ever tried
_SET_OPTION = 160000  #: from here on a member of a role may be one that cannot become it

_SCHEMA = """CREATE SCHEMA IF NOT EXISTS lamina;
CREATE TABLE IF NOT EXISTS lamina.schema_migration (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""

# The role owns nothing and the tenant is forgotten at the end of the transaction, so a pooled
# connection cannot carry one tenant's rights into the next request.
# The names of tables are set for the transaction, too: a pooler between us and the server refuses settings of
# a connection, and gives the next transaction another one.
_ENTER = (
    "SELECT set_config('role', 'lamina_app', true), set_config('lamina.tenant', %(tenant)s, true),"
    " set_config('search_path', 'lamina, public', true)"
)
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_JOB_LOCK = (
    "SELECT pg_try_advisory_xact_lock(hashtextextended(%(lock)s, 0)),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
_ENTER_ALONE = f"{_ENTER}, pg_advisory_xact_lock(hashtextextended('lamina:' || %(tenant)s, 0))"


def _translated(sql: str) -> str:
    return re.sub(r"(?<![:\w]):([a-z_]+)", r"%(\1)s", sql.replace("%", "%%"))


class PostgresTransaction(Making):
    """Named queries on one connection."""

    def __init__(self, connection: psycopg.Connection[Row], database: PostgresDatabase) -> None:
        self.tenant = database.tenant
        self.reach = self.project_reach = ""
        self.once: dict[Any, Any] | None = None
        self.settled = True
        self.kept = database.kept
        self.damage = database.damage
        self._connection = connection
        self._queries = database.queries
        self.ledger = Ledger(self, database.queries, database.sealing)

    def all(self, name: str, /, **values: Any) -> list[Row]:
        return self._execute(name, values).fetchall()

    def one(self, name: str, /, **values: Any) -> Row | None:
        return self._execute(name, values).fetchone()

    def run(self, name: str, /, **values: Any) -> None:
        self._execute(name, values)

    def many(self, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                (self._queries[name]), [{**self._own(), **row} for row in rows], returning=False
            )

    def every(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        bound = {"tenant": self.tenant, **values}
        return self._connection.execute(_translated(sql).encode(), bound, binary=True).fetchall()

    def put(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql).encode(), rows, returning=False)

    def narrowed(self, reach: str, project_reach: str) -> Transaction:
        view = copy(self)
        view.reach, view.project_reach = reach, project_reach
        return view

    def _own(self) -> dict[str, Any]:
        return {"tenant": self.tenant, "reach": self.reach, "project_reach": self.project_reach}

    def _execute(self, name: str, values: Mapping[str, Any]) -> psycopg.Cursor[Row]:
        # Binary: bytes travel as they are, not as twice as many hexadecimal digits.
        return self._connection.execute(self._queries[name], {**self._own(), **values}, binary=True)


class _PostgresBatch:
    def __init__(self, transaction: PostgresTransaction, connection: psycopg.Connection[Row]) -> None:
        self.whole: Transaction = transaction
        self._connection = connection

    @contextmanager
    def part(self) -> Iterator[Transaction]:
        with self._connection.transaction():
            yield self.whole


class PostgresDatabase:
    """One tenant's share of a database."""

    def __init__(self, url: str, tenant: str = "default", connections: int = 8) -> None:
        self.url = url
        self.tenant = tenant
        self.kept: dict[str, Any] = {}
        self.damage = Damage()
        self.sealing: Sealing | None = None
        self.queries = {name: _translated(sql) for name, sql in load_queries("postgres").items()}
        with _explained():
            self._prepare(url)
            self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
                url,
                min_size=1,
                max_size=connections,
                open=True,
                check=_check_alive,
                reconnect_timeout=_SOON_S,  # then the next who asks tries again, at once
                kwargs={"application_name": "lamina", "prepare_threshold": None},
            )
        self._commits = GroupCommit(self._batch)

    def read(self, work: Callable[[Transaction], T], *, brief: bool = False) -> T:  # noqa: ARG002 no matter here
        with _explained(), self._turn(_SNAPSHOT, _ENTER) as connection:
            transaction = PostgresTransaction(connection, self)
            transaction.once = {}
            return work(transaction)

    def write(self, work: Callable[[Transaction], T]) -> T:
        with _explained():
            return self._commits.run(work)

    def size_bytes(self) -> int:
        with _explained(), self._lent() as connection:
            row = connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'lamina' AND c.relkind = 'r'"
            ).fetchone()
        return int(row[0]) if row else 0

    def check(self) -> list[str]:
        with _explained(), self._lent() as connection:
            rows = connection.execute(
                "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'lamina' AND NOT (i.indisvalid AND i.indisready) ORDER BY 1"
            ).fetchall()
        return [f"the index {name} is not valid" for (name,) in rows]

    def damaged(self) -> list[DamagedRow]:
        with _explained(), self._lent() as connection:
            connection.execute(_SNAPSHOT)
            connection.execute(_ENTER, {"tenant": self.tenant})
            return sorted(self._damaged_on(connection))

    def _damaged_on(self, connection: psycopg.Connection[Row]) -> Iterator[DamagedRow]:
        tables = connection.execute(
            "SELECT c.table_name::text, array_agg(c.column_name::text ORDER BY c.ordinal_position)"
            " FROM information_schema.columns c"
            " WHERE c.table_schema = 'lamina' AND c.data_type <> 'bytea' GROUP BY 1 ORDER BY 1"
        ).fetchall()
        for table, columns in tables:
            with connection.cursor(name="lamina_rows") as cursor:  # the server keeps them; a page is here
                everything = f"SELECT {', '.join(columns)} FROM lamina.{table}"  # noqa: S608 names of our tables
                for row in cursor.execute(everything.encode()):
                    yield from judged(self.queries, table, dict(zip(columns, row, strict=True)))

    def scour(self, words: Sequence[str] = ()) -> int | None:  # noqa: ARG002 its files are the server's
        """Let the server give up the rows that nobody can see any more; its log and backups are its own."""
        with _explained(), psycopg.connect(self.url, autocommit=True, application_name="lamina-scour") as own:
            rows = own.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'lamina'").fetchall()
            own.execute(f"VACUUM {', '.join(f'lamina.{name}' for (name,) in rows)}".encode())
        return None

    @contextmanager
    def alone(self, name: str) -> Iterator[Callable[[], bool]]:
        # The lock of a transaction that stays open, on a connection of its own: the server frees it when its
        # holder dies, a pooler lets nobody else into it, and without a snapshot it is in no vacuum's way.
        with _explained(), psycopg.connect(self.url, application_name="lamina-job") as held:
            lock = f"lamina-job:{len(self.tenant)}:{self.tenant}:{name}"
            row = held.execute(_JOB_LOCK, {"lock": lock}).fetchone()
            if row is None or not row[0]:
                raise job_running(name)
            try:
                yield lambda: _answers(held)
            finally:  # the end of a connection is noticed later, and the next run would find it busy
                with suppress(psycopg.OperationalError):
                    held.rollback()

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _batch(self) -> Iterator[_PostgresBatch]:
        with self._turn(_ENTER_ALONE) as connection:
            transaction = PostgresTransaction(connection, self)
            yield _PostgresBatch(transaction, connection)

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection of the pool; who waits for one learns soon whether the server is there at all."""
        try:
            lent = self._pool.getconn(timeout=_SOON_S)
        except PoolTimeout:
            psycopg.connect(self.url, connect_timeout=1, application_name="lamina-probe").close()
            lent = self._pool.getconn(timeout=_BUSY_S)
        try:
            with lent:
                yield lent
        finally:
            self._pool.putconn(lent)

    @contextmanager
    def _turn(self, *opening: str) -> Iterator[psycopg.Connection[Row]]:
        """A transaction in a pipeline: statements whose rows nobody waits for travel together."""
        with self._lent() as connection, connection.pipeline():
            for statement in opening:
                connection.execute(statement, {"tenant": self.tenant})
            yield connection
            connection.execute("COMMIT")

    def _prepare(self, url: str) -> None:
        with psycopg.connect(url) as connection:
            version = connection.info.server_version
            check_version(version)
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            steps = load_migrations("postgres")
            if _migrations_of(connection) == {step.version: step.hash for step in steps}:
                return
            connection.execute(_SCHEMA)
            connection.execute("SET LOCAL search_path = lamina, public")
            migrate(_migrations_of(connection), steps, lambda step: _apply(connection, step))
            connection.execute(protection(version))


def check_version(version: int) -> None:
    """Raise Damaged for a server that is too old; `version` is a number such as 150018 for 15.18."""
    if version < OLDEST:
        raise Damaged(
            f"This PostgreSQL is version {version // 10000}, and Lamina needs {OLDEST // 10000} or newer.",
            code="postgres_too_old",
            hint="Use a newer server; nothing was changed on this one.",
        )


def protection(version: int) -> bytes:
    """What protects the tables, as a server of this version spells it."""
    text = (resources.files("lamina.storage") / "sql" / "postgres_protect.sql").read_text("utf-8")
    return text.replace("{{may_become}}", "SET" if version >= _SET_OPTION else "MEMBER").encode()


def _answers(connection: psycopg.Connection[Row]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _check_alive(connection: psycopg.Connection[Row]) -> None:
    """A server that went away has said so on the socket; only then is the round trip of asking worth it."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        if selector.select(0):
            ConnectionPool.check_connection(connection)


def _migrations_of(connection: psycopg.Connection[Row]) -> dict[int, str]:
    row = connection.execute("SELECT to_regclass('lamina.schema_migration') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return {}
    return dict(connection.execute("SELECT version, hash FROM lamina.schema_migration").fetchall())


def _apply(connection: psycopg.Connection[Row], step: Migration) -> None:
    connection.execute(step.sql)
    connection.execute(
        "INSERT INTO lamina.schema_migration (version, name, hash) VALUES (%s, %s, %s)",
        (step.version, step.name, step.hash),
    )


@contextmanager
def _explained() -> Iterator[None]:
    """The driver's errors in our words, without its details: those may hold values or a password."""
    try:
        with text_explained():
            yield
    except LaminaError:
        raise
    except psycopg.errors.InvalidTextRepresentation as error:
        raise row_damaged(DamagedRow("row", "")) from error
    except psycopg.errors.UniqueViolation as error:
        raise numbered_twice() from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise Unavailable(
            "PostgreSQL cannot be reached or went away; whether the last write was stored is not known.",
            code="store_unreachable",
            hint="Check the server and the URL, then ask again; a repeated request is recognised.",
            retryable=True,
        ) from error
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSchemaName) as error:
        raise Damaged(
            "PostgreSQL refused: this user may not set up or use the schema `lamina`.",
            code="store_unwritable",
            hint="Let an administrator open the store once, and grant the role lamina_app to this user.",
        ) from error
    except psycopg.errors.ProgramLimitExceeded as error:
        raise Damaged("A value is too large for PostgreSQL.", code="value_too_large") from error
