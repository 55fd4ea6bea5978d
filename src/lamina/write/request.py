"""A change somebody asked for, as a value, and what carrying it out means: it can be done now, or replayed.

A person who forgets one memory means what it says. What says the very same goes with it, and comes back with
it; what says it among other things stays, and is named.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from lamina.audit import events
from lamina.errors import Conflict, InvalidInput, NotFound
from lamina.language.acknowledge import acknowledgement
from lamina.language.secrets.privacy import find_secrets
from lamina.late import late
from lamina.model import (
    SPOKEN,
    Admit,
    Authority,
    Decision,
    Deny,
    Draft,
    HistoryOp,
    Hold,
    Kind,
    Layer,
    Memory,
    Outcome,
    Receipt,
    Role,
    Scope,
    Space,
    State,
    Trust,
    canonical,
    contract_kind,
    plain,
    quoted,
)
from lamina.policy.consent import same_value
from lamina.policy.gates import ALLOWED, may_promote, out_of_reach, reserved
from lamina.policy.reconcile import Lose, New, Same, Supersede, reconcile
from lamina.records import dataclass
from lamina.similarity.repeats import sentences, statements, telling_of
from lamina.storage.database import Transaction
from lamina.storage.ledger import lanes_of
from lamina.storage.memories import Memories
from lamina.storage.shelf_contents import (
    around,
    derived_from,
    forgotten_with,
    summaries_of,
    told_in_project,
)
from lamina.storage.small_tables import Entries, KnownEntry, Operations, Responses
from lamina.text.entry_line import Entry
from lamina.text.normalise import folded
from lamina.write.commit import (
    again,
    check_home,
    commit_denial,
    commit_expire,
    commit_remember,
    commit_revise,
    done,
    forbidden,
    is_at_home,
    is_ours,
    may_merge,
    place_of,
    put_aside,
    readable,
    refused,
    restated,
    revive,
    reword,
    standing,
    store,
    summed_up,
)
from lamina.write.noes import is_person, kept_out, lift, lift_about, refuse
from lamina.write.origins import traced
from lamina.write.unit_of_work import UnitOfWork, is_learning

with late():
    from lamina.write import guesses, merge


class Verb(StrEnum):
    """The changes there are."""

    REMEMBER = "remember"
    REVISE = "revise"
    FORGET = "forget"
    RESTORE = "restore"
    PROMOTE = "promote"
    EXPIRE = "expire"


#: What each verb is called in the GenAI conventions.
OPERATIONS = {
    Verb.REMEMBER: "create_memory",
    Verb.REVISE: "update_memory",
    Verb.RESTORE: "update_memory",
    Verb.PROMOTE: "update_memory",
    Verb.FORGET: "delete_memory",
    Verb.EXPIRE: "delete_memory",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One change, with everything needed to carry it out later exactly as it would be now."""

    verb: Verb
    scope: Scope
    at: datetime
    draft: Draft | None = None
    decision: Decision | None = None  #: what the gates said of the draft
    memory_id: str = ""
    target: Space | None = None  #: where a promotion goes
    expect: int | None = None
    undo_days: int = 0
    reason: str | None = None
    idempotency_key: str | None = None

    @property
    def fingerprint(self) -> str:
        """What the caller asked for, without the time at which it was asked."""
        asked = {**plain(self), "at": None, "decision": None}
        return hashlib.sha256(canonical(asked).encode()).hexdigest()

    @property
    def lanes(self) -> list[str]:
        """Whose lanes this changes: the caller's own, and those of what it is about."""
        about = [self.scope.shelf(Space.USER), self.memory_id]
        if self.draft is not None:
            about += [self.draft.scope.shelf(Space.USER), self.draft.scope.shelf(self.draft.space)]
        if self.target is not None:
            about.append(self.scope.shelf(self.target))
        return lanes_of(*about)

    def to_plain(self) -> dict[str, Any]:
        value: dict[str, Any] = plain(self)
        return value

    @staticmethod
    def from_plain(value: dict[str, Any]) -> Request:
        """The request as it was written down; only admitted ones ever are."""
        draft, decision = value["draft"], value["decision"]
        return Request(
            **{
                **value,
                "verb": Verb(value["verb"]),
                "scope": _scope(value["scope"]),
                "at": datetime.fromisoformat(value["at"]),
                "target": None if value["target"] is None else Space(value["target"]),
                "draft": None if draft is None else _draft(draft),
                "decision": None if decision is None else Admit(tuple(decision["passed"]), decision["code"]),
            }
        )


