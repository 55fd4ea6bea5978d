"""The steps that every verb is made of, inside its transaction, and the end of every change; the same for a
memory in the database and one in a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.audit import events
from lamina.errors import Conflict, NotFound
from lamina.language.acknowledge import acknowledgement
from lamina.model import (
    Deny,
    Draft,
    HistoryOp,
    Kind,
    Layer,
    Memory,
    Outcome,
    Provenance,
    Receipt,
    Role,
    Scope,
    Space,
    State,
    Trust,
    contract_kind,
)
from lamina.policy.gates import BORDER_CODES, border, out_of_reach, policy_tags, privacy
from lamina.policy.reconcile import Lose, New, Same, Supersede, reconcile
from lamina.policy.rules import RetentionMode
from lamina.storage.memories import Edges, Memories
from lamina.storage.small_tables import Sessions
from lamina.text.normalise import dedup_key
from lamina.text.ttl import parse_ttl
from lamina.workspace.layout import HOMES
from lamina.write.noes import is_person, kept_out, lift, tried
from lamina.write.origins import binds, keep_exposure, traced, trust_of
from lamina.write.unit_of_work import OpenShelf, UnitOfWork, is_learning

#: The layers whose statements may become one.
MERGED_LAYERS = (Layer.SEMANTIC, Layer.USER_MODEL)
#: The spaces whose keyed memories have a file, where the workspace's owner is concerned.


def identity_of(key: str | None, kind: str, text: str) -> str:
    """What makes a memory the same as another on its shelf: its key, or else its wording."""
    return f"key:{key}" if key else dedup_key(kind, text)


def place_of(draft: Draft) -> str:
    """The same for a draft, which may have a place that has nothing to do with its words."""
    return draft.place or identity_of(draft.key, draft.kind, draft.text)


def _placed(identity: str) -> bool:
    """Whether a memory's place has nothing to do with its words."""
    return identity.startswith(("turn:", "summary:", "heard:", "item:", "episode:", "procedure:"))


def shelf_of(draft: Draft) -> str:
    name = draft.scope.shelf(draft.space)
    if name is None:
        raise AssertionError("drafts are checked before they are committed")
    return name


def commit_remember(unit: UnitOfWork, draft: Draft, passed: tuple[str, ...]) -> Receipt:
    """Store an admitted draft, or say that it is known, or that it lost."""
    shelf = unit.shelf(shelf_of(draft))
    draft = traced(unit, draft)
    new = _built(unit, draft, shelf)
    identity = place_of(draft)
    if identity in ("turn", "episode"):  # the same words twice are two turns
        identity, existing = f"{identity}:{new.tick:012}", None
    else:
        existing = standing(unit, shelf.number, identity)
    if existing is not None and not draft.scope.sees(existing.topic, existing.space):
        return commit_denial(unit, draft, out_of_reach())
    outcome = reconcile(new, existing, unit.ruleset.policy)
    if isinstance(outcome, New | Supersede) and (objection := kept_out(unit, draft)) is not None:
        return commit_denial(unit, draft, objection)
    if not isinstance(outcome, Lose):
        lift(unit, draft)
    match outcome:
        case Same(existing):
            return restated(unit, existing, shelf)
        case Lose():
            _lost(unit, new, outcome, identity)
            return refused(unit, draft, outcome.existing, _outweighed(unit, outcome))
        case New() | Supersede():
            _border(unit, draft, "allowed", shelf.name)
            decision = {"code": "allowed", "gates": list(passed), "reason": draft.reason}
            memory = store(unit, new, identity, outcome, decision)
            unit.wrote(memory)
    what = "superseded" if isinstance(outcome, Supersede) else "remembered"
    return Receipt(
        decision=Outcome.ADMITTED,
        code="allowed" if isinstance(outcome, New) else "superseded",
        ids=(memory.id,),
        acknowledgement=acknowledgement(what, draft.text, draft.key or ""),
        warnings=_hidden(unit, draft),
        revision=memory.revision,
    )


def may_merge(unit: UnitOfWork, draft: Draft) -> bool:
    """Whether a draft is first compared with what is close to it: a lasting statement that lives by its words
    alone, where the caller or the settings ask for it."""
    wanted = unit.ruleset.merging.on_write if draft.merge is None else draft.merge
    plain = draft.key is None and not draft.place and draft.file is None and draft.layer in MERGED_LAYERS
    return wanted and plain and draft.ttl == "none" and draft.valid_until is None


