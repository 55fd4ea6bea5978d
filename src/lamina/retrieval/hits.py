"""The hits for a query: retrievers inside the caller's scope, fusion, packing. Reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from functools import lru_cache

from lamina.clock import monotonic
from lamina.encoders.port import Embedder, JointReader
from lamina.errors import InvalidInput, LaminaError
from lamina.model import Authority, Hit, Kind, Layer, Memory, Query, Recollection, Role, Trust
from lamina.policy.gates import is_reserved
from lamina.ranking.blend import Blend, Candidate, Meaning, blended
from lamina.ranking.fusion import Fused, Traits, adjust, asks, newest_first, ranks_by, reciprocal
from lamina.ranking.lexical import Shelf, Words, ranked
from lamina.ranking.question import Question, guessed, guesses, misread, mistyped, understood
from lamina.ranking.rerank import DEPTH, Reranker, closeness, judged, near_duplicates
from lamina.records import dataclass
from lamina.retrieval.candidates import ask_ahead, at_slots, named, slots_then, source_of, weight_left
from lamina.retrieval.candidates import loaded as things
from lamina.retrieval.meaning import Alike, alike
from lamina.retrieval.packing import packed
from lamina.retrieval.weighing import put_changes_first, put_on_scale, put_words_first, read_together, weigh
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories, Relations
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows
from lamina.text.entries import canonical_key
from lamina.text.terms import terms
from lamina.text.tokens import count_tokens

#: What has this much of the best score matches well.
GOOD = 0.9
_THEN = 32  #: of what was said in the time a question names, so many are looked at closely
_FEW = 5000  #: procedures, or memories of a category: on a shelf, up to so many are looked up by their place


@dataclass(frozen=True, slots=True)
class Means:
    """What a recall works with, beside the store."""

    pool: int = 64  #: how many candidates are looked at closely; the same for every k
    embedder: Embedder | None = None
    table: Embedder | None = None  #: answers where `embedder` cannot, or has not read everything yet
    fusion: str = "sum"  #: or `rrf`, the form of the documents
    plain_decay: bool = False
    reranker: Reranker | None = None
    related: bool = True  #: whether what is linked to the hits is told beside them
    seconds: float = 4.0  #: when a reranker has to be done
    elapsed: Callable[[], float] = monotonic


@dataclass(frozen=True, slots=True)
class Reading:
    """One question on one snapshot of the store."""

    transaction: Transaction
    query: Query
    now: datetime
    question: Question
    shelves: tuple[Shelf, ...]
    means: Means

    @property
    def linked(self) -> bool:
        """Whether anything on these shelves was ever linked."""
        return any(shelf.linked for shelf in self.shelves)


def _exact(reading: Reading) -> list[str]:
    """A question that is an id or a key finds exactly that."""
    asked = reading.query.text.strip()
    memories = Memories(reading.transaction)
    ids = memories.readable_ids(reading.query, [asked], reading.now) if ":" in asked else []
    ids += named(reading.transaction, reading.query, reading.shelves)
    return list(dict.fromkeys(ids + _keyed(reading)))


def _keyed(reading: Reading, *, ahead: bool = False) -> list[str]:
    """What has the question as its key; `ahead`: it will be asked for."""
    try:
        key = canonical_key(reading.query.text.strip())
    except InvalidInput:
        return []
    numbers, memories = [shelf.number for shelf in reading.shelves], Memories(reading.transaction)
    return memories.readable_identities(reading.query, numbers, [f"key:{key}"], reading.now, ahead=ahead)


@dataclass(frozen=True, slots=True)
class _Searched:
    blend: Blend
    words: Words
    meaning: Alike


def _searched(reading: Reading) -> _Searched:
    """Every text of the caller's shelves by words, conversation and meaning, densely.

    Who asks the same twice of one snapshot, as a context does for what is known and for what to do, has it
    searched once.
    """
    means, once = reading.means, reading.transaction.once
    asked = (reading.question.text, reading.now, reading.shelves, id(means.embedder), id(means.table))
    if once is None:
        return _search(reading)
    if (found := once.get(("searched", asked))) is None:
        found = once["searched", asked] = _search(reading)
    return found


def _search(reading: Reading) -> _Searched:
    text_index, question = TextIndex(reading.transaction), reading.question
    numbers = [shelf.number for shelf in reading.shelves]
    blocks = text_index.blocks(reading.shelves, list(question.weights))
    words = ranked(blocks, reading.shelves, question.weights, question.support)
    meant: dict[str, str] = {}
    for typed in mistyped(words.missing):
        near = guesses(typed, text_index.terms_like(numbers, typed[:2]))
        meant |= dict.fromkeys([*near, *misread(typed)], typed)
    if meant:
        weights = guessed(question.weights, meant)
        more = [one for one in meant if one not in question.weights]
        blocks += text_index.blocks(reading.shelves, more)
        words = ranked(blocks, reading.shelves, weights, question.support)
    encoders = (reading.means.embedder, reading.means.table)
    meaning = alike(reading.transaction, encoders, question.text, reading.shelves)
    places = text_index.places(reading.shelves)
    blend = blended(
        question, words, reading.shelves, places, Meaning(meaning.likeness, meaning.beside, meaning.reach)
    )
    return _Searched(blend, words, meaning)


@dataclass(slots=True)
class _Met:
    """What was met on the way: memories by their ids, and the edges from what stands in places."""

    known: dict[str, Memory] = field(default_factory=dict)
    edges: list[tuple[str, str, float]] = field(default_factory=list)


def _resolved(reading: Reading, candidates: Sequence[Candidate], met: _Met) -> list[Fused]:
    """Those of the candidates that the query may see; what it may not never takes a place."""
    seen: dict[tuple[int, ...], Memory] = {}
    transaction, query, now = reading.transaction, reading.query, reading.now
    slots = {one: [each.slot for each in candidates if each.shelf == one.number] for one in reading.shelves}
    looked = {shelf: some for shelf, some in slots.items() if some}
    for shelf, some in looked.items():
        ask_ahead(transaction, query, shelf, some, now)
    for shelf, some in looked.items():
        there = at_slots(transaction, query, shelf, some, now)
        seen |= {(shelf.number, slot): memory for slot, memory in there.items()}
        if shelf.linked:
            met.edges += [
                (row[0], row[1], row[2]) for row in Relations(transaction).leaving(shelf.number, some)
            ]
    # A value under a key that only an administrator gives is in no answer.
    met.known |= {one.id: one for one in seen.values() if not _forged(one)}
    places = ((one, seen.get((one.shelf, one.slot))) for one in candidates)
    return [_fused(memory.id, one) for one, memory in places if memory is not None and memory.id in met.known]


def _narrowed(reading: Reading, blend: Blend) -> Blend:
    """What is asked of procedures or of a few categories looks at these alone: among thousands a rare one is
    hard to meet."""
    query, rows = reading.query, LayerRows(reading.transaction)
    topics = query.categories or query.scope.reach or ()
    if tuple(query.layers) == (Layer.PROCEDURAL,):
        slots = {one.number: rows.procedure_slots(one.number, _FEW) for one in reading.shelves}
    elif topics and not query.documents:
        slots = {one.number: rows.topic_slots(one.number, topics, _FEW) for one in reading.shelves}
    else:
        return blend
    known = {number: few for number, few in slots.items() if few is not None}
    return blend.among(known) if len(known) == len(slots) else blend


def _found(reading: Reading, blend: Blend, wanted: int, met: _Met) -> list[Fused]:
    """At least the best so many that the query may see, or all there are; equals by id."""
    blend, count = _narrowed(reading, blend), wanted
    while True:
        candidates = blend.best(count)
        found = _resolved(reading, candidates, met)
        if len(found) >= wanted or count >= len(blend):
            return sorted(found, key=lambda one: (-one.score, one.id))[:wanted]
        count *= 4


def _then(reading: Reading, blend: Blend, met: _Met) -> list[Fused]:
    """The best of what was said in the time that a question names, however little it says of the rest."""
    period = reading.question.timing.period
    if period is None:
        return []
    slots = {one.number: slots_then(reading.transaction, one, period, _FEW) for one in reading.shelves}
    return _resolved(reading, blend.best_at(slots, _THEN), met)


def _fused(memory_id: str, one: Candidate) -> Fused:
    place = (one.shelf, one.slot)
    return Fused(memory_id, one.score, scores=_scores(one), share=one.share, place=place)


def _scores(one: Candidate) -> dict[str, float]:
    parts = {"lexical": one.lexical, "meaning": one.meaning, "conversation": one.conversation}
    parts |= {"share": one.share}
    return {name: value for name, value in parts.items() if value > 0.0}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a recall found, with what its trace needs."""

    found: Recollection
    memories: dict[str, Memory]
    order: tuple[Fused, ...]  #: everything that was found, before the cut
    chosen: tuple[str, ...]  #: ids of those that differ, in the order in which they are shown
    query: Query  #: as it was read, with the phases it may see
    linked: bool = False  #: whether there may be relations where it was looked
    waiting: bool = False  #: whether texts were met that have no vector in the store yet


