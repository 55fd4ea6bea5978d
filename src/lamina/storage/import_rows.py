"""How far files of other tools were read, and which of their entries are known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from lamina.model import canonical
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a file was read."""

    path: str
    mark: str  #: which file it was, and how it was asked to be read
    size: int  #: of a file that was read to its end, -1 before
    place: dict[str, Any]


class Imports:
    """What one user has imported, inside one transaction."""

    def __init__(self, transaction: Transaction, user: str) -> None:
        self._tx = transaction
        self._user = user

    def position(self, path: str) -> Position | None:
        """How far a file was read; None also where nobody can tell any more, and it is read anew."""
        found = self._tx.each(
            lambda row: Position(path=path, mark=row[0], size=row[1], place=json.loads(row[2])),
            "import_position",
            user=self._user,
            path=path,
        )
        return found[0] if found else None

    def keep(self, position: Position, at: datetime) -> None:
        self._tx.run(
            "put_import_position",
            user=self._user,
            path=position.path,
            mark=position.mark,
            size=position.size,
            place=canonical(position.place),
            at=micros(at),
        )

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the entries that came in before."""
        return {key for key in keys if self._tx.one("import_entry", user=self._user, key=key)}

    def add(self, keys: Iterable[str]) -> None:
        self._tx.many("add_import_entry", [{"user": self._user, "key": key} for key in keys])