def _hidden(unit: UnitOfWork, draft: Draft) -> tuple[str, ...]:
    """Where a session's value is hidden by the profile's, that is said when it is written."""
    if draft.key is None or draft.space is not Space.SESSION or draft.place:
        return ()
    profile = unit.text_index.shelf(unit.scope.shelf(Space.USER) or "")
    if profile is None:
        return ()
    above = standing(unit, profile[0], f"key:{draft.key}")
    if above is None or above.text == draft.text or not draft.scope.sees(above.topic, above.space):
        return ()
    return (f"The profile's value for {draft.key} is still used: {above.id}.",)


def store(
    unit: UnitOfWork, new: Memory, identity: str, outcome: New | Supersede, decision: Mapping[str, object]
) -> Memory:
    """Number a memory and put it on its shelf; what it supersedes goes."""
    shelf = unit.shelf(new.shelf)
    memory_id, tick = unit.numbered(shelf.name, contract_kind(new.layer))
    memory = replace(new, id=memory_id, tick=tick)
    old = None
    if isinstance(outcome, Supersede):
        old = outcome.existing
        memory = _vouched(_merged(replace(memory, supersedes=old.id), old), old)
        told = events.conflict(
            unit.scope, winner=memory.id, loser=old.id, rule=outcome.rule, identity=identity
        )
        unit.trace(shelf.name, told)
        _retire(unit, old, memory, outcome.rule)
    slot = unit.index(shelf.number, memory)
    unit.memories.add(memory, shelf=shelf.number, slot=slot, identity=identity)
    unit.relate(shelf.number, slot, memory)
    keep_exposure(unit, memory)
    standing_of = {"rule": outcome.rule, "authority": memory.authority.value}
    unit.record(HistoryOp.ADD, memory, old.text if old else None, {**decision, **standing_of})
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


def _vouched(memory: Memory, old: Memory) -> Memory:
    """Who says what nobody vouched for vouches for it."""
    doubted = old.provenance.trust is Trust.UNTRUSTED and memory.provenance.trust is Trust.TRUSTED
    if not doubted or memory.text != old.text:
        return memory
    return replace(memory, provenance=replace(memory.provenance, vouched_by=memory.provenance.actor))


def restated(unit: UnitOfWork, existing: Memory, shelf: OpenShelf) -> Receipt:
    """Said again: where it would have faded or belongs to an earlier phase, it is fresh again."""
    expires = _renewed(unit, existing)
    if (existing.phase, existing.expires_tick) != (shelf.phase.id, expires):
        place = unit.memories.place(existing.id)
        fresh = replace(existing, phase=shelf.phase.id, expires_tick=expires, updated_at=unit.now)
        existing = _saved(unit, fresh, place[1], place[2])
        unit.record(HistoryOp.UPDATE, existing, existing.text, {"code": "restated"})
        unit.wrote(existing)
    return Receipt(
        decision=Outcome.UNCHANGED,
        code="same",
        ids=(existing.id,),
        acknowledgement=acknowledgement("unchanged", existing.text),
        revision=existing.revision,
    )


def _renewed(unit: UnitOfWork, memory: Memory) -> int | None:
    """The tick at which a memory would fade that is as fresh as new."""
    if memory.expires_tick is None:
        return None
    rule = unit.ruleset.policy.retention_of(memory.space, contract_kind(memory.layer), memory.kind)
    return rule.expires_tick(unit.tick(memory.shelf))


def _lost(unit: UnitOfWork, new: Memory, outcome: Lose, identity: str) -> Memory:
    """What lost has an id of its own in the trace, and is nowhere else."""
    memory_id, tick = unit.numbered(new.shelf, contract_kind(new.layer))
    loser, winner = replace(new, id=memory_id, tick=tick), outcome.existing
    told = events.conflict(unit.scope, winner=winner.id, loser=loser.id, rule=outcome.rule, identity=identity)
    unit.trace(new.shelf, told)
    gone = events.deleted(unit.scope, loser, "superseded", unit.snapshot, winner.id)
    unit.trace(new.shelf, gone)
    return loser