#: How many characters of politeness may follow what somebody asks to be remembered: "ครับ", "please".
_PARTICLE = 7


def find_hits(transaction: Transaction, query: Query, now: datetime, means: Means) -> Answer:
    """The best hits for a query, on one snapshot; `query` has been checked."""
    reading = _reading(transaction, query, now, means)
    order: list[Fused] = []
    memories: dict[str, Memory] = {}
    searched = _searched(reading) if reading.shelves else None
    if searched is not None:
        order, memories = _ordered(reading, searched)
    chosen = _chosen(query.text, order, memories)
    hits = [_hit(one, memories[one.id], reading.question.words) for one in chosen[: query.k]]
    kept, budget = packed(hits, query.budget_tokens), query.budget_tokens
    found = Recollection(hits=kept, left_out=len(hits) - len(kept))
    if reading.linked and means.related:
        left = None if budget is None else budget - sum(hit.tokens for hit in kept)
        beside = Relations(transaction).beside(reading.query, [hit.id for hit in kept], now, left)
        found = replace(found, related=beside)
    ids = tuple(one.id for one in chosen)
    waiting = searched is not None and searched.meaning.waiting
    return Answer(found, memories, tuple(order), ids, reading.query, reading.linked, waiting)


def _reading(transaction: Transaction, query: Query, now: datetime, means: Means) -> Reading:
    names = query.scope.shelves(query.spaces) + ((query.documents,) if query.documents else ())
    shelves = tuple(TextIndex(transaction).shelves(names))
    if not query.across_phases and any(shelf.phase > 1 for shelf in shelves):
        query = replace(query, phases=tuple(f"{one.name} phase-{one.phase}" for one in shelves))
    return Reading(transaction, query, now, understood(query.text, now), shelves, means)


