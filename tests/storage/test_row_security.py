"""Under the engine's own filter lies a second net: the database itself keeps tenants apart."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from psycopg import sql

import lamina
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.testing import ManualClock

TENANTS = ("acme", "globex")


def live_a_little(engine: Engine) -> None:
    """A row in every table there is a way to fill."""
    mind = engine.scope()
    one = mind.remember(f"canary {engine.config.tenant}", idempotency_key="r1").ids[0]
    mind.remember("friendly", key="tone")
    mind.revise(one, f"canary {engine.config.tenant} again")
    mind.forget(one)
    create_token(engine, "laptop")


@pytest.fixture
def store(postgres_store: str) -> str:
    """A database with two tenants, each with something in it."""
    for tenant in TENANTS:
        with lamina.open(postgres_store, tenant=tenant, clock=ManualClock()) as engine:
            live_a_little(engine)
    return postgres_store


@contextmanager
def application(url: str, tenant: str | None) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the engine has it, with its queries' own filter out of the way."""
    with psycopg.connect(url, options="-c search_path=lamina,public") as connection:
        connection.execute("SELECT set_config('role', 'lamina_app', true)")
        if tenant is not None:
            connection.execute("SELECT set_config('lamina.tenant', %s, true)", (tenant,))
        yield connection
        connection.rollback()


