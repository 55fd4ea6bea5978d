"""What an export has beside its memories: the life of each, the links between them, and the sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from lamina.imports.lines import parsed
from lamina.language.secrets.privacy import find_secrets
from lamina.model import HistoryEntry, canonical, from_plain, quoted
from lamina.storage.database import Transaction
from lamina.storage.export_rows import PersonRows
from lamina.storage.memories import Edges, shelf_of
from lamina.storage.small_tables import Sessions
from lamina.text.ttl import parse_time
from lamina.write.details import fraction
from lamina.write.store import Caller


def is_empty(caller: Caller) -> bool:
    """Whether nothing of the person's is here yet: then their own export is a restore, and not an import."""
    owner = quoted(caller.scope.user)
    return caller.store.database.read(lambda tx: PersonRows(tx, owner).page("", 1))[0] is None


class Lives:
    """The lives of an export's memories, which it has in the order of their ids."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._groups = groupby((parsed(line) for line in lines), _whose)
        self._next: tuple[str, list[Any]] | None = ("", [])

    def of(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """The steps of one memory's life, oldest first; none where one of them cannot be used."""
        while self._next is not None and self._next[0] < memory_id:
            found = next(self._groups, None)
            self._next = None if found is None else (found[0], list(found[1]))
        steps = self._next[1] if self._next is not None and self._next[0] == memory_id else []
        if find_secrets(canonical(steps)):
            return ()
        told = [{key: value for key, value in one.items() if key != "number"} for one in steps]
        return tuple(from_plain(HistoryEntry, one) for one in told)


def _whose(step: Any) -> str:
    return str(step.get("memory_id", "")) if isinstance(step, dict) else ""


def put_link(caller: Caller, edge: Mapping[str, Any]) -> None:
    """A link that somebody made, as it was."""
    start, end, kind = (str(edge[one]) for one in ("from_id", "to_id", "type"))
    strength, at = fraction(edge["strength"], "strength"), parse_time(edge["created_at"])

    def work(tx: Transaction) -> None:
        edges = Edges(tx)
        edges.put(start, end, kind, strength, at or caller.store.now())
        for one in (start, end):
            edges.note_linked(shelf_of(one))

    caller.store.database.write(work)


def reopen(caller: Caller, file: Path) -> None:
    """When each session began, was last used and ended."""
    rows = [row for line in file.read_bytes().splitlines() if isinstance(row := parsed(line), dict)]

    def work(sessions: Sessions) -> None:
        for row in rows:
            name, user = str(row.get("name")), caller.scope.user
            times = [row.get(one) for one in ("started_at", "last_at", "ended_at")]
            started, last, ended = (parse_time(one) if isinstance(one, str) else None for one in times)
            if started and last:
                sessions.end(user, name, started)  # so that it begins anew with the next line
                sessions.touch(user, name, started)
                sessions.touch(user, name, last)
            if ended:
                sessions.end(user, name, ended)

    caller.store.database.write(lambda tx: work(Sessions(tx)))
