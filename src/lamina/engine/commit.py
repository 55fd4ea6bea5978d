"""What each verb does inside its transaction; the same for a memory in the database and one in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.engine.ledger import Ledger, Shelf, is_learning
from lamina.errors import Conflict, NotFound
from lamina.model import (
    Deny,
    Draft,
    HistoryOp,
    Layer,
    Memory,
    Outcome,
    Provenance,
    Receipt,
    Space,
    State,
    Trust,
    contract_kind,
)
from lamina.storage.memories import Memories
from lamina.storage.relations import Relations
from lamina.trace import events
from lamina.views.acknowledge import acknowledgement
from lamina_policy.gates import BORDER_CODES, border, out_of_reach, policy_tags, privacy
from lamina_policy.reconcile import Lose, New, Same, Supersede, reconcile
from lamina_search.decay import decay
from lamina_text.normal import dedup_key
from lamina_text.ttl import parse_ttl

#: The spaces whose keyed memories have a file, where the workspace's owner is concerned.
HOMES = {Space.USER: "PROFILE.md", Space.SESSION: "SESSION.md"}


def identity_of(key: str | None, kind: str, text: str) -> str:
    """What makes a memory the same as another on its shelf: its key, or else its wording."""
    return f"key:{key}" if key else dedup_key(kind, text)


def _placed(identity: str) -> bool:
    """Whether a memory's place has nothing to do with its words."""
    return identity.startswith(("turn:", "summary:", "heard:", "item:", "episode:", "procedure:"))


def shelf_of(draft: Draft) -> str:
    name = draft.scope.shelf(draft.space)
    if name is None:
        raise AssertionError("drafts are checked before they are committed")
    return name


def commit_remember(ledger: Ledger, draft: Draft, passed: tuple[str, ...]) -> Receipt:
    """Store an admitted draft, or say that it is known, or that it lost."""
    shelf = ledger.shelf(shelf_of(draft))
    new = _built(ledger, draft, shelf)
    identity = draft.place or identity_of(draft.key, draft.kind, draft.text)
    if identity in ("turn", "episode"):  # the same words twice are two turns
        identity = f"{identity}:{new.tick:012}"
    existing = standing(ledger, shelf.number, identity)
    if existing is not None and not draft.scope.sees(existing.topic):
        return commit_denial(ledger, draft, out_of_reach())
    match outcome := reconcile(new, existing, ledger.book.policy):
        case Same(existing):
            return restated(ledger, existing, shelf)
        case Lose():
            _lost(ledger, new, outcome, identity)
            return refused(ledger, draft, outcome.existing, _outweighed(ledger, outcome))
        case New() | Supersede():
            _border(ledger, draft, "allowed", shelf.name)
            decision = {"code": "allowed", "gates": list(passed), "reason": draft.reason}
            memory = store(ledger, new, identity, outcome, decision)
            ledger.wrote(memory)
    what = "superseded" if isinstance(outcome, Supersede) else "remembered"
    return Receipt(
        decision=Outcome.ADMITTED,
        code="allowed" if isinstance(outcome, New) else "superseded",
        ids=(memory.id,),
        acknowledgement=acknowledgement(what, draft.text, draft.key or ""),
        warnings=_hidden(ledger, draft),
        revision=memory.revision,
    )


def _hidden(ledger: Ledger, draft: Draft) -> tuple[str, ...]:
    """Where a session's value is hidden by the profile's, that is said when it is written."""
    profile = ledger.lexicon.shelf(ledger.scope.shelf(Space.USER) or "")
    if draft.key is None or draft.space is not Space.SESSION or draft.place or profile is None:
        return ()
    above = standing(ledger, profile[0], f"key:{draft.key}")
    if above is None or above.text == draft.text or not draft.scope.sees(above.topic):
        return ()
    return (f"The profile's value for {draft.key} stays in force: {above.id}.",)