def tables(url: str) -> list[str]:
    """Every table with a tenant."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'lamina' AND column_name = 'tenant' ORDER BY 1"
        ).fetchall()
    return [name for (name,) in rows]


def every_row(connection: psycopg.Connection[Any], table: str) -> list[Any]:
    select = sql.SQL("SELECT tenant FROM lamina.{}")
    return connection.execute(select.format(sql.Identifier(table))).fetchall()


def test_without_the_engines_filter_no_row_of_another_tenant_is_visible(store: str) -> None:
    names, filled = tables(store), set()
    assert len(names) >= 13
    for tenant in TENANTS:
        with application(store, tenant) as connection:
            for table in names:
                rows = every_row(connection, table)
                assert {row[0] for row in rows} <= {tenant}, table
                filled |= {table} if rows else set()

    # A net over an empty table proves nothing.
    assert filled >= {"memory", "history", "audit", "event", "token", "idempotency", "fresh", "shelf"}


def test_without_a_tenant_there_are_no_rows(store: str) -> None:
    for tenant in (None, "", "*", "%", "acme' OR 'a'='a", "ACME", " acme"):
        with application(store, tenant) as connection:
            assert {table: len(every_row(connection, table)) for table in tables(store)} == dict.fromkeys(
                tables(store), 0
            )


#: The columns of a table that somebody gives a value, and not the database.
GIVEN = (
    "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'lamina'"
    " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position"
)


def test_no_row_can_be_put_into_another_tenants_share(store: str) -> None:
    with psycopg.connect(store) as owner:
        filled = [name for name in tables(store) if every_row(owner, name)]
    assert len(filled) >= 10
    for table in filled:
        with application(store, "acme") as connection:
            name = sql.Identifier(table)
            given = connection.execute(GIVEN, (table,)).fetchall()
            columns = sql.SQL(", ").join(sql.Identifier(column) for (column,) in given)
            copy = sql.SQL("CREATE TEMP TABLE one AS SELECT {} FROM {} LIMIT 1").format(columns, name)
            connection.execute("RESET ROLE")
            connection.execute(copy)
            connection.execute("UPDATE one SET tenant = 'globex'")
            connection.execute("GRANT SELECT ON one TO lamina_app")
            connection.execute("SELECT set_config('role', 'lamina_app', true)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                connection.execute(sql.SQL("INSERT INTO {} ({}) SELECT * FROM one").format(name, columns))


def test_no_row_can_be_changed_or_taken_across_tenants(store: str) -> None:
    with psycopg.connect(store) as owner:
        filled = [name for name in tables(store) if name != "audit" and every_row(owner, name)]
    for table in filled:
        name = sql.Identifier(table)
        with application(store, "acme") as connection:
            gone = connection.execute(sql.SQL("DELETE FROM {} WHERE tenant = 'globex'").format(name))
            assert gone.rowcount == 0, table
        with application(store, "acme") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(sql.SQL("UPDATE {} SET tenant = 'globex'").format(name))


def test_row_security_is_forced_on_every_table_with_a_tenant(store: str) -> None:
    with psycopg.connect(store) as connection:
        rows = connection.execute(
            "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,"
            " (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'lamina' AND c.relkind IN ('r', 'p')"
        ).fetchall()
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname = 'lamina_app'"
        ).fetchone()
        views = connection.execute("SELECT count(*) FROM pg_views WHERE schemaname = 'lamina'").fetchone()
    state = {name: (enabled, forced, policies) for name, enabled, forced, policies in rows}

    assert {state[name] for name in tables(store)} == {(True, True, 1)}
    assert set(state) - set(tables(store)) == {"schema_migration"}
    assert role == (False, False, False)
    assert views == (0,)


def test_the_application_cannot_change_or_shorten_the_audit(store: str) -> None:
    for statement in (
        "UPDATE audit SET reason = 'x'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "DROP TABLE audit",
        "ALTER TABLE audit DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE audit NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own_tenant ON audit",
        "CREATE TABLE lamina.mine (x int)",
        "UPDATE schema_migration SET hash = 'x'",
        "DELETE FROM schema_migration",
    ):
        with application(store, "acme") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_the_engine_works_inside_the_application_role(store: str) -> None:
    with lamina.open(store, tenant="acme", clock=ManualClock()) as engine:
        for look in (engine.database.read, engine.database.write):
            seen = look(lambda tx: tx._connection.execute("SELECT current_user").fetchone())
            assert seen == ("lamina_app",)


def test_a_pooled_connection_carries_no_tenant_into_its_next_use(store: str) -> None:
    with lamina.open(store, tenant="acme", clock=ManualClock(), postgres_connections=2) as engine:
        for outcome in ("done", "undone"):
            if outcome == "done":
                engine.scope().remember("one more")
                engine.scope().recall("canary")
            else:
                for attempt in (engine.database.write, engine.database.read):
                    with pytest.raises(KeyError):
                        attempt(lambda tx: tx.run("no such query"))
            for _ in range(4):
                with engine.database._pool.connection() as connection:
                    row = connection.execute(
                        "SELECT current_setting('lamina.tenant', true), current_user = session_user"
                    ).fetchone()
                    assert row in ((None, True), ("", True))


def test_two_tenants_in_one_process_at_once_never_meet(store: str) -> None:
    engines = {tenant: lamina.open(store, tenant=tenant, clock=ManualClock()) for tenant in TENANTS}
    seen: dict[str, set[str]] = {tenant: set() for tenant in TENANTS}

    def busy(tenant: str, number: int) -> None:
        mind = engines[tenant].scope()
        for turn in range(10):
            mind.remember(f"canary {tenant} {number} {turn}")
            seen[tenant] |= {
                hit.text.split()[1] for hit in mind.recall("canary", k=100) if "lexical" in hit.scores
            }

    threads = [threading.Thread(target=busy, args=(t, n)) for t in TENANTS for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for engine in engines.values():
        engine.close()

    assert seen == {tenant: {tenant} for tenant in TENANTS}


def test_on_sqlite_each_tenant_has_a_file_of_its_own(tmp_path: Path) -> None:
    tenants = ("default", *TENANTS, "../escape", "A/B")
    for tenant in tenants:
        with lamina.open(f"sqlite:///{tmp_path}/m.db", tenant=tenant, clock=ManualClock()) as engine:
            live_a_little(engine)

    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.db"))

    assert files == ["m.db", *sorted(f"tenants/{n}.db" for n in ("..~2Fescape", "A~2FB", "acme", "globex"))]
    found = []
    for file in files:
        connection = apsw.Connection(str(tmp_path / file))
        names = connection.execute(
            "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
            " WHERE m.type = 'table' AND c.name = 'tenant'"
        ).fetchall()
        assert len(names) >= 13
        own = {row[0] for (name,) in names for row in connection.execute(f'SELECT tenant FROM "{name}"')}
        connection.close()
        assert len(own) == 1, file
        found += own
    assert sorted(found) == sorted(tenants)
