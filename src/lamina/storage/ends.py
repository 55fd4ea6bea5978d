"""How a memory or a person leaves the store: what is deleted, and what is counted afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamina.model import Memory, canonical, quoted
from lamina.storage.database import Tables, Transaction
from lamina.storage.documents import DOCUMENTS
from lamina.storage.ledger import TABLES as SEALED
from lamina.storage.ledger import lane_of
from lamina.storage.memories import from_row
from lamina.storage.refusals import never_shown, shown_by
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Properties, Tokens

#: The tables with anything of a person's, in the order in which they are emptied of it.
TABLES = (
    "history",
    "relation",
    "memory",
    "memory_count",
    "posting",
    "fresh",
    "vector_block",
    "vector_fresh",
    "vector_shelf",
    "placement",
    "conversation",
    "phase",
    "passage",
    "document",
    "shelf",
    "change_log",
    "event",
    "idempotency",
    "entry",
    "operation",
    "operational",
    "operational_count",
    "session",
    "token",
    "import_position",
    "import_entry",
    "checkpoint",
    "checkpoint_blob",
    "checkpoint_write",
    "supervisor_checkpoints",
    "job_mark",
    "property",
    "refusal",
    "refusal_mark",
    "exposure",
    "answer",
)
#: What stays: the chain, which cannot change (0016), the seals over what is left, the numbers, so that no id
#: is ever given twice, and what is nobody's.
STAYS = ("audit", "lane", "counter", "schema_migration")
_PLACES = ("rows", "history", "relations", "entries", "counts", "responses", "unfinished")


class Purging(Tables):
    """What a purge does to one tenant's rows inside one transaction."""

    def taken_over(self, shelf: int, memory_id: str) -> list[Memory]:
        """What a memory took the place of, or was made of."""
        return self._tx.each(from_row, "taken_over", shelf=shelf, id=memory_id)

    def echoes(self, memory_id: str, text: str) -> list[int]:
        """Numbers of the steps of a successor that repeat this text."""
        return [row[0] for row in self._tx.all("echoes", id=memory_id, text=text)]

    def scrub(self, memory_id: str, number: int) -> None:
        """One step no longer says what was before it."""
        self._tx.run("scrub_step", id=memory_id, number=number)

    def remove(self, memory_id: str, telling: Iterable[str]) -> None:
        """Everything that the rows have of a memory; `telling` are words to take out of jobs' reports."""
        for table, name in (
            ("memory", "purge_memory"),
            ("history", "purge_history"),
            ("relation", "drop_relations"),
        ):
            self._tx.ledger.take(table, self._tx.all(name, id=memory_id))
        for name in ("purge_entries", "purge_counts"):
            self._tx.run(name, id=memory_id)
        for name in ("purge_responses", "purge_answers"):
            self._tx.run(name, named=f'"{memory_id}"')
        never_shown(self._tx, memory_id)
        for text in telling:
            self._tx.run("purge_reports", words=canonical(text)[1:-1])

    def counted(self, memory_id: str) -> dict[str, int]:
        """By place, how many rows there are of a memory."""
        found: dict[str, int] = {}
        for place in _PLACES:
            row = self._tx.one(f"count_{place}", id=memory_id, named=f'"{memory_id}"')
            found[place] = int(row[0]) if row else 0
        return found

    def repeating(self, owner: str, text: str, *, telling: bool) -> list[str]:
        """Memories of a person that say the very same, or say it too where that is long enough to tell."""
        rows = self._tx.all("same_words", text=text, telling=int(telling), **of_person(owner))
        return [row[0] for row in rows]

    def strays(self, shelf: str) -> tuple[int, int]:
        """How many places in the index and among the vectors of a shelf belong to no text."""
        if (known := TextIndex(self._tx).shelf(shelf)) is None:
            return 0, 0
        taken = {slot for (slot,) in self._tx.all("slots_taken", shelf=known[0])}
        words = {slot for (slot,) in self._tx.all("fresh_slots", shelf=known[0])}
        for block, data in self._tx.all("posted_slots", shelf=known[0]):
            words |= {block * 256 + at for at in set(data[::4])}
        meant = {slot for (slot,) in self._tx.all("fresh_vector_slots", shelf=known[0])}
        for block, dimension, data in self._tx.all("vector_slots", shelf=known[0]):
            meant |= {block * 256 + at for at in set(data[:: dimension + 1])}
        return len(words - taken), len(meant - taken)


def of_person(owner: str) -> dict[str, str]:
    """What the condition `of_person` of a query asks for."""
    return {"owner": owner, "first": f"{owner},", "beyond": f"{owner}-"}


class Erasure:
    """What an erasure does to the rows of one person inside one transaction."""

    def __init__(self, transaction: Transaction, user: str) -> None:
        self._tx, self._user, self._names = transaction, user, person_names(user)

    def words(self) -> list[str]:
        """Some of what the person's memories say, to look for afterwards."""
        return [row[0] for row in self._tx.all("some_words", **self._names)]

    def unsaid(self, words: str) -> bool:
        """Whether nobody else says this, too."""
        return self._tx.one("also_said", words=words) is None

    def run(self, *, whole: bool) -> dict[str, int]:
        """By table, how many rows went; `whole` where the workspace was theirs."""
        done: dict[str, int] = {}
        for table in TABLES:
            gone = self._tx.all(f"erase_{table}", **self._names)
            done[table] = len(gone)
            if table in SEALED:
                self._tx.ledger.take(table, gone, lane_of(self._names["own"]) if table == "phase" else None)
        done["token"] += Tokens(self._tx).release(self._user)
        if whole:
            done["job_run"] = len(self._tx.all("erase_job_run"))
            Properties(self._tx).drop("session")  # the name of the one that SESSION.md is about
        return done

    def shared(self) -> int:
        """How many memories of projects and of the system they said; those stay."""
        row = self._tx.one("count_shared", actor=f'"actor":"user:{self._user}"')
        return int(row[0]) if row else 0


def person_names(user: str) -> dict[str, Any]:
    """What the queries know a person by."""
    owner = quoted(user)
    own, first, beyond = f"user:{owner}", f"session:{owner},", f"session:{owner}-"
    return {
        "user": user,
        "owner": owner,
        "own": own,
        "documents": f"{DOCUMENTS}:{owner}",
        "first": first,
        "beyond": beyond,
        "ids": f"{own}:",
        "ids_beyond": f"{own};",
        "calls": f"{owner}/",
        "calls_beyond": f"{owner}0",
        "named": f'"{own}:',
        "named_session": f'"{first}',
        "allowed": f"allowed:{owner}",
        "shown": shown_by(owner),
        "exports": f"export:{owner}:",
        "exports_beyond": f"export:{owner};",
    }
