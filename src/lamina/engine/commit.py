"""What each verb does inside its transaction; the same for a memory in the database and one in a file."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lamina.engine.ledger import Ledger
from lamina.errors import Conflict, NotFound
from lamina.model import (
    Deny,
    Draft,
    HistoryOp,
    Memory,
    Outcome,
    Provenance,
    Receipt,
    State,
    Trust,
    contract_kind,
)
from lamina.policy.gates import border, privacy
from lamina.policy.reconcile import Lose, New, Same, Supersede, reconcile
from lamina.text.normal import dedup_key
from lamina.text.ttl import parse_ttl
from lamina.trace import events
from lamina.views.acknowledge import acknowledgement


def identity_of(key: str | None, kind: str, text: str) -> str:
    """What makes a memory the same as another on its shelf: its key, or else its wording."""
    return f"key:{key}" if key else dedup_key(kind, text)


def shelf_of(draft: Draft) -> str:
    name = draft.scope.shelf(draft.space)
    if name is None:
        raise AssertionError("drafts are checked before they are committed")
    return name


def commit_remember(ledger: Ledger, draft: Draft, passed: tuple[str, ...]) -> Receipt:
    """Store an admitted draft, or say that it is known, or that it lost."""
    shelf = ledger.lexicon.open_shelf(shelf_of(draft))
    existing = _standing(ledger, shelf, identity_of(draft.key, draft.kind, draft.text))
    outcome = reconcile(draft, existing, ledger.book.policy)
    match outcome:
        case Same(existing):
            ack = acknowledgement("unchanged", draft.text)
            return Receipt(
                decision=Outcome.UNCHANGED,
                code="same",
                ids=(existing.id,),
                acknowledgement=ack,
                revision=existing.revision,
            )
        case Lose(existing):
            return _refused(ledger, draft, existing, _outranked(ledger, existing))
        case New() | Supersede():
            memory = _built(ledger, draft)
            return _stored(ledger, draft, memory, shelf, (outcome, passed))


def _stored(
    ledger: Ledger,
    draft: Draft,
    memory: Memory,
    shelf: int,
    admitted: tuple[New | Supersede, tuple[str, ...]],
) -> Receipt:
    outcome, passed = admitted
    name, identity = memory.shelf, identity_of(draft.key, draft.kind, draft.text)
    if isinstance(outcome, Supersede):
        memory = replace(memory, supersedes=outcome.existing.id)
        _retire(ledger, outcome.existing, memory, outcome.rule)
        ledger.trace(
            name,
            events.conflict(
                ledger.scope,
                winner=memory.id,
                loser=outcome.existing.id,
                rule=outcome.rule,
                identity=identity,
            ),
        )
    slot = ledger.index(shelf, memory)
    ledger.memories.add(memory, shelf=shelf, slot=slot, identity=identity)
    decision = {
        "code": "allowed",
        "gates": list(passed),
        "rule": outcome.rule,
        "authority": memory.authority.value,
        "reason": draft.reason,
    }
    old = outcome.existing.text if isinstance(outcome, Supersede) else None
    ledger.record(HistoryOp.ADD, memory, old, decision)
    ledger.trace(name, events.written(ledger.scope, memory))
    what = "superseded" if isinstance(outcome, Supersede) else "remembered"
    return Receipt(
        decision=Outcome.ADMITTED,
        code="allowed" if isinstance(outcome, New) else "superseded",
        ids=(memory.id,),
        acknowledgement=acknowledgement(what, draft.text, draft.key or ""),
        events=tuple(ledger.events),
        revision=memory.revision,
    )


def _built(ledger: Ledger, draft: Draft) -> Memory:
    name = shelf_of(draft)
    memory_id, tick = ledger.numbered(name, contract_kind(draft.layer))
    ttl, expires_at = parse_ttl(draft.ttl, ledger.now)
    return Memory(
        id=memory_id,
        space=draft.space,
        owner=name.partition(":")[2],
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
        ttl=ttl,
        created_at=ledger.now,
        updated_at=ledger.now,
        valid_from=ledger.now,
        expires_at=expires_at,
        file=ledger.home,
        provenance=_provenance(draft),
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
        reference=draft.reference,
        reason=draft.reason,
    )


def commit_denial(ledger: Ledger, draft: Draft, objection: Deny) -> Receipt:
    """A refusal leaves exactly one trace event and one audit record, without the refused text."""
    name = draft.scope.shelf(draft.space) or f"{draft.space}:"
    ledger.record_refusal(name, objection.code, draft.text)
    ledger.trace(name, events.denied(draft, objection, ledger.snapshot))
    return Receipt(
        decision=Outcome.DENIED,
        code=objection.code,
        acknowledgement=acknowledgement("denied", draft.text),
        warnings=tuple(part for part in (objection.why, objection.hint) if part),
        events=tuple(ledger.events),
    )


def _standing(ledger: Ledger, shelf: int, identity: str) -> Memory | None:
    """The active memory in a place; one whose time is up is put aside, and the place is free."""
    found = ledger.memories.active(shelf, identity)
    if found is None or found.expires_at is None or found.expires_at > ledger.now:
        return found
    gone = _put_aside(ledger, found, State.EXPIRED)
    ledger.record(HistoryOp.TTL, gone, found.text, {"code": "ttl_expired"})
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "expired", ledger.snapshot))
    return None


def _retire(ledger: Ledger, existing: Memory, successor: Memory, rule: str) -> None:
    gone = _put_aside(ledger, replace(existing, superseded_by=successor.id), State.SUPERSEDED)
    decision = {"code": "superseded", "rule": rule, "by": successor.id}
    ledger.record(HistoryOp.DELETE, gone, existing.text, decision)
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "superseded", ledger.snapshot))


def _put_aside(ledger: Ledger, memory: Memory, state: State) -> Memory:
    """Out of the index, in another state; everything else stays."""
    _check_home(ledger, memory)
    shelf, slot, identity = ledger.memories.place(memory.id)
    ledger.unindex(shelf, slot, memory)
    changed = replace(memory, state=state, updated_at=ledger.now)
    return _saved(ledger, changed, None, identity)


def _check_home(ledger: Ledger, memory: Memory) -> None:
    """A memory that lives in a file changes together with it, or not at all."""
    if memory.file is not None and memory.file != ledger.home:
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
    memory = ledger.memories.get(memory_id)
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
    if objection := _objection(ledger, old):
        return _refused(ledger, draft, old, objection)
    _check_home(ledger, old)
    if text == old.text:
        return Receipt(
            decision=Outcome.UNCHANGED,
            code="same",
            ids=(old.id,),
            acknowledgement=acknowledgement("unchanged", text),
            revision=old.revision,
        )
    shelf, slot, kept = ledger.memories.place(old.id)
    identity = identity_of(old.key, old.kind, text)
    twin = None if identity == kept else _standing(ledger, shelf, identity)
    if twin is not None:
        raise Conflict(f"{twin.id} says that already.", code="duplicate", hint="Forget one of the two.")
    ledger.unindex(shelf, slot, old)
    new = replace(old, text=text, updated_at=ledger.now)
    saved = _saved(ledger, new, ledger.index(shelf, new), identity)
    decision = {"code": "allowed", "gates": list(passed), "reason": draft.reason}
    ledger.record(HistoryOp.UPDATE, saved, old.text, decision)
    ledger.trace(saved.shelf, events.written(ledger.scope, saved))
    return _done(ledger, "allowed", saved, acknowledgement("revised", text))


def commit_forget(ledger: Ledger, memory_id: str, undo_days: int, reason: str | None) -> Receipt:
    """Out of every answer at once; restorable until `purge_at`."""
    old = readable(ledger, memory_id, State.ACTIVE)
    if objection := _objection(ledger, old, reason):
        return _refused(ledger, _again(ledger, old), old, objection)
    purge_at = ledger.now + timedelta(days=undo_days)
    gone = _put_aside(ledger, replace(old, purge_at=purge_at), State.SOFT_DELETED)
    ledger.record(HistoryOp.DELETE, gone, old.text, {"code": "forgotten", "reason": reason})
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "forgotten", ledger.snapshot))
    return _done(ledger, "forgotten", gone, acknowledgement("forgotten", old.text, f"{purge_at:%Y-%m-%d}"))


def commit_restore(ledger: Ledger, memory_id: str, reason: str | None = None) -> Receipt:
    """Back as it was, unless something else has taken its place."""
    old = readable(ledger, memory_id, State.SOFT_DELETED)
    if objection := _objection(ledger, old, reason):
        return _refused(ledger, _again(ledger, old), old, objection)
    _check_home(ledger, old)
    if old.purge_at is not None and old.purge_at <= ledger.now:
        raise NotFound(f"{memory_id} could be restored until {old.purge_at:%Y-%m-%d}.", code="undo_expired")
    shelf, _, identity = ledger.memories.place(old.id)
    successor = _standing(ledger, shelf, identity)
    if successor is not None:
        raise Conflict(
            f"{successor.id} has taken the place of {memory_id}.",
            code="superseded",
            hint="Forget that one first.",
        )
    back = replace(old, state=State.ACTIVE, purge_at=None, updated_at=ledger.now)
    saved = _saved(ledger, back, ledger.index(shelf, back), identity)
    ledger.record(HistoryOp.RESTORE, saved, None, {"code": "restored", "reason": reason})
    ledger.trace(saved.shelf, events.written(ledger.scope, saved))
    return _done(ledger, "restored", saved, acknowledgement("restored", old.text))


def _objection(ledger: Ledger, memory: Memory, reason: str | None = None) -> Deny | None:
    """Why this caller may not touch this memory: the same rules as for saying something new."""
    scope, policy = ledger.scope, ledger.book.policy
    again = replace(_again(ledger, memory), key=None, reason=reason)
    if (objection := border(again, policy)) or (objection := privacy(again, policy)):
        return objection
    if scope.trust is Trust.UNTRUSTED and memory.provenance.trust is Trust.TRUSTED:
        return Deny(
            "trust_deny_change",
            f"A {scope.role} cannot change {memory.id}, which {memory.provenance.actor} said.",
            "Let the user do it.",
        )
    return _outranked(ledger, memory) if policy.outranks(memory.authority, scope.authority) else None


def _outranked(ledger: Ledger, memory: Memory) -> Deny:
    return Deny(
        "conflict_authority",
        f"{memory.id} has the authority {memory.authority}; {ledger.scope.authority} cannot change it.",
        "Let the user say it.",
    )


def _again(ledger: Ledger, memory: Memory) -> Draft:
    """A memory as this caller would have to say it."""
    return Draft(
        scope=ledger.scope,
        text=memory.text,
        space=memory.space,
        layer=memory.layer,
        kind=memory.kind,
        key=memory.key,
    )


def _refused(ledger: Ledger, draft: Draft, memory: Memory, objection: Deny) -> Receipt:
    return replace(commit_denial(ledger, draft, objection), ids=(memory.id,))


def _done(ledger: Ledger, code: str, memory: Memory, said: str) -> Receipt:
    return Receipt(
        decision=Outcome.ADMITTED,
        code=code,
        ids=(memory.id,),
        acknowledgement=said,
        events=tuple(ledger.events),
        revision=memory.revision,
    )
