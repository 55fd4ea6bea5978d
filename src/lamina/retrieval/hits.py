"""The hits for a query: retrievers inside the caller's scope, fusion, packing. Reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from lamina.clock import monotonic
from lamina.encoders.port import Embedder, JointReader
from lamina.errors import InvalidInput, LaminaError
from lamina.model import Layer, Memory, Query, Recollection, Role, Space, Trust
from lamina.ranking.blend import Blend, Candidate, MeaningScores, blended
from lamina.ranking.fusion import Fused, adjust, asks, newest_first, ranked_by, reciprocal
from lamina.ranking.lexical import Shelf, Words, ranked
from lamina.ranking.question import Question, guessed, guesses, misread, mistyped, understood
from lamina.ranking.rerank import DEPTH, Reranker, closeness, judged, near_duplicates
from lamina.records import dataclass
from lamina.retrieval.candidates import (
    ask_ahead,
    at_slots,
    hit_of,
    is_forged,
    named,
    slots_then,
    weight_left,
)
from lamina.retrieval.candidates import loaded as things
from lamina.retrieval.meaning import Alike, alike
from lamina.retrieval.packing import packed
from lamina.retrieval.weighing import put_changes_first, put_on_scale, put_words_first, read_together, weigh
from lamina.storage.database import Transaction
from lamina.storage.memories import Edges, Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows
from lamina.text.normalise import canonical_key

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
class Inquiry:
    """One question on one snapshot of the store."""

    transaction: Transaction
    query: Query
    now: datetime
    question: Question
    shelves: tuple[Shelf, ...]
    means: Means
    key: str | None  #: what the question is if it is a key

    @property
    def linked(self) -> bool:
        """Whether anything on these shelves was ever linked."""
        return any(shelf.linked for shelf in self.shelves)


def _exact(reading: Inquiry) -> list[str]:
    """A question that is an id or a key finds exactly that."""
    asked = reading.query.text.strip()
    memories = Memories(reading.transaction)
    ids = memories.readable_ids(reading.query, [asked], reading.now) if ":" in asked else []
    ids += named(reading.transaction, reading.query, reading.shelves)
    return list(dict.fromkeys(ids + _keyed(reading)))


def _keyed(reading: Inquiry, *, ahead: bool = False) -> list[str]:
    """What has the question as its key; `ahead`: it will be asked for."""
    if reading.key is None:
        return []
    numbers, memories = [shelf.number for shelf in reading.shelves], Memories(reading.transaction)
    wanted = [f"key:{reading.key}"]
    return memories.readable_identities(reading.query, numbers, wanted, reading.now, ahead=ahead)


@dataclass(frozen=True, slots=True)
class _Searched:
    blend: Blend
    words: Words
    meaning: Alike


def _search(reading: Inquiry) -> _Searched:
    """Every text of the caller's shelves by words, conversation and meaning, densely."""
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
        question,
        words,
        reading.shelves,
        places,
        MeaningScores(meaning.likeness, meaning.beside, meaning.reach),
    )
    return _Searched(blend, words, meaning)


_Edges = list[tuple[str, str, float]]  #: links met on the way: from, to, how strong


def _resolved(reading: Inquiry, candidates: Sequence[Candidate], edges: _Edges) -> list[Fused]:
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
            links = Edges(transaction).leaving(shelf.number, some)
            edges += [(row[0], row[1], row[2]) for row in links]
    found = []
    for shelf_number, slot, score, lexical, meaning, conversation, share in candidates:
        memory = seen.get(place := (shelf_number, slot))
        if memory is not None and not (memory.key and is_forged(memory)):
            scores = {"lexical": lexical} if lexical > 0.0 else {}
            if meaning > 0.0:
                scores["meaning"] = meaning
            if conversation > 0.0:
                scores["conversation"] = conversation
            if share > 0.0:
                scores["share"] = share
            found.append(Fused(memory.id, memory, score, scores, share, place))
    return found


def _narrowed(reading: Inquiry, blend: Blend) -> Blend:
    """What is asked of procedures or of a few categories looks at these alone: among thousands a rare one is
    hard to meet."""
    query = reading.query
    topics = query.categories or query.scope.reach or ()
    if tuple(query.layers) != (Layer.PROCEDURAL,) and (not topics or query.documents):
        return blend
    rows = LayerRows(reading.transaction)
    if tuple(query.layers) == (Layer.PROCEDURAL,):
        slots = {one.number: rows.procedure_slots(one.number, _FEW) for one in reading.shelves}
    else:
        slots = {one.number: rows.topic_slots(one.number, topics, _FEW) for one in reading.shelves}
    known = {number: few for number, few in slots.items() if few is not None}
    return blend.among(known) if len(known) == len(slots) else blend


def _found(reading: Inquiry, blend: Blend, wanted: int, edges: _Edges) -> list[Fused]:
    """At least the best so many that the query may see, or all there are; equals by id."""
    blend, count = _narrowed(reading, blend), wanted
    while True:
        candidates = blend.best(count)
        found = _resolved(reading, candidates, edges)
        if len(found) >= wanted or count >= len(blend):
            return sorted(found, key=lambda one: (-one.score, one.id))[:wanted]
        count *= 4


