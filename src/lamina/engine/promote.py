"""A memory moves to a wider space: asked for, allowed by a path of the policy, traced either way."""

from __future__ import annotations

import re
from dataclasses import replace

from lamina.engine.commit import HOMES, put_aside, readable, restated, standing, store
from lamina.engine.ledger import Ledger
from lamina.engine.moves import release
from lamina.errors import InvalidInput
from lamina.model import HistoryOp, Memory, Outcome, Receipt, Space, State, Trust, contract_kind
from lamina.storage.book import KnownEntry
from lamina.trace import events
from lamina.views.acknowledge import acknowledgement
from lamina_language.secrets.privacy import find_secrets
from lamina_policy.promotion import ALLOWED, may_promote
from lamina_policy.reconcile import Lose, New, Same, Supersede, reconcile

_WHY = {
    "promotion_disallowed": "The policy in force has no way from the {source} space to the {target} space.",
    "space_disabled": "The policy in force does not use the {target} space.",
    "promotion_untrusted": "What a tool or a document said is not moved to a wider space.",
    "promotion_event_type": "The policy in force moves no memory of this kind to the {target} space.",
    "promotion_authority": "This caller, or this memory, has too little authority for the {target} space.",
    "privacy_deny_sensitive": "The reason looks like a secret, and secrets are not kept.",
    "category_disallowed": "This agent's allowlist lacks the category of what is in the {target} space.",
    "promotion_no_item": "There is nothing in this that could be moved to the {target} space.",
    "conflict_authority": "What the {target} space knows weighs more.",
    "conflict_correction": "What the {target} space knows is a correction, and weighs more.",
    "conflict_recency": "What the {target} space knows is newer.",
}


def commit_promote(ledger: Ledger, memory_id: str, target: Space, reason: str) -> Receipt:
    """Make a memory anew in a wider space and take it out of the old one; or say why not."""
    old = readable(ledger, memory_id, State.ACTIVE)
    name = ledger.scope.shelf(target)
    if name is None:
        raise InvalidInput(f"There is no {target} here to promote this to.", code="space_unknown")
    secret = find_secrets(reason, ledger.book.law(ledger.scope).allowed)
    answer = "privacy_deny_sensitive" if secret else _answer(ledger, old, target)
    told = events.border_check(ledger.scope, "promote", (old.space, target), answer, ledger.snapshot)
    ledger.trace(old.shelf, told)
    if answer != ALLOWED:
        return deny_promotion(ledger, (old.id, old.shelf), (old.space, target), answer)
    shelf = ledger.shelf(name)
    identity = re.sub("^heard:", "key:", ledger.memories.place(old.id)[2])
    new = _moved(ledger, old, target, reason)
    there = standing(ledger, shelf.number, identity)
    if there is not None and not ledger.scope.sees(there.topic):
        return deny_promotion(ledger, (old.id, old.shelf), (old.space, target), "category_disallowed")
    match outcome := reconcile(new, there, ledger.book.policy):
        case Lose(winner, rule):
            conflict = events.conflict(
                ledger.scope, winner=winner.id, loser=old.id, rule=rule, identity=identity
            )
            ledger.trace(name, conflict)
            return deny_promotion(ledger, (old.id, old.shelf), (old.space, target), f"conflict_{rule}")
        case Same(known):
            restated(ledger, known, shelf)
            arrived = replace(known, meta={**known.meta, "promotion_reason": reason})
        case New() | Supersede():
            decision = {"code": "promoted", "from": old.id, "reason": reason}
            arrived = store(ledger, new, identity, outcome, decision)
    _leave(ledger, old, arrived)
    return Receipt(
        decision=Outcome.ADMITTED,
        code="promoted",
        ids=(arrived.id,),
        acknowledgement=acknowledgement("promoted", old.text),
        revision=arrived.revision,
    )


def deny_promotion(
    ledger: Ledger, subject: tuple[str, str], spaces: tuple[Space, Space], code: str
) -> Receipt:
    """A promotion that did not happen: one event, one line in the audit; `subject` is an id and its shelf."""
    memory_id, shelf = subject
    ledger.record_refusal(shelf, code, memory_id)
    ledger.trace(shelf, events.promotion_denied(ledger.scope, memory_id, spaces, code, ledger.snapshot))
    why = _WHY[code].format(source=spaces[0], target=spaces[1])
    return Receipt(
        decision=Outcome.DENIED,
        code=code,
        ids=(memory_id,) if memory_id else (),
        acknowledgement=acknowledgement("denied", ""),
        warnings=(why, "`lamina policy show` lists the ways that are open."),
    )


def _answer(ledger: Ledger, memory: Memory, target: Space) -> str:
    scope, policy = ledger.scope, ledger.book.policy
    answer = may_promote(memory, target, policy).code
    if answer != ALLOWED:
        return answer
    if scope.trust is Trust.UNTRUSTED:
        return "promotion_untrusted"
    # Whoever moves a memory takes responsibility for it: an agent cannot publish what its user said.
    outranked = policy.outranks(memory.authority, scope.authority)
    return "promotion_authority" if outranked or not policy.may_write(scope.role, target) else ALLOWED


def _moved(ledger: Ledger, old: Memory, target: Space, reason: str) -> Memory:
    """The memory as it will stand in the wider space: the same words, authority and importance."""
    shelf = ledger.shelf(ledger.scope.shelf(target) or "")
    at_home = old.key is not None and ledger.home == HOMES.get(target)
    tick = ledger.tick(shelf.name) + 1
    retention = ledger.book.policy.retention_of(target, contract_kind(old.layer), old.kind)
    return replace(
        old,
        id="",
        space=target,
        owner=shelf.name.partition(":")[2],
        tick=tick,
        phase=shelf.phase.id,
        revision=1,
        created_at=ledger.now,
        updated_at=ledger.now,
        expires_tick=None if old.pinned else retention.expires_tick(tick),
        supersedes=None,
        file=ledger.home if at_home else None,
        meta={**old.meta, "promoted_from": old.id, "promotion_reason": reason},
    )


def _leave(ledger: Ledger, old: Memory, new: Memory) -> None:
    ledger.trace(new.shelf, events.promoted(ledger.scope, old, new, ledger.snapshot))
    if old.file is not None and old.file != ledger.home and old.key is not None:
        known = KnownEntry(old.key, old.id, old.text, {})
        release(ledger.transaction, old.file, known, ledger.now)
        old = replace(old, file=None)
    gone = put_aside(ledger, replace(old, superseded_by=new.id), State.SUPERSEDED)
    ledger.record(HistoryOp.DELETE, gone, old.text, {"code": "promoted", "by": new.id})
    ledger.trace(gone.shelf, events.deleted(ledger.scope, gone, "promoted", ledger.snapshot, new.id))