def _built(unit: UnitOfWork, draft: Draft, shelf: OpenShelf) -> Memory:
    """The memory a draft would be; its number is not taken yet."""
    ttl, expires_at = parse_ttl(draft.ttl, unit.clock)
    said_at = min(draft.said_at or unit.said_now, unit.said_now)
    policy, tick = unit.ruleset.policy, unit.tick(shelf.name) + 1
    retention = policy.retention_of(draft.space, contract_kind(draft.layer), draft.kind)
    at_home = not draft.place and is_at_home(unit, draft.key, draft.space)
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
        created_at=unit.now,
        updated_at=unit.now,
        valid_from=draft.valid_from or said_at,
        valid_until=draft.valid_until,
        expires_at=expires_at,
        expires_tick=None if draft.pinned else retention.expires_tick(tick),
        file=unit.home if at_home else draft.file,
        provenance=_provenance(unit, draft),
        meta={
            "importance_reason": list(draft.importance_reason),
            "policy_tags": policy_tags(policy),
            **draft.meta,
        },
    )


def _provenance(unit: UnitOfWork, draft: Draft) -> Provenance:
    scope = draft.scope
    return Provenance(
        actor=scope.actor,
        role=scope.role,
        via=scope.via,
        trust=trust_of(unit, draft),
        agent=scope.agent,
        session_id=scope.session,
        run_id=scope.run_id,
        session_path=draft.session_path,
        message_range=draft.message_range,
        reference=draft.reference,
        reason=draft.reason,
        source_turn_ids=draft.source_turn_ids,
        origins=draft.origins,
        user=scope.user if draft.space is Space.PROJECT else None,
    )


def commit_denial(unit: UnitOfWork, draft: Draft, objection: Deny, *, audited: bool = True) -> Receipt:
    """A refusal is told once, with its code and without the refused text."""
    name = draft.scope.shelf(draft.space) or f"{draft.space}:"
    tried(unit, draft, objection)
    if audited:
        unit.record_refusal(name, objection.code, draft.text)
    # What somebody was refused is told to them alone: everybody reads the project and the system.
    own = name if draft.space is Space.SESSION else draft.scope.shelf(Space.USER) or name
    if objection.code in BORDER_CODES:
        _border(unit, draft, objection.code, own)
    unit.trace(own, events.denied(draft, objection, unit.snapshot))
    return Receipt(
        decision=Outcome.DENIED,
        code=objection.code,
        acknowledgement=acknowledgement("denied", draft.text),
        warnings=tuple(part for part in (objection.why, objection.hint) if part),
    )


def _border(unit: UnitOfWork, draft: Draft, answer: str, shelf: str) -> None:
    space, snapshot = draft.space, unit.snapshot
    unit.trace(shelf, events.border_check(draft.scope, "write", space, space, answer, snapshot))


def standing(unit: UnitOfWork, shelf: int, identity: str) -> Memory | None:
    """The active memory in a place; one whose time is up is put aside, and the place is free."""
    found = unit.memories.active(shelf, identity)
    if found is None or found.expires_at is None or found.expires_at > unit.clock:
        return found
    expire(unit, found, "ttl_expired")
    return None


def expire(unit: UnitOfWork, memory: Memory, reason: str) -> None:
    """Forget a memory by itself: its time or its ticks are over."""
    gone = put_aside(unit, memory, State.EXPIRED)
    unit.record(HistoryOp.TTL, gone, memory.text, {"code": reason})
    said = reason if reason == "decay" else "ttl_expired"
    unit.trace(gone.shelf, events.forgotten(unit.scope, gone, said, unit.snapshot))
    unit.trace(gone.shelf, events.deleted(unit.scope, gone, "expired", unit.snapshot))


def commit_expire(unit: UnitOfWork, memory_id: str, reason: str) -> Receipt:
    """Put a memory aside whose time is up, or whose session is."""
    old = readable(unit, memory_id, State.ACTIVE)
    expire(unit, old, reason)
    return Receipt(decision=Outcome.ADMITTED, code="expired", ids=(old.id,))


def _retire(unit: UnitOfWork, existing: Memory, successor: Memory, rule: str) -> None:
    gone = put_aside(unit, replace(existing, superseded_by=successor.id), State.SUPERSEDED)
    decision = {"code": "superseded", "rule": rule, "by": successor.id}
    unit.record(HistoryOp.DELETE, gone, existing.text, decision)
    told = events.deleted(unit.scope, gone, "superseded", unit.snapshot, successor.id)
    unit.trace(gone.shelf, told)


