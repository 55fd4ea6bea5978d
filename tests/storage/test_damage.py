"""One row that cannot be read stops nothing else: it is named, left out, and Damaged if it is asked for."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

import lamina
from lamina import Damaged, LaminaError, NotFound
from lamina.engine import Engine
from lamina.imports.restore_export import bring_in
from lamina.integrations.langgraph import CheckpointSaver
from lamina.lifecycle.export import export, lines_of
from lamina.lifecycle.purge import purge_due
from lamina.lifecycle.tokens import create_token
from lamina.scoped import ScopedMemory
from lamina.storage.database import DIALECTS, load_queries
from lamina.storage.rows import DamagedRow, selected
from lamina.testing import ManualClock
from tests.effort import times

if TYPE_CHECKING:
    from tests.backends import Place

TEAS = ("Ana likes green tea", "Ana likes black tea", "Ana likes white tea")
CHECKPOINT = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def run_sql(place: Place, statement: str) -> None:
    """A statement behind the engine's back."""
    if place.url is not None:
        with psycopg.connect(place.url, options="-c search_path=lamina") as server:
            server.execute(statement.encode())
        return
    (database,) = place.databases()
    connection = apsw.Connection(str(database))
    connection.execute(statement)
    connection.close()


#: What no UTF-8 looks like in SQL: the first byte of a text is turned into one that begins nothing.
SPOILT = "CAST(x'ff' || substr(CAST({0} AS BLOB), 2) AS TEXT)"


