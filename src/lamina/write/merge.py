"""Several memories become one, and several again: each in one transaction, and undone in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from lamina.audit import events
from lamina.encoders.port import Embedder
from lamina.errors import Conflict, InvalidInput
from lamina.language.acknowledge import acknowledgement
from lamina.model import (
    Draft,
    HistoryEntry,
    HistoryOp,
    Memory,
    Outcome,
    Query,
    Receipt,
    State,
    contract_kind,
    iso,
    topic_of,
)
from lamina.policy.composing import all_tags, composed, kept_of, undone
from lamina.ranking.question import asked_terms
from lamina.retrieval.alike import compared
from lamina.retrieval.hits import Means, find_hits
from lamina.similarity.merge_bands import Merge, Near, Update, banded, differing, measured
from lamina.storage.logs import History
from lamina.text.ttl import parse_time
from lamina.write import commit
from lamina.write.noes import kept_out, lift
from lamina.write.origins import trust_of
from lamina.write.unit_of_work import Ruleset, UnitOfWork

#: How many memories one merge takes, and how many neighbours are compared with a new one.
MOST, _NEAR = 10, 12
_LONGEST = 2_000


def remember_merging(unit: UnitOfWork, draft: Draft, passed: tuple[str, ...]) -> Receipt:
    """Store an admitted draft that first meets what is close to it: see `commit.may_merge`.

    What says the same becomes one with it, and another value takes the place of the older one, if the caller
    may change that: otherwise the first stands by itself and the second is refused.
    """
    found = _met(unit, draft)
    told = {} if found is None else {"band": found.band, "closeness": found.closeness}
    if isinstance(found, Update):
        old, until = found.memory, found.memory.valid_until and iso(found.memory.valid_until)
        noted = {"mode": "changed", "sources": [old.id], "valid_until": until, **told}
        kept = replace(draft, tags=all_tags((old, draft)), pinned=old.pinned or draft.pinned)
        return commit.commit_succession(unit, old.id, kept, passed, None, noted)
    receipt = commit.commit_remember(unit, draft, passed)
    if found is None or receipt.code != "allowed" or commit.forbidden(unit, found.memory):
        return receipt
    new = commit.readable(unit, receipt.ids[0], State.ACTIVE)
    return replace(_united(unit, [found.memory, new], told, draft.reason), warnings=receipt.warnings)


def _met(unit: UnitOfWork, draft: Draft) -> Merge | Update | None:
    """What a draft should become one with, or replace; None where it stands by itself."""
    if (shelf := unit.text_index.shelf(commit.shelf_of(draft))) is None:
        return None
    said = draft.text[:_LONGEST]
    unit.transaction.told(terms=asked_terms(said))
    if commit.standing(unit, shelf[0], commit.identity_of(None, draft.kind, draft.text)) is not None:
        return None  # the very same words are dealt with as ever
    query = Query(
        scope=draft.scope,
        text=said,
        k=_NEAR,
        spaces=(draft.space,),
        layers=(draft.layer,),
        categories=(topic_of(draft.category, draft.layer),),
    )
    encoder = encoder_for(unit.ruleset)
    answer = find_hits(unit.seen, query, unit.clock, Means(embedder=encoder, related=False))
    trust = trust_of(unit, draft)
    found = [answer.memories[hit.id] for hit in answer.found.hits]
    known = _fit(unit, [one for one in found if one.provenance.trust is trust])
    alike = compared(encoder, draft.text, [one.text for one in known])
    near = [Near(one, found) for one, found in zip(known, alike, strict=True)]
    return banded(draft.text, near, unit.ruleset.merging.bands_for(draft.layer), unit.now)


def encoder_for(ruleset: Ruleset) -> Embedder | None:
    """The encoder whose closeness has been measured; another's word says nothing on our scale."""
    encoder = ruleset.encoder
    return encoder if encoder is not None and measured(encoder.embedder_id) != "words" else None


def _fit(unit: UnitOfWork, memories: Sequence[Memory]) -> list[Memory]:
    """Those that are lasting statements and live by their words alone."""
    plain = [one for one in memories if one.key is None and one.file is None and one.expires_at is None]
    plain = [one for one in plain if one.layer in commit.MERGED_LAYERS]
    known = unit.memories.identities([one.id for one in plain])
    return [one for one in plain if known.get(one.id) == commit.identity_of(None, one.kind, one.text)]


def commit_merge(
    unit: UnitOfWork, ids: Sequence[str], reason: str | None, *, judged: bool = False
) -> Receipt:
    """Make one of several memories that say the same; see `ScopedMemory.merge`.

    `judged`: somebody who reads found that they do. Then other words are no objection; other values are.
    """
    wanted = list(dict.fromkeys(ids))
    if isinstance(ids, str) or not 2 <= len(wanted) <= MOST:
        raise InvalidInput(f"A merge takes 2 to {MOST} different ids.", code="merge_unfit")
    sources = [commit.readable(unit, one, State.ACTIVE) for one in wanted]
    fit = {one.id for one in _fit(unit, sources)}
    for one in sources:
        if one.id not in fit:
            hint = "What has a key, a file or an end of its own is changed by itself."
            raise InvalidInput(f"{one.id} cannot be merged.", code="merge_unfit", hint=hint)
        if objection := commit.forbidden(unit, one, reason):
            return commit.refused(unit, commit.again(unit, one), one, objection)
    if len({(one.shelf, one.layer, one.topic, one.provenance.trust) for one in sources}) > 1:
        hint = "Only memories of one owner, space, layer and category merge."
        raise InvalidInput("These do not belong together.", code="merge_unfit", hint=hint)
    closest = 1.0
    for one, other in combinations(sources, 2):
        found = compared(encoder_for(unit.ruleset), one.text, [other.text])[0]
        if (found.conflicts or not judged) and (objection := differing(one, other, found)):
            told = commit.refused(unit, commit.again(unit, one), one, objection)
            return replace(told, acknowledgement="")
        closest = min(closest, found.closeness)
    return _united(unit, sources, {"closeness": closest}, reason)


