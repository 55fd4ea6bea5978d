"""What was answered to whom: receipts, kept for some weeks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lamina.model import canonical
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import micros, moment

Kept = tuple[str, datetime, dict[str, Any]]  #: id, when, everything else


class Answers:
    """The receipts of one person's answers inside one transaction."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._owner = transaction, owner

    def get(self, answer_id: str) -> Kept | None:
        return self._tx.only(_kept, "answer_by_id", id=answer_id, owner=self._owner)

    def naming(self, memory_id: str, limit: int) -> list[Kept]:
        """Those that name a memory, the latest first."""
        return self._tx.each(_kept, "answers_naming", owner=self._owner, named=f'"{memory_id}"', limit=limit)


def keep_answers(transaction: Transaction, rows: Sequence[tuple[str, str, datetime, dict[str, Any]]]) -> None:
    """Store receipts: id, owner, when, everything else."""
    transaction.many(
        "add_answer",
        [
            {"id": one, "owner": owner, "at": micros(at), "data": canonical(data)}
            for one, owner, at, data in rows
        ],
    )


def drop_answers(transaction: Transaction, before: datetime) -> None:
    """Receipts from before then go, whoever's."""
    transaction.run("drop_answers", before=micros(before))


def any_answers(transaction: Transaction, before: datetime) -> bool:
    """Whether there are any from before then."""
    return transaction.one("any_answers", before=micros(before)) is not None


def _kept(row: Row) -> Kept:
    return row[0], moment(row[1]), json.loads(row[2])
