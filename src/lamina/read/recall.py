"""Recalling: what is known about a question, now or at another time, best first, with reasons.

How far a question looks, the documents that its caller may see and how deep into them, is said here for every
verb that finds something. Nothing here writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from math import log
from typing import Any

from lamina.audit.events import span
from lamina.documents.results import LibraryStatus
from lamina.errors import Denied, NotFound
from lamina.model import Hit, Layer, Memory, Query, Recollection, Role, Scope, Source, Space, State
from lamina.ranking.confidence import Spread, confidence, evidence, uncertainty
from lamina.ranking.tiers import DEEPEST, DEPTHS, is_enough, reaches_far
from lamina.read.answered import Given, kept_asked, kept_question, note_answer, note_shown, said_in
from lamina.read.changes import delta_in
from lamina.read.journal import reading_events
from lamina.read.snapshot import Snapshot, look
from lamina.records import dataclass
from lamina.retrieval.hits import Answer, find_hits
from lamina.retrieval.packing import packed
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows
from lamina.text.terms import query_terms, terms
from lamina.text.tokens import count_tokens
from lamina.write.details import Narrowing, checked_query, named_time, query_of, time_of
from lamina.write.store import Caller

#: Who may look at the earlier phases of a life whatever the policy says: it is theirs.
OWN_PAST = (Role.USER, Role.ADMIN, Role.SYSTEM)


@dataclass(frozen=True, slots=True)
class Reached:
    """An answer, how deep it was looked for, and what there was no time for."""

    answer: Answer
    depth: int
    cut: tuple[str, ...] = ()


def allowed_query(caller: Caller, query: Query) -> Query:
    """The query within what the policy lets this caller read."""
    policy = caller.store.ruleset.policy
    open_past = policy.phase.allow_cross_phase_recall
    if query.across_phases and not open_past and caller.scope.role not in OWN_PAST:
        raise Denied(
            "The policy lets agents recall the current phase only.",
            code="phase_recall_disallowed",
            hint="Let the user ask, or set `phase.allow_cross_phase_recall` in the policy.",
        )
    spaces = tuple(space for space in policy.read_order if space in query.spaces)
    layers = query.layers
    if not layers and not caller.acts:
        layers = tuple(one for one in Layer if one is not Layer.PROCEDURAL)
    return replace(query, spaces=spaces, layers=layers, across_phases=query.across_phases or open_past)


def covering(caller: Caller, query: Query) -> tuple[Query, LibraryStatus | None]:
    """The query with the documents that its caller may see, taken in as far as they changed.

    What is narrowed to layers, kinds, categories or what is trusted is about memories alone.
    """
    library, now = caller.store.library, caller.store.now()
    narrowed = query.layers or query.kinds or query.categories or query.trusted_only
    if library is None or narrowed or not caller.is_owner or Space.USER not in query.spaces:
        return query, None
    state = library.sync(now)
    depth = DEEPEST if reaches_far(query.text, now) else query.depth
    return replace(query, documents=library.shelf, depth=depth), state


def find_in(snapshot: Snapshot, query: Query, *, related: bool = True) -> Answer:
    """The best hits on a snapshot; texts that were met without a vector have theirs stored later."""
    store = snapshot.caller.store
    means = store.means if related else replace(store.means, related=False)
    answer = find_hits(snapshot.transaction, query, snapshot.now, means)
    store.met_unread = store.met_unread or answer.waiting
    return answer


def find_deep(snapshot: Snapshot, query: Query, is_late: Callable[[], bool] = lambda: False) -> Reached:
    """The answer from as deep as it takes: what is warm, and what lies deeper for as long as that says too
    little.

    A query with the greatest depth, because its question reaches across months, looks everywhere at once.
    """
    transaction = snapshot.transaction
    shelf = TextIndex(transaction).shelf(query.documents) if query.documents else None
    deepest = 0 if shelf is None else Documents(transaction).deepest(shelf[0])
    depth = query.depth if query.depth == DEEPEST or not deepest else 0
    while True:
        answer = find_in(snapshot, query if query.depth == depth else replace(query, depth=depth))
        if depth >= deepest or is_enough(query.text, [hit.text for hit in answer.found.hits]):
            return Reached(answer, depth)
        if is_late():
            return Reached(answer, depth, DEPTHS[depth + 1 : deepest + 1])
        depth += 1


def recall(caller: Caller, question: str, narrowing: Narrowing, *, trace: bool = False) -> Recollection:
    """What is known about a question; with `trace`, with the events that the contract says of a reading."""
    then, cursor = narrowing.pop("as_of", None), narrowing.pop("changes_since", None)
    query, spaces = narrowed(caller, caller.scope, question, narrowing)
    if then is not None:
        at = time_of(then, "as_of")
        return look(
            caller, lambda one: recall_then(one.transaction, in_session(one, query), at), synced=False
        )
    if not narrowing.get("spaces"):
        query, _ = covering(caller, query)

    def work(snapshot: Snapshot) -> Recollection:
        found = recalled(snapshot, in_session(snapshot, query), spaces, trace=trace)
        words = said_in((hit.id, hit.text) for hit in found.hits)
        shown = [hit.id for hit in found.hits]
        given = Given("recall", kept_question(query.text), kept_asked(narrowing), shown, words)
        found = replace(found, answer=note_answer(snapshot, given))
        return found if cursor is None else replace(found, delta=delta_in(snapshot, cursor))

    found = look(caller, work, question=query.text)
    return found if trace else replace(found, events=())


def find(snapshot: Snapshot, question: str, **narrowing: Any) -> Recollection:
    """The same within a reading that has begun, for what is about memories alone."""
    asked = Narrowing(**narrowing)  # type: ignore[typeddict-item]
    query, spaces = narrowed(snapshot.caller, snapshot.in_session, question, asked)
    return recalled(snapshot, query, spaces)


def look_up(snapshot: Snapshot, words: str, **narrowing: Any) -> list[tuple[Memory, Hit]]:
    """What the engine itself needs to know before it changes something. Nobody reads it: it is no access."""
    asked = Narrowing(**narrowing)  # type: ignore[typeddict-item]
    query, _ = narrowed(snapshot.caller, snapshot.in_session, words, asked)
    answer = find_in(snapshot, query)
    return [(answer.memories[hit.id], hit) for hit in answer.found.hits if hit.id in answer.memories]


def in_session(snapshot: Snapshot, query: Query) -> Query:
    """The query within the session that the caller is in at this moment, named or not."""
    scope = snapshot.in_session
    return query if query.scope is scope else replace(query, scope=scope)


def narrowed(
    caller: Caller, scope: Scope, question: str, narrowing: Narrowing
) -> tuple[Query, tuple[Space, ...]]:
    """The query within a scope as the policy lets the caller ask it, and the spaces that were asked for."""
    store = caller.store
    asked = checked_query(query_of(scope, question, narrowing, store.config.recall_k))
    store.ruleset.categories.checked(asked.categories, caller.scope)
    return allowed_query(caller, asked), asked.spaces


def recalled(
    snapshot: Snapshot, query: Query, spaces: tuple[Space, ...], *, trace: bool = False
) -> Recollection:
    """What was found; that it was is counted, and told to whoever listens, once the reading is over."""
    store, now = snapshot.caller.store, snapshot.now
    wanted = trace or store.config.trace_recalls or store.listened
    said = {"gen_ai.memory.query.text": query.text} if store.config.telemetry_content else None
    with span("search_memory", snapshot.scope, said) as note:
        answer = find_deep(snapshot, query).answer
        found = answer.found
        snapshot.considered.extend(answer.memories.values())
        note_shown(snapshot, (answer.memories[hit.id] for hit in found.hits if hit.id in answer.memories))
        if wanted:
            events = reading_events(snapshot.transaction, query, spaces, answer, store.ruleset)
            found = replace(found, events=tuple(events))
        note("gen_ai.memory.record.count", len(found.hits))

    def counted() -> None:
        store.reads.note([hit.id for hit in found.hits], now)
        store.tally.note(snapshot.scope, now, "context", "search")
        if wanted:
            store.told_reading(query.scope, found.events)

    snapshot.afterwards.append(counted)
    return found


def recall_then(transaction: Transaction, query: Query, at: datetime) -> Recollection:
    """The best hits among what the caller's shelves held at a moment, to a person also what is gone since."""
    rows, text_index = LayerRows(transaction), TextIndex(transaction)
    numbers = [known[0] for name in query.scope.shelves(query.spaces) if (known := text_index.shelf(name))]
    past = query.scope.role in OWN_PAST
    there = [
        one
        for number in numbers
        for one in rows.known_at(number, at)
        if _wanted(one, query) and (past or one.state is State.ACTIVE)
    ]
    words = {one.id: Counter(terms(f"{one.key} {one.text}" if one.key else one.text)) for one in there}
    asked = query_terms(query.text)
    rare = {
        term: log(1 + len(there) / (1 + sum(term in found for found in words.values()))) for term in asked
    }
    scored = [(sum(rare[term] for term in asked if term in words[one.id]), one) for one in there]
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].id))[
        : query.k
    ]
    whole = max(sum(rare.values()), 1e-9)
    hits = [_hit(one, score, score / whole, f"known on {at:%Y-%m-%d %H:%M}") for score, one in best]
    kept = packed(hits, query.budget_tokens)
    return Recollection(hits=kept, left_out=len(hits) - len(kept))


