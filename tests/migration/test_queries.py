"""What the named queries promise as a whole."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lamina import storage
from lamina.storage.database import DIALECTS, load_queries

SQL = Path(storage.__file__).parent / "sql"
#: What may look at every memory of a tenant, because no caller gets its answer: upkeep, proofs, and what each
#: write must know. A query that a caller reads through has `AND {{reached}}` in it, or agents step over their
#: allowlists.
WHOLE_STORE = {
    "summaries_of",  # of one session, made anew when a turn of it is forgotten
    "identities_of",
    "memory_place",
    "active_after",
    "active_in_order",
    "active_on",
    "count_by_state",
    "miscounted",
    "memories_unlike_history",
    "memories_without_history",
    "expired_by",
    "texts_in_block",
    "texts_per_block",
    "episodes_over",
    "unused_memories",
    "due_memories",
    "shelves_in_use",
    "slot_of",
    "slots_on",
    "sealed_memory",  # these four are for the seal over the story
    "sealed_memory_of",
    "sealed_lapsing",
    "sealed_episodes",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_query_that_reads_memories_keeps_to_the_callers_allowlist(dialect: str) -> None:
    queries = load_queries(dialect)
    reading = {name for name, text in queries.items() if re.search(r"(?:FROM|JOIN)\s+memory\b", text)}
    asking = {name for name in reading if re.match("SELECT|WITH", queries[name])}
    assert {name for name in asking if ":reach" not in queries[name]} <= WHOLE_STORE


def test_a_query_has_its_name_to_itself() -> None:
    files = [file for file in SQL.glob("*.sql") if file.stem not in DIALECTS]
    names = [
        name
        for file in files
        for name in re.findall(r"^-- name: (\w+)$", file.read_text("utf-8"), flags=re.M)
    ]

    assert names
    assert [name for name, count in Counter(names).items() if count > 1] == []
