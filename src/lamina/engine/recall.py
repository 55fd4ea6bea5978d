"""The read path: retrievers inside the caller's scope, fusion, packing. Reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.engine.findings import at_slots, named, source_of
from lamina.engine.findings import loaded as things
from lamina.errors import InvalidInput
from lamina.model import Hit, Layer, Memory, Phase, Query, Recollection, Space, Trust
from lamina.storage.database import Transaction
from lamina.storage.lexicon import Lexicon
from lamina.storage.memories import Memories
from lamina.storage.phases import Phases
from lamina_search.fusion import Found, Fused, fused
from lamina_search.lexical import Shelf, ranked
from lamina_search.packing import packed
from lamina_text.analyse import query_terms, terms
from lamina_text.entries import canonical_key
from lamina_text.normal import well_formed
from lamina_text.tokens import count_tokens

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
    wanted = reading.pool
    while True:
        candidates = ranking.best(wanted)
        ids: dict[tuple[int, int], str] = {}
        for shelf in reading.shelves:
            slots = [c.slot for c in candidates if c.shelf == shelf.number]
            if slots:
                seen = at_slots(reading.transaction, reading.query, shelf, slots, reading.now)
                ids.update({(shelf.number, slot): found_id for slot, found_id in seen.items()})
        found = [Found(ids[c.shelf, c.slot], c.score) for c in candidates if (c.shelf, c.slot) in ids]
        if len(found) >= reading.pool or wanted >= len(ranking):
            return sorted(found, key=lambda one: (-one.score, one.id))[: reading.pool]
        wanted *= 4


def exact(reading: Reading) -> list[Found]:
    """A question that is an id or a key finds exactly that."""
    asked = reading.query.text.strip()
    memories = Memories(reading.transaction)
    ids = memories.readable_ids(reading.query, [asked], reading.now) if ":" in asked else []
    ids += named(reading.transaction, reading.query, reading.shelves)
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a recall found, with what its trace needs."""

    found: Recollection
    memories: dict[str, Memory]
    order: tuple[Fused, ...]  #: everything that was found, before the cut


def recall(transaction: Transaction, query: Query, now: datetime, pool: int) -> Answer:
    """The best hits for a query, on one snapshot; `query` has been checked."""
    reading = _reading(transaction, query, now, pool)
    order = fused({name: retrieve(reading) for name, retrieve in RETRIEVERS.items()})
    chosen, memories = _chosen(transaction, order, query.k)
    hits = [_hit(one, memories[one.id], reading.words) for one in chosen]
    kept = packed(hits, query.budget_tokens)
    return Answer(Recollection(hits=kept, left_out=len(hits) - len(kept)), memories, tuple(order))


def _reading(transaction: Transaction, query: Query, now: datetime, pool: int) -> Reading:
    names = query.scope.shelves(query.spaces) + ((query.documents,) if query.documents else ())
    shelves = tuple(Lexicon(transaction).shelves(names))
    if not query.across_phases and any(shelf.phase > 1 for shelf in shelves):
        query = replace(query, phases=tuple(f"{one.name} phase-{one.phase}" for one in shelves))
    words = tuple(query_terms(query.text))
    return Reading(transaction, query, now, max(pool, query.k), words, shelves)


def _chosen(
    transaction: Transaction, order: Sequence[Fused], k: int
) -> tuple[list[Fused], dict[str, Memory]]:
    """The first k that differ: a turn that says what a lasting memory says is not shown beside it."""
    chosen: list[Fused] = []
    loaded: dict[str, Memory] = {}
    for start in range(0, len(order), 2 * k):
        page = order[start : start + 2 * k]
        loaded |= things(transaction, [one.id for one in page])
        said = {loaded[one.id].text for one in page if loaded[one.id].layer is not Layer.WORKING}
        for one in page:
            memory = loaded[one.id]
            if memory.layer is Layer.WORKING and memory.text in said:
                continue
            said.add(memory.text)
            chosen.append(one)
        if len(chosen) >= k:
            break
    return chosen[:k], loaded


def current_phases(transaction: Transaction, query: Query) -> dict[Space, Phase]:
    """The phase each of the query's spaces is in, in reading order; spaces without one are left out."""
    found: dict[Space, Phase] = {}
    for space in query.spaces:
        name = query.scope.shelf(space)
        known = Lexicon(transaction).shelf(name) if name else None
        phase = Phases(transaction).get(*known) if known else None
        if phase is not None:
            found[space] = phase
    return found


def _hit(one: Fused, memory: Memory, words: Sequence[str]) -> Hit:
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
        at=memory.said_at if memory.said_at < memory.created_at else memory.updated_at,
        source=source_of(memory),
        tokens=count_tokens(memory.text),
        trust=memory.provenance.trust,
    )


def _reasons(one: Fused, memory: Memory, words: Sequence[str]) -> tuple[str, ...]:
    reasons = []
    if memory.provenance.trust is Trust.UNTRUSTED:
        reasons.append(f"untrusted: a {memory.provenance.role} said it")
    if "exact" in one.ranks:
        reasons.append("named by its key or id")
    if "lexical" in one.ranks:
        present = set(terms(f"{memory.key} {memory.text}" if memory.key else memory.text))
        reasons.append(f"matches {sum(word in present for word in words)} of {len(words)} terms")
    return tuple(reasons)