def _then(reading: Inquiry, blend: Blend, edges: _Edges) -> list[Fused]:
    """The best of what was said in the time that a question names, however little it says of the rest."""
    period = reading.question.timing.period
    if period is None:
        return []
    slots = {one.number: slots_then(reading.transaction, one, period, _FEW) for one in reading.shelves}
    return _resolved(reading, blend.best_at(slots, _THEN), edges)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a recall found, with what its trace needs."""

    found: Recollection
    memories: dict[str, Memory]
    order: tuple[Fused, ...]  #: everything that was found, before the cut
    query: Query  #: as it was read, with the phases it may see
    linked: bool = False  #: whether there may be relations where it was looked
    waiting: bool = False  #: whether texts were met that have no vector in the store yet

    @property
    def chosen(self) -> list[str]:
        """Ids of those that differ, in the order in which they are shown."""
        return [one.id for one in _chosen(self.query.text, self.order, len(self.order))]


#: How many characters of politeness may follow what somebody asks to be remembered: "ครับ", "please".
_PARTICLE = 7
_WORKING, _SESSION = Layer.WORKING, Space.SESSION  # asked of every candidate


def find_hits(transaction: Transaction, query: Query, now: datetime, means: Means) -> Answer:
    """The best hits for a query, on one snapshot; `query` has been checked."""
    reading = _reading(transaction, query, now, means)
    asked = (reading.question.text, now, reading.shelves, id(means.embedder), id(means.table))
    # Who asks the same twice of one snapshot, as a context does for what is known and for what to do, has it
    # searched once.
    searched = transaction.same(asked, lambda: _search(reading)) if reading.shelves else None
    order = [] if searched is None else _ordered(reading, searched)
    hits = [hit_of(one, reading.question.words) for one in _chosen(query.text, order, query.k)]
    kept, budget = packed(hits, query.budget_tokens), query.budget_tokens
    found = Recollection(hits=kept, left_out=len(hits) - len(kept))
    if reading.linked and means.related:
        left = None if budget is None else budget - sum(hit.tokens for hit in kept)
        beside = Edges(transaction).beside(reading.query, [hit.id for hit in kept], now, left)
        found = replace(found, related=beside)
    memories = {one.id: one.memory for one in order}
    waiting = searched is not None and searched.meaning.waiting
    return Answer(found, memories, tuple(order), reading.query, reading.linked, waiting)


def _reading(transaction: Transaction, query: Query, now: datetime, means: Means) -> Inquiry:
    names = query.scope.shelves(query.spaces) + ((query.documents,) if query.documents else ())
    shelves = tuple(TextIndex(transaction).shelves(names))
    if not query.across_phases and any(shelf.phase > 1 for shelf in shelves):
        query = replace(query, phases=tuple(f"{one.name} phase-{one.phase}" for one in shelves))
    key = None
    with suppress(InvalidInput):
        key = canonical_key(query.text.strip())
    return Inquiry(transaction, query, now, understood(query.text, now), shelves, means, key)


def _ordered(reading: Inquiry, searched: _Searched) -> list[Fused]:
    """What was found, best first. The best of the pool are looked at closely; the rest follow as they are."""
    means, question = reading.means, reading.question
    blend, words, edges = searched.blend, searched.words, _Edges()
    _keyed(reading, ahead=True)
    found = _found(reading, blend, max(means.pool, 2 * reading.query.k), edges)
    head, tail = found[: means.pool], found[means.pool :]
    near = {one.id for one in head}
    head += [one for one in _then(reading, blend, edges) if one.id not in near]
    if exact := _exact(reading):
        near = {one.id for one in head}
        others = things(reading.transaction, [one for one in exact if one not in near])
        head += [Fused(one, others[one]) for one in exact if one in others and not is_forged(others[one])]
    if tail:
        near = {one.id for one in head}
        tail = [one for one in tail if one.id not in near]
    _note_ranks(head, exact)
    _note_bonds(reading, head, edges)
    _note_answers(blend, head)
    for number, one in enumerate(head):
        decay = weight_left(one.memory, reading.now)
        if means.fusion == "rrf":
            reciprocal(one, decay, question.manner)
            continue
        # What has none of the question's words has nothing that could stand together.
        looked = number < DEPTH and (one.share or question.literals or not one.place)
        added = closeness(question, words.rarity, one.text, blend.told) if looked else {}
        adjust(one, decay, question, added, means.plain_decay)
    if question.timing.latest and means.fusion != "rrf":
        newest_first(head)
    head.sort(key=lambda one: (-one.score, one.id))
    _judge(reading, head)
    reader = _read(reading, searched.meaning.encoder, head)
    last = head[-1].score if head else 0.0
    for one in tail:
        one.score = min(one.score, last)
    weigh(head + tail, searched.meaning, blend, question, reader)
    put_words_first(head)
    put_changes_first(reading.transaction, question.text, searched.meaning, reading.shelves, head)
    if means.fusion == "sum":
        put_on_scale(head + tail)
    return head + tail


def _note_ranks(head: list[Fused], exact: Sequence[str]) -> None:
    """Say of each what place every retriever gives it."""
    for one in head if exact else ():
        one.scores |= {"exact": 1.0} if one.id in exact else {}
    for name in ("exact", "lexical", "meaning", "conversation"):
        for rank, one in enumerate(ranked_by(head, name), 1):
            one.ranks[name] = rank


def _judge(reading: Inquiry, head: list[Fused]) -> None:
    """Let a program's reranker, where there is one, read the best beside the question while there is time."""
    means = reading.means
    if means.reranker is None:
        return
    until = means.elapsed() + means.seconds
    best = head[:DEPTH]
    verdicts = judged(
        means.reranker,
        reading.question.text,
        [(one.id, one.text) for one in best],
        lambda: means.elapsed() > until,
    )
    lowest = head[DEPTH].score if len(head) > DEPTH else 0.0
    for one in best:
        one.score = round(lowest + verdicts[one.id], 6)
        one.adjustments["=reranked"] = verdicts[one.id]
    head[:DEPTH] = sorted(best, key=lambda one: (-one.score, one.id))


