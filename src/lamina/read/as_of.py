"""What was known at another time: the words that stood then, ranked for a question."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from math import log

from lamina.errors import NotFound
from lamina.model import Hit, Memory, Query, Recollection, Source, State
from lamina.ranking.confidence import Evidence, Spread, confidence, uncertainty
from lamina.read.coverage import OWN_PAST
from lamina.retrieval.packing import packed
from lamina.storage.database import Transaction
from lamina.storage.layers import LayerRows
from lamina.storage.text_index import TextIndex
from lamina.text.terms import query_terms, terms
from lamina.text.tokens import count_tokens
from lamina.write.caller import Caller
from lamina.write.details import named_time


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
    sure = confidence(Evidence(None, 0.0, share), "", Spread.of(()))
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