def _wanted(memory: Memory, query: Query) -> bool:
    return (
        (not query.layers or memory.layer in query.layers)
        and (not query.kinds or memory.kind in query.kinds)
        and (not query.categories or memory.topic in query.categories)
        and (query.since is None or memory.said_at >= query.since)
        and (query.until is None or memory.said_at < query.until)
        and (not query.trusted_only or memory.provenance.trust.value == "trusted")
    )


def _hit(memory: Memory, score: float, share: float, reason: str) -> Hit:
    origin = memory.provenance
    sure = confidence(evidence([None], [share]), "", Spread.of(()))[0]
    since = "" if memory.superseded_by is None else f"superseded since by {memory.superseded_by}"
    return Hit(
        id=memory.id,
        text=memory.text,
        score=round(score, 6),
        reasons=tuple(filter(None, (reason, since))),
        ranks={"then": 1},
        layer=memory.layer,
        kind=memory.kind,
        space=memory.space,
        key=memory.key,
        at=memory.created_at,
        tokens=count_tokens(memory.text),
        trust=origin.trust,
        confidence=sure,
        uncertainty=uncertainty(sure),
        source=Source(path=memory.file, actor=origin.actor, via=origin.via, session=origin.session_id),
    )


def moment_of(caller: Caller, revision: int) -> datetime:
    """When the caller's conversation reached a revision; NotFound where it never did."""
    found = caller.store.database.read(lambda tx: LayerRows(tx).change_at(caller.scope.thread, revision))
    if found is None:
        raise NotFound(f"There is no revision {revision} here.", hint="Name a date or time instead.")
    return found


def moment(caller: Caller, then: str) -> datetime:
    """The time that a date, a time or the number of a revision names."""
    return moment_of(caller, int(then)) if then.isdecimal() else named_time(then, "as_of")