def store(
    ledger: Ledger, new: Memory, identity: str, outcome: New | Supersede, decision: Mapping[str, object]
) -> Memory:
    """Number a memory and put it on its shelf; what it supersedes goes."""
    shelf = ledger.shelf(new.shelf)
    memory_id, tick = ledger.numbered(shelf.name, contract_kind(new.layer))
    memory = replace(new, id=memory_id, tick=tick)
    old = None
    if isinstance(outcome, Supersede):
        old = outcome.existing
        memory = _merged(replace(memory, supersedes=old.id), old)
        told = events.conflict(
            ledger.scope, winner=memory.id, loser=old.id, rule=outcome.rule, identity=identity
        )
        ledger.trace(shelf.name, told)
        _retire(ledger, old, memory, outcome.rule)
    slot = ledger.index(shelf.number, memory)
    ledger.memories.add(memory, shelf=shelf.number, slot=slot, identity=identity)
    ledger.relate(shelf.number, slot, memory)
    standing_of = {"rule": outcome.rule, "authority": memory.authority.value}
    ledger.record(HistoryOp.ADD, memory, old.text if old else None, {**decision, **standing_of})
    return memory


def _merged(memory: Memory, loser: Memory) -> Memory:
    """A winner is at least as important as what it took the place of, and pinned where that was."""
    if loser.pinned:
        memory = replace(memory, pinned=True, expires_tick=None)
    if loser.importance <= memory.importance:
        return memory
    reasons = [*memory.meta.get("importance_reason", ()), "conflict_merge"]
    meta = {**memory.meta, "importance_reason": reasons}
    return replace(memory, importance=loser.importance, meta=meta)


def restated(ledger: Ledger, existing: Memory, shelf: Shelf) -> Receipt:
    """Said again: where it would have faded or belongs to an earlier phase, it is fresh again."""
    expires = _renewed(ledger, existing)
    if (existing.phase, existing.expires_tick) != (shelf.phase.id, expires):
        place = ledger.memories.place(existing.id)
        fresh = replace(existing, phase=shelf.phase.id, expires_tick=expires, updated_at=ledger.now)
        existing = _saved(ledger, fresh, place[1], place[2])
        ledger.record(HistoryOp.UPDATE, existing, existing.text, {"code": "restated"})
        ledger.wrote(existing)
    return Receipt(
        decision=Outcome.UNCHANGED,
        code="same",
        ids=(existing.id,),
        acknowledgement=acknowledgement("unchanged", existing.text),
        revision=existing.revision,
    )


def _renewed(ledger: Ledger, memory: Memory) -> int | None:
    """The tick at which a memory would fade that is as fresh as new."""
    if memory.expires_tick is None:
        return None
    rule = ledger.book.policy.retention_of(memory.space, contract_kind(memory.layer), memory.kind)
    return rule.expires_tick(ledger.tick(memory.shelf))


def _lost(ledger: Ledger, new: Memory, outcome: Lose, identity: str) -> Memory:
    """What lost has an id of its own in the trace, and is nowhere else."""
    memory_id, tick = ledger.numbered(new.shelf, contract_kind(new.layer))
    loser, winner = replace(new, id=memory_id, tick=tick), outcome.existing
    told = events.conflict(
        ledger.scope, winner=winner.id, loser=loser.id, rule=outcome.rule, identity=identity
    )
    ledger.trace(new.shelf, told)
    gone = events.deleted(ledger.scope, loser, "superseded", ledger.snapshot, winner.id)
    ledger.trace(new.shelf, gone)
    return loser