def spoil(folder: Path, table: str, column: str, where: str = "") -> None:
    connection = apsw.Connection(str(folder / ".lamina" / "memory.db"))
    for name in ("audit_never_changes", "audit_never_shrinks"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    columns = connection.execute(f"SELECT name FROM pragma_table_info('{table}') WHERE pk > 0").fetchall()
    key = ", ".join(str(name) for (name,) in columns)
    one = f"({key}) = (SELECT {key} FROM {table} WHERE length({column}) > 0 ORDER BY {key} LIMIT 1)"
    connection.execute(f"UPDATE {table} SET {column} = {SPOILT.format(column)} WHERE {where or one}")
    assert connection.changes() == 1, (table, column)
    connection.close()


@pytest.fixture
def three(place: Place) -> list[str]:
    """Three memories that a question finds."""
    mind = place.open().scope()
    return [mind.remember(text).ids[0] for text in TEAS]


def found(mind: ScopedMemory) -> set[str]:
    return {hit.text for hit in mind.recall("what tea does Ana like", k=20)} & set(TEAS)


def asked_for(mind: ScopedMemory, memory_id: str) -> list[Callable[[], object]]:
    return [
        lambda: mind.get(memory_id),
        lambda: mind.explain(memory_id),
        lambda: mind.history(memory_id),
        lambda: mind.revise(memory_id, "something else"),
        lambda: mind.forget(memory_id),
    ]


#: What may be wrong with a memory on either database: a JSON that is none or another, a word nobody knows.
ROTTEN = {
    "provenance is no JSON": "provenance = '{\"actor\":'",
    "provenance is another JSON": "provenance = '{}'",
    "tags are no list": "tags = '7'",
    "meta is no JSON": "meta = 'x'",
    "the kind is unknown": "kind = 'fxct'",
    "the authority is unknown": "authority = ''",
}


@pytest.mark.parametrize("change", ROTTEN.values(), ids=ROTTEN)
def test_a_memory_that_cannot_be_made_is_left_out_named_and_said_to_be_damaged(
    place: Place, three: list[str], change: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    place.close()
    run_sql(place, f"UPDATE memory SET {change} WHERE id = '{three[1]}'")
    caplog.set_level(logging.WARNING, "lamina.store")
    engine = place.open()
    mind = engine.scope()

    assert found(mind) == {TEAS[0], TEAS[2]}
    assert TEAS[0] in mind.context("tea").text
    assert TEAS[1] not in mind.context("tea").text
    lines = [json.loads(line) for line in lines_of(mind)]
    assert {line["text"] for line in lines if line["type"] == "memory"} == {TEAS[0], TEAS[2]}
    assert three[1] not in mind.changes().text
    assert engine.rebuild() == 2
    assert found(mind) == {TEAS[0], TEAS[2]}
    assert mind.explain(three[0]).lines
    for attempt in asked_for(mind, three[1]):
        with pytest.raises(Damaged) as told:
            attempt()
        assert told.value.code == "row_damaged"
        assert f"memory {three[1]}" in told.value.message
        assert told.value.hint
    assert [(row.table, row.key) for row in engine.database.damaged()] == [("memory", three[1])]
    assert f"memory {three[1]}" in caplog.text
    assert "damaged" in {one.what for one in engine.verify_audit().findings}
    for text in ("Ana likes milk", "Ana likes honey"):  # life goes on
        mind.remember(text)
    assert {hit.text for hit in mind.recall("milk honey")} >= {"Ana likes milk", "Ana likes honey"}


def test_of_somebody_elses_damaged_memory_nothing_is_said(place: Place, three: list[str]) -> None:
    run_sql(place, f"UPDATE memory SET provenance = '' WHERE id = '{three[1]}'")

    for attempt in asked_for(place.engines[-1].scope(user="bob"), three[1]):
        with pytest.raises(NotFound):
            attempt()


def test_filters_on_who_said_it_do_not_stop_at_a_damaged_memory(place: Place) -> None:
    engine = place.open()
    said = [engine.scope(agent="planner").remember(f"the plan has {n} steps").ids[0] for n in range(3)]
    engine.scope(agent="other").remember("the plan is 1 page long")
    run_sql(place, f"UPDATE memory SET provenance = 'x' WHERE id = '{said[1]}'")

    found = engine.scope().query("plan steps", filters={"agent_id": "planner", "role": "agent"})

    assert {one.id for one in found.bullets} == {said[0], said[2]}
    assert engine.scope().query("plan steps", filters={"agent_id": "plan"}).bullets == ()


def test_a_damaged_step_is_left_out_of_the_story_and_the_story_says_so(
    place: Place, three: list[str]
) -> None:
    mind = place.engines[-1].scope()
    mind.revise(three[0], "Ana likes jasmine tea")
    whole = mind.explain(three[0]).lines
    run_sql(place, f"UPDATE history SET decision = '' WHERE memory_id = '{three[0]}' AND number = 1")

    told = mind.explain(three[0]).lines

    assert len(told) == len(whole)
    assert "cannot be read" in told[-1]
    assert "cannot be read" not in mind.explain(three[1]).lines[-1]
    assert [str(row) for row in place.engines[-1].database.damaged()] == [f"history {three[0]} 1 (decision)"]


def test_what_is_left_comes_in_again_out_of_an_export(place: Place, three: list[str], tmp_path: Path) -> None:
    engine = place.engines[-1]
    run_sql(place, f"UPDATE memory SET meta = '[' WHERE id = '{three[2]}'")

    export(engine.scope(), tmp_path / "saved")
    with lamina.open(tmp_path / "new", owner="ana", clock=ManualClock()) as other:
        bring_in(other.scope(), tmp_path / "saved")
        assert found(other.scope()) == {TEAS[0], TEAS[1]}


def test_a_damaged_due_memory_does_not_keep_the_others_from_being_purged(place: Place) -> None:
    engine = place.open(undo_days=1)
    mind = engine.scope()
    ids = [mind.remember(text).ids[0] for text in TEAS]
    for one in ids:
        mind.forget(one)
    place.clock.advance(days=3)
    run_sql(place, f"UPDATE memory SET meta = '[' WHERE id = '{ids[1]}'")

    assert purge_due(engine) == 2
    assert purge_due(engine) == 0


def test_a_line_whose_memory_is_damaged_is_a_problem_of_its_own(workspace: Place) -> None:
    """The person changes it and another one: the other one counts."""
    mind = workspace.open().scope()
    ids = {key: mind.remember("friendly", key=key).ids[0] for key in ("tone", "style")}
    run_sql(workspace, f"UPDATE memory SET meta = '[' WHERE id = '{ids['tone']}'")
    workspace.profile.write_text(workspace.profile.read_text().replace("friendly", "formal"))

    assert {hit.text for hit in mind.recall("style formal")} == {"formal"}
    (problem,) = workspace.engines[-1].status().problems
    assert ids["tone"] in problem.message
    text = workspace.profile.read_text()
    workspace.profile.write_text("".join(line for line in text.splitlines(True) if "key:" not in line))
    assert mind.keyed() == []
    assert mind.remember("Ana likes milk").ids


# What only SQLite can hold: text that is no UTF-8, in any column of any table.


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with rows in most tables, and its home."""
    root = tmp_path_factory.mktemp("lived-in")
    engine = lamina.open(
        root / "w", owner="ana", clock=ManualClock(), environment={"LAMINA_HOME": str(root / "home")}
    )
    with engine:
        mind = engine.scope(session="monday")
        ids = [mind.remember(text, idempotency_key=text).ids[0] for text in TEAS]
        mind.remember("friendly", key="tone")
        mind.revise(ids[0], "Ana likes green tea a lot", reason="she said so")
        mind.revise(ids[0], TEAS[0])
        gone = mind.remember("Ana likes rooibos").ids[0]
        mind.forget(gone)
        mind.hear("Remember that I am allergic to peanuts.", reply="I will.")
        engine.scope(agent="planner", session="monday").remember("Ana may like jazz")
        (root / "w" / "notes.md").write_text("# Notes\n\nThe kettle is in the kitchen.\n")
        engine.library.index(engine.now(), full=True)  # type: ignore[union-attr]
        create_token(engine, "laptop")
        saver = CheckpointSaver(engine.database)
        made = {
            **empty_checkpoint(),
            "channel_values": {"log": ["x" * 5000]},
            "channel_versions": {"log": "1"},
        }
        at = saver.put(CHECKPOINT, made, {"step": 1}, {"log": "1"})  # type: ignore[arg-type, typeddict-item]
        saver.put_writes(at, [("log", "more")], "task-1")
        assert engine.verify_audit().findings == ()
    return root


def text_columns(root: Path) -> list[tuple[str, str]]:
    """Every column of text that has one, but for the tenant's name."""
    connection = apsw.Connection(str(root / "w" / ".lamina" / "memory.db"))
    columns = connection.execute(
        "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND c.type = 'TEXT' AND c.name <> 'tenant' ORDER BY 1, 2"
    ).fetchall()
    filled = [
        (str(table), str(column))
        for table, column in columns
        if connection.execute(f"SELECT 1 FROM {table} WHERE length({column}) > 0").fetchone()
    ]
    connection.close()
    return filled


def battery(engine: Engine, folder: Path) -> dict[str, Callable[[], object]]:
    mind = engine.scope(session="monday")
    return {
        "recall": lambda: mind.recall("what tea does Ana like", k=20),
        "list": lambda: mind.list(limit=20),
        "search": lambda: mind.search("where is the kettle"),
        "context": lambda: mind.context("tea"),
        "keyed": mind.keyed,
        "pending": mind.pending,
        "changes": mind.changes,
        "trace": mind.trace,
        "status": engine.status,
        "export": lambda: export(mind, folder / "export"),
        "lines": lambda: list(lines_of(mind)),
        "rebuild": engine.rebuild,
        "verify": engine.verify_audit,
        "damaged": engine.database.damaged,
        "remember": lambda: mind.remember("Ana has a new kettle"),
        "set": lambda: mind.remember("formal", key="tone"),
        "hear": lambda: mind.hear("Remember that I live in Chiang Mai."),
        "recall again": lambda: mind.recall("what tea does Ana like", k=20),
    }


#: What is refused, each with its code: what asks for the damaged value itself, what a lost counter would
#: number twice, and a store that is not what its migrations say.
REFUSED = {
    "memory.key: set: row_damaged",
    "memory.file: set: row_damaged",
    "counter.name: hear: row_damaged",
    "schema_migration.hash: open: migration_changed",
}


def opened(place: Path) -> Engine:
    home = {"LAMINA_HOME": str(place / "home")}
    return lamina.open(place / "w", owner="ana", clock=ManualClock(), environment=home)


def tried(place: Path) -> tuple[dict[str, Any], list[str]]:
    """What everything came to, and what was refused, with its code."""
    results: dict[str, Any] = {}
    refused: list[str] = []
    try:
        engine = opened(place)
    except LaminaError as error:
        return {}, [f"open: {error.code}"]
    with engine:
        for name, act in battery(engine, place).items():
            try:
                results[name] = act()
            except LaminaError as error:
                refused.append(f"{name}: {error.code}")
    return results, refused


def test_no_byte_of_any_text_stops_the_rest(lived_in: Path, tmp_path: Path) -> None:
    """In the first row of each table; every verb works, and finds everything else. `make test` spoils every
    third column, and those that are refused or met in a way of their own."""
    wrong: list[str] = []
    columns = text_columns(lived_in)
    assert len(columns) > 90
    refused_in = {one.partition(":")[0] for one in REFUSED}
    for number, (table, column) in enumerate(columns):
        if number % times(3, 1) and (table, column) not in HARD and f"{table}.{column}" not in refused_in:
            continue
        place = tmp_path / f"{table}-{column}"
        shutil.copytree(lived_in, place)
        spoil(place / "w", table, column)
        results, refused = tried(place)
        wrong += [f"{table}.{column}: {one}" for one in refused]
        if not results:
            continue
        if not {hit.text for hit in results["recall again"]} >= {*TEAS, "Ana has a new kettle"}:
            wrong.append(f"{table}.{column}: not found")
        shutil.rmtree(place)

    assert set(wrong) == REFUSED


#: What a column never holds, by what SQLite says it holds.
STRANGE = {
    "words": {"BIGINT": "'rot'", "DOUBLE PRECISION": "'rot'"},
    "bytes": {
        "TEXT": "x'ff00fe'",
        "BIGINT": "x'ff00fe'",
        "DOUBLE PRECISION": "x'ff00fe'",
        "BLOB": "x'ff00fe'",
    },
    "the most": {"BIGINT": str(2**63 - 1)},
    "less than nothing": {"BIGINT": "-1"},
    "a fraction": {"BIGINT": "1.5"},
    "no words": {"TEXT": "''", "BLOB": "''"},
}


@pytest.mark.parametrize("sort", STRANGE)
def test_a_value_of_another_sort_is_named_and_never_a_surprise(
    lived_in: Path, tmp_path: Path, sort: str
) -> None:
    """In the first row of each table: every verb works, or says which row it is and what to run."""
    connection = apsw.Connection(str(lived_in / "w" / ".lamina" / "memory.db"))
    columns = connection.execute(
        "SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND c.name <> 'tenant' ORDER BY 1, 2"
    ).fetchall()
    connection.close()
    chosen = [
        (str(one), str(name), STRANGE[sort][str(kind)])
        for one, name, kind in columns
        if kind in STRANGE[sort]
    ]
    for number, (table, column, value) in enumerate(chosen):
        if number % times(12, 1) and (table, column) not in HARD:
            continue
        place = tmp_path / f"{table}-{column}"
        shutil.copytree(lived_in, place)
        connection = apsw.Connection(str(place / "w" / ".lamina" / "memory.db"))
        keys = connection.execute(f"SELECT name FROM pragma_table_info('{table}') WHERE pk > 0").fetchall()
        key = ", ".join(str(name) for (name,) in keys)
        with suppress(apsw.ConstraintError):  # it would have been refused
            connection.execute(
                f"UPDATE {table} SET {column} = {value}"
                f" WHERE ({key}) = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1)"
            )
        connection.close()
        _, refused = tried(place)
        codes = {one.rpartition(" ")[2] for one in refused}
        assert codes <= {"row_damaged", "audit_key_other", "migration_changed", "store_too_new"}, (
            table,
            column,
        )
        shutil.rmtree(place)


#: Those that every verb meets in a way of its own.
HARD = {
    ("change_log", "event"),
    ("change_log", "number"),
    ("counter", "value"),
    ("fresh", "length"),
    ("history", "actor"),
    ("memory", "created_at"),
    ("memory", "importance"),
    ("memory", "text"),
    ("memory_count", "count"),
    ("property", "value"),
    ("relation", "created_at"),
    ("session", "last_at"),
    ("shelf", "next_slot"),
    ("vector_block", "data"),
    ("vector_fresh", "data"),
}


def test_a_damaged_index_is_made_anew(lived_in: Path, tmp_path: Path) -> None:
    shutil.copytree(lived_in, tmp_path / "p")
    connection = apsw.Connection(str(tmp_path / "p" / "w" / ".lamina" / "memory.db"))
    connection.execute("UPDATE vector_fresh SET data = x'ff'")
    connection.close()
    with opened(tmp_path / "p") as engine:
        with pytest.raises(Damaged, match="vector_fresh") as refused:
            engine.scope().recall("green tea")
        assert "lamina doctor --fix" in refused.value.hint
        engine.rebuild()
        assert TEAS[0] in [hit.text for hit in engine.scope().recall("green tea")]


def test_a_spoilt_property_is_made_anew_or_refused(lived_in: Path, tmp_path: Path) -> None:
    """Each of them by itself; only what an administrator accepted is not replaced by nothing."""
    connection = apsw.Connection(str(lived_in / "w" / ".lamina" / "memory.db"))
    names = [str(name) for (name,) in connection.execute("SELECT name FROM property")]
    connection.close()
    assert len(names) > 5
    for number, name in enumerate(names):
        place = tmp_path / str(number)
        shutil.copytree(lived_in, place)
        spoil(place / "w", "property", "value", f"name = '{name}'")
        results, refused = tried(place)
        assert refused == [], name
        assert {hit.text for hit in results["recall again"]} >= set(TEAS), name


def test_a_memory_with_a_spoilt_column_is_left_out_and_the_others_are_not(
    lived_in: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for table, column in text_columns(lived_in):
        if table != "memory" or column in ("file", "key"):
            continue
        place = tmp_path / column
        shutil.copytree(lived_in, place)
        spoil(place / "w", table, column, f"text = '{TEAS[1]}'")
        caplog.clear()
        results, refused = tried(place)

        assert refused == [], column
        others = {TEAS[0], TEAS[2]}
        shown = column not in ("identity", "trust", "seal")  # these are for looking up and checking
        if shown:
            assert {hit.text for hit in results["recall"]} & set(TEAS) == others, column
            assert {hit.text for hit in results["recall again"]} & set(TEAS) == others, column
            exported = (place / "export" / "memories.jsonl").read_text("utf-8").splitlines()
            assert {json.loads(one)["text"] for one in exported} & set(TEAS) == others, column
            assert TEAS[1] not in results["context"].text
        (row,) = [one for one in results["damaged"] if one.table == "memory"]
        assert row.column == column
        assert row.key in ("user:ana:semantic:2", "\\xffser:ana:semantic:2")
        assert any(one.what == "damaged" for one in results["verify"].findings)
        if shown:
            with opened(place) as engine, pytest.raises(NotFound if column == "id" else Damaged):
                engine.scope().get("user:ana:semantic:2")


def test_a_state_without_one_of_its_parts_is_refused(lived_in: Path, tmp_path: Path) -> None:
    for table in ("checkpoint", "checkpoint_blob", "checkpoint_write"):
        place = tmp_path / table
        shutil.copytree(lived_in, place)
        spoil(place / "w", table, "type")
        with opened(place) as engine, pytest.raises(Damaged) as told:
            CheckpointSaver(engine.database).get_tuple(CHECKPOINT)  # type: ignore[arg-type]
        assert told.value.code == "row_damaged"


def test_a_shelf_whose_name_is_spoilt_is_named_again_by_a_rebuild(lived_in: Path, tmp_path: Path) -> None:
    shutil.copytree(lived_in, tmp_path / "w1")
    spoil(tmp_path / "w1" / "w", "shelf", "name", "name = 'user:ana'")
    with opened(tmp_path / "w1") as engine:
        assert DamagedRow("shelf", "1", "name") in engine.database.damaged()
        engine.rebuild()
        assert found(engine.scope()) == set(TEAS)
        assert engine.database.damaged() == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_columns_of_every_query_are_known_by_name(dialect: str) -> None:
    """A damaged row is named by its key; what a query selects has to be told apart for that."""
    queries = load_queries(dialect)
    assert selected(queries["memory_by_id"])[:6] == ["id", "space", "owner", "layer", "kind", "text"]
    assert selected(queries["history_of"]) == [
        "memory_id",
        "number",
        "revision",
        "op",
        "at",
        "actor",
        "via",
        "old_text",
        "new_text",
        "decision",
    ]
    assert selected(queries["export_history"])[0] == "memory_id"
    assert selected(queries["drop_fresh_vector"]) == ["embedder"]
    assert selected(queries["count_by_state"])[0] == "state"
