"""The read path: retrievers inside the caller's scope, fusion, packing. Reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.errors import InvalidInput
from lamina.model import Hit, Memory, Query, Recollection, Source
from lamina.search.fusion import Found, Fused, fused
from lamina.search.lexical import Shelf, ranked
from lamina.search.packing import packed
from lamina.storage.database import Transaction
from lamina.storage.lexicon import Lexicon
from lamina.storage.memories import Memories
from lamina.text.analyse import query_terms, terms
from lamina.text.entries import canonical_key
from lamina.text.normal import well_formed
from lamina.text.tokens import count_tokens

MAX_K = 1000
MAX_QUERY_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One question on one snapshot of the store."""

    transaction: Transaction
    query: Query
    now: datetime
    pool: int  #: the same for every k, so that the first hit does not depend on it
    words: tuple[str, ...]
    shelves: tuple[Shelf, ...]


Retriever = Callable[[Reading], Sequence[Found]]


def lexical(reading: Reading) -> list[Found]:
    """BM25 over the caller's shelves; what the query may not see never takes a place in the pool."""
    if not reading.words or not reading.shelves:
        return []
    numbers = [shelf.number for shelf in reading.shelves]
    blocks = Lexicon(reading.transaction).blocks(numbers, reading.words)
    ranking = ranked(blocks, reading.shelves)
    memories, wanted = Memories(reading.transaction), reading.pool
    while True:
        candidates = ranking.best(wanted)
        ids: dict[tuple[int, int], str] = {}
        for number in numbers:
            slots = [c.slot for c in candidates if c.shelf == number]
            if slots:
                seen = memories.readable_slots(reading.query, number, slots, reading.now)
                ids.update({(number, slot): memory_id for slot, memory_id in seen.items()})
        found = [Found(ids[c.shelf, c.slot], c.score) for c in candidates if (c.shelf, c.slot) in ids]
        if len(found) >= reading.pool or wanted >= len(ranking):
            return sorted(found, key=lambda one: (-one.score, one.id))[: reading.pool]
        wanted *= 4


def exact(reading: Reading) -> list[Found]:
    """A question that is an id or a key finds exactly that."""
    asked = reading.query.text.strip()
    memories = Memories(reading.transaction)
    ids = memories.readable_ids(reading.query, [asked], reading.now) if ":" in asked else []
    try:
        key = canonical_key(asked)
    except InvalidInput:
        return [Found(one, 1.0) for one in ids]
    numbers = [shelf.number for shelf in reading.shelves]
    ids += memories.readable_identities(reading.query, numbers, [f"key:{key}"], reading.now)
    return [Found(one, 1.0) for one in dict.fromkeys(ids)]


RETRIEVERS: dict[str, Retriever] = {"exact": exact, "lexical": lexical}


def checked_query(query: Query) -> Query:
    """The query, or InvalidInput that says what is wrong with it."""
    well_formed(query.text, "question", MAX_QUERY_CHARS)
    if not 1 <= query.k <= MAX_K:
        raise InvalidInput(f"k must be between 1 and {MAX_K}, not {query.k}.", code="k_invalid")
    return query


def recall(transaction: Transaction, query: Query, now: datetime, pool: int) -> Recollection:
    """The best hits for a query, on one snapshot; `query` has been checked."""
    names = query.scope.shelves(query.spaces)
    shelves = tuple(Lexicon(transaction).shelves(names))
    words = tuple(query_terms(query.text))
    reading = Reading(transaction, query, now, max(pool, query.k), words, shelves)
    order = fused({name: retrieve(reading) for name, retrieve in RETRIEVERS.items()})[: query.k]
    memories = Memories(transaction).load([one.id for one in order])
    hits = [_hit(one, memories[one.id], words) for one in order]
    kept = packed(hits, query.budget_tokens)
    return Recollection(hits=kept, left_out=len(hits) - len(kept))


def _hit(one: Fused, memory: Memory, words: Sequence[str]) -> Hit:
    origin = memory.provenance
    return Hit(
        id=memory.id,
        text=memory.text,
        score=one.score,
        reasons=_reasons(one, memory, words),
        ranks=one.ranks,
        layer=memory.layer,
        kind=memory.kind,
        space=memory.space,
        key=memory.key,
        at=memory.updated_at,
        source=Source(path=memory.file, actor=origin.actor, via=origin.via, session=origin.session_id),
        tokens=count_tokens(memory.text),
    )


def _reasons(one: Fused, memory: Memory, words: Sequence[str]) -> tuple[str, ...]:
    reasons = []
    if "exact" in one.ranks:
        reasons.append("named by its key or id")
    if "lexical" in one.ranks:
        present = set(terms(f"{memory.key} {memory.text}" if memory.key else memory.text))
        reasons.append(f"matches {sum(word in present for word in words)} of {len(words)} terms")
    return tuple(reasons)