def _built(ledger: Ledger, draft: Draft, shelf: Shelf) -> Memory:
    """The memory a draft would be; its number is not taken yet."""
    ttl, expires_at = parse_ttl(draft.ttl, ledger.now)
    policy, tick = ledger.book.policy, ledger.tick(shelf.name) + 1
    retention = policy.retention_of(draft.space, contract_kind(draft.layer), draft.kind)
    at_home = draft.key is not None and not draft.place and ledger.home == HOMES.get(draft.space)
    return Memory(
        id="",
        space=draft.space,
        owner=shelf.name.partition(":")[2],
        layer=draft.layer,
        kind=draft.kind,
        text=draft.text,
        key=draft.key,
        category=draft.category,
        tags=draft.tags,
        authority=draft.scope.authority,
        importance=draft.importance,
        priority=draft.priority,
        confidence=draft.confidence,
        pinned=draft.pinned,
        tick=tick,
        phase=shelf.phase.id,
        ttl=ttl,
        created_at=ledger.now,
        updated_at=ledger.now,
        valid_from=draft.valid_from or draft.said_at or ledger.now,
        valid_until=draft.valid_until,
        expires_at=expires_at,
        expires_tick=None if draft.pinned else retention.expires_tick(tick),
        decay_score=decay(draft.layer, ledger.now, 0, ledger.now).score,
        file=ledger.home if at_home else draft.file,
        provenance=_provenance(draft),
        meta={
            "importance_reason": list(draft.importance_reason),
            "policy_tags": policy_tags(policy),
            **draft.meta,
        },
    )


def _provenance(draft: Draft) -> Provenance:
    scope = draft.scope
    return Provenance(
        actor=scope.actor,
        role=scope.role,
        via=scope.via,
        trust=scope.trust,
        agent=scope.agent,
        session_id=scope.session,
        run_id=scope.run_id,
        session_path=draft.session_path,
        message_range=draft.message_range,
        reference=draft.reference,
        reason=draft.reason,
        source_turn_ids=draft.source_turn_ids,
    )


def commit_denial(ledger: Ledger, draft: Draft, objection: Deny, *, audited: bool = True) -> Receipt:
    """A refusal is told once, with its code and without the refused text."""
    name = draft.scope.shelf(draft.space) or f"{draft.space}:"
    if audited:
        ledger.record_refusal(name, objection.code, draft.text)
    # What somebody was refused is told to them alone: everybody reads the project and the system.
    own = name if draft.space is Space.SESSION else draft.scope.shelf(Space.USER) or name
    if objection.code in BORDER_CODES:
        _border(ledger, draft, objection.code, own)
    ledger.trace(own, events.denied(draft, objection, ledger.snapshot))
    return Receipt(
        decision=Outcome.DENIED,
        code=objection.code,
        acknowledgement=acknowledgement("denied", draft.text),
        warnings=tuple(part for part in (objection.why, objection.hint) if part),
    )


def _border(ledger: Ledger, draft: Draft, answer: str, shelf: str) -> None:
    spaces = (draft.space, draft.space)
    ledger.trace(shelf, events.border_check(draft.scope, "write", spaces, answer, ledger.snapshot))


def standing(ledger: Ledger, shelf: int, identity: str) -> Memory | None:
    """The active memory in a place; one whose time is up is put aside, and the place is free."""
    found = ledger.memories.active(shelf, identity)
    if found is None or found.expires_at is None or found.expires_at > ledger.now:
        return found
    expire(ledger, found, "ttl_expired")
    return None


def expire(ledger: Ledger, memory: Memory, reason: str) -> None:
    """Forget a memory by itself: its time or its ticks are over."""
    gone = put_aside(ledger, memory, State.EXPIRED)
    ledger.record(HistoryOp.TTL, gone, memory.text, {"code": reason})
    said = reason if reason == "decay" else "ttl_expired"
    ledger.trace(gone.shelf, events.forgotten(ledger.scope, gone, said, ledger.snapshot))
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "expired", ledger.snapshot))


def commit_expire(ledger: Ledger, memory_id: str, reason: str) -> Receipt:
    """Put a memory aside whose time is up, or whose session is."""
    old = readable(ledger, memory_id, State.ACTIVE)
    expire(ledger, old, reason)
    return Receipt(decision=Outcome.ADMITTED, code="expired", ids=(old.id,))


