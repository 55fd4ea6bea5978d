"""A store is what its migrations say: made once, opened as it is, refused when it is something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import lamina
from lamina import Damaged
from lamina.engine import Engine
from lamina.ranking.lexical import SLOTS_PER_BLOCK
from lamina.storage.database import load_queries
from lamina.storage.ledger import lane_of
from lamina.storage.migrate import load_migrations
from lamina.storage.search_index import TextIndex
from lamina.testing import ManualClock
from lamina.text.terms import ANALYSER_VERSION
from lamina.write.reindex import _renew_part, renew, renewal


@dataclass
class Store:
    """A store by its URL, and a way around the engine."""

    url: str
    clock: ManualClock = field(default_factory=ManualClock)

    def open(self) -> Engine:
        return lamina.open(self.url, owner="ana", clock=self.clock)

    def sql(self, statement: str) -> list[Any]:
        if self.url.startswith("sqlite"):
            connection = apsw.Connection(self.url.removeprefix("sqlite:///"))
            rows: list[Any] = connection.execute(statement).fetchall()
            connection.close()
            return rows
        with psycopg.connect(self.url, options="-c search_path=lamina") as server:
            cursor = server.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def everything(self) -> dict[str, list[Any]]:
        """Every table with its columns and rows."""
        if self.url.startswith("sqlite"):
            names = self.sql("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
        else:
            names = self.sql(
                "SELECT c.relname, c.relforcerowsecurity, c.relacl::text FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'lamina' AND c.relkind = 'r' ORDER BY 1"
            )
        found = {"": names}
        for name, *_ in names:
            found[name] = sorted(map(repr, self.sql(f'SELECT * FROM "{name}"')))
        return found


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        yield Store(f"sqlite:///{tmp_path}/m.db")
    else:
        yield Store(request.getfixturevalue("postgres_database"))


def test_a_fresh_store_has_every_migration_and_its_hash(store: Store) -> None:
    store.open().close()

    dialect = "sqlite" if store.url.startswith("sqlite") else "postgres"
    shipped = [(step.version, step.name, step.hash) for step in load_migrations(dialect)]
    applied = store.sql("SELECT version, name, hash FROM schema_migration ORDER BY 1")
    assert [tuple(row) for row in applied] == shipped


def test_versions_are_numbered_from_one_without_gaps() -> None:
    for dialect in ("sqlite", "postgres"):
        steps = load_migrations(dialect)
        assert [step.version for step in steps] == list(range(1, len(steps) + 1))


def test_both_databases_have_the_same_tables_and_columns(tmp_path: Path, postgres_database: str) -> None:
    one, other = Store(f"sqlite:///{tmp_path}/m.db"), Store(postgres_database)
    one.open().close()
    other.open().close()

    inside = one.sql(
        "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'"
    )
    outside = other.sql(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'lamina'"
    )

    assert sorted(map(tuple, inside)) == sorted(map(tuple, outside))


def test_opening_again_changes_nothing(store: Store) -> None:
    with store.open() as engine:
        engine.scope().remember("Ana likes tea")
    before = store.everything()

    for _ in range(3):
        store.open().close()

    assert store.everything() == before


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO schema_migration VALUES (9999, 'future', 'x')", "store_too_new"),
        ("UPDATE schema_migration SET hash = 'altered' WHERE version = 1", "migration_changed"),
        ("UPDATE schema_migration SET version = 0 WHERE version = 1", "migration_changed"),
    ],
    ids=["newer", "altered", "unknown"],
)
def test_a_store_made_by_something_else_is_refused_and_untouched(
    store: Store, statement: str, code: str
) -> None:
    with store.open() as engine:
        engine.scope().remember("Ana likes tea")
    store.sql(statement)
    before = store.everything()

    for _ in range(2):
        with pytest.raises(Damaged) as refused:
            store.open()
        assert (refused.value.code, bool(refused.value.hint)) == (code, True)

    assert store.everything() == before


def test_an_index_of_another_analyser_is_made_anew(store: Store) -> None:
    with store.open() as engine:
        ids = [engine.scope().remember(f"tea and cake number {number}").ids[0] for number in range(30)]
        engine.scope().forget(ids[3])
        before = [hit.id for hit in engine.scope().recall("cakes", k=50)]
    store.sql("UPDATE property SET value = '0' WHERE name = 'analyser'")
    store.sql("UPDATE posting SET term = 'stale:' || term")

    with store.open() as engine:
        assert [hit.id for hit in engine.scope().recall("cakes", k=50)] == before
        assert engine.status().analyser == ANALYSER_VERSION
        assert engine.scope().remember("cake again").ids == (f"user:ana:semantic:{len(ids) + 1}",)
        assert len(engine.scope().recall("cakes", k=50)) == len(before) + 1
    assert not store.sql("SELECT term FROM posting WHERE term LIKE 'stale:%'")


def test_shelves_are_indexed_anew_one_by_one_and_go_on_where_they_were(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two shelves; people ask and write meanwhile."""
    people = [f"p{number}" for number in range(5)]
    with store.open() as engine:
        for who in people:
            for text in ("green tea", "black coffee", "a blue kite"):
                engine.scope(user=who).remember(f"{text} of {who}")
            engine.scope(user=who, session="s").hear(f"The kite of {who} flew far today")
        before = {who: [hit.id for hit in engine.scope(user=who).recall("kites")] for who in people}
    store.sql("UPDATE property SET value = '0' WHERE name = 'analyser'")
    store.sql("UPDATE posting SET term = 'stale:' || term")
    store.sql("DELETE FROM fresh")
    monkeypatch.setattr("lamina.write.store.Store.renew_index", lambda *_: False)
    with store.open() as engine:
        assert engine.database.read(renewal)[0] == 0  # type: ignore[index]
        assert not renew(engine.database, 2)
        done, every = engine.database.read(renewal) or (0, 0)
        assert (done, every > 2) == (2, True)
        engine.scope(user="p4").remember("the kite of p4 is mended")
    with store.open() as engine:
        assert renew(engine.database)
        assert engine.database.read(renewal) is None
        found = {who: [hit.id for hit in engine.scope(user=who).recall("kites")] for who in people}
        assert [found[who] for who in people[:4]] == [before[who] for who in people[:4]]
        assert set(before["p4"]) < set(found["p4"])
        assert engine.verify_audit().intact
    assert not store.sql("SELECT term FROM posting WHERE term LIKE 'stale:%'")