def _scope(value: dict[str, Any]) -> Scope:
    reach = value.get("reach")
    return Scope(**{**value, "role": Role(value["role"]), "reach": None if reach is None else tuple(reach)})


def _draft(value: dict[str, Any]) -> Draft:
    return Draft(
        **{
            **value,
            "scope": _scope(value["scope"]),
            "space": Space(value["space"]),
            "layer": Layer(value["layer"]),
            "kind": Kind(value["kind"]),
            "tags": tuple(value["tags"]),
            "importance_reason": tuple(value["importance_reason"]),
            "source_turn_ids": tuple(value["source_turn_ids"]),
            "origins": tuple(value.get("origins", ())),
            "said_at": datetime.fromisoformat(said) if (said := value.get("said_at")) else None,
        }
    )


def perform(unit: UnitOfWork, request: Request) -> Receipt:
    """Carry out a request inside a transaction; a repeated one is answered as it was the first time."""
    if request.draft is not None:
        unit.transaction.told(identity=place_of(request.draft), key=request.idempotency_key)
    if request.idempotency_key is not None and (known := _answered(unit, request, request.idempotency_key)):
        return known
    match request:
        case Request(draft=Draft() as draft, decision=Deny() as objection):
            receipt = commit_denial(unit, draft, objection)
        case Request(draft=Draft() as draft, decision=Hold()):
            receipt = guesses.held(unit, draft)
        case Request(verb=Verb.REMEMBER, draft=Draft() as draft, decision=Admit(passed)):
            draft = traced(unit, draft)
            store = merge.remember_merging if may_merge(unit, draft) else commit_remember
            receipt = guesses.waiting_for(unit, draft) or store(unit, draft, passed)
        case Request(verb=Verb.REVISE, draft=Draft(takes_back=True) as draft, decision=Admit(passed)):
            about = (request.memory_id, draft, passed)
            receipt = commit_taking_back(unit, *about, request.expect, request.undo_days)
        case Request(verb=Verb.REVISE, draft=Draft() as draft, decision=Admit(passed)):
            receipt = commit_revise(unit, request.memory_id, draft, passed, request.expect)
        case Request(verb=Verb.FORGET):
            receipt = commit_forget(unit, request.memory_id, request.undo_days, request.reason)
        case Request(verb=Verb.RESTORE):
            receipt = commit_restore(unit, request.memory_id, request.reason)
        case Request(verb=Verb.EXPIRE):
            receipt = commit_expire(unit, request.memory_id, request.reason or "ttl_expired")
        case Request(verb=Verb.PROMOTE, target=Space() as target):
            receipt = commit_promote(unit, request.memory_id, target, request.reason or "api:promote")
        case _:
            raise AssertionError(f"{request.verb} needs a draft and a decision")
    if request.idempotency_key is not None:
        kept = (request.fingerprint, plain(replace(receipt, events=())))
        Responses(unit.transaction).add(_asker(request), request.idempotency_key, *kept, request.at)
    return receipt


def _asker(request: Request) -> str:
    """An agent's name is its user's choice: two users may each have a `planner`."""
    return f"{quoted(request.scope.user)}/{request.scope.actor}"


def _answered(unit: UnitOfWork, request: Request, key: str) -> Receipt | None:
    """What was answered the first time; Conflict where the key was for something else."""
    if (known := Responses(unit.transaction).get(_asker(request), key)) is None:
        return None
    if known[0] != request.fingerprint:
        raise Conflict(
            "This idempotency key was used for another request.",
            code="idempotency_mismatch",
            hint="Use a new key for a new request.",
        )
    return _receipt(known[1])


def forget_old_responses(unit: UnitOfWork, hours: int) -> None:
    Responses(unit.transaction).forget(unit.clock - timedelta(hours=hours))


def _receipt(value: dict[str, Any]) -> Receipt:
    return Receipt(
        decision=Outcome(value["decision"]),
        code=value["code"],
        ids=tuple(value["ids"]),
        acknowledgement=value["acknowledgement"],
        warnings=tuple(value["warnings"]),
        revision=value["revision"],
    )


_MORE = 2  #: terms beside those of a statement, such as a name, with which it is the same still
_TELLING = 8  #: characters; what is shorter stands in too many turns to be looked for
#: Why something is forgotten that its person does not merely want out of the answers.
TAKEN_BACK = f"{SPOKEN}misspoke"
_CAUSES = {"purge": "purged", TAKEN_BACK: "taken_back"}
_WITH, _AS = "forgotten_with", "forgotten_as"


