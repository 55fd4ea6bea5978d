"""PostgreSQL through psycopg: row-level security under every query, one writer per chain at a time."""

from __future__ import annotations

import logging
import re
import selectors
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from lamina.errors import Damaged, LaminaError, Unavailable
from lamina.late import files
from lamina.storage.database import (
    GroupCommit,
    Row,
    Transaction,
    job_running,
    kind_of,
    load_queries,
    place_of,
    put_rows,
)
from lamina.storage.habits import Foresight, Habits, asked_for, only_reads, tables_of
from lamina.storage.ledger import CHAINS, LaneOrder, Ledger, OtherLane, Sealing
from lamina.storage.makers import judged
from lamina.storage.migrate import Migration, load_migrations, missing, pending
from lamina.storage.rows import (
    Damage,
    DamagedRow,
    Making,
    incomplete,
    missing_parts,
    numbered_twice,
    row_damaged,
    text_explained,
)

T = TypeVar("T")
_Pool = ConnectionPool[psycopg.Connection[Row]]

# A server that is away is told to whoever asks, in our words, not in the driver's with its address.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

MIGRATION_LOCK = 0x1A3171A
_SOON_S, _BUSY_S = 0.5, 30  #: for a connection: until the server is asked whether it is there, and after that
#: Not the default one: that asks the kernel for a descriptor of its own, each time.
_Selector = getattr(selectors, "PollSelector", selectors.DefaultSelector)
_AT_ONCE = 100  #: rows that one statement puts
_WORTH_JOINING = 8
#: What one statement inserts, in the middle; of these the rows of a batch never meet, so it may update, too.
_VALUES, _ONE_TUPLE = re.compile(r"(?<=VALUES )(\((?:%\(\w+\)s|[^()])*\))"), 3
_DISTINCT = {"add_posting"}
_NAMED = re.compile(r"%\((\w+)\)s")
OLDEST = 140000  #: of the server; below 14 nothing was ever tried
_SET_OPTION = 160000  #: from here on a member of a role may be one that cannot become it

#: Whose rows say which tenants there are: nobody can be called so. Row security holds for them as for all.
_REGISTER = "* tenants"
_BEYOND = chr(0x10FFFF)