def _united(
    unit: UnitOfWork, sources: Sequence[Memory], noted: Mapping[str, Any], reason: str | None
) -> Receipt:
    """One memory in the place of several; what they were stays, and `commit_unmerge` brings it back."""
    mode, shelf = unit.ruleset.merging.mode, unit.shelf(sources[0].shelf)
    lead, one = composed(sources, unit.ruleset.policy, unit.now)
    if mode == "recreate":
        memory_id, tick = unit.numbered(shelf.name, contract_kind(lead.layer))
        one = replace(one, id=memory_id, tick=tick, revision=1, supersedes=lead.id, phase=shelf.phase.id)
    for gone in sources:
        if gone.id != one.id:
            _retire(unit, gone, one.id, "merged")
    decision = {
        "code": "merged",
        "mode": mode,
        "sources": [source.id for source in sources],
        "before": kept_of(lead),
        "reason": reason,
        **noted,
    }
    identity = commit.identity_of(None, one.kind, one.text)
    unit.closeness[one.id] = noted["closeness"]
    if mode == "recreate":
        slot = unit.index(shelf.number, one)
        unit.memories.add(one, shelf=shelf.number, slot=slot, identity=identity)
        unit.relate(shelf.number, slot, one)
        unit.record(HistoryOp.MERGE, one, None, decision)
        unit.wrote(one)
    else:
        one = commit.reword(unit, lead, one, identity, decision, HistoryOp.MERGE)
    return commit.done("merged", one, acknowledgement("merged", one.text))


def _retire(unit: UnitOfWork, memory: Memory, successor: str, code: str) -> None:
    gone = commit.put_aside(unit, replace(memory, superseded_by=successor), State.SUPERSEDED)
    unit.record(HistoryOp.DELETE, gone, memory.text, {"code": code, "by": successor})
    unit.trace(gone.shelf, events.deleted(unit.scope, gone, "superseded", unit.snapshot, successor))


def commit_unmerge(unit: UnitOfWork, memory_id: str, reason: str | None) -> Receipt:
    """Undo a merge or an update; see `ScopedMemory.unmerge`."""
    one = commit.readable(unit, memory_id, State.ACTIVE)
    step = _merge_of(unit, one)
    back, mode = _sources(unit, one, step), step.decision["mode"]
    was = [undone(one, step)] if mode == "update" else []
    for memory in (one, *back):
        if objection := commit.forbidden(unit, memory, reason):
            return commit.refused(unit, commit.again(unit, memory), memory, objection)
    for memory in (*was, *back):
        if objection := kept_out(unit, said := commit.again(unit, memory)):
            return commit.refused(unit, said, memory, objection)
        lift(unit, said)
    told = {"code": "unmerged", "from": one.id, "reason": reason}
    unit.shelf(one.shelf)
    if mode == "recreate":
        _retire(unit, one, back[0].id, "unmerged")
    elif mode == "update":
        old = was[0]
        commit.reword(unit, one, old, commit.identity_of(None, old.kind, old.text), told)
    else:
        until = step.decision["valid_until"]
        back = [replace(back[0], valid_until=until and parse_time(until))]
    ids = [commit.revive(unit, memory, told).id for memory in back]
    return Receipt(
        decision=Outcome.ADMITTED,
        code="unmerged",
        ids=tuple(ids if mode == "recreate" else (one.id, *ids)),
        acknowledgement=acknowledgement("unmerged", one.text),
    )


def _merge_of(unit: UnitOfWork, memory: Memory) -> HistoryEntry:
    steps = [one for one in History(unit.transaction).of(memory.id) if one.decision.get("sources")]
    if not steps:
        raise InvalidInput(f"{memory.id} was not merged.", code="not_merged")
    if steps[-1].revision != memory.revision:
        hint = "Revise it, or say again what it was made of."
        raise Conflict(f"{memory.id} has changed since it was merged.", code="merge_changed", hint=hint)
    return steps[-1]


def _sources(unit: UnitOfWork, one: Memory, step: HistoryEntry) -> list[Memory]:
    """What a memory was made of, all of it, as it waits to come back."""
    ids = [source for source in step.decision["sources"] if source != one.id]
    known = [unit.memories.get(source) for source in ids]
    back = [old for old in known if old and old.state is State.SUPERSEDED and old.superseded_by == one.id]
    if len(back) < len(ids):
        raise Conflict(f"What {one.id} was made of is no longer there.", code="merge_sources_gone")
    return back
