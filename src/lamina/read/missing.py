"""Why a memory is not among the hits of a question: everything that a recall filters by, and how it ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from lamina.model import Filters, Memory, Query, State, Trust, Verdict, iso
from lamina.read.explain import memory_in
from lamina.read.recall import allowed_query, covering, find_deep, recall_then
from lamina.read.snapshot import Snapshot, look
from lamina.retrieval.hits import Answer, Means
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows
from lamina.text.terms import query_terms, terms
from lamina.write.details import Narrowing, checked_query, query_of, time_of
from lamina.write.store import Caller


def why_not(caller: Caller, question: str, memory_id: str, narrowing: Narrowing) -> Verdict:
    """Why a memory is not among the hits of a question that is asked so, or that it is.

    Every filter that leaves it out is named. Where none does, it is said how it compares with the others.
    """
    store = caller.store
    then = narrowing.pop("as_of", None)
    narrowing.pop("changes_since", None)  # it adds to an answer and leaves nothing out
    asked = checked_query(query_of(caller.in_session, question, narrowing, store.config.recall_k))
    store.ruleset.categories.checked(asked.categories, caller.scope)
    query = allowed_query(caller, asked)
    if then is None and not narrowing.get("spaces"):
        query, _ = covering(caller, query)

    def work(snapshot: Snapshot) -> Sequence[str]:
        transaction, now = snapshot.transaction, snapshot.now
        memory = memory_in(snapshot, memory_id)
        if then is not None:
            return _missed_then(transaction, asked, query, memory, time_of(then, "as_of"))
        answer = find_deep(snapshot, query).answer
        left_out = _missed_now(transaction, asked, answer, memory, now)
        return left_out or [_outdone(answer, memory, store.means)]

    lines = look(caller, work)
    return Verdict(subject=f"{memory_id} for {question!r:.80}", lines=tuple(lines))


def _missed_now(
    transaction: Transaction, asked: Query, answer: Answer, memory: Memory, now: datetime
) -> Sequence[str]:
    """Where it stands among what was found, or the filters that leave it out; nothing if there are none."""
    if memory.id in answer.memories:
        return [_placed(answer, memory)]
    query = answer.query
    lines = hurdles(asked, query, memory, now)
    if not lines and not Memories(transaction).readable_ids(query, [memory.id], now):
        return ["The store leaves it out for this caller and question."]
    return lines


def _placed(answer: Answer, memory: Memory) -> str:
    """Of a memory that was found: its number, and why it is not shown if it is not."""
    hits, k, budget = answer.found.hits, answer.query.k, answer.query.budget_tokens
    if memory.id in (shown := [hit.id for hit in hits]):
        return f"It is recalled, as number {shown.index(memory.id) + 1}."
    if memory.id not in answer.chosen:
        there = (one for one in answer.chosen if answer.memories[one].text in memory.text)
        twin = next(there, "another")
        how = "is shown in its place" if twin in shown else "stands for it"
        return f"It matches, and {twin}, which says the same, {how}."
    number = answer.chosen.index(memory.id) + 1
    if number <= k:
        return f"It matches, as number {number}, and did not fit the budget of {budget} tokens."
    score = next(one.score for one in answer.order if one.id == memory.id)
    said = f"It matches, as number {number}; {len(hits)} are shown. Ask for more with k."
    return said + (f" Its score is {score:.4f}, that of the last shown {hits[-1].score:.4f}." if hits else "")


def hurdles(asked: Query, query: Query, memory: Memory, now: datetime) -> list[str]:
    """Every filter that leaves a memory out; `query` is what the policy and the phases make of `asked`."""
    lines = [*_standing(memory, now), *_left_out(asked, query, memory)]
    if query.phases and f"{memory.shelf} {memory.phase}" not in query.phases:
        lines.append(f"It belongs to {memory.phase}, and only the current phase is recalled.")
    return lines


def _standing(memory: Memory, now: datetime) -> Iterator[str]:
    """What about the memory itself keeps it from being recalled at a moment."""
    if memory.state is not State.ACTIVE:
        yield f"It is {memory.state}; only active memories are recalled."
    if memory.expires_at is not None and memory.expires_at <= now:
        yield f"Its time was up at {iso(memory.expires_at)}."
    if memory.valid_until is not None and memory.valid_until <= now:
        yield f"It held until {iso(memory.valid_until)}."
    if memory.valid_from is not None and memory.valid_from > max(now, memory.created_at):
        yield f"It was said to hold from {iso(memory.valid_from)} on."


def _left_out(asked: Query, query: Query, memory: Memory) -> Iterator[str]:
    """What of the question leaves it out: what was asked for, or what the policy makes of it."""
    if memory.space not in asked.spaces:
        yield f"It belongs to the {memory.space} space; asked for was {_listed(asked.spaces)}."
    elif memory.space not in query.spaces:
        yield f"The policy does not read the {memory.space} space."
    if query.layers and memory.layer not in query.layers:
        if asked.layers:
            yield f"It belongs to the layer {memory.layer}; asked for was {_listed(asked.layers)}."
        else:
            yield f"Of the layer {memory.layer} this agent is given nothing unasked (`procedure_agents`)."
    if query.kinds and memory.kind not in query.kinds:
        yield f"It is of the kind {memory.kind}; asked for was {_listed(query.kinds)}."
    if query.categories and memory.topic not in query.categories:
        yield f"Its category is {memory.topic}; asked for was {_listed(query.categories)}."
    if query.since is not None and memory.said_at < query.since:
        yield f"It was said at {iso(memory.said_at)}; asked for was since {iso(query.since)}."
    if query.until is not None and memory.said_at >= query.until:
        yield f"It was said at {iso(memory.said_at)}; asked for was until {iso(query.until)}."
    if query.trusted_only and memory.provenance.trust is not Trust.TRUSTED:
        yield f"It is untrusted, because a {memory.provenance.role} said it; asked for was what is trusted."
    yield from _filtered(query.filters, memory)


def _filtered(filters: Filters, memory: Memory) -> Iterator[str]:
    origin, has = memory.provenance, memory.importance
    same = {
        "agent_id": origin.agent,
        "run_id": origin.run_id,
        "actor_id": origin.actor,
        "role": origin.role,
        "category": memory.topic,
        "pinned": memory.pinned,
    }
    for name, value in same.items():
        if (wanted := getattr(filters, name)) is not None and wanted != value:
            yield f"Its {name} is {value}; asked for was {wanted}."
    if filters.importance_min is not None and has < filters.importance_min:
        yield f"Its importance is {has}; asked for was at least {filters.importance_min}."
    if filters.importance_max is not None and has > filters.importance_max:
        yield f"Its importance is {has}; asked for was at most {filters.importance_max}."
    if filters.updated_after is not None and memory.updated_at < filters.updated_after:
        yield f"It changed at {iso(memory.updated_at)}; asked for was after {iso(filters.updated_after)}."
    if filters.updated_before is not None and memory.updated_at >= filters.updated_before:
        yield f"It changed at {iso(memory.updated_at)}; asked for was before {iso(filters.updated_before)}."


def _outdone(answer: Answer, memory: Memory, means: Means) -> str:
    """Nothing leaves it out: it is unlike the question, or others are more like it."""
    query = answer.query
    words = set(query_terms(query.text))
    if not words & _words(memory):
        alone = f"It shares none of the question's {len(words)} words"
        return f"{alone}." if means.embedder is None else f"{alone}, and in meaning it is not close enough."
    if len(answer.order) >= max(means.pool, 2 * query.k):
        return "Others match the question better, and it is beyond the pool of candidates."
    return "Nothing leaves it out, and the index does not find it. `lamina rebuild` makes the index again."


def _missed_then(
    transaction: Transaction, asked: Query, query: Query, memory: Memory, at: datetime
) -> Sequence[str]:
    """The same for what was known at another time."""
    hits, moment = recall_then(transaction, query, at).hits, iso(at)
    if memory.id in (shown := [hit.id for hit in hits]):
        return [f"It is recalled from what was known at {moment}, as number {shown.index(memory.id) + 1}."]
    if memory.created_at > at:
        return [f"It was stored at {iso(memory.created_at)}; asked for was what was known at {moment}."]
    shelf = TextIndex(transaction).shelf(memory.shelf)
    there = LayerRows(transaction).known_at(shelf[0], at) if shelf else []
    lines = [*_left_out(asked, query, memory)]
    if (known := next((one for one in there if one.id == memory.id), None)) is None:
        lines.insert(0, f"It did not hold, or was put aside, at {moment}.")
    if lines or known is None:
        return lines
    words = set(query_terms(query.text))
    if not words & _words(known):
        return [f"In the words it had then it shares none of the question's {len(words)} words."]
    return [f"Others that were known then match better; {len(hits)} are shown. Ask for more with k."]


def _words(memory: Memory) -> set[str]:
    return set(terms(f"{memory.key} {memory.text}" if memory.key else memory.text))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