def _read(reading: Inquiry, encoder: str, head: list[Fused]) -> str:
    """Let the encoder that answered read the best beside the question, if it can read two together."""
    means, reader = reading.means, reading.means.embedder
    if reader is None or means.reranker is not None or means.fusion != "sum":
        return ""
    if isinstance(reader, JointReader):
        with suppress(LaminaError):  # another one answers, or the order stays; `doctor` says what is wrong
            if encoder == reader.embedder_id:
                return read_together(reader, reading.question, head)
    return ""


def _note_bonds(reading: Inquiry, head: Sequence[Fused], edges: _Edges) -> None:
    """Say of each how strongly it is linked to another that matches well; `edges` are those from places."""
    by_id = {one.id: one for one in head} if reading.linked else {}
    if named := sorted(one for one, each in by_id.items() if not each.place):
        edges = [*edges, *((*row,) for row in Edges(reading.transaction).bonds(named, sorted(by_id)))]
    least = GOOD * max((one.score for one in head), default=0.0) if edges else 0.0
    for one, other, strength in edges:
        for here, there in ((by_id.get(one), by_id.get(other)), (by_id.get(other), by_id.get(one))):
            if here and there and (there.score >= least or "exact" in there.scores):
                here.relation = max(strength, here.relation)


def _note_answers(blend: Blend, head: Sequence[Fused]) -> None:
    """Say how far the turn before each asked what is asked: by its meaning or words, whichever says more.

    Only among people: an agent asks to keep a talk going, and answers whatever it is asked.
    """
    if blend.talks:
        at = {one.place: one for one in head if one.place}
        for place, earlier in blend.said_before([*at]).items():
            one, before = at[place], at.get(earlier)
            if before is None or not asks(before.memory.text):
                continue
            if Role.AGENT not in (each.memory.provenance.role for each in (before, one)):
                one.answers = max(before.scores.get("meaning", 0.0), before.share)


def _chosen(asked: str, order: Sequence[Fused], most: int) -> list[Fused]:
    """The best so many of those that differ: what says almost word for word what another says comes last.

    That is: behind whatever has a word of the question, and before what is no more than a guess.
    """
    kept, others, twins = _without_echoes(order), list[Fused](), list[Fused]()
    place = 0
    for one, is_twin in zip(kept, near_duplicates(asked, (each.memory.text for each in kept)), strict=True):
        (twins if is_twin else others).append(one)
        if not is_twin and ("lexical" in one.scores or "exact" in one.scores):
            place = len(others)
            if place >= most:
                break
    return (others[:place] + twins + others[place:])[:most]


def _without_echoes(order: Sequence[Fused]) -> Sequence[Fused]:
    """What is of a session and says what a lasting memory says, as the turn that asked for it does, is not
    shown beside it."""
    passing = [one.memory.layer is _WORKING or one.memory.space is _SESSION for one in order]
    lasting = {one.memory.text for one, passes in zip(order, passing, strict=True) if not passes}
    if len(lasting) == len(order):
        return order
    seen, kept = set(lasting), list[Fused]()
    for one, passes in zip(order, passing, strict=True):
        text = one.memory.text
        if passes and "exact" not in one.scores:
            trusted = one.memory.provenance.trust is Trust.TRUSTED  # whoever asks for it to be remembered is
            if text in seen or (trusted and any(_repeats(text, words) for words in lasting)):
                continue
        seen.add(text)
        kept.append(one)
    return kept


def _repeats(said: str, words: str) -> bool:
    """Whether a turn asks for these words and ends with them: "remember that we meet on Monday"."""
    before, there, after = said.rpartition(words)
    return bool(there) and len(after) <= _PARTICLE and len(before) <= len(words)