def test_a_long_shelf_is_indexed_anew_in_parts_and_people_write_between_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two parts; one text goes and two come, in a part that is done and in one that is not."""

    def found(engine: Engine) -> set[str]:
        hits = engine.scope().recall("kite", k=50)
        return {hit.id for hit in hits if "kite" in hit.text}

    parts = SLOTS_PER_BLOCK + 40
    with store.open() as engine:
        mind = engine.scope()
        texts = [f"{'kite' if at % 37 == 3 else 'boat'} number {at} is on its way" for at in range(parts)]
        ids = [one.ids[0] for one in mind.remember_many([{"text": text} for text in texts])]
        before = {one for one, text in zip(ids, texts, strict=True) if "kite" in text}
        counts = store.sql("SELECT members, length, next_slot FROM shelf ORDER BY number")
    store.sql("UPDATE property SET value = '0' WHERE name = 'analyser'")
    store.sql("UPDATE posting SET term = 'stale:' || term")
    monkeypatch.setattr("lamina.write.store.Store.renew_index", lambda *_: False)
    with store.open() as engine:
        names = [one[1] for one in engine.database.read(lambda tx: TextIndex(tx).after(0, 99))]
        shelves = engine.database.read(lambda tx: TextIndex(tx).shelves(names))
        longest = max(shelves, key=lambda one: one.members)
        number, name = longest.number, longest.name
        store.sql(
            f"UPDATE property SET value = '{ANALYSER_VERSION} {number - 1}' WHERE name = 'analyser_renewed'"
        )
        part = partial(_renew_part, number=number, name=name, known={})
        store.sql("UPDATE property SET value = '0' WHERE name = 'analyser'")
        assert not engine.database.write(part, lanes=[lane_of(name)])
        mind = engine.scope()
        assert found(engine) >= {one for one in before if one in ids[:SLOTS_PER_BLOCK]}
        gone = sorted(before & {ids[3], ids[262]})
        assert len(gone) == 2
        for one in gone:
            mind.forget(one)
        new = [mind.remember(f"a kite of {at} colours is new").ids[0] for at in range(2)]
    with store.open() as engine:
        assert renew(engine.database)
        assert engine.database.read(renewal) is None
        assert found(engine) == {*before, *new} - {*gone}
        for one in new:
            engine.scope().purge(one, now=True)
        for one in gone:
            engine.scope().restore(one)
        assert engine.verify_audit().intact
        told = store.sql("SELECT members, length FROM shelf ORDER BY number")
        assert told == [(members, length) for members, length, _ in counts]
    assert not store.sql("SELECT term FROM posting WHERE term LIKE 'stale:%'")


def test_an_index_of_this_analyser_is_left_alone(store: Store) -> None:
    with store.open() as engine:
        engine.scope().remember("tea")
    before = store.sql("SELECT * FROM posting")

    store.open().close()

    assert list(map(repr, store.sql("SELECT * FROM posting"))) == list(map(repr, before))


WHOLE = "coalesce(category, '')"


def test_what_an_old_store_is_counted_to_is_what_a_new_one_kept_count_of(store: Store) -> None:
    with store.open() as engine:
        ana = engine.scope()
        first = ana.remember("Tea at four", kind="preference", tags=["drink"], category="food").ids[0]
        ana.remember("Honey is sweet", kind="fact")
        ana.remember("Milk is white", kind="fact", ttl="1h")
        gone = ana.remember("Salt is dear", kind="fact", tags=["a", "b"]).ids[0]
        engine.scope(agent="planner").remember("The plan has three steps", category="work")
        ana.revise(first, "Tea at five")
        ana.forget(gone)
        ana.recall("tea")
    kept = store.everything()
    keys = "shelf, state, layer, kind, {}, actor, trust, tags"
    rows = f"SELECT {keys.format(WHOLE)}, count(*) FROM memory GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
    counted = f"SELECT {keys.format('category')}, count FROM memory_count"
    assert sorted(store.sql(counted)) == sorted(store.sql(rows))
    done = store.sql("SELECT count(*) FROM operational")
    assert store.sql("SELECT sum(count) FROM operational_count") == done
    on = "" if store.url.startswith("sqlite") else " ON {}"
    for table, more in {"memory": ("uncounted", "recounted"), "operational": ("uncounted",)}.items():
        for name in ("counted", *(more if not on else ())):
            store.sql(f"DROP TRIGGER {table}_{name}{on.format(table)}")
        store.sql(f"DROP TABLE {table}_count")
        if on:
            store.sql(f"DROP FUNCTION count_{table}()")
    for name in ("memory_by_age", "memory_by_weight", "memory_by_end", "operational_asked"):
        store.sql(f"DROP INDEX {name}")
    store.sql("ALTER TABLE memory DROP COLUMN actor")
    store.sql("ALTER TABLE shelf DROP COLUMN making")
    store.sql("DELETE FROM schema_migration WHERE version = 18")
    with store.open() as engine:
        assert engine.scope().list().total == 4
    again = store.everything()
    for table in ("memory_count", "operational_count"):
        assert again[table] == kept[table] != []
    assert [one for one in again["memory"] if "user:ana" in one], "who said it is there again"


def test_what_is_looked_up_by_an_index_walks_over_nothing_else(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'a.db'}")
    store.open().close()
    queries = load_queries("sqlite")
    connection = apsw.Connection(str(tmp_path / "a.db"))
    for name, index in {
        "list_memories": "memory_by_age",
        "list_oldest": "memory_by_age",
        "list_important": "memory_by_weight",
        "pending_on": "memory_waiting",
        "count_kept": "memory_by_end",
        "lapsed_on": "memory_by_end",
        "procedure_slots": "memory_procedures",
        "procedures_on": "memory_procedures",
        "episodes_on": "memory_episodes",
        "always_on": "memory_topics",
        "topic_slots": "memory_topics",
        "readable_slots": "memory_by_slot",
        "neighbours_at": "memory_by_slot",
        "keyed_on": "memory_by_identity",
        "count_asked": "operational_asked",
    }.items():
        plan = connection.execute(f"EXPLAIN QUERY PLAN {queries[name]}", Anything()).fetchall()
        assert any(index in row[3] for row in plan), (name, plan)
    connection.close()


class Anything(dict[str, Any]):
    """A value for every parameter."""

    def __missing__(self, name: str) -> str:
        return "[]"
