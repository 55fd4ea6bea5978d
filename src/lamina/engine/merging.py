"""Several memories become one, and several again: each in one transaction, and undone in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from lamina.engine import commit
from lamina.engine.alike import compared
from lamina.engine.ledger import Book, Ledger
from lamina.engine.recall import Means, recall
from lamina.errors import Conflict, InvalidInput
from lamina.model import (
    Draft,
    HistoryEntry,
    HistoryOp,
    Layer,
    Memory,
    Outcome,
    Query,
    Receipt,
    State,
    contract_kind,
    iso,
    topic_of,
)
from lamina.storage.logs import History
from lamina.trace import events
from lamina.views.acknowledge import acknowledgement
from lamina_policy.composing import all_tags, composed, kept_of, undone
from lamina_search.bands import Merge, Near, Update, banded, differing, measured
from lamina_search.encoders.port import Embedder
from lamina_text.ttl import parse_time

#: How many memories one merge takes, and how many neighbours are compared with a new one.
MOST, _NEAR = 10, 12
_LAYERS = (Layer.SEMANTIC, Layer.USER_MODEL)
_LONGEST = 2_000


def remember_merging(ledger: Ledger, draft: Draft, passed: tuple[str, ...]) -> Receipt:
    """Store an admitted draft; where merging is asked for, it first meets what is close to it.

    What says the same becomes one with it, and another value takes the place of the older one, if the caller
    may change that: otherwise the first stands by itself and the second is refused.
    """
    found = _met(ledger, draft)
    told = {} if found is None else {"band": found.band, "closeness": found.closeness}
    if isinstance(found, Update):
        old, until = found.memory, found.memory.valid_until and iso(found.memory.valid_until)
        noted = {"mode": "changed", "sources": [old.id], "valid_until": until, **told}
        kept = replace(draft, tags=all_tags((old, draft)), pinned=old.pinned or draft.pinned)
        return commit.commit_succession(ledger, old.id, kept, passed, None, noted)
    receipt = commit.commit_remember(ledger, draft, passed)
    if found is None or receipt.code != "allowed" or commit.forbidden(ledger, found.memory):
        return receipt
    new = commit.readable(ledger, receipt.ids[0], State.ACTIVE)
    return replace(_united(ledger, [found.memory, new], told, draft.reason), warnings=receipt.warnings)


def _met(ledger: Ledger, draft: Draft) -> Merge | Update | None:
    """What a draft should become one with, or replace; None where it stands by itself."""
    rules, lasting = ledger.book.merging, draft.ttl == "none" and draft.valid_until is None
    wanted = rules.on_write if draft.merge is None else draft.merge
    plain = draft.key is None and not draft.place and draft.file is None and draft.layer in _LAYERS
    shelf = ledger.lexicon.shelf(commit.shelf_of(draft))
    if not (wanted and plain and lasting and shelf):
        return None
    if commit.standing(ledger, shelf[0], commit.identity_of(None, draft.kind, draft.text)) is not None:
        return None  # the very same words are dealt with as ever
    query = Query(
        scope=draft.scope, text=draft.text[:_LONGEST], k=_NEAR, spaces=(draft.space,), layers=(draft.layer,),
        categories=(topic_of(draft.category, draft.layer),),
    )  # fmt: skip
    encoder = encoder_for(ledger.book)
    answer = recall(ledger.seen, query, ledger.now, Means(embedder=encoder))
    known = [answer.memories[hit.id] for hit in answer.found.hits]
    known = [one for one in known if _fit(ledger, one) and one.provenance.trust is draft.scope.trust]
    alike = compared(encoder, draft.text, [one.text for one in known])
    near = [Near(one, found) for one, found in zip(known, alike, strict=True)]
    return banded(draft.text, near, rules.bands_for(draft.layer), ledger.now)


def encoder_for(book: Book) -> Embedder | None:
    """The encoder whose closeness has been measured; another's word says nothing on our scale."""
    encoder = book.encoder
    return encoder if encoder is not None and measured(encoder.embedder_id) != "words" else None


def _fit(ledger: Ledger, memory: Memory) -> bool:
    """Whether a memory is a lasting statement that lives by its words alone."""
    words = commit.identity_of(None, memory.kind, memory.text)
    plain = memory.key is None and memory.file is None and memory.layer in _LAYERS
    return plain and memory.expires_at is None and ledger.memories.place(memory.id)[2] == words