def _retire(ledger: Ledger, existing: Memory, successor: Memory, rule: str) -> None:
    gone = put_aside(ledger, replace(existing, superseded_by=successor.id), State.SUPERSEDED)
    decision = {"code": "superseded", "rule": rule, "by": successor.id}
    ledger.record(HistoryOp.DELETE, gone, existing.text, decision)
    told = events.deleted(ledger.scope, gone, "superseded", ledger.snapshot, successor.id)
    ledger.trace(gone.shelf, told)


def put_aside(ledger: Ledger, memory: Memory, state: State) -> Memory:
    """Out of the index, in another state; everything else stays."""
    _check_home(ledger, memory)
    shelf, slot, identity = ledger.memories.place(memory.id)
    ledger.unindex(shelf, slot, memory)
    if memory.superseded_by is not None:
        Relations(ledger.transaction).hand_on(memory.id, memory.superseded_by)
    changed = replace(memory, state=state, retired_tick=ledger.tick(memory.shelf), updated_at=ledger.now)
    return _saved(ledger, changed, None, identity)


def _check_home(ledger: Ledger, memory: Memory) -> None:
    """A memory that lives in a file changes together with it, or not at all."""
    if memory.file is not None and memory.file != ledger.home and not is_learning(memory.file):
        raise Conflict(
            f"{memory.id} lives in {memory.file} of another workspace.",
            code="home_elsewhere",
            hint="Change it there, or take the file over with `lamina init --adopt`.",
        )


def _saved(ledger: Ledger, memory: Memory, slot: int | None, identity: str) -> Memory:
    saved = ledger.memories.update(memory, slot=slot, identity=identity)
    if saved is None:
        raise Conflict(
            f"{memory.id} was changed by someone else.", code="revision_mismatch", hint="Read it again."
        )
    return saved


def readable(ledger: Ledger, memory_id: str, *states: State) -> Memory:
    """A memory of the caller's own shelves, in one of the states; for anyone else it does not exist."""
    memory = Memories(ledger.seen).get(memory_id)
    if memory is None or memory.shelf not in ledger.scope.shelves() or memory.state not in states:
        what = f"{' or '.join(states)} " if len(states) < 3 else ""
        raise NotFound(
            f"There is no {what}memory {memory_id!r:.80} here.",
            hint="`lamina recall` shows the ids of what is known.",
        )
    return memory


def commit_revise(
    ledger: Ledger, memory_id: str, draft: Draft, passed: tuple[str, ...], expect: int | None = None
) -> Receipt:
    """New words for a memory; its id stays, its earlier words go to the history."""
    old, text = readable(ledger, memory_id, State.ACTIVE), draft.text
    if expect is not None and expect != old.revision:
        raise Conflict(
            f"{memory_id} is at revision {old.revision}, not {expect}.",
            code="revision_mismatch",
            hint="Read it again and decide anew.",
        )
    if objection := forbidden(ledger, old):
        return refused(ledger, draft, old, objection)
    _check_home(ledger, old)
    if text == old.text:
        return Receipt(
            decision=Outcome.UNCHANGED,
            code="same",
            ids=(old.id,),
            acknowledgement=acknowledgement("unchanged", text),
            revision=old.revision,
        )
    shelf, _, kept = ledger.memories.place(old.id)
    identity = kept if _placed(kept) else identity_of(old.key, old.kind, text)
    twin = None if identity == kept else standing(ledger, shelf, identity)
    if twin is not None and not draft.scope.sees(twin.topic):
        return refused(ledger, draft, old, out_of_reach())
    if twin is not None:
        raise Conflict(f"{twin.id} says that already.", code="duplicate", hint="Forget one of the two.")
    decision = {"code": "allowed", "gates": list(passed), "reason": draft.reason}
    saved = reword(ledger, old, replace(old, text=text), identity, decision)
    return done("allowed", saved, acknowledgement("revised", text))


