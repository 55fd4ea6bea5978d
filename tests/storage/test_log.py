"""SQLite's log: folded into the file beside the writers, once for each stretch that it grows by."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lamina.storage.database import Transaction
from lamina.storage.sqlite import LONG_LOG, SqliteDatabase

PAGES = 100  #: that one write fills


class Counted(SqliteDatabase):
    folds = 0

    def _fold(self) -> None:
        self.folds += 1
        super()._fold()


def _kept(text: str, transaction: Transaction) -> None:
    transaction.run("write_property", name="long", value=text)


def test_a_log_that_cannot_begin_anew_is_folded_once_a_stretch(tmp_path: Path) -> None:
    database = Counted(tmp_path / "store.db")

    def write_on(transaction: Transaction) -> None:
        transaction.all("read_property", name="held")  # as long as this reads, the log cannot begin anew
        for number in range(2 * LONG_LOG // PAGES + 20):
            text = f"{number:08}" * (PAGES * 512)
            database.write(partial(_kept, text))

    database.read(write_on)
    database.close()
    assert 1 <= database.folds <= 2