def put_aside(unit: UnitOfWork, memory: Memory, state: State) -> Memory:
    """Out of the index, in another state; everything else stays."""
    check_home(unit, memory)
    shelf, slot, identity = unit.memories.place(memory.id)
    unit.unindex(shelf, slot, memory)
    if memory.superseded_by is not None:
        Edges(unit.transaction).hand_on(memory.id, memory.superseded_by)
    changed = replace(memory, state=state, retired_tick=unit.tick(memory.shelf), updated_at=unit.now)
    return _saved(unit, changed, None, identity)


def is_at_home(unit: UnitOfWork, key: str | None, space: Space) -> bool:
    """Whether what has this key in a space lives in the file that is being changed."""
    return key is not None and unit.home == HOMES.get(space)


def check_home(unit: UnitOfWork, memory: Memory) -> None:
    """A memory that lives in a file changes together with it, or not at all."""
    if memory.file is not None and memory.file != unit.home and not is_learning(memory.file):
        raise Conflict(
            f"{memory.id} lives in {memory.file} of another workspace.",
            code="home_elsewhere",
            hint="Change it there, or take the file over with `lamina init --adopt`.",
        )


def _saved(unit: UnitOfWork, memory: Memory, slot: int | None, identity: str) -> Memory:
    saved = unit.memories.update(memory, slot=slot, identity=identity)
    if saved is None:
        raise Conflict(
            f"{memory.id} was changed by someone else.", code="revision_mismatch", hint="Read it again."
        )
    return saved


def is_ours(unit: UnitOfWork, memory_id: str) -> bool:
    """Whether an id is one of the caller's own shelves."""
    return any(memory_id.startswith(f"{shelf}:") for shelf in unit.scope.shelves())


def readable(unit: UnitOfWork, memory_id: str, *states: State) -> Memory:
    """A memory of the caller's own shelves, in one of the states; for anyone else it does not exist."""
    memories = Memories(unit.seen)
    unit.transaction.told(id=memory_id, memory_id=memory_id)
    # One of the caller's own that cannot be read is said to be damaged; of anybody else's nothing is said.
    ours = is_ours(unit, memory_id)
    memory = memories.get(memory_id) if ours else memories.load([memory_id]).get(memory_id)
    if memory is None or memory.shelf not in unit.scope.shelves() or memory.state not in states:
        ended = states == (State.SOFT_DELETED,)
        what = "forgotten " if ended else f"{' or '.join(states)} " if len(states) < 3 else ""
        shows = "`lamina list --state soft_deleted` shows what can be restored."
        raise NotFound(
            f"There is no {what}memory {memory_id!r:.80} here.",
            hint=shows if ended else "`lamina recall` shows the ids of what is known.",
        )
    return memory


def commit_revise(
    unit: UnitOfWork, memory_id: str, draft: Draft, passed: tuple[str, ...], expect: int | None = None
) -> Receipt:
    """New words for a memory; its id stays, its earlier words go to the history."""
    old, text = readable(unit, memory_id, State.ACTIVE), draft.text
    if expect is not None and expect != old.revision:
        raise Conflict(
            f"{memory_id} is at revision {old.revision}, not {expect}.",
            code="revision_mismatch",
            hint="Read it again and decide again.",
        )
    if objection := forbidden(unit, old):
        return refused(unit, draft, old, objection)
    check_home(unit, old)
    if text == old.text:
        return Receipt(
            decision=Outcome.UNCHANGED,
            code="same",
            ids=(old.id,),
            acknowledgement=acknowledgement("unchanged", text),
            revision=old.revision,
        )
    if (objection := kept_out(unit, draft)) is not None:
        return refused(unit, draft, old, objection)
    draft = traced(unit, draft)
    if draft.tainted and binds(replace(draft, pinned=old.pinned, importance=1)):
        return refused(unit, draft, old, doubtful())
    lift(unit, draft)
    shelf, _, kept = unit.memories.place(old.id)
    identity = kept if _placed(kept) else identity_of(old.key, old.kind, text)
    twin = None if identity == kept else standing(unit, shelf, identity)
    if twin is not None and not draft.scope.sees(twin.topic, twin.space):
        return refused(unit, draft, old, out_of_reach())
    if twin is not None:
        raise Conflict(f"{twin.id} says that already.", code="duplicate", hint="Forget one of the two.")
    decision = {"code": "allowed", "gates": list(passed), "reason": draft.reason}
    origins = tuple(dict.fromkeys((*old.provenance.origins, *draft.origins)))
    least = Trust.UNTRUSTED if draft.tainted else old.provenance.trust
    source = replace(old.provenance, origins=origins, trust=least)
    saved = reword(unit, old, replace(old, text=text, provenance=source), identity, decision)
    keep_exposure(unit, saved)
    return done("allowed", saved, acknowledgement("revised", text))