_SCHEMA = """CREATE SCHEMA IF NOT EXISTS lamina;
CREATE TABLE IF NOT EXISTS lamina.schema_migration (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""

# The role owns nothing and the tenant is forgotten at the end of the transaction, so a pooled
# connection cannot carry one tenant's rights into the next request.
# The names of tables are set for the transaction, too: a pooler between us and the server refuses settings of
# a connection, and gives the next transaction another one.
_WHO = "SELECT set_config('role', 'lamina_app', true), set_config('lamina.tenant', %(tenant)s, true)"
_ENTER = f"{_WHO}, set_config('search_path', 'lamina, public', true)"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_INDEX = re.compile(r"^CREATE (UNIQUE )?INDEX (\w+) (ON .*?);$", flags=re.M | re.S)
_UNREADABLE = (
    psycopg.DataError,
    psycopg.errors.InFailedSqlTransaction,
    psycopg.errors.PipelineAborted,
)
#: A server that follows nobody has everything.
_HAS = "SELECT coalesce(pg_last_wal_replay_lsn(), 'FFFFFFFF/FFFFFFFF')::text"
_JOB_LOCK = (
    "SELECT pg_try_advisory_xact_lock(hashtextextended(%(lock)s, 0)),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
# Who is alone on the whole store waits for everybody; the others wait for those on the same chain.
_ENTER_ALONE = f"{_ENTER}, pg_advisory_xact_lock(hashtextextended('lamina:' || %(tenant)s, 0))"
_AMONG = ", pg_advisory_xact_lock_shared(hashtextextended('lamina:' || %(tenant)s, 0))"
_ENTER_AMONG = f"{_ENTER}{_AMONG}"
_CHAIN = ", pg_advisory_xact_lock(hashtextextended('lamina:' || %(tenant)s || ':{}', 0))"


@lru_cache(maxsize=256)
def _joined(before: str, row: str, after: str, common: frozenset[str], count: int) -> tuple[str, list[str]]:
    """A statement that inserts so many rows, out of one that inserts one, and its values by name in order.

    As the server reads it: the driver takes a long one with names apart each time, 8 ms for a hundred rows.
    """
    rows = [_NAMED.sub(partial(_numbered, common, at), row) for at in range(count)]
    whole = f"{before}{', '.join(rows)}{after}"
    names = {name: f"${at}" for at, name in enumerate(dict.fromkeys(_NAMED.findall(whole)), 1)}
    return _NAMED.sub(lambda one: names[one[1]], whole).replace("%%", "%"), list(names)


@lru_cache(maxsize=256)  # by which rows there are; a program has few such forms
def _calls(queries: tuple[str, ...], common: frozenset[str]) -> str:
    """One statement that enters a transaction of its own and calls all functions that the queries call."""
    parts = [
        _NAMED.sub(partial(_numbered, common, at), query.removeprefix("SELECT "))
        for at, query in enumerate(queries)
    ]
    return ", ".join([f"{_WHO}{_AMONG}", *parts])  # functions name their tables in full


def _numbered(common: frozenset[str], at: int, value: re.Match[str]) -> str:
    return value[0] if value[1] in common else f"%({value[1]}_{at})s"


def _translated(sql: str) -> str:
    return re.sub(r"(?<![:\w]):([a-z_]+)", r"%(\1)s", sql.replace("%", "%%"))


class PostgresTransaction(Making):
    """Named queries on one connection."""

    def __init__(
        self,
        connection: psycopg.Connection[Row],
        database: PostgresDatabase,
        held: frozenset[int] | None = None,
    ) -> None:
        self.tenant = database.tenant
        self.reach = self.project_reach = ""
        self.once: dict[Any, Any] | None = None
        self.settled = True
        self.kept = database.kept
        self.noted: dict[Any, Any] = {}
        self.damage = database.damage
        self.foresight: Foresight | None = None
        self._only_reads = database.only_reads
        self._tables = database.tables
        self._connection = connection
        self._database, self._held = database, held
        self._queries = database.queries

    @cached_property
    def ledger(self) -> Ledger:
        """What keeps the seal in step; who only reads needs none."""
        database = self._database
        return Ledger(self, database.queries, database.sealing, LaneOrder(database.chains, self._held))

    def all(self, name: str, /, **values: Any) -> list[Row]:
        return self._rows(name, values)

    def one(self, name: str, /, **values: Any) -> Row | None:
        return next(iter(self._rows(name, values)), None)

    def _rows(self, name: str, values: dict[str, Any]) -> list[Row]:
        """The answer to a query; it may be there already, or bring others along."""
        bound = {**self._own(), **values}
        seen = self._foresight_of(name)
        if seen is None:
            return self._send(name, bound).fetchall()
        asked = asked_for(name, bound)
        if asked not in seen.answers:
            seen.answers[asked] = self._send(name, bound)
            for other, given in seen.wait_for(asked):
                if (early := asked_for(other, given)) not in seen.answers:
                    seen.answers[early] = self._send(other, given)
        seen.ask(asked, bound, self._tables[name])
        if isinstance(answer := seen.answers[asked], psycopg.Cursor):
            answer = seen.answers[asked] = answer.fetchall()
        return list(answer)

    def _foresight_of(self, name: str) -> Foresight | None:
        """Where an answer to a query may have come early: it changes nothing."""
        return self.foresight if name in self._only_reads else None

    def told(self, **values: Any) -> None:
        if self.foresight is not None:
            self.foresight.told |= values

    def ahead(self, name: str, /, **values: Any) -> None:
        seen = self._foresight_of(name)
        bound = {**self._own(), **values}
        if seen is not None and seen.waits and (asked := asked_for(name, bound)) not in seen.answers:
            seen.answers[asked] = self._send(name, bound)

    @contextmanager
    def part(self) -> Iterator[None]:
        # Not the driver's own: in a pipeline that one may see no transaction, and end ours with its part.
        self._connection.execute("SAVEPOINT part")
        try:
            yield
        except psycopg.Error:  # the server does nothing more in this transaction
            raise
        except BaseException:
            self._connection.execute("ROLLBACK TO part")
            if self.foresight is not None:
                self.foresight.answers.clear()  # what it changed and then read is so no longer
            raise
        self._connection.execute("RELEASE part")

    def run(self, name: str, /, **values: Any) -> None:
        self._send(name, {**self._own(), **values})

    def later(self, name: str, /, **values: Any) -> Callable[[], list[Row]]:
        return self._send(name, {**self._own(), **values}).fetchall

    def many(self, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None:
        self._change(name)
        query, own = self._queries[name], self._own()
        parts = _VALUES.split(query) if "DO UPDATE" not in query or name in _DISTINCT else ()
        if len(rows) < _WORTH_JOINING or len(parts) != _ONE_TUPLE:
            with self._connection.cursor() as cursor:
                cursor.executemany(query, [{**own, **row} for row in rows], returning=False)
            return
        with psycopg.RawCursor(self._connection) as cursor:
            for start in range(0, len(rows), _AT_ONCE):  # the server plans a statement, not each row
                some = rows[start : start + _AT_ONCE]
                values = {f"{one}_{at}": value for at, row in enumerate(some) for one, value in row.items()}
                values |= own
                sql, names = _joined(*parts, frozenset(own), len(some))
                cursor.execute(sql, [values[name] for name in names])

    def every(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        bound = {"tenant": self.tenant, **values}
        return self._connection.execute(_translated(sql).encode(), bound, binary=True).fetchall()

    def put(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if self.foresight is not None:
            self.foresight.change(frozenset().union(*self._tables.values()), self._tables)
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql).encode(), rows, returning=False)

    def narrowed(self, reach: str, project_reach: str) -> Transaction:
        view = copy(self)
        view.reach, view.project_reach = reach, project_reach
        return view

    def _own(self) -> dict[str, Any]:
        return {"tenant": self.tenant, "reach": self.reach, "project_reach": self.project_reach}

    def _send(self, name: str, bound: Mapping[str, Any]) -> psycopg.Cursor[Row]:
        self._change(name)
        # Binary: bytes travel as they are, not as twice as many hexadecimal digits.
        return self._connection.execute(self._queries[name], bound, binary=True)

    def _change(self, name: str) -> None:
        if self.foresight is not None and name not in self._only_reads:
            self.foresight.change(self._tables[name], self._tables)


class PostgresDatabase:
    """One tenant's share of a database."""

    may_be_away = True
    most_chains = CHAINS

    def __init__(
        self,
        url: str,
        tenant: str = "default",
        connections: int = 8,
        *,
        replica: str = "",
        manual: bool = False,
    ) -> None:
        """`replica` names a server that follows this one and may be read from; with `manual` a schema that
        is behind is refused, and not brought up to date."""
        self.url = url
        self.read_only = False
        self.queries = {name: _translated(sql) for name, sql in load_queries("postgres").items()}
        self.only_reads = frozenset(name for name, sql in self.queries.items() if only_reads(sql))
        self.tables = {name: tables_of(sql) for name, sql in self.queries.items()}
        with _explained():
            self._prepare(url, manual=manual)
            self._pool = _pool(url, connections)
        self._replica = _pool(replica, connections) if replica else None
        self._lent_out = False
        self._become(tenant)

    def _become(self, tenant: str) -> None:
        """Begin with what is one tenant's own."""
        self.tenant = tenant
        self.kept: dict[str, Any] = {}
        self.damage = Damage()
        self.sealing: Sealing | None = None
        self.chains = 0
        self._habits = Habits()
        self.revision = ""
        self._replica_has = -1  #: how far it was when last looked at
        self._commits = GroupCommit(partial(self._batch, None))
        self._among: dict[frozenset[int], GroupCommit] = {}

    def of(self, tenant: str) -> PostgresDatabase:
        """Another tenant's share of this database over the same connections, which it does not close."""
        other = copy(self)
        other._become(tenant)
        other._lent_out = True
        return other

    def enrol(self) -> None:
        """Let those who serve every tenant know that this one is here."""
        known = self.of(_REGISTER)
        if not self.read_only and not known.ask("read_property", name=self.tenant):
            known.write(lambda tx: tx.run("write_property", name=self.tenant, value=""), lanes=())

    def tenants(self) -> list[str]:
        """Every tenant that was enrolled here, in the order of names."""
        rows = self.of(_REGISTER).ask("properties_below", prefix="", beyond=_BEYOND)
        return [name for name, _ in rows]

    def read(
        self,
        work: Callable[[Transaction], T],
        *,
        brief: bool = False,  # noqa: ARG002 no matter here
        elsewhere: str | None = None,
    ) -> T:
        followed = elsewhere is not None and self._followed(elsewhere)
        pool = self._replica if followed and self._replica is not None else self._pool
        seen = Foresight(self._habits)
        with _explained():
            try:
                return self._read_on(pool, work, seen)
            except _UNREADABLE:
                if not seen.give_up():
                    raise
                return self._read_on(pool, work, None)

    def _read_on(self, pool: _Pool, work: Callable[[Transaction], T], seen: Foresight | None) -> T:
        with self._turn(_SNAPSHOT, _ENTER, pool=pool) as connection:
            transaction = PostgresTransaction(connection, self)
            transaction.once, transaction.foresight = {}, seen
            transaction.told(about=kind_of(work))
            result = work(transaction)
            if seen is not None:
                seen.end()
            return result

    def ask(self, name: str, /, **values: Any) -> list[Row]:
        bound = {"tenant": self.tenant, "reach": "", "project_reach": "", **values}
        with _explained():
            with self._lent() as connection, connection.pipeline():  # which is a transaction
                connection.execute(_ENTER, bound)
                cursor = connection.execute(self.queries[name], bound, binary=True)
            return cursor.fetchall()  # it came with the end of the pipeline

    def _followed(self, since: str) -> bool:
        """Whether the replica answers and has everything that this process wrote, and another up to then."""
        if self._replica is None:
            return False
        needed = max(place_of(self.revision), place_of(since))
        if needed > self._replica_has:
            try:
                with self._lent(self._replica) as connection:
                    row = connection.execute(_HAS).fetchone()
            except (psycopg.OperationalError, PoolTimeout):
                return False  # the server that is written to knows it all
            self._replica_has = place_of(row[0] if row else "")
        return needed <= self._replica_has

    def write(self, work: Callable[[Transaction], T], *, lanes: Sequence[str] | None = None) -> T:
        self._check_writable()
        with _explained():
            if lanes is not None and (self.chains or not lanes):
                held = frozenset(map(LaneOrder(self.chains).chain, lanes))
                with suppress(
                    OtherLane, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation, *_UNREADABLE
                ):
                    return self._waiting_on(held).run(work)
            return self._commits.run(work)

    def put(self, common: Mapping[str, Any], rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self._check_writable()
        if len(rows) > _AT_ONCE:
            self.write(lambda tx: put_rows(tx, common, rows), lanes=())
            return
        values = {f"{name}_{at}": value for at, (_, row) in enumerate(rows) for name, value in row.items()}
        own = {"tenant": self.tenant, **common}
        sql = _calls(tuple(self.queries[name] for name, _ in rows), frozenset(own))
        with _explained():
            try:
                with self._lent() as connection:
                    connection.execute(sql, {**own, **values})
            except (psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation):
                self._commits.run(lambda tx: put_rows(tx, common, rows))

    def _check_writable(self) -> None:
        if self.read_only:
            raise Unavailable(
                "This store follows another server: it can be read and not changed.",
                code="store_read_only",
                hint="Name the server that is written to as the store, and this one as `replica_url`.",
            )

    def _waiting_on(self, held: frozenset[int]) -> GroupCommit:
        """Those who wait for the same chains share a transaction; who waits for none has one of their own."""
        if not held:
            return GroupCommit(partial(self._batch, held))
        if (known := self._among.get(held)) is None:
            known = self._among.setdefault(held, GroupCommit(partial(self._batch, held)))
        return known

    def size_bytes(self) -> int:
        if self._lent_out:  # the tables are everybody's, and how large they are says something of others
            return 0
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
            tables = connection.execute(
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'lamina'"
                " UNION ALL SELECT t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'lamina' AND NOT t.tgisinternal"
            ).fetchall()
        return [*missing_parts(tables), *(f"the index {name} is not valid" for (name,) in rows)]

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
        if self._lent_out:
            return
        self._pool.close()
        if self._replica is not None:
            self._replica.close()

    @contextmanager
    def _batch(self, held: frozenset[int] | None) -> Iterator[Transaction]:
        enter = _ENTER_ALONE if held is None else _ENTER_AMONG + "".join(map(_CHAIN.format, sorted(held)))
        with self._turn("BEGIN", enter) as connection:
            transaction = PostgresTransaction(connection, self, held)
            if held:
                transaction.foresight = Foresight(self._habits)
            try:
                yield transaction
            except _UNREADABLE:
                if transaction.foresight is not None:
                    transaction.foresight.give_up()
                raise
            if transaction.foresight is not None:
                transaction.foresight.end()
            if self._replica is not None:
                connection.execute("COMMIT")
                row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
                self.revision = str(row[0]) if row else self.revision

    @contextmanager
    def _lent(self, pool: _Pool | None = None) -> Iterator[psycopg.Connection[Row]]:
        """A connection of the pool; who waits for one learns soon whether the server is there at all."""
        pool = pool or self._pool
        try:
            lent = pool.getconn(timeout=_SOON_S)
        except PoolTimeout:
            psycopg.connect(str(pool.conninfo), connect_timeout=1, application_name="lamina-probe").close()
            lent = pool.getconn(timeout=_BUSY_S)
        try:
            with lent:
                yield lent
        finally:
            pool.putconn(lent)

    @contextmanager
    def _turn(self, *opening: str, pool: _Pool | None = None) -> Iterator[psycopg.Connection[Row]]:
        """A transaction in a pipeline: statements whose rows nobody waits for travel together."""
        with self._lent(pool) as connection, connection.pipeline():
            for statement in opening:
                connection.execute(statement, {"tenant": self.tenant})
            yield connection
            connection.execute("COMMIT")

    def _prepare(self, url: str, *, manual: bool) -> None:
        with psycopg.connect(url) as connection:
            version = connection.info.server_version
            check_version(version)
            row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
            self.read_only = bool(row and row[0])
            if not self.read_only:  # whoever migrates is let finish
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            steps = load_migrations("postgres")
            if not (found := missing(_migrations_of(connection), steps)):
                return
            if self.read_only or (manual and len(found) < len(steps)):
                raise pending(found)
            connection.execute(_SCHEMA)
            connection.execute("SET LOCAL search_path = lamina, public")
            for step in found:
                _apply(connection, step)
            connection.execute(protection(version))


def missing_steps(url: str) -> list[Migration]:
    """The steps that a store lacks; all of them for a database without our tables. Nothing is changed."""
    with _explained(), psycopg.connect(url) as connection:
        return missing(_migrations_of(connection), load_migrations("postgres"))


def apply_steps(url: str, told: Callable[[str], None]) -> None:
    """Make the steps that a store lacks, each in a transaction of its own, while servers go on if they can.

    Indexes that a step wants are made before it without a lock that writers wait for, where that is possible.
    Killed at any point, it goes on where it was; one process does it at a time.
    """
    with _explained(), psycopg.connect(url, autocommit=True) as connection:
        check_version(connection.info.server_version)
        connection.execute("SELECT pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        connection.execute("SET search_path = lamina, public")
        connection.execute(_SCHEMA)
        for step in missing(_migrations_of(connection), load_migrations("postgres")):
            _index_ahead(connection, step)
            with connection.transaction():
                _apply(connection, step)
                connection.execute(protection(connection.info.server_version))
            told(f"{step.version:04} {step.name}")


def _index_ahead(connection: psycopg.Connection[Row], step: Migration) -> None:
    """Make the indexes of a step while others write; those on what the step itself makes wait for it."""
    for unique, name, rest in _INDEX.findall(step.sql):
        half = connection.execute(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", (name,)
        ).fetchone()
        if half:  # of one that was killed
            connection.execute(f"DROP INDEX {name}".encode())
        with suppress(psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedTable):
            connection.execute(f"CREATE {unique}INDEX CONCURRENTLY IF NOT EXISTS {name} {rest}".encode())


def _pool(url: str, connections: int) -> _Pool:
    return ConnectionPool(
        url,
        min_size=1,
        max_size=connections,
        open=True,
        check=_check_alive,
        reconnect_timeout=_SOON_S,  # then the next who asks tries again, at once
        # A transaction is begun by us: the driver would wait for the answer to that alone.
        kwargs={"application_name": "lamina", "prepare_threshold": None, "autocommit": True},
    )


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
    text = (files("lamina.storage") / "sql" / "postgres_protect.sql").read_text("utf-8")
    return text.replace("{{may_become}}", "SET" if version >= _SET_OPTION else "MEMBER").encode()


def _answers(connection: psycopg.Connection[Row]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _check_alive(connection: psycopg.Connection[Row]) -> None:
    """A server that went away has said so on the socket; only then is the round trip of asking worth it."""
    with _Selector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        if selector.select(0):
            ConnectionPool.check_connection(connection)


def _migrations_of(connection: psycopg.Connection[Row]) -> dict[int, str]:
    row = connection.execute("SELECT to_regclass('lamina.schema_migration') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return {}
    return dict(connection.execute("SELECT version, hash FROM lamina.schema_migration").fetchall())


def _apply(connection: psycopg.Connection[Row], step: Migration) -> None:
    # An index may be there already: `apply_steps` makes it ahead.
    connection.execute(_INDEX.sub(r"CREATE \1INDEX IF NOT EXISTS \2 \3;", step.sql).encode())
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
    except (
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.DuplicateTable,
    ) as error:
        raise incomplete(str(error)) from error
    except psycopg.errors.DiskFull as error:
        raise Unavailable(
            "The disk of the PostgreSQL server is full; nothing of this was stored.",
            code="disk_failure",
            hint="Make room on the server; what was stored before is there, and can be read.",
            retryable=True,
        ) from error
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