def reword(
    ledger: Ledger,
    old: Memory,
    new: Memory,
    identity: str,
    decision: Mapping[str, object],
    op: HistoryOp = HistoryOp.UPDATE,
) -> Memory:
    """Other words for a memory, in the index too; the earlier ones go to the history."""
    shelf, slot, _ = ledger.memories.place(old.id)
    ledger.unindex(shelf, slot, old)
    changed = replace(new, updated_at=ledger.now)
    fresh = ledger.index(shelf, changed)
    saved = _saved(ledger, changed, fresh, identity)
    Relations(ledger.transaction).reworded(saved.id)
    ledger.relate(shelf, fresh, saved)
    ledger.record(op, saved, old.text, dict(decision))
    ledger.wrote(saved)
    return saved


def annotate(
    ledger: Ledger, memory: Memory, meta: Mapping[str, object], decision: Mapping[str, object]
) -> Memory:
    """Other particulars for a memory whose words stay."""
    _, slot, identity = ledger.memories.place(memory.id)
    saved = _saved(ledger, replace(memory, meta=dict(meta), updated_at=ledger.now), slot, identity)
    ledger.record(HistoryOp.UPDATE, saved, memory.text, dict(decision))
    return saved


def commit_succession(
    ledger: Ledger,
    old_id: str,
    draft: Draft,
    passed: tuple[str, ...],
    until: datetime | None,
    noted: Mapping[str, object] | None = None,
) -> Receipt:
    """Store an admitted draft in the place of another statement, which held until then."""
    old = readable(ledger, old_id, State.ACTIVE)
    if objection := forbidden(ledger, old):
        return refused(ledger, draft, old, objection)
    new = _built(ledger, draft, ledger.shelf(shelf_of(draft)))
    ended = replace(old, valid_until=until or ledger.now)
    decision = {"code": "superseded", "gates": list(passed), "reason": draft.reason, **(noted or {})}
    identity = draft.place or identity_of(draft.key, draft.kind, draft.text)
    memory = store(ledger, new, identity, Supersede(ended, "recency"), decision)
    ledger.wrote(memory)
    return done("superseded", memory, acknowledgement("superseded", draft.text))


def commit_forget(ledger: Ledger, memory_id: str, undo_days: int, reason: str | None) -> Receipt:
    """Out of every answer at once; restorable until `purge_at`."""
    old = readable(ledger, memory_id, State.ACTIVE)
    if objection := forbidden(ledger, old, reason):
        return refused(ledger, again(ledger, old), old, objection)
    purge_at = ledger.now + timedelta(days=undo_days)
    gone = put_aside(ledger, replace(old, purge_at=purge_at), State.SOFT_DELETED)
    ledger.record(HistoryOp.DELETE, gone, old.text, {"code": "forgotten", "reason": reason})
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "forgotten", ledger.snapshot))
    return done("forgotten", gone, acknowledgement("forgotten", old.text, f"{purge_at:%Y-%m-%d}"))


def commit_pin(ledger: Ledger, memory_id: str, pinned: bool, reason: str | None) -> Receipt:
    """Keep a memory through every clean-up, or no longer; its words and its line in a file stay."""
    old = readable(ledger, memory_id, State.ACTIVE)
    if objection := forbidden(ledger, old, reason):
        return refused(ledger, again(ledger, old), old, objection)
    told = "pinned" if pinned else "unpinned"
    if old.pinned is pinned:
        return replace(done("same", old, acknowledgement(told, old.text)), decision=Outcome.UNCHANGED)
    rule = ledger.book.policy.retention_of(old.space, contract_kind(old.layer), old.kind)
    fades = None if pinned else rule.expires_tick(ledger.tick(old.shelf))
    _, slot, identity = ledger.memories.place(old.id)
    changed = replace(old, pinned=pinned, expires_tick=fades, updated_at=ledger.now)
    saved = _saved(ledger, changed, slot, identity)
    ledger.record(HistoryOp.UPDATE, saved, old.text, {"code": told, "reason": reason})
    return done(told, saved, acknowledgement(told, old.text))