def _ordered(reading: Reading, searched: _Searched) -> tuple[list[Fused], dict[str, Memory]]:
    """What was found, best first. The best of the pool are looked at closely; the rest follow as they are."""
    means, question = reading.means, reading.question
    blend, words = searched.blend, searched.words
    met = _Met(known := dict[str, Memory]())
    _keyed(reading, ahead=True)
    found = _found(reading, blend, max(means.pool, 2 * reading.query.k), met)
    head, tail = found[: means.pool], found[means.pool :]
    near = {one.id for one in head}
    head += [one for one in _then(reading, blend, met) if one.id not in near]
    exact = _exact(reading)
    others = things(reading.transaction, [one for one in exact if one not in known])
    known |= {name: one for name, one in others.items() if not _forged(one)}
    near = {one.id for one in head}
    head += [Fused(one) for one in exact if one in known and one not in near]
    tail = [one for one in tail if one.id not in near and one.id not in exact]
    memories = {one.id: known[one.id] for one in head + tail}
    _note_ranks(head, exact)
    bonds = _bonds(reading, head, met.edges)
    answers = _answers(blend, head, memories)
    traits = {
        one.id: _traits(memories[one.id], bonds.get(one.id, 0.0), answers.get(one.id, 0.0), reading.now)
        for one in head
    }
    if means.fusion == "rrf":
        reciprocal(head, traits, question.manner)
    else:
        for number, one in enumerate(head):
            text = traits[one.id].text
            # What has none of the question's words has nothing that could stand together.
            looked = number < DEPTH and (one.share or question.literals or not one.place)
            added = closeness(question, words.rarity, text, blend.told) if looked else {}
            adjust(one, traits[one.id], question, added, means.plain_decay)
        if question.timing.latest:
            newest_first(head, traits)
    head.sort(key=lambda one: (-one.score, one.id))
    _judge(reading, head, traits)
    reader = _read(reading, searched.meaning.encoder, head, memories)
    last = head[-1].score if head else 0.0
    for one in tail:
        one.score = min(one.score, last)
    weigh(head + tail, searched.meaning, blend, question, memories, reader)
    put_words_first(head, memories)
    put_changes_first(reading.transaction, question.text, searched.meaning, reading.shelves, head, memories)
    if means.fusion == "sum":
        put_on_scale(head + tail)
    return head + tail, memories