def commit_put_behind(unit: UnitOfWork, ids: Sequence[str], newer: str) -> Receipt:
    """Note of active memories which one says what holds now; their words and their state stay."""
    for one in ids:
        old = readable(unit, one, State.ACTIVE)
        _, slot, identity = unit.memories.place(old.id)
        saved = _saved(unit, replace(old, superseded_by=newer), slot, identity)
        unit.record(HistoryOp.UPDATE, saved, old.text, {"code": "superseded", "by": newer})
    return Receipt(decision=Outcome.ADMITTED, code="superseded", ids=tuple(ids))


def reword(
    unit: UnitOfWork,
    old: Memory,
    new: Memory,
    identity: str,
    decision: Mapping[str, object],
    op: HistoryOp = HistoryOp.UPDATE,
) -> Memory:
    """Other words for a memory, in the index too; the earlier ones go to the history."""
    shelf, slot, _ = unit.memories.place(old.id)
    unit.unindex(shelf, slot, old)
    changed = replace(new, updated_at=unit.now)
    fresh = unit.index(shelf, changed)
    saved = _saved(unit, changed, fresh, identity)
    Edges(unit.transaction).reworded(saved.id)
    unit.relate(shelf, fresh, saved)
    unit.record(op, saved, old.text, dict(decision))
    unit.wrote(saved)
    return saved


def annotate(
    unit: UnitOfWork, memory: Memory, meta: Mapping[str, object], decision: Mapping[str, object]
) -> Memory:
    """Other particulars for a memory whose words stay."""
    _, slot, identity = unit.memories.place(memory.id)
    saved = _saved(unit, replace(memory, meta=dict(meta), updated_at=unit.now), slot, identity)
    unit.record(HistoryOp.UPDATE, saved, memory.text, dict(decision))
    return saved


def commit_succession(
    unit: UnitOfWork,
    old_id: str,
    draft: Draft,
    passed: tuple[str, ...],
    until: datetime | None,
    noted: Mapping[str, object] | None = None,
) -> Receipt:
    """Store an admitted draft in the place of another statement, which held until then."""
    old = readable(unit, old_id, State.ACTIVE)
    draft = traced(unit, draft)
    if objection := forbidden(unit, old) or kept_out(unit, draft):
        return refused(unit, draft, old, objection)
    if draft.tainted and (old.provenance.trust is Trust.TRUSTED or binds(draft)):
        return refused(unit, draft, old, doubtful())
    lift(unit, draft)
    new = _built(unit, draft, unit.shelf(shelf_of(draft)))
    ended = replace(old, valid_until=until or unit.now)
    decision = {"code": "superseded", "gates": list(passed), "reason": draft.reason, **(noted or {})}
    identity = place_of(draft)
    memory = store(unit, new, identity, Supersede(ended, "recency"), decision)
    unit.wrote(memory)
    return done("superseded", memory, acknowledgement("superseded", draft.text))


def replace_too(unit: UnitOfWork, done: Receipt, others: Sequence[str], until: datetime | None) -> Receipt:
    """The successor of one statement is that of others, too, as far as its caller may change them."""
    new = readable(unit, done.ids[0], State.ACTIVE)
    for one in others:
        old = readable(unit, one, State.ACTIVE)
        if forbidden(unit, old) is None:
            _retire(unit, replace(old, valid_until=until or unit.now), new, "recency")
    return done


def commit_pin(unit: UnitOfWork, memory_id: str, pinned: bool, reason: str | None) -> Receipt:
    """Keep a memory through every clean-up, or no longer; its words and its line in a file stay."""
    old = readable(unit, memory_id, State.ACTIVE)
    if objection := forbidden(unit, old, reason):
        return refused(unit, again(unit, old), old, objection)
    told = "pinned" if pinned else "unpinned"
    if old.pinned is pinned:
        return replace(done("same", old, acknowledgement(told, old.text)), decision=Outcome.UNCHANGED)
    rule = unit.ruleset.policy.retention_of(old.space, contract_kind(old.layer), old.kind)
    fades = None if pinned else rule.expires_tick(unit.tick(old.shelf))
    _, slot, identity = unit.memories.place(old.id)
    changed = replace(old, pinned=pinned, expires_tick=fades, updated_at=unit.now)
    saved = _saved(unit, changed, slot, identity)
    unit.record(HistoryOp.UPDATE, saved, old.text, {"code": told, "reason": reason})
    return done(told, saved, acknowledgement(told, old.text))


