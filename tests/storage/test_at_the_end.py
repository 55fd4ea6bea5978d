"""What a piece of work writes at its end: the rows of single steps, seen before it, and all or none."""

from __future__ import annotations

from functools import partial

import pytest

from lamina.storage.database import Database, Transaction
from lamina.storage.logs import last_number, next_number
from lamina.storage.search_index import FRESH, TextIndex
from tests.backends import Place

TEXTS = [["tea", "cup", f"word{number % 7}"] for number in range(2 * FRESH + 9)]


def _rows(database: Database, shelf: int) -> list[object]:
    def work(tx: Transaction) -> list[object]:
        lists = tx.all(
            "posting_blocks", shelves=[shelf], terms=sorted({term for text in TEXTS for term in text})
        )
        fresh = tx.all("fresh_texts", shelves=[shelf])
        return [
            sorted((term, block, bytes(data)) for _, term, block, data in lists),
            [row[1:] for row in sorted(fresh)],
        ]

    return database.read(work)


def _shelf(database: Database, name: str) -> int:
    return database.write(lambda tx: TextIndex(tx).open_shelf(name)[0])


def _added(shelf: int, text: list[str], transaction: Transaction) -> int:
    return TextIndex(transaction).add(shelf, text)


def test_texts_that_come_together_stand_as_if_each_had_come_alone(place: Place) -> None:
    database = place.open().database
    together, alone = _shelf(database, "user:many"), _shelf(database, "user:one")
    database.write(lambda tx: [TextIndex(tx).add(together, text) for text in TEXTS[:5]])
    slots = database.write(lambda tx: [TextIndex(tx).add(together, text) for text in TEXTS[5:]])
    for text in TEXTS:
        database.write(partial(_added, alone, text))
    assert slots == list(range(5, len(TEXTS)))
    assert _rows(database, together) == _rows(database, alone)


def test_what_was_added_is_found_and_taken_out_in_the_same_transaction(place: Place) -> None:
    database = place.open().database
    number = _shelf(database, "user:ana")

    def work(tx: Transaction) -> tuple[int, int]:
        index = TextIndex(tx)
        slots = [index.add(number, text) for text in TEXTS]
        index.remove(number, slots[3], TEXTS[3])
        [shelf] = index.shelves(["user:ana"])
        return shelf.members, len([1 for slot in slots if index.finds(shelf, slot, "tea")])

    assert database.write(work) == (len(TEXTS) - 1, len(TEXTS) - 1)


def test_numbers_of_work_that_fails_are_given_again(place: Place) -> None:
    database = place.open().database

    def fails(tx: Transaction) -> None:
        assert [next_number(tx, "tick:user:ana") for _ in range(3)] == [1, 2, 3]
        raise ValueError

    with pytest.raises(ValueError):
        database.write(fails)
    assert database.write(lambda tx: [next_number(tx, "tick:user:ana") for _ in range(2)]) == [1, 2]
    assert database.read(lambda tx: last_number(tx, "tick:user:ana")) == 2
