"""A memory moves to a wider space: asked for, allowed by a path of the policy, traced either way."""

from __future__ import annotations

import re
from dataclasses import replace

from lamina.audit import events
from lamina.errors import InvalidInput
from lamina.language.acknowledge import acknowledgement
from lamina.language.secrets.privacy import find_secrets
from lamina.model import HistoryOp, Memory, Outcome, Receipt, Space, State, Trust, contract_kind
from lamina.policy.gates import ALLOWED, may_promote
from lamina.policy.reconcile import Lose, New, Same, Supersede, reconcile
from lamina.storage.small_tables import KnownEntry
from lamina.write.commit import HOMES, again, put_aside, readable, restated, standing, store
from lamina.write.entry_edits import release
from lamina.write.noes import kept_out
from lamina.write.unit_of_work import UnitOfWork

_WHY = {
    "promotion_disallowed": "The policy has no way from the {source} space to the {target} space.",
    "space_disabled": "The policy does not use the {target} space.",
    "promotion_untrusted": "What a tool or a document said is not moved to a wider space.",
    "promotion_event_type": "The policy moves no memory of this kind to the {target} space.",
    "promotion_authority": "This caller, or this memory, has too little authority for the {target} space.",
    "privacy_deny_sensitive": "The reason looks like a secret, and secrets are not kept.",
    "category_disallowed": "This agent's allowlist lacks the category of what is in the {target} space.",
    "promotion_no_item": "There is nothing in this that could be moved to the {target} space.",
    "refused_stays": "The person said no to this before.",
    "conflict_authority": "What the {target} space knows weighs more.",
    "conflict_correction": "What the {target} space knows is a correction, and weighs more.",
    "conflict_recency": "What the {target} space knows is newer.",
}

#: Codes that a turn has for other reasons, too.
_OF_A_TURN = ("privacy_deny_sensitive", "category_disallowed")


def commit_promote(unit: UnitOfWork, memory_id: str, target: Space, reason: str) -> Receipt:
    """Make a memory anew in a wider space and take it out of the old one; or say why not."""
    old = readable(unit, memory_id, State.ACTIVE)
    name = unit.scope.shelf(target)
    if name is None:
        raise InvalidInput(f"There is no {target} here to promote this to.", code="space_unknown")
    secret = find_secrets(reason, unit.ruleset.law(unit.scope).allowed)
    answer = "privacy_deny_sensitive" if secret else _answer(unit, old, target, reason)
    told = events.border_check(unit.scope, "promote", (old.space, target), answer, unit.snapshot)
    unit.trace(old.shelf, told)
    if answer != ALLOWED:
        return deny_promotion(unit, (old.id, old.shelf), (old.space, target), answer)
    shelf = unit.shelf(name)
    identity = re.sub("^heard:", "key:", unit.memories.place(old.id)[2])
    new = _moved(unit, old, target, reason)
    there = standing(unit, shelf.number, identity)
    if not all(unit.scope.sees(one.topic, target) for one in (new, there) if one is not None):
        return deny_promotion(unit, (old.id, old.shelf), (old.space, target), "category_disallowed")
    match outcome := reconcile(new, there, unit.ruleset.policy):
        case Lose(winner, rule):
            conflict = events.conflict(
                unit.scope, winner=winner.id, loser=old.id, rule=rule, identity=identity
            )
            unit.trace(name, conflict)
            return deny_promotion(unit, (old.id, old.shelf), (old.space, target), f"conflict_{rule}")
        case Same(known):
            restated(unit, known, shelf)
            arrived = replace(known, meta={**known.meta, "promotion_reason": reason})
        case New() | Supersede():
            decision = {"code": "promoted", "from": old.id, "reason": reason}
            arrived = store(unit, new, identity, outcome, decision)
    _leave(unit, old, arrived)
    return Receipt(
        decision=Outcome.ADMITTED,
        code="promoted",
        ids=(arrived.id,),
        acknowledgement=acknowledgement("promoted", old.text),
        revision=arrived.revision,
    )


def deny_promotion(
    unit: UnitOfWork, subject: tuple[str, str], spaces: tuple[Space, Space], code: str
) -> Receipt:
    """A promotion that did not happen: one event, one line in the audit; `subject` is an id and its shelf."""
    memory_id, shelf = subject
    unit.record_refusal(shelf, code, memory_id)
    unit.trace(shelf, events.promotion_denied(unit.scope, memory_id, spaces, code, unit.snapshot))
    why = _WHY[code].format(source=spaces[0], target=spaces[1])
    return Receipt(
        decision=Outcome.DENIED,
        code=code,
        ids=(memory_id,) if memory_id else (),
        acknowledgement=acknowledgement("denied", ""),
        warnings=(why, "`lamina policy show` lists the ways that are open."),
    )


def is_refused_move(receipt: Receipt) -> bool:
    """Whether a receipt of a turn that asked for a promotion says that it did not happen."""
    return receipt.decision is Outcome.DENIED and receipt.code in _WHY and receipt.code not in _OF_A_TURN


def _answer(unit: UnitOfWork, memory: Memory, target: Space, reason: str) -> str:
    scope, policy = unit.scope, unit.ruleset.policy
    answer = may_promote(memory, target, policy).code
    if answer != ALLOWED:
        return answer
    if scope.trust is Trust.UNTRUSTED:
        return "promotion_untrusted"
    # Whoever moves a memory takes responsibility for it: an agent cannot publish what its user said.
    outranked = policy.outranks(memory.authority, scope.authority)
    if outranked or not policy.may_write(scope.role, target):
        return "promotion_authority"
    said = replace(again(unit, memory), reason=reason)
    return "refused_stays" if kept_out(unit, said) else ALLOWED


def _moved(unit: UnitOfWork, old: Memory, target: Space, reason: str) -> Memory:
    """The memory as it will stand in the wider space: the same words, authority and importance."""
    shelf = unit.shelf(unit.scope.shelf(target) or "")
    at_home = old.key is not None and unit.home == HOMES.get(target)
    tick = unit.tick(shelf.name) + 1
    retention = unit.ruleset.policy.retention_of(target, contract_kind(old.layer), old.kind)
    return replace(
        old,
        id="",
        space=target,
        owner=shelf.name.partition(":")[2],
        tick=tick,
        phase=shelf.phase.id,
        revision=1,
        created_at=unit.now,
        updated_at=unit.now,
        expires_tick=None if old.pinned else retention.expires_tick(tick),
        supersedes=None,
        file=unit.home if at_home else None,
        meta={**old.meta, "promoted_from": old.id, "promotion_reason": reason},
    )


def _leave(unit: UnitOfWork, old: Memory, new: Memory) -> None:
    unit.trace(new.shelf, events.promoted(unit.scope, old, new, unit.snapshot))
    if old.file is not None and old.file != unit.home and old.key is not None:
        known = KnownEntry(old.key, old.id, old.text, {})
        release(unit.transaction, old.file, known, unit.now)
        old = replace(old, file=None)
    gone = put_aside(unit, replace(old, superseded_by=new.id), State.SUPERSEDED)
    unit.record(HistoryOp.DELETE, gone, old.text, {"code": "promoted", "by": new.id})
    unit.trace(gone.shelf, events.deleted(unit.scope, gone, "promoted", unit.snapshot, new.id))