def _note_ranks(head: list[Fused], exact: Sequence[str]) -> None:
    """Say of each what place every retriever gives it."""
    by_id = {one.id: one for one in head}
    for one in head:
        one.scores |= {"exact": 1.0} if one.id in exact else {}
    for name in ("exact", "lexical", "meaning", "conversation"):
        for memory_id, rank in ranks_by(head, name).items():
            by_id[memory_id].ranks[name] = rank


def _judge(reading: Reading, head: list[Fused], traits: Mapping[str, Traits]) -> None:
    """Let a program's reranker, where there is one, read the best beside the question while there is time."""
    means = reading.means
    if means.reranker is None:
        return
    until = means.elapsed() + means.seconds
    best = head[:DEPTH]
    verdicts = judged(
        means.reranker,
        reading.question.text,
        [(one.id, traits[one.id].text) for one in best],
        lambda: means.elapsed() > until,
    )
    lowest = head[DEPTH].score if len(head) > DEPTH else 0.0
    for one in best:
        one.score = round(lowest + verdicts[one.id], 6)
        one.adjustments["=reranked"] = verdicts[one.id]
    head[:DEPTH] = sorted(best, key=lambda one: (-one.score, one.id))


def _read(reading: Reading, encoder: str, head: list[Fused], memories: Mapping[str, Memory]) -> str:
    """Let the encoder that answered read the best beside the question, if it can read two together."""
    means, reader = reading.means, reading.means.embedder
    if reader is None or means.reranker is not None or means.fusion != "sum":
        return ""
    if isinstance(reader, JointReader):
        with suppress(LaminaError):  # another one answers, or the order stays; `doctor` says what is wrong
            if encoder == reader.embedder_id:
                return read_together(reader, reading.question, head, memories)
    return ""


def _bonds(
    reading: Reading, head: Sequence[Fused], edges: Sequence[tuple[str, str, float]]
) -> dict[str, float]:
    """How strongly each candidate is linked to another that matches well; `edges` are those from places."""
    if not reading.linked:
        return {}
    least = GOOD * max((one.score for one in head), default=0.0)
    good = {one.id for one in head if one.score >= least or "exact" in one.scores}
    bonds: dict[str, float] = {}
    ids = {each.id for each in head}
    named = sorted(each.id for each in head if not each.place)
    for one, other, strength in [*edges, *Relations(reading.transaction).bonds(named, sorted(ids))]:
        for here, there in ((one, other), (other, one)):
            if there in good and here in ids:
                bonds[here] = max(strength, bonds.get(here, 0.0))
    return bonds


def _answers(blend: Blend, head: Sequence[Fused], memories: Mapping[str, Memory]) -> dict[str, float]:
    """How far the turn before each asked what is asked: by its meaning or its words, whichever says more.

    Only among people: an agent asks to keep a talk going, and answers whatever it is asked.
    """
    at = {one.place: one for one in head if one.place}
    found: dict[str, float] = {}
    for place, earlier in blend.said_before([*at]).items():
        one, before = at[place], at.get(earlier)
        if before is None or not asks(memories[before.id].text):
            continue
        if Role.AGENT not in (memories[each.id].provenance.role for each in (before, one)):
            found[one.id] = max(before.scores.get("meaning", 0.0), before.share)
    return found


