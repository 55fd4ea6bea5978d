"""How far a question looks: the documents that its caller may see, and how deep into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lamina.documents.results import LibraryStatus
from lamina.errors import Denied
from lamina.model import Layer, Query, Role, Space
from lamina.ranking.tiers import DEEPEST, DEPTHS, is_enough, reaches_far
from lamina.read.snapshot import Snapshot
from lamina.records import dataclass
from lamina.retrieval.hits import Answer, find_hits
from lamina.storage.documents import Documents
from lamina.storage.text_index import TextIndex
from lamina.write.caller import Caller

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
            "The policy in force lets agents recall the current phase only.",
            code="phase_recall_disallowed",
            hint="Let the user ask, or set `phase.allow_cross_phase_recall` in the policy.",
        )
    spaces = tuple(space for space in policy.read_order if space in query.spaces)
    if not query.layers and not caller.acts:
        query = replace(query, layers=tuple(one for one in Layer if one is not Layer.PROCEDURAL))
    return replace(query, spaces=spaces, across_phases=query.across_phases or open_past)


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
    means = replace(store.means, related=related)
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
        answer = find_in(snapshot, replace(query, depth=depth))
        if depth >= deepest or is_enough(query.text, [hit.text for hit in answer.found.hits]):
            return Reached(answer, depth)
        if is_late():
            return Reached(answer, depth, DEPTHS[depth + 1 : deepest + 1])
        depth += 1