def revive(unit: UnitOfWork, old: Memory, decision: Mapping[str, object]) -> Memory:
    """Back among the active ones, in the place it had; a Conflict where something else has taken it."""
    shelf, _, identity = unit.memories.place(old.id)
    if (successor := standing(unit, shelf, identity)) is not None:
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
        expires_tick=_renewed(unit, old),
        updated_at=unit.now,
    )
    saved = _saved(unit, back, unit.index(shelf, back), identity)
    unit.record(HistoryOp.RESTORE, saved, None, dict(decision))
    unit.wrote(saved)
    return saved


def forbidden(unit: UnitOfWork, memory: Memory, said: str | None = None) -> Deny | None:
    """Why this caller may not touch this memory: the same rules as for saying something new."""
    scope, law = unit.scope, unit.ruleset.law(unit.scope)
    said_anew = replace(again(unit, memory), key=None, text=said or "", layer=Layer.SEMANTIC)
    if (objection := border(said_anew, law)) or (objection := privacy(said_anew, law)):
        return objection
    if said and (objection := kept_out(unit, said_anew)):
        return objection
    if scope.trust is Trust.UNTRUSTED and memory.provenance.trust is Trust.TRUSTED:
        return Deny(
            "trust_deny_change",
            f"A {scope.role} cannot change {memory.id}, which {memory.provenance.actor} said.",
            "Let the user do it.",
        )
    if memory.space is Space.PROJECT and not _author(scope, memory):
        return Deny(
            "not_yours",
            f"{memory.id} was said by somebody else in the project.",
            "Let its author or an administrator change it; or say your own.",
        )
    # What nobody vouches for weighs less than any person's word, whatever its authority is called.
    doubted = memory.provenance.trust is Trust.UNTRUSTED and is_person(scope)
    outranked = law.policy.outranks(memory.authority, scope.authority) and not doubted
    return _outranked(unit, memory) if outranked else None


def _author(scope: Scope, memory: Memory) -> bool:
    """Whether a project's memory was said by or for this caller; of an old one only the actor is known."""
    said = memory.provenance
    if scope.role in (Role.ADMIN, Role.SYSTEM):
        return True
    return (
        said.user == scope.user
        if said.user is not None
        else said.role is not Role.USER or said.actor == scope.actor
    )


def doubtful() -> Deny:
    """Why words that nobody vouches for replace nothing."""
    return Deny(
        "origin_untrusted",
        "This repeats what a tool or a document said, and nobody vouches for that.",
        "Let the user say it.",
    )


def _outranked(unit: UnitOfWork, memory: Memory) -> Deny:
    return Deny(
        "conflict_authority",
        f"What is {memory.authority.in_words} counts for more than what is {unit.scope.authority.in_words}:"
        f" {memory.id} stays as it is.",
        "Let the user say it.",
    )


def _outweighed(unit: UnitOfWork, lost: Lose) -> Deny:
    if lost.rule == "authority":
        return _outranked(unit, lost.existing)
    return Deny(
        f"conflict_{lost.rule}",
        f"{lost.existing.id} stands against this by the rule `{lost.rule}`.",
        "Say it as a correction if that is what it is.",
    )


def again(unit: UnitOfWork, memory: Memory) -> Draft:
    """A memory as this caller would have to say it."""
    return Draft(
        scope=unit.scope,
        text=memory.text,
        space=memory.space,
        layer=memory.layer,
        kind=memory.kind,
        key=memory.key,
        category=memory.topic,
    )


def refused(unit: UnitOfWork, draft: Draft, memory: Memory, objection: Deny) -> Receipt:
    return replace(commit_denial(unit, draft, objection), ids=(memory.id,))


def done(code: str, memory: Memory, said: str) -> Receipt:
    return Receipt(
        decision=Outcome.ADMITTED,
        code=code,
        ids=(memory.id,),
        acknowledgement=said,
        revision=memory.revision,
    )


