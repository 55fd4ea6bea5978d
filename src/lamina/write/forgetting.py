"""Forgetting reaches what came of it: the turn it was said in, what was made of it, summaries that tell it.

A person who forgets one memory means what it says. What says the very same goes with it, and comes back with
it; what says it among other things stays, and is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.audit import events
from lamina.errors import NotFound
from lamina.language.acknowledge import acknowledgement
from lamina.model import Authority, Draft, HistoryOp, Layer, Memory, Outcome, Receipt, Space, State
from lamina.model.memory import SPOKEN
from lamina.policy.consent import same_value
from lamina.policy.gates import out_of_reach, reserved
from lamina.similarity.repeats import sentences, statements, telling_of
from lamina.storage.shelf_contents import derived_from, forgotten_with, summaries_of
from lamina.text.normalise import folded
from lamina.write.commit import (
    again,
    check_home,
    commit_revise,
    done,
    forbidden,
    put_aside,
    readable,
    refused,
    revive,
    reword,
    standing,
)
from lamina.write.noes import is_person, kept_out, lift, lift_about, refuse
from lamina.write.retention import summed_up
from lamina.write.unit_of_work import UnitOfWork, is_learning

_MORE = 2  #: terms beside those of a statement, such as a name, with which it is the same still
_TELLING = 8  #: characters; what is shorter stands in too many turns to be looked for
#: Why something is forgotten that its person does not merely want out of the answers.
TAKEN_BACK = f"{SPOKEN}misspoke"
_CAUSES = {"purge": "purged", TAKEN_BACK: "taken_back"}
_WITH, _AS = "forgotten_with", "forgotten_as"


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
        refuse(unit, again(unit, old), old.id, _CAUSES.get(reason or "", "forgotten"))
    unit.record(HistoryOp.DELETE, gone, old.text, {"code": "forgotten", "reason": reason})
    unit.trace(gone.shelf, events.deleted(unit.scope, gone, "forgotten", unit.snapshot))
    _go_with(unit, old, came, purge_at)
    if own:
        _sum_up_again(unit, [old, *came])
    receipt = done("forgotten", gone, acknowledgement("forgotten", old.text, f"{purge_at:%Y-%m-%d}"))
    warnings = (f"It is said among other things in {', '.join(left)}.",) if left else ()
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
    found = unit.memories.load([memory_id]).get(memory_id) if is_person(unit.scope) else None
    if found is None or found.shelf not in unit.scope.shelves() or _WITH not in found.meta:
        return None
    return found if found.state is State.SOFT_DELETED else None


def _until(memory: Memory) -> str:
    return f"{memory.purge_at:%Y-%m-%d}" if memory.purge_at else ""


def _came_of(unit: UnitOfWork, old: Memory) -> tuple[list[Memory], list[str]]:
    """What says the same, the turn it was said in, what was made of it; and the ids of what else says it."""
    taken: dict[str, Memory] = {}
    left: list[str] = []
    nearby = {one.id: one for one in derived_from(unit.transaction, old, _telling(old))}
    for one in nearby.values():
        home = one.file is None or one.file == unit.home or is_learning(one.file)
        made_of = old.id in one.provenance.source_turn_ids
        if home and (made_of or _restates(one, old) or _turn_of(old, one)) and not forbidden(unit, one):
            taken[one.id] = one
        elif one.state is State.ACTIVE and _says(one, old) and one.layer is not Layer.WORKING:
            left.append(one.id)
    turns = {one.id for one in taken.values() if one.layer is Layer.WORKING}
    for one in nearby.values():  # what was made of the same turn, and says it too
        if one.id in left and turns.intersection(one.provenance.source_turn_ids):
            taken[one.id] = one
            left.remove(one.id)
    return list(taken.values()), left


def _restates(one: Memory, old: Memory) -> bool:
    """Whether one says what another does and nothing beside it; of an agent's word also in its own words."""
    if same_value(one.text) == same_value(old.text):
        return True
    said, known = telling_of(one.text), telling_of(old.text)
    agents = one.authority is Authority.AI_INFERRED and one.space is not Space.PROJECT and one.key is None
    return agents and len(said.terms) <= len(known.terms) + _MORE and _says(one, old)


def _turn_of(old: Memory, one: Memory) -> bool:
    """Whether a turn is one in which a memory was said."""
    if one.layer is not Layer.WORKING or one.key is not None or "summary_of" in one.meta:
        return False
    return one.id in old.provenance.source_turn_ids or _says(one, old)


def _telling(memory: Memory) -> bool:
    return len(memory.text) >= _TELLING


def _says(one: Memory, old: Memory) -> bool:
    """Whether a text holds what another says, among other words perhaps."""
    if _telling(old) and folded(old.text) in folded(one.text):
        return True
    said = [telling_of(part) for part in statements(old.text)]
    return bool(said) and all(
        len(each.terms) > 1 and any(each.within(telling_of(part)) for part in sentences(one.text))
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
    for one in forgotten_with(unit.transaction, old):
        shelf, _, identity = unit.memories.place(one.id)
        if one.meta.get(_AS) == State.ACTIVE and standing(unit, shelf, identity) is None:
            yield revive(unit, _by_itself(one), {"code": "restored", "with": old.id}).id


def _by_itself(one: Memory) -> Memory:
    """A memory that no longer goes and comes with another."""
    return replace(one, meta={name: value for name, value in one.meta.items() if name not in (_WITH, _AS)})
