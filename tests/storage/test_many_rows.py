"""Many rows of one query, however they travel: the same rows as one by one, all or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.storage.database import Database, Transaction
from lamina.storage.postgres import PostgresDatabase
from lamina.storage.sqlite import SqliteDatabase

COUNTS = (0, 1, 7, 8, 9, 100, 101, 250)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        opened: Database = SqliteDatabase(tmp_path / "store.db", "default")
    else:
        opened = PostgresDatabase(request.getfixturevalue("postgres_store"))
    yield opened
    opened.close()


def postings(count: int, data: bytes) -> list[dict[str, object]]:
    return [{"shelf": count, "term": f"คำ {at} %s", "block": at % 3, "data": data} for at in range(count)]


def held(database: Database, shelf: int) -> dict[str, bytes]:
    terms = [f"คำ {at} %s" for at in range(shelf)]
    rows = database.ask("posting_blocks", shelves=[shelf], terms=terms)
    return {term: data for _, term, _, data in rows}


@pytest.mark.parametrize("count", COUNTS)
def test_what_is_there_is_added_to_and_what_is_new_is_put(database: Database, count: int) -> None:
    some = count // 2
    database.write(lambda tx: tx.many("add_posting", postings(count, b"abcd")[:some]))
    database.write(lambda tx: tx.many("add_posting", postings(count, b"\x00'%(")))

    assert [*held(database, count).values()].count(b"abcd\x00'%(") == some
    assert len(held(database, count)) == count


def test_one_row_that_cannot_be_put_leaves_none(database: Database) -> None:
    def work(transaction: Transaction) -> None:
        transaction.many("add_posting", [*postings(20, b"abcd"), {**postings(20, b"x")[0], "term": None}])

    with pytest.raises(Exception):  # noqa: B017 - each database says it in its own words
        database.write(work)
    assert held(database, 20) == {}
