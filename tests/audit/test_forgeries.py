"""Whoever changes what is told without the key is found out: every table, every column, every way.

The forgeries are made from the schema itself: a new table or column is under the seal, or it is named in
`UNSEALED` with the reason, or this is red.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import psycopg
import pytest

import lamina
from lamina.engine import Engine
from lamina.layers.relations import Relations
from lamina.lifecycle.tokens import create_token, list_tokens, revoke_token
from lamina.storage.database import load_queries
from lamina.storage.ledger import TABLES, sealed_columns
from lamina.testing import ManualClock

#: Tables that are under no seal, and why nobody is told anything false by them.
UNSEALED_TABLES = {
    "schema_migration": "checked by hash at every start",
    "property": "settings of the store; what is policy in it has a seal of its own",
    "counter": "numbers; one that is set back stops the next write, none is told",
    "posting": "derived from the words: `rebuild`",
    "fresh": "derived from the words",
    "vector_shelf": "derived from the words",
    "vector_block": "derived from the words",
    "vector_fresh": "derived from the words",
    "conversation": "derived from the memories",
    "placement": "derived from the memories",
    "document": "derived from files",
    "passage": "derived from files",
    "change_log": "a hint to look again; what is then read is under the seal",
    "operation": "what is still to do to files",
    "idempotency": "answers to repeated requests",
    "entry": "the base of a person's next edit; the file is the truth",
    "session": "when it was last used; what it keeps has its end under the seal",
    "checkpoint": "LangGraph's state, which is no memory",
    "checkpoint_blob": "LangGraph's state",
    "checkpoint_write": "LangGraph's state",
    "supervisor_checkpoints": "LangGraph's state",
    "import_position": "how far a file was read",
    "import_entry": "what came in before",
    "job_run": "what ran when",
    "job_mark": "what jobs have looked at",
    "operational": "counts",
    "operational_count": "counts of what was done",
    "memory_count": "counts of the memories, kept by triggers from rows under the seal",
    "exposure": "marks of what was lately shown",
    "answer": "receipts, which name what they told by id",
}
#: Columns of sealed tables that are under no seal.
UNSEALED = {
    ("memory", "slot"): "its place in the index, derived",
    ("memory", "last_accessed_at"): "counts of use",
    ("memory", "access_count"): "counts of use",
    ("memory", "decay_score"): "nothing reads it",
    ("shelf", "next_slot"): "statistics of the index",
    ("shelf", "members"): "statistics of the index",
    ("shelf", "length"): "statistics of the index",
    ("shelf", "making"): "how often the index was made",
    ("refusal", "asked_at"): "that the person was asked once",
    ("refusal", "tries"): "a count",
    ("refusal", "tried_by"): "who last tried",
}
#: Columns that are checked, though no row's seal covers them: by the hashes of the words in the audit, by the
#: chain, or against the links that there are.
OTHERWISE = {
    ("memory", "seal"),
    ("history", "seal"),
    ("history", "old_text"),
    ("history", "new_text"),
    ("shelf", "linked"),
}


@dataclass
class Forger:
    """Plain SQL on a copy of a store; no key, no anchor."""

    path: Path | None
    url: str | None
    home: Path
    folder: Path | None
    before: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)  #: the sealed tables, earlier

    def sealed(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of the sealed tables."""
        schema = self.columns()
        return {table: self.sql(f"SELECT {', '.join(schema[table])} FROM {table}") for table in TABLES}

    def put(self, table: str, rows: Iterable[tuple[Any, ...]], *, alone: bool = False) -> None:
        """Rows into a table, in the place of those with the same key, or of all."""
        columns, keys = self.columns()[table], ["tenant", *KEYS[table]]
        marks, here = ", ".join("?" for _ in columns), " AND ".join(f"{key} = ?" for key in keys)
        places = [columns.index(key) for key in keys]
        if alone:
            self.sql(f"DELETE FROM {table}")
        for row in rows:
            if not alone:
                self.sql(f"DELETE FROM {table} WHERE {here}", *(row[at] for at in places))
            self.sql(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", *row)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        if self.path is not None:
            rows: list[Any] = self._connection.execute(statement, values).fetchall()
            return rows
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []

    @cached_property
    def _connection(self) -> Any:
        if self.path is None:
            options = "-c search_path=lamina -c synchronous_commit=off"
            return psycopg.connect(str(self.url), options=options, autocommit=True)
        connection = apsw.Connection(str(self.path))
        for name in ("audit_never_changes", "audit_never_shrinks"):
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def close(self) -> None:
        self._connection.close()

    def open(self) -> Engine:
        environment = {"LAMINA_HOME": str(self.home)}
        target = self.folder if self.folder is not None else str(self.url)
        return lamina.open(target, owner="ana", clock=ManualClock(), environment=environment, embedder="none")

    def columns(self) -> dict[str, list[str]]:
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        if self.path is not None:
            rows = self.sql(
                "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
                " WHERE m.type = 'table' ORDER BY m.name, c.cid"
            )
        else:
            rows = self.sql(
                "SELECT table_name::text, column_name::text FROM information_schema.columns"
                " WHERE table_schema = 'lamina' AND is_generated = 'NEVER'"
                " ORDER BY table_name, ordinal_position"
            )
        found: dict[str, list[str]] = {}
        for table, column in rows:
            found.setdefault(table, []).append(column)
        return found


def live(engine: Engine) -> None:
    """Something in every sealed table, with a past."""
    ana, agent = engine.scope(project="boats"), engine.scope(agent="planner", session="s1")
    one = ana.remember("Ana likes green tea", tags=["tea"]).ids[0]
    two = ana.remember("Ana likes black tea").ids[0]
    ana.revise(one, "Ana likes white tea")
    Relations(ana).link(one, two, "beside")
    Relations(ana).link(two, one, "before")
    ana.remember("friendly", key="tone")
    ana.remember("formal", key="tone")
    agent.remember("for the session", space="session", ttl="session_end")
    ana.remember("boats are blue", space="project")
    gone = ana.remember("Ana is called Annie").ids[0]
    ana.forget(gone)
    also = ana.remember("Ana is called Nan").ids[0]
    ana.forget(also)
    ana.restore(also)
    engine.scope(user="bob").remember("Bob likes rum")
    engine.scope(user="bob").remember("Bob likes tea")
    create_token(engine, "laptop")
    create_token(engine, "phone")


def later(engine: Engine) -> None:
    """What takes the place of something in every sealed table, so that there is something to put back."""
    ana, agent = engine.scope(project="boats"), engine.scope(agent="planner", session="s1")
    one, two, gone = "user:ana:semantic:1", "user:ana:semantic:2", "user:ana:semantic:3"
    ana.revise(one, "Ana likes red tea")
    Relations(ana).unlink(two, one, "before")
    agent.remember("another for the session", space="session", ttl="session_end")  # the first ends later
    ana.start_phase("user", name="summer")
    ana.restore(gone)
    Relations(ana).link(one, gone, "beside")
    ana.purge(two, now=True)
    for token in list_tokens(engine):
        revoke_token(engine, token.id)


@contextmanager
def undone(forger: Forger, table: str) -> Iterator[None]:
    """A table is afterwards as it was before."""
    before = forger.sql(f"SELECT {', '.join(forger.columns()[table])} FROM {table}")
    try:
        yield
    finally:
        forger.put(table, before, alone=True)


def other(value: object, column: str) -> object:
    """Another value of the same kind."""
    if isinstance(value, bytes | memoryview):
        return bytes(value)[:-1] + bytes([bytes(value)[-1] ^ 1])
    if isinstance(value, int | float):
        return value + 1000
    if value is None:
        return 7 if column in NUMBERS else "forged"
    return f"{value[:-1]}{'b' if str(value).endswith('a') else 'a'}" if value else "forged"


NUMBERS = {
    "number", "revoked_at", "expires_at", "valid_from", "valid_until", "purge_at", "expires_tick",
    "retired_tick", "lifted_at", "slot",
}  # fmt: skip
LAWFUL = {  # where any other text would be a damaged row, which is found for that already
    "space": ("user", "project"), "layer": ("semantic", "episodic"), "kind": ("fact", "decision"),
    "authority": ("user_asserted", "system_imposed"), "state": ("active", "archived"),
    "op": ("ADD", "UPDATE"), "role": ("user", "admin"), "trust": ("trusted", "untrusted"),
    "tags": ('["x"]', '["y"]'), "meta": ('{"x":1}', '{"y":1}'), "decision": ('{"code":"x"}', '{"code":"y"}'),
    "scopes": ('["read"]', '["admin","read"]'), "data": ('{"type":"x"}', '{"type":"y"}'),
}  # fmt: skip
KEYS = {
    "memory": ["id"], "history": ["memory_id", "number"], "relation": ["from_id", "to_id", "type"],
    "shelf": ["number"], "phase": ["shelf", "number"], "event": ["seq"], "refusal": ["owner", "number"],
    "refusal_mark": ["owner", "mark", "number", "part"], "token": ["id"], "audit": ["seq"], "lane": ["name"],
}  # fmt: skip


def lawful(table: str, column: str, value: object) -> object:
    if column == "provenance" and isinstance(value, str):
        return value.replace('"user:ana"', '"user:eve"')
    if column in LAWFUL and not (table == "audit" and column in ("op", "kind")):
        first, second = LAWFUL[column]
        return second if value == first else first
    return other(value, column)


def forgeries(forger: Forger) -> Iterator[tuple[str, str, str, tuple[object, ...]]]:
    """Name, table, statement, values: a change of each column, a row gone, put in, and moved."""
    schema = forger.columns()
    for table in TABLES:
        keys = KEYS[table]
        columns = schema[table]
        listed = ", ".join(columns)
        rows = forger.sql(f"SELECT {listed} FROM {table} ORDER BY {', '.join(keys)}")
        assert rows, f"nothing in {table}"
        row = dict(zip(columns, rows[len(rows) // 2], strict=True))
        here = " AND ".join(f"{key} = ?" for key in keys)
        at = tuple(row[key] for key in keys)
        for column in columns:
            if (table, column) == ("shelf", "linked"):
                yield "links hidden", table, "UPDATE shelf SET linked = 0 WHERE name = ?", ("user:ana",)
            elif (table, column) not in UNSEALED:
                value = lawful(table, column, row[column])
                yield (
                    f"{table}.{column} changed",
                    table,
                    f"UPDATE {table} SET {column} = ? WHERE {here}",
                    (value, *at),
                )
        yield f"{table} deleted", table, f"DELETE FROM {table} WHERE {here}", at
        copy = {**row, keys[-1]: other(row[keys[-1]], keys[-1])}
        if table == "memory":
            copy |= {"identity": "forged"}
        if table == "shelf":
            copy |= {"number": 99, "name": "user:eve"}
        marks = ", ".join("?" for _ in columns)
        yield (
            f"{table} inserted",
            table,
            f"INSERT INTO {table} ({listed}) VALUES ({marks})",
            tuple(copy.values()),
        )
        for column, target in MOVES.get(table, {}).items():
            yield (
                f"{table} moved by {column}",
                table,
                f"UPDATE {table} SET {column} = ? WHERE {here}",
                (target, *at),
            )


#: What moves a row to another person, shelf or time.
MOVES: dict[str, dict[str, object]] = {
    "memory": {"tenant": "other", "shelf": 1000, "owner": "bob", "id": "user:bob:semantic:99"},
    "history": {"tenant": "other", "memory_id": "user:bob:semantic:77", "number": 77},
    "relation": {"tenant": "other", "from_id": "user:bob:semantic:1", "to_id": "user:bob:semantic:2"},
    "shelf": {"tenant": "other", "name": "user:eve", "number": 77},
    "phase": {"tenant": "other", "shelf": 1000, "number": 77},
    "event": {"tenant": "other", "shelf": "user:bob", "seq": 7777},
    "refusal": {"tenant": "other", "owner": "bob", "number": 77},
    "refusal_mark": {"tenant": "other", "owner": "bob", "number": 77},
    "token": {"tenant": "other", "user_name": "bob", "id": "zz"},
    "audit": {"tenant": "other", "memory_id": "user:bob:semantic:1", "seq": 7777},
    "lane": {"tenant": "other", "name": "user:eve"},
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def forger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forger]:
    """A store with a past, closed."""
    root = tmp_path_factory.mktemp("forged")
    if request.param == "sqlite":
        made = Forger(root / "w" / ".lamina" / "memory.db", None, root / "home", root / "w")
        yield lived_in(made)
        made.close()
        return
    with database_of(request.getfixturevalue("postgres_url")) as url:
        made = lived_in(Forger(None, url, root / "home", None))
        yield made
        made.close()


def lived_in(forger: Forger) -> Forger:
    with forger.open() as engine:
        live(engine)
    forger.before = forger.sealed()
    with forger.open() as engine:
        later(engine)
    return forger


@contextmanager
def database_of(server: str) -> Iterator[str]:
    name = f"lamina_test_forgeries_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_every_forgery_of_every_column_and_row_is_found(forger: Forger) -> None:
    """The store is open all the while, as a server's is: what is checked is what is there now."""
    tried, missed = 0, []
    with forger.open() as engine:
        assert engine.verify_audit().findings == ()
        for name, table, statement, values in list(forgeries(forger)):
            with undone(forger, table):
                forger.sql(statement, *values)
                tried += 1
                if not engine.verify_audit().findings:
                    missed.append(name)
        assert engine.verify_audit().findings == ()

    assert missed == []
    assert tried >= 130


def test_no_row_comes_back_as_it_was_before(forger: Forger) -> None:
    """A memory that was purged, words that were changed, a link, a no, a token: each from an older copy."""
    now, tried = forger.sealed(), set[str]()
    with forger.open() as engine:
        for table in TABLES:
            kept = [
                at for at, column in enumerate(forger.columns()[table]) if (table, column) not in UNSEALED
            ]
            there = {tuple(row[at] for at in kept) for row in now[table]}
            for row in (row for row in forger.before[table] if tuple(row[at] for at in kept) not in there):
                with undone(forger, table):
                    forger.put(table, [row])
                    assert engine.verify_audit().findings, (table, row)
                tried.add(table)
        assert engine.verify_audit().findings == ()
    assert tried == {*TABLES} - {"audit", "phase", "refusal_mark"}  # nothing in those was ever changed


def test_a_person_put_back_whole_with_the_seal_over_them_is_found(forger: Forger) -> None:
    """Every row of theirs as it was earlier, the seal over them too."""
    mine = {
        "memory": "id",
        "history": "memory_id",
        "relation": "from_id",
        "event": "shelf",
        "refusal": "owner",
    }
    now = forger.sealed()
    with forger.open() as engine:
        with ExitStack() as stack:
            for table in ("memory", "history", "relation", "event", "refusal", "lane"):
                stack.enter_context(undone(forger, table))
            for table, column in mine.items():
                at = forger.columns()[table].index(column)
                for row in now[table]:
                    if "ana" in str(row[at]) and row not in forger.before[table]:
                        here = " AND ".join(f"{key} = ?" for key in KEYS[table])
                        named = dict(zip(forger.columns()[table], row, strict=True))
                        forger.sql(f"DELETE FROM {table} WHERE {here}", *(named[key] for key in KEYS[table]))
                forger.put(table, [row for row in forger.before[table] if "ana" in str(row[at])])
            lanes = [row for row in forger.before["lane"] if row[1] == "user:ana"]
            forger.put("lane", lanes)
            assert engine.verify_audit().findings
            assert engine.verify_audit("ana").findings
        assert engine.verify_audit("ana").findings == engine.verify_audit("bob").findings == ()


#: What is done to several rows at once, so that counts, keys or sums of plain numbers stay as they were.
TOGETHER: dict[str, list[str]] = {
    "two texts change places, with their seals": [
        "UPDATE memory SET text = CASE id WHEN {one} THEN {text two} ELSE {text one} END,"
        " seal = CASE id WHEN {one} THEN {seal two} ELSE {seal one} END WHERE id IN ({one}, {two})"
    ],
    "two memories change names": [
        "UPDATE memory SET id = 'user:ana:semantic:999', identity = 'x' WHERE id = {one}",
        "UPDATE memory SET id = {one} WHERE id = {two}",
        "UPDATE memory SET id = {two}, identity = {identity one} WHERE id = 'user:ana:semantic:999'",
    ],
    "one more important, the other less": [
        "UPDATE memory SET importance = importance + 1 WHERE id = {one}",
        "UPDATE memory SET importance = importance - 1 WHERE id = {two}",
    ],
    "two times change places": [
        "UPDATE memory SET created_at = created_at + 1000000 WHERE id = {one}",
        "UPDATE memory SET created_at = created_at - 1000000 WHERE id = {two}",
    ],
    "a memory gone with all that tells of it": [
        "DELETE FROM memory WHERE id = {one}",
        "DELETE FROM history WHERE memory_id = {one}",
        "DELETE FROM relation WHERE from_id = {one} OR to_id = {one}",
    ],
    "a person gone, with the seal over them": [
        "DELETE FROM memory WHERE owner = 'bob'",
        "DELETE FROM history WHERE substr(memory_id, 1, 9) = 'user:bob:'",
        "DELETE FROM relation WHERE substr(from_id, 1, 9) = 'user:bob:'",
        "DELETE FROM event WHERE shelf = 'user:bob'",
        "DELETE FROM refusal_mark WHERE owner = 'bob'",
        "DELETE FROM refusal WHERE owner = 'bob'",
        "DELETE FROM lane WHERE name = 'user:bob'",
    ],
    "what was put aside is active again, and its end never was": [
        "UPDATE memory SET state = 'active', purge_at = NULL WHERE state = 'soft_deleted'",
        "DELETE FROM history WHERE op = 'DELETE'",
    ],
    "all noes of a person": [
        "DELETE FROM refusal_mark WHERE owner = 'ana'",
        "DELETE FROM refusal WHERE owner = 'ana'",
    ],
    "two people change their seals": [
        "UPDATE lane SET name = 'user:x' WHERE name = 'user:ana'",
        "UPDATE lane SET name = 'user:ana' WHERE name = 'user:bob'",
        "UPDATE lane SET name = 'user:bob' WHERE name = 'user:x'",
    ],
    "no seal at all": ["DELETE FROM lane"],
    "no seal on any row": ["UPDATE memory SET seal = ''", "UPDATE history SET seal = ''"],
    "a token for another person, another one for the first": [
        "UPDATE token SET user_name = CASE user_name WHEN 'ana' THEN 'bob' ELSE 'ana' END"
    ],
    "who said it, in the row and in its story": [
        "UPDATE memory SET provenance = replace(provenance, 'user:ana', 'user:bob') WHERE id = {one}",
        "UPDATE history SET actor = 'user:bob' WHERE memory_id = {one}",
    ],
    "a link turned round": [
        "UPDATE relation SET from_id = to_id, to_id = from_id WHERE substr(from_id, 1, 9) = 'user:ana:'"
    ],
    "a step moved to another memory": [
        "UPDATE history SET memory_id = {two}, number = 77 WHERE memory_id = {one} AND number = 2"
    ],
    "two steps of a memory change places": [
        "UPDATE history SET number = 777 WHERE memory_id = {one} AND number = 1",
        "UPDATE history SET number = 1 WHERE memory_id = {one} AND number = 2",
        "UPDATE history SET number = 2 WHERE memory_id = {one} AND number = 777",
    ],
    "a link of another type": [
        "UPDATE relation SET type = 'contradicts' WHERE substr(from_id, 1, 9) = 'user:ana:'"
    ],
    "another reason for what was done, and the decision of another kind": [
        """UPDATE history SET decision = '{"code":"approved","reason":"so"}' WHERE memory_id = {one}""",
        "UPDATE memory SET kind = 'decision' WHERE id = {one}",
    ],
    "a memory with its story moved to another person": [
        "UPDATE history SET memory_id = 'user:bob:semantic:50' WHERE memory_id = {one}",
        "DELETE FROM relation WHERE from_id = {one} OR to_id = {one}",
        "UPDATE memory SET id = 'user:bob:semantic:50', owner = 'bob' WHERE id = {one}",
    ],
    "tokens that were revoked, with more rights": [
        """UPDATE token SET revoked_at = NULL, scopes = '["admin","read"]'"""
    ],
    "another did it, says the audit": [
        "UPDATE audit SET actor = 'user:eve' WHERE memory_id = {one}",
        "UPDATE history SET actor = 'user:eve' WHERE memory_id = {one}",
    ],
    "the newest record gone": ["DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)"],
    "a no that was lifted, as if its person had": [
        "UPDATE refusal SET lifted_by = 'user:ana', lifted_at = at + 1"
        " WHERE owner = 'ana' AND lifted_at IS NULL"
    ],
    "the marks of a no under another": ["UPDATE refusal_mark SET number = number + 50 WHERE owner = 'ana'"],
    "a phase that began earlier, and one later": [
        "UPDATE phase SET started_at = started_at - 1000 WHERE number = 1",
        "UPDATE phase SET started_at = started_at + 1000 WHERE number = 2",
    ],
    "an event told twice, another not at all": [
        "UPDATE event SET data = (SELECT e.data FROM event e WHERE e.seq = (SELECT max(seq) FROM event))"
        " WHERE seq = (SELECT min(seq) FROM event)"
    ],
}


SLOT = r"\{((?:text |seal |identity )?(?:one|two))\}"


@pytest.mark.parametrize("name", TOGETHER)
def test_what_is_forged_in_several_rows_at_once_is_found(forger: Forger, name: str) -> None:
    one, two = (row[0] for row in forger.sql("SELECT id FROM memory WHERE owner = 'ana' ORDER BY id")[:2])
    values: dict[str, object] = {"one": one, "two": two}
    for called, memory in (("one", one), ("two", two)):
        ((text, seal, identity),) = forger.sql("SELECT text, seal, identity FROM memory WHERE id = ?", memory)
        values |= {f"text {called}": text, f"seal {called}": seal, f"identity {called}": identity}
    with forger.open() as engine:
        with ExitStack() as stack:
            for table in TABLES:
                stack.enter_context(undone(forger, table))
            for statement in TOGETHER[name]:
                asked = [values[slot] for slot in re.findall(SLOT, statement)]
                forger.sql(re.sub(SLOT, "?", statement), *asked)
            assert engine.verify_audit().findings
        assert engine.verify_audit().findings == ()


def test_going_on_after_a_forgery_does_not_cover_it_up(forger: Forger) -> None:
    """What is changed lawfully takes a forged value along, and the sum still tells.

    It stands last of those that forge: the records that it writes are taken away again, and that stays known.
    """
    one = "user:ana:semantic:1"
    with forger.open() as engine, ExitStack() as stack:
        for table in TABLES:
            stack.enter_context(undone(forger, table))
        forger.sql("UPDATE memory SET authority = 'system_imposed' WHERE id = ?", one)
        ana = engine.scope(role="admin")
        ana.revise(one, "Ana likes no tea")
        ana.remember("Ana likes water")
        assert ana.explain(one).memory.authority == "system_imposed"

        told = [finding.detail for finding in engine.verify_audit().findings]
        assert told == ["memories of user:ana are not as they were sealed"]
        assert engine.verify_audit("ana").findings
        assert engine.verify_audit("bob").findings == ()


def test_every_column_is_under_the_seal_or_named_with_the_reason(forger: Forger) -> None:
    queries, unnamed = load_queries("sqlite"), []
    for table, columns in forger.columns().items():
        if table in UNSEALED_TABLES:
            assert table not in TABLES
            continue
        assert table in TABLES, f"{table} is new: seal it, or say why not"
        if table in ("audit", "lane"):
            continue  # sealed as a whole
        sealed = {"tenant", *sealed_columns(queries[f"sealed_{table}"])}
        unnamed += [
            (table, column)
            for column in columns
            if column not in sealed and (table, column) not in {*UNSEALED, *OTHERWISE}
        ]
    assert unnamed == []
