"""What a distributed PostgreSQL such as Citus asks of tables and queries, held over all of ours.

Nothing here has run on a Citus cluster. Tables are distributed by `tenant`, so everything of one tenant is in
one place: a statement may use whatever SQL it likes, as long as each table in it is of that tenant. Within a
tenant, keys go on with whose row it is, so that the rows of one person lie together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

from lamina.storage.database import load_queries
from lamina.storage.migrate import load_migrations

#: Small, and the same for everybody: a copy on every node ("reference table").
REFERENCE = {"schema_migration"}
#: What follows the tenant in a key, where it says whose the row is.
WHOSE = {
    "shelf",
    "memory_id",
    "id",
    "from_id",
    "owner",
    "user_name",
    "user_id",
    "thread",
    "caller",
    "file",
    "path",
    "name",
}
#: Keys that go on with something else, and why.
OTHER_KEYS = {
    "audit": "numbered by chain: the number begins with the chain, and a chain is some people's",
    "event": "the same",
    "job_mark": "what a job has done, and then whose it was",
    "job_run": "a job of the whole tenant",
    "operational": "numbered by the store; counts of what was done are read by hour",
    "shelf": "numbered by the store; its name, which says whose it is, is a key of its own",
}
#: Queries that are about no tenant's rows.
NO_ROWS = {"next_shared", "raise_shared", "tables_of_tenants"}
#: What does not hold, and what that means on Citus.
KNOWN = {
    "row security": "policies read `lamina.tenant`, which is set for the transaction on the coordinator;"
    " workers see it only where the cluster passes on what is set locally, so there `tenant = …` in every"
    " query is the only net",
    "triggers": "memory and operational are counted by triggers, which Citus runs only where it is told to",
}
OURS = {name for one in load_migrations("postgres") for name in re.findall(r"CREATE TABLE (\w+)", one.sql)}
#: What functions of ours do, by name; the first value that one is given is the tenant.
BODIES = {
    name: body
    for one in load_migrations("postgres")
    for name, body in re.findall(r"FUNCTION (\w+)\(text.*?BEGIN\n(.*?);\nEND", one.sql, re.S)
}
_TABLE = r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?(?:lamina\.)?([a-z_]+)\b"
_OF_TENANT = r"\btenant\s*=\s*(?::tenant|\w+\.tenant)"


@pytest.fixture
def server(postgres_store: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_store) as connection:
        yield connection


def tables(server: psycopg.Connection) -> set[str]:
    rows = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'lamina'").fetchall()
    return {name for (name,) in rows} - REFERENCE


def test_every_key_begins_with_the_tenant_and_then_says_whose_it_is(server: psycopg.Connection) -> None:
    keys = server.execute(
        """SELECT c.relname, array(SELECT a.attname FROM unnest(i.indkey) WITH ORDINALITY k(n, at)
                    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.n ORDER BY k.at),
                  i.indisprimary
             FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
             JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'lamina' AND i.indisunique"""
    ).fetchall()
    keys = [(table, columns, primary) for table, columns, primary in keys if table not in REFERENCE]

    assert {table for table, _, primary in keys if primary} == tables(server)  # each has one
    assert [(table, columns) for table, columns, _ in keys if columns[0] != "tenant"] == []
    heads = {table for table, columns, primary in keys if primary and columns[1] not in WHOSE}
    assert heads == set(OTHER_KEYS)


def test_no_table_refers_to_another_by_a_foreign_key(server: psycopg.Connection) -> None:
    """Within one tenant it would be allowed; there is none, so nothing has to be looked at."""
    found = server.execute(
        "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
    ).fetchall()

    assert found == []


def test_row_security_and_triggers_are_as_the_exceptions_say(server: psycopg.Connection) -> None:
    policies = server.execute("SELECT DISTINCT qual FROM pg_policies WHERE schemaname = 'lamina'").fetchall()
    counted = server.execute(
        """SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
             JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'lamina' AND NOT t.tgisinternal"""
    ).fetchall()

    assert all("lamina.tenant" in qual for (qual,) in policies)
    assert len(policies) == 1
    assert {name for (name,) in counted} == {"memory", "operational"}
    assert set(KNOWN) == {"row security", "triggers"}


@pytest.mark.parametrize(("name", "sql"), sorted(load_queries("postgres").items()))
def test_every_query_is_about_one_tenant_and_inserts_no_subquery(name: str, sql: str) -> None:
    if call := re.match(r"SELECT lamina\.(\w+)\(\s*:tenant,", sql):
        sql = BODIES[call[1]]
        assert re.search(r"\bVALUES \(\$1,", sql)
    if name in NO_ROWS:
        assert not OURS & set(re.findall(_TABLE, sql))
        return
    used = [table for table in re.findall(_TABLE, sql) if table in OURS]
    target = re.match(r"INSERT INTO (?:lamina\.)?(\w+)\s*\(\s*tenant, ", sql)
    conditions = len(re.findall(_OF_TENANT, sql)) + bool(target)

    assert used, "a query of ours reads or writes a table of ours"
    assert conditions >= len(used), "each table is of the tenant"
    assert not re.search(r"\bVALUES\s*\(.*\bSELECT\b", sql, re.S), "no subquery in INSERT … VALUES"
    assert not re.search(r"\bSET\s+tenant\b|,\s*tenant\s*=", sql), "a row never moves to another tenant"
    assert all(key.startswith("tenant, ") for key in re.findall(r"ON CONFLICT \(([^)]*)\)", sql))
    if re.match(r"INSERT", sql) and "VALUES" not in sql:
        assert re.search(r"\bSELECT\s+(?:\w+\.)?(?:tenant|:tenant)\b", sql), "it goes where it came from"


def test_a_partition_on_another_server_can_have_neither_key_nor_upsert(server: psycopg.Connection) -> None:
    """Why one tenant is not spread by native partitions (docs/guides/scale.md); a server that can is news."""
    if not server.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'").fetchone():
        pytest.skip("this server has no postgres_fdw")
    server.execute("CREATE EXTENSION postgres_fdw")
    server.execute("CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'none')")
    there = "PARTITION OF {} FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER other"
    server.execute("CREATE TABLE keyed (owner TEXT PRIMARY KEY) PARTITION BY HASH (owner)")
    server.execute("CREATE TABLE loose (owner TEXT) PARTITION BY HASH (owner)")
    server.execute(f"CREATE FOREIGN TABLE loose_there {there.format('loose')}")
    server.commit()
    for refused in (
        f"CREATE FOREIGN TABLE keyed_there {there.format('keyed')}",
        "CREATE UNIQUE INDEX ON loose (owner)",
        "INSERT INTO loose VALUES ('ana') ON CONFLICT (owner) DO UPDATE SET owner = excluded.owner",
    ):
        with pytest.raises(psycopg.Error):
            server.execute(refused)
        server.rollback()