def cause_of(reason: str | None) -> str:
    """What a person's no is called that they made by forgetting for this reason."""
    return _CAUSES.get(reason or "", "forgotten")


def commit_forget(unit: UnitOfWork, memory_id: str, undo_days: int, reason: str | None) -> Receipt:
    """Out of every answer at once, with what came of it; restorable until `purge_at`."""
    if (gone_with := _gone_with(unit, memory_id)) is not None:
        return done("forgotten", gone_with, acknowledgement("forgotten", gone_with.text, _until(gone_with)))
    old = readable(unit, memory_id, State.ACTIVE)
    if objection := forbidden(unit, old, reason):
        return refused(unit, again(unit, old), old, objection)
    purge_at = unit.clock + timedelta(days=undo_days)
    own = is_person(unit.scope)
    came, left = _came_of(unit, old) if own else ([], [])
    gone = put_aside(unit, replace(old, purge_at=purge_at), State.SOFT_DELETED)
    if own:
        refuse(unit, again(unit, old), old.id, cause_of(reason))
    unit.record(HistoryOp.DELETE, gone, old.text, {"code": "forgotten", "reason": reason})
    unit.trace(gone.shelf, events.deleted(unit.scope, gone, "forgotten", unit.snapshot))
    _go_with(unit, old, came, purge_at)
    if own:
        _sum_up_again(unit, [old, *came])
    receipt = done("forgotten", gone, acknowledgement("forgotten", old.text, f"{purge_at:%Y-%m-%d}"))
    warnings = (f"It is still said in {', '.join(left)}.",) if left else ()
    return replace(receipt, ids=(gone.id, *(one.id for one in came)), warnings=warnings)


def _go_with(unit: UnitOfWork, old: Memory, came: list[Memory], purge_at: datetime) -> None:
    """Put aside what came of a memory that goes; it comes back with it."""
    for one in came:
        meta = {**one.meta, _WITH: old.id, _AS: one.state.value}
        away = put_aside(unit, replace(one, purge_at=purge_at, meta=meta), State.SOFT_DELETED)
        unit.record(HistoryOp.DELETE, away, one.text, {"code": "forgotten", "with": old.id})
        unit.trace(away.shelf, events.deleted(unit.scope, away, "forgotten", unit.snapshot))


def commit_taking_back(
    unit: UnitOfWork,
    memory_id: str,
    draft: Draft,
    passed: tuple[str, ...],
    expect: int | None,
    undo_days: int,
) -> Receipt:
    """Other words for a memory whose person takes the old ones back: those stay gone, in the turn they were
    said in, too."""
    old = readable(unit, memory_id, State.ACTIVE)
    receipt = commit_revise(unit, memory_id, draft, passed, expect)
    if receipt.decision is not Outcome.ADMITTED or not is_person(unit.scope):
        return receipt
    refuse(unit, again(unit, old), old.id, _CAUSES[TAKEN_BACK])
    came = [one for one in _came_of(unit, old)[0] if one.id != old.id]
    _go_with(unit, old, came, unit.clock + timedelta(days=undo_days))
    _sum_up_again(unit, came)
    return receipt


def _gone_with(unit: UnitOfWork, memory_id: str) -> Memory | None:
    """A memory that went with another and that its person wants forgotten, too: it is."""
    found = unit.memories.get(memory_id) if is_person(unit.scope) and is_ours(unit, memory_id) else None
    if found is None or _WITH not in found.meta:
        return None
    return found if found.state is State.SOFT_DELETED else None


def _until(memory: Memory) -> str:
    return f"{memory.purge_at:%Y-%m-%d}" if memory.purge_at else ""


def _came_of(unit: UnitOfWork, old: Memory) -> tuple[list[Memory], list[str]]:
    """What says the same, the turn it was said in, what was made of it, and of that; and the ids of what else
    says it."""
    taken: dict[str, Memory] = {}
    left: list[str] = []
    waiting = [old]
    while waiting:
        at = waiting.pop()
        came, beside = _came_straight_of(unit, at)
        new = {one.id: one for one in came if one.id != old.id and one.id not in taken}
        waiting += [one for one in new.values() if at.id in one.provenance.origins]
        taken |= new
        left += beside
    return list(taken.values()), [one for one in dict.fromkeys(left) if one not in taken]


