"""SQLite's full text search over triples of letters: what an agent with a database and no memory has."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace

from lamina_govern.system import Party


@dataclass(frozen=True)
class Fts:
    """A table of notes, as one person sees it; whoever speaks is believed."""

    database: sqlite3.Connection
    owner: str = "ana"
    name: str = "SQLite FTS5"

    def speaking_as(self, party: Party) -> Fts:
        return replace(self, owner="bob" if party is Party.STRANGER else "ana")

    def add(self, text: str) -> None:
        self.database.execute("INSERT INTO notes VALUES (?, ?)", (self.owner, text))

    def search(self, query: str) -> list[str]:
        words = " OR ".join(f'"{query[at : at + 3]}"' for at in range(len(query) - 2))
        asked = "SELECT text FROM notes WHERE notes MATCH ? AND owner = ? ORDER BY rank"
        return [text for (text,) in self.database.execute(asked, (f"text : ({words})", self.owner))]

    def context(self, task: str) -> str:
        return "\n".join(self.search(task))

    def forget(self, text: str) -> None:
        self.database.execute("DELETE FROM notes WHERE owner = ? AND text = ?", (self.owner, text))

    purge = forget

    def jobs(self) -> None:
        """There are none."""

    def export(self) -> str:
        asked = "SELECT text FROM notes WHERE owner = ?"
        return "\n".join(text for (text,) in self.database.execute(asked, (self.owner,)))


def fresh() -> Fts:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("CREATE VIRTUAL TABLE notes USING fts5(owner UNINDEXED, text, tokenize='trigram')")
    return Fts(database)