def commit_restore(ledger: Ledger, memory_id: str, reason: str | None = None) -> Receipt:
    """Back as it was, unless something else has taken its place."""
    old = readable(ledger, memory_id, State.SOFT_DELETED)
    if memory_id.split(":")[-2] == "pending":  # what its person rejected never was a memory
        raise NotFound(f"{memory_id} is a guess that was rejected.", hint="Say it anew.")
    if objection := forbidden(ledger, old, f"{old.text}\n{reason or ''}"):
        return refused(ledger, again(ledger, old), old, objection)
    _check_home(ledger, old)
    if old.purge_at is not None and old.purge_at <= ledger.now:
        raise NotFound(f"{memory_id} could be restored until {old.purge_at:%Y-%m-%d}.", code="undo_expired")
    shelf, _, identity = ledger.memories.place(old.id)
    successor = standing(ledger, shelf, identity)
    if successor is not None and not ledger.scope.sees(successor.topic):
        return refused(ledger, again(ledger, old), old, out_of_reach())
    saved = revive(ledger, old, {"code": "restored", "reason": reason})
    return done("restored", saved, acknowledgement("restored", old.text))


def revive(ledger: Ledger, old: Memory, decision: Mapping[str, object]) -> Memory:
    """Back among the active ones, in the place it had; a Conflict where something else has taken it."""
    shelf, _, identity = ledger.memories.place(old.id)
    if (successor := standing(ledger, shelf, identity)) is not None:
        raise Conflict(
            f"{successor.id} has taken the place of {old.id}.",
            code="superseded",
            hint="Forget that one first.",
        )
    back = replace(
        old,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        retired_tick=None,
        expires_tick=_renewed(ledger, old),
        updated_at=ledger.now,
    )
    saved = _saved(ledger, back, ledger.index(shelf, back), identity)
    ledger.record(HistoryOp.RESTORE, saved, None, dict(decision))
    ledger.wrote(saved)
    return saved


def forbidden(ledger: Ledger, memory: Memory, said: str | None = None) -> Deny | None:
    """Why this caller may not touch this memory: the same rules as for saying something new."""
    scope, law = ledger.scope, ledger.book.law(ledger.scope)
    said_anew = replace(again(ledger, memory), key=None, text=said or "", layer=Layer.SEMANTIC)
    if (objection := border(said_anew, law)) or (objection := privacy(said_anew, law)):
        return objection
    if scope.trust is Trust.UNTRUSTED and memory.provenance.trust is Trust.TRUSTED:
        return Deny(
            "trust_deny_change",
            f"A {scope.role} cannot change {memory.id}, which {memory.provenance.actor} said.",
            "Let the user do it.",
        )
    return _outranked(ledger, memory) if law.policy.outranks(memory.authority, scope.authority) else None


def _outranked(ledger: Ledger, memory: Memory) -> Deny:
    return Deny(
        "conflict_authority",
        f"{memory.id} has the authority {memory.authority}; {ledger.scope.authority} cannot change it.",
        "Let the user say it.",
    )


def _outweighed(ledger: Ledger, lost: Lose) -> Deny:
    if lost.rule == "authority":
        return _outranked(ledger, lost.existing)
    return Deny(
        f"conflict_{lost.rule}",
        f"{lost.existing.id} stands against this by the rule `{lost.rule}`.",
        "Say it as a correction if that is what it is.",
    )


def again(ledger: Ledger, memory: Memory) -> Draft:
    """A memory as this caller would have to say it."""
    return Draft(
        scope=ledger.scope,
        text=memory.text,
        space=memory.space,
        layer=memory.layer,
        kind=memory.kind,
        key=memory.key,
        category=memory.topic,
    )


def refused(ledger: Ledger, draft: Draft, memory: Memory, objection: Deny) -> Receipt:
    return replace(commit_denial(ledger, draft, objection), ids=(memory.id,))


def done(code: str, memory: Memory, said: str) -> Receipt:
    return Receipt(
        decision=Outcome.ADMITTED,
        code=code,
        ids=(memory.id,),
        acknowledgement=said,
        revision=memory.revision,
    )