def _came_straight_of(unit: UnitOfWork, old: Memory) -> tuple[list[Memory], list[str]]:
    taken: dict[str, Memory] = {}
    left: list[str] = []
    reach = around(unit.transaction, old, unit.scope)
    found = derived_from(unit.transaction, old, reach, telling=_telling(old))
    nearby = {one.id: one for one in (*found, *told_in_project(unit.transaction, old, reach))}
    for one in nearby.values():
        home = one.file is None or one.file == unit.home or is_learning(one.file)
        origins = one.provenance.origins
        made_of = old.id in one.provenance.source_turn_ids or origins == (old.id,) or _kept_of(old, one)
        if home and (made_of or _restates(one, old) or _turn_of(old, one)) and not forbidden(unit, one):
            taken[one.id] = one
        elif one.state is State.ACTIVE and one.layer is not Layer.WORKING:
            says = old.id in origins or _says(one.text, old) or _says(_beside(one), old)
            left += [one.id] if says else []
    turns = {one.id for one in taken.values() if one.layer is Layer.WORKING}
    for one in nearby.values():  # what was made of the same turn, and says it too
        if one.id in left and turns.intersection(one.provenance.source_turn_ids):
            taken[one.id] = one
            left.remove(one.id)
    return list(taken.values()), left


def _beside(one: Memory) -> str:
    """What a memory has beside its text: its tags, and why it is kept."""
    said = one.provenance
    return "\n".join(filter(None, (*one.tags, said.reason, said.reference)))


def _restates(one: Memory, old: Memory) -> bool:
    """Whether one says what another does and nothing beside it; of an agent's word also in its own words."""
    if same_value(one.text) == same_value(old.text):
        return True
    said, known = telling_of(one.text), telling_of(old.text)
    agents = one.authority is Authority.AI_INFERRED and one.space is not Space.PROJECT and one.key is None
    return agents and len(said.terms) <= len(known.terms) + _MORE and _says(one.text, old)


def _turn_of(old: Memory, one: Memory) -> bool:
    """Whether a turn is one in which a memory was said."""
    if one.layer is not Layer.WORKING or one.key is not None or "summary_of" in one.meta:
        return False
    return one.id in old.provenance.source_turn_ids or _says(one.text, old)


def _kept_of(old: Memory, one: Memory) -> bool:
    """Whether a memory was kept of a turn, in the person's words."""
    spoken = old.layer is Layer.WORKING and one.provenance.is_spoken
    same = one.provenance.session_id == old.provenance.session_id
    return spoken and same and folded(one.text) in folded(old.text)


def _telling(memory: Memory) -> bool:
    return len(memory.text) >= _TELLING


def _says(text: str, old: Memory) -> bool:
    """Whether a text holds what a memory says, among other words perhaps."""
    if _telling(old) and folded(old.text) in folded(text):
        return True
    said = [telling_of(part) for part in statements(old.text)]
    return bool(said) and all(
        len(each.terms) > 1 and any(each.within(telling_of(part)) for part in sentences(text))
        for each in said
    )


def _sum_up_again(unit: UnitOfWork, gone: list[Memory]) -> None:
    """Summaries that told of a turn that is forgotten are made anew, of the turns that are left."""
    ids = {one.id for one in gone}
    for summary in summaries_of(unit.transaction, sorted(ids)):
        left = [one for one in summary.meta["summary_of"] if one not in ids]
        turns = unit.memories.load(left)
        text = summed_up([turns[one] for one in left if one in turns])
        new = replace(summary, text=text, meta={**summary.meta, "summary_of": left})
        reword(unit, summary, new, unit.memories.place(summary.id)[2], {"code": "summarised"})