#: Characters of a part of a rolling summary, how many parts, and characters of the whole.
_PART = 80
_PARTS = 6
_WHOLE = 240

_NOTHING = "Earlier turns were not trusted."
_WHO = {Role.USER: "user", Role.AGENT: "ai"}


def settle(unit: UnitOfWork, *, last: bool = True) -> None:
    """Ends a change, and with `last` a transaction; nothing may be written through the unit after it."""
    for shelf in list(unit.shelves.values()):
        unit.transaction.told(tick=unit.tick(shelf.name))
        if Space(shelf.name.partition(":")[0]) is Space.SESSION:
            _narrow(unit, shelf)
            _live_on(unit, shelf)
        if Space(shelf.name.partition(":")[0]) in unit.ruleset.policy.retention_spaces:
            _sweep(unit, shelf)
    if last:
        unit.learn()
    unit.keep_events()


def _live_on(unit: UnitOfWork, shelf: OpenShelf) -> None:
    """A session that is written to is in use: what it keeps until its end is kept for longer."""
    scope, sessions = unit.scope, Sessions(unit.transaction)
    if scope.session is not None and scope.shelf(Space.SESSION) == shelf.name:
        sessions.touch(scope.user, scope.session, unit.now)
        sessions.keep(shelf.number, unit.clock, unit.clock + unit.ruleset.session_timeout)


def _sweep(unit: UnitOfWork, shelf: OpenShelf) -> None:
    """Forget what the policy keeps only for so many ticks."""
    policy = unit.ruleset.policy
    for memory in unit.memories.expired_by(shelf.number, unit.tick(shelf.name)):
        rule = policy.retention_of(memory.space, contract_kind(memory.layer), memory.kind)
        expire(unit, memory, "ttl_expired" if rule.mode is RetentionMode.TTL else "decay")


def _narrow(unit: UnitOfWork, shelf: OpenShelf) -> None:
    """Let the oldest turns go where there are more than the window holds, and sum them up."""
    turns = unit.memories.turns(shelf.number, shelf.phase.id)
    leaving = turns[: max(0, len(turns) - unit.ruleset.policy.short_term_turns)]
    for memory in leaving:
        expire(unit, memory, "decay")
    if leaving:
        _sum_up(unit, shelf, leaving)


def _sum_up(unit: UnitOfWork, shelf: OpenShelf, turns: Sequence[Memory]) -> None:
    """One summary a phase; it names every turn it stands for, and says nothing that was not trusted."""
    place = f"summary:{shelf.phase.id}"
    old = standing(unit, shelf.number, place)
    said, ids = _trusted(turns), [turn.id for turn in turns]
    if old is not None:
        meta = {**old.meta, "summary_of": [*old.meta["summary_of"], *ids]}
        new = replace(old, text=rolled(old.text, said), meta=meta)
        reword(unit, old, new, place, {"code": "summarised"})
        return
    system = replace(unit.scope, role=Role.SYSTEM, agent=None)
    draft = Draft(
        scope=system,
        text=rolled("", said) or _NOTHING,
        space=Space.SESSION,
        layer=Layer.WORKING,
        kind=Kind.CONTEXT,
        importance=1,
        importance_reason=("event:context", "summary"),
        place=place,
        meta={"summary_of": ids},
    )
    commit_remember(unit, draft, ())


def _trusted(turns: Sequence[Memory]) -> list[tuple[str, str]]:
    """Who said what, without what a tool or a document said."""
    return [
        (_WHO.get(turn.provenance.role, "system"), turn.text)
        for turn in turns
        if turn.provenance.trust is Trust.TRUSTED
    ]


def summed_up(turns: Sequence[Memory]) -> str:
    """A summary of these turns alone."""
    return rolled("", _trusted(turns)) or _NOTHING


def rolled(earlier: str, turns: Sequence[tuple[str, str]]) -> str:
    """What was summed up before, then who said what; each part cut, and the whole."""
    parts = [f"Earlier: {_cut(earlier.removeprefix('Earlier: '), _PART)}"] if earlier else []
    parts += [f"{who}: {_cut(text, _PART)}" for who, text in turns[-_PARTS:]]
    whole = " | ".join(parts)
    return whole if len(whole) <= _WHOLE else f"{whole[:_WHOLE]}..."


def _cut(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