def _traits(memory: Memory, relation: float, answers: float, now: datetime) -> Traits:
    return Traits(
        text=f"{memory.key}: {memory.text}" if memory.key else memory.text,
        at=memory.said_at,
        layer=memory.layer,
        decay=weight_left(memory, now),
        importance=memory.importance,
        pinned=memory.pinned,
        superseded=memory.superseded_by is not None,
        relation=relation,
        answers=answers,
        insight=memory.kind is Kind.INSIGHT and memory.authority is Authority.AI_INFERRED,
    )


def _chosen(asked: str, order: Sequence[Fused], memories: Mapping[str, Memory]) -> list[Fused]:
    """Those that differ: a turn that says what a lasting memory says, as the one that asked for it does, is
    not shown beside it, and what says almost word for word what a better one says comes last."""
    lasting = {memories[one.id].text for one in order if memories[one.id].layer is not Layer.WORKING}
    seen: set[str] = set()
    kept: list[Fused] = []
    for one in order:
        memory = memories[one.id]
        again = memory.text in lasting or memory.text in seen
        if memory.provenance.trust is Trust.TRUSTED:  # whoever asks for something to be remembered is
            again = again or any(_repeats(memory.text, words) for words in lasting)
        if memory.layer is Layer.WORKING and again and "exact" not in one.scores:
            continue
        seen.add(memory.text)
        kept.append(one)
    twins = near_duplicates(asked, [memories[one.id].text for one in kept])
    others = [one for n, one in enumerate(kept) if n not in twins]
    worded = [n for n, one in enumerate(others, 1) if "lexical" in one.scores or "exact" in one.scores]
    place = max(worded, default=0)  # before what is no more than a guess
    return others[:place] + [kept[n] for n in sorted(twins)] + others[place:]


def _repeats(said: str, words: str) -> bool:
    """Whether a turn asks for these words and ends with them: "remember that we meet on Monday"."""
    before, there, after = said.rpartition(words)
    return bool(there) and len(after) <= _PARTICLE and len(before) <= len(words)


def _hit(one: Fused, memory: Memory, words: Sequence[str]) -> Hit:
    return Hit(
        id=memory.id,
        text=memory.text,
        score=one.score,
        reasons=_reasons(one, memory, words),
        ranks=one.ranks,
        scores=one.scores,
        adjustments=one.adjustments,
        layer=memory.layer,
        kind=memory.kind,
        space=memory.space,
        key=memory.key,
        at=memory.said_at if memory.said_at < memory.created_at else memory.updated_at,
        source=source_of(memory),
        tokens=count_tokens(memory.text),
        trust=memory.provenance.trust,
        confidence=one.confidence,
        uncertainty=one.uncertainty,
    )


def _forged(memory: Memory) -> bool:
    """Whether somebody gave it a key that was closed later, or is: it is never told as known."""
    return is_reserved(memory.key or "") and memory.authority is not Authority.SYSTEM_IMPOSED


@lru_cache(maxsize=32)  # what one message asks of the same texts again and again
def _present(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _reasons(one: Fused, memory: Memory, words: Sequence[str]) -> tuple[str, ...]:
    reasons = []
    if memory.provenance.trust is Trust.UNTRUSTED:
        reasons.append(f"untrusted: a {memory.provenance.role} said it")
    if "exact" in one.ranks:
        reasons.append("named by its key or id")
    if "lexical" in one.scores:
        present = _present(f"{memory.key} {memory.text}" if memory.key else memory.text)
        reasons.append(f"matches {sum(word in present for word in words)} of {len(words)} terms")
    elif "meaning" in one.scores:
        reasons.append(f"a guess: alike in meaning ({one.scores['meaning']:.2f}), no word in common")
    if "conversation" in one.scores:
        reasons.append("said near what matches")
    return tuple(reasons)