def commit_restore(unit: UnitOfWork, memory_id: str, reason: str | None = None) -> Receipt:
    """Back as it was, unless something else has taken its place."""
    old = readable(unit, memory_id, State.SOFT_DELETED)
    if memory_id.split(":")[-2] == "pending":  # what its person rejected never was a memory
        raise NotFound(f"{memory_id} is a guess that was rejected.", hint="Say it again.")
    said = again(unit, old)
    if objection := forbidden(unit, old, f"{old.text}\n{reason or ''}") or reserved(said):
        return refused(unit, said, old, objection)
    check_home(unit, old)
    if old.purge_at is not None and old.purge_at <= unit.clock:
        raise NotFound(
            f"{memory_id} could be restored until {old.purge_at:%Y-%m-%d}.",
            code="undo_expired",
            hint="Say it again; a longer `undo_days` holds for what is forgotten from then on.",
        )
    shelf, _, identity = unit.memories.place(old.id)
    successor = standing(unit, shelf, identity)
    if successor is not None and not unit.scope.sees(successor.topic, successor.space):
        return refused(unit, again(unit, old), old, out_of_reach())
    if (objection := kept_out(unit, said)) is not None:
        return refused(unit, said, old, objection)
    if is_person(unit.scope):
        lift_about(unit, said, old.id)
        lift(unit, said)
    saved = revive(unit, _by_itself(old), {"code": "restored", "reason": reason})
    also = list(_back_with(unit, old)) if is_person(unit.scope) else []
    receipt = done("restored", saved, acknowledgement("restored", old.text))
    return replace(receipt, ids=(saved.id, *also))


def _back_with(unit: UnitOfWork, old: Memory) -> Iterator[str]:
    """What was forgotten with a memory comes back with it, where its place is free."""
    for one in forgotten_with(unit.transaction, old, around(unit.transaction, old, unit.scope)):
        shelf, _, identity = unit.memories.place(one.id)
        if one.meta.get(_AS) == State.ACTIVE and standing(unit, shelf, identity) is None:
            yield revive(unit, _by_itself(one), {"code": "restored", "with": old.id}).id


def _by_itself(one: Memory) -> Memory:
    """A memory that no longer goes and comes with another."""
    return replace(one, meta={name: value for name, value in one.meta.items() if name not in (_WITH, _AS)})


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
    told = events.border_check(unit.scope, "promote", old.space, target, answer, unit.snapshot)
    unit.trace(old.shelf, told)
    if answer != ALLOWED:
        return deny_promotion(unit, old.id, old.shelf, old.space, target, answer)
    shelf = unit.shelf(name)
    identity = re.sub("^heard:", "key:", unit.memories.place(old.id)[2])
    new = _moved(unit, old, target, reason)
    there = standing(unit, shelf.number, identity)
    if not all(unit.scope.sees(one.topic, target) for one in (new, there) if one is not None):
        return deny_promotion(unit, old.id, old.shelf, old.space, target, "category_disallowed")
    match outcome := reconcile(new, there, unit.ruleset.policy):
        case Lose(winner, rule):
            conflict = events.conflict(
                unit.scope, winner=winner.id, loser=old.id, rule=rule, identity=identity
            )
            unit.trace(name, conflict)
            return deny_promotion(unit, old.id, old.shelf, old.space, target, f"conflict_{rule}")
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
    unit: UnitOfWork, memory_id: str, shelf: str, source: Space, target: Space, code: str
) -> Receipt:
    """A promotion that did not happen: one event, one line in the audit."""
    unit.record_refusal(shelf, code, memory_id)
    unit.trace(shelf, events.promotion_denied(unit.scope, memory_id, source, target, code, unit.snapshot))
    why = _WHY[code].format(source=source, target=target)
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
    at_home = is_at_home(unit, old.key, target)
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


MOVE = "move"  #: an operation on a line alone: its memory is where it should be


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an operation does to one key of the file."""

    key: str
    entry: Entry | None  #: None: the key goes
    base: str | None  #: the key's value when the operation was planned


def release(transaction: Transaction, file: str, known: KnownEntry, now: datetime) -> None:
    """A memory that lives in a file no longer does: its line goes, whatever happens in between."""
    Entries(transaction).drop(file, known.key)
    if known.memory_id:
        Memories(transaction).set_home(known.memory_id, None)
        effect = Effect(key=known.key, entry=None, base=known.value)
        Operations(transaction).add(MOVE, file, {"effect": effect_to_plain(effect)}, now)


def fields_of(entry: Entry) -> dict[str, Any]:
    return {"kind": entry.kind, "priority": entry.priority, "ttl": entry.ttl, "source": entry.source}


def effect_to_plain(effect: Effect) -> dict[str, Any]:
    entry = effect.entry
    fields = None
    if entry is not None:
        fields = {"value": entry.value, "updated_at": entry.updated_at, **fields_of(entry)}
    return {"key": effect.key, "base": effect.base, "entry": fields}


def effect_from_plain(value: dict[str, Any]) -> Effect:
    entry = None if value["entry"] is None else Entry(key=value["key"], **value["entry"])
    return Effect(key=value["key"], entry=entry, base=value["base"])