def commit_merge(
    ledger: Ledger, ids: Sequence[str], reason: str | None, *, judged: bool = False
) -> Receipt:
    """Make one of several memories that say the same; see `Mind.merge`.

    `judged`: somebody who reads found that they do. Then other words are no objection; other values are.
    """
    wanted = list(dict.fromkeys(ids))
    if isinstance(ids, str) or not 2 <= len(wanted) <= MOST:
        raise InvalidInput(f"A merge takes 2 to {MOST} different ids.", code="merge_unfit")
    sources = [commit.readable(ledger, one, State.ACTIVE) for one in wanted]
    for one in sources:
        if not _fit(ledger, one):
            hint = "What has a key, a file or an end of its own is changed by itself."
            raise InvalidInput(f"{one.id} cannot be merged.", code="merge_unfit", hint=hint)
        if objection := commit.forbidden(ledger, one, reason):
            return commit.refused(ledger, commit.again(ledger, one), one, objection)
    if len({(one.shelf, one.layer, one.topic, one.provenance.trust) for one in sources}) > 1:
        hint = "Only memories of one owner, space, layer and category merge."
        raise InvalidInput("These do not belong together.", code="merge_unfit", hint=hint)
    closest = 1.0
    for one, other in combinations(sources, 2):
        found = compared(encoder_for(ledger.book), one.text, [other.text])[0]
        if (found.conflicts or not judged) and (objection := differing(one, other, found)):
            told = commit.refused(ledger, commit.again(ledger, one), one, objection)
            return replace(told, acknowledgement="")
        closest = min(closest, found.closeness)
    return _united(ledger, sources, {"closeness": closest}, reason)


def _united(
    ledger: Ledger, sources: Sequence[Memory], noted: Mapping[str, Any], reason: str | None
) -> Receipt:
    """One memory in the place of several; what they were stays, and `commit_unmerge` brings it back."""
    mode, shelf = ledger.book.merging.mode, ledger.shelf(sources[0].shelf)
    lead, one = composed(sources, ledger.book.policy, ledger.now)
    if mode == "recreate":
        memory_id, tick = ledger.numbered(shelf.name, contract_kind(lead.layer))
        one = replace(one, id=memory_id, tick=tick, revision=1, supersedes=lead.id, phase=shelf.phase.id)
    for gone in sources:
        if gone.id != one.id:
            _retire(ledger, gone, one.id, "merged")
    decision = {
        "code": "merged", "mode": mode, "sources": [source.id for source in sources], "before": kept_of(lead),
        "reason": reason, **noted,
    }  # fmt: skip
    identity = commit.identity_of(None, one.kind, one.text)
    ledger.closeness[one.id] = noted["closeness"]
    if mode == "recreate":
        slot = ledger.index(shelf.number, one)
        ledger.memories.add(one, shelf=shelf.number, slot=slot, identity=identity)
        ledger.relate(shelf.number, slot, one)
        ledger.record(HistoryOp.MERGE, one, None, decision)
        ledger.wrote(one)
    else:
        one = commit.reword(ledger, lead, one, identity, decision, HistoryOp.MERGE)
    return commit.done("merged", one, acknowledgement("merged", one.text))


def _retire(ledger: Ledger, memory: Memory, successor: str, code: str) -> None:
    gone = commit.put_aside(ledger, replace(memory, superseded_by=successor), State.SUPERSEDED)
    ledger.record(HistoryOp.DELETE, gone, memory.text, {"code": code, "by": successor})
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "superseded", ledger.snapshot, successor))


def commit_unmerge(ledger: Ledger, memory_id: str, reason: str | None) -> Receipt:
    """Undo a merge or an update; see `Mind.unmerge`."""
    one = commit.readable(ledger, memory_id, State.ACTIVE)
    step = _merge_of(ledger, one)
    back, mode = _sources(ledger, one, step), step.decision["mode"]
    for memory in (one, *back):
        if objection := commit.forbidden(ledger, memory, reason):
            return commit.refused(ledger, commit.again(ledger, memory), memory, objection)
    told = {"code": "unmerged", "from": one.id, "reason": reason}
    ledger.shelf(one.shelf)
    if mode == "recreate":
        _retire(ledger, one, back[0].id, "unmerged")
    elif mode == "update":
        old = undone(one, step)
        commit.reword(ledger, one, old, commit.identity_of(None, old.kind, old.text), told)
    else:
        until = step.decision["valid_until"]
        back = [replace(back[0], valid_until=until and parse_time(until))]
    ids = [commit.revive(ledger, memory, told).id for memory in back]
    return Receipt(
        decision=Outcome.ADMITTED,
        code="unmerged",
        ids=tuple(ids if mode == "recreate" else (one.id, *ids)),
        acknowledgement=acknowledgement("unmerged", one.text),
    )


def _merge_of(ledger: Ledger, memory: Memory) -> HistoryEntry:
    steps = [one for one in History(ledger.transaction).of(memory.id) if one.decision.get("sources")]
    if not steps:
        raise InvalidInput(f"{memory.id} was not merged.", code="not_merged")
    if steps[-1].revision != memory.revision:
        hint = "Revise it, or say anew what it was made of."
        raise Conflict(f"{memory.id} has changed since it was merged.", code="merge_changed", hint=hint)
    return steps[-1]


def _sources(ledger: Ledger, one: Memory, step: HistoryEntry) -> list[Memory]:
    """What a memory was made of, all of it, as it waits to come back."""
    ids = [source for source in step.decision["sources"] if source != one.id]
    known = [ledger.memories.get(source) for source in ids]
    back = [old for old in known if old and old.state is State.SUPERSEDED and old.superseded_by == one.id]
    if len(back) < len(ids):
        raise Conflict(f"What {one.id} was made of is no longer there.", code="merge_sources_gone")
    return back
