"""Recalling: what is known about a question, best first, with reasons. It writes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lamina.audit.telemetry import span
from lamina.model import Query, Recollection, Space
from lamina.read.answered import Given, kept_asked, kept_question, note_answer, note_shown, said_in
from lamina.read.as_of import recall_then
from lamina.read.changes import delta_in
from lamina.read.coverage import allowed_query, covering, find_deep
from lamina.read.journal import reading_events
from lamina.read.snapshot import Snapshot, look
from lamina.write.caller import Caller
from lamina.write.details import Narrowing, checked_query, query_of, time_of


def recall(caller: Caller, question: str, narrowing: Narrowing, *, trace: bool = False) -> Recollection:
    """What is known about a question; with `trace`, with the events that the contract says of a reading."""
    then, cursor = narrowing.pop("as_of", None), narrowing.pop("changes_since", None)
    query, spaces = narrowed(caller, question, narrowing)
    if then is not None:
        at = time_of(then, "as_of")
        return look(caller, lambda snapshot: recall_then(snapshot.transaction, query, at), synced=False)
    if not narrowing.get("spaces"):
        query, _ = covering(caller, query)

    def work(snapshot: Snapshot) -> Recollection:
        found = recalled(snapshot, query, spaces, trace=trace)
        words = said_in((hit.id, hit.text) for hit in found.hits)
        shown = [hit.id for hit in found.hits]
        given = Given("recall", kept_question(query.text), kept_asked(narrowing), shown, words)
        found = replace(found, answer=note_answer(snapshot, given))
        return found if cursor is None else replace(found, delta=delta_in(snapshot, cursor))

    found = look(caller, work, question=query.text)
    return found if trace else replace(found, events=())


def find(snapshot: Snapshot, question: str, **narrowing: Any) -> Recollection:
    """The same within a reading that has begun, for what is about memories alone."""
    query, spaces = narrowed(snapshot.caller, question, Narrowing(**narrowing))  # type: ignore[typeddict-item]
    return recalled(snapshot, query, spaces)


def narrowed(caller: Caller, question: str, narrowing: Narrowing) -> tuple[Query, tuple[Space, ...]]:
    """The query as the policy lets the caller ask it, and the spaces that were asked for."""
    store = caller.store
    asked = checked_query(query_of(caller.in_session, question, narrowing, store.config.recall_k))
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
