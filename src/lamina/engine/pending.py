"""Guesses about a person wait for that person's word: staged, listed, confirmed or rejected."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from lamina.engine.commit import identity_of
from lamina.engine.ledger import Ledger
from lamina.errors import Denied
from lamina.model import (
    Authority,
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
)

_PERSONS = (Role.USER, Role.ADMIN)


#: What a guess would be if it were confirmed: a layer, a kind, and particulars.
Form = tuple[Layer, Kind, dict[str, Any]]
_PREFERENCE: Form = (Layer.USER_MODEL, Kind.PREFERENCE, {})


def stage(
    ledger: Ledger, key: str, value: str, guess: tuple[float, str], days: int, form: Form = _PREFERENCE
) -> Receipt:
    """Put a guess before its person; `guess` is how sure it is, and the rule or agent it comes from."""
    (confidence, reason), (layer, kind, meta) = guess, form
    name = ledger.scope.shelf(Space.USER) or ""
    shelf = ledger.shelf(name)
    for old in ledger.memories.pending(shelf.number, ledger.now):
        if old.key == key:
            if old.text == value:
                return Receipt(decision=Outcome.HELD, code="pending", ids=(old.id,))
            _close(ledger, old, State.SUPERSEDED, "replaced")
    memory_id, tick = ledger.numbered(name, "pending")
    memory = Memory(
        id=memory_id,
        space=Space.USER,
        owner=name.partition(":")[2],
        layer=layer,
        kind=kind,
        text=value,
        key=key,
        authority=Authority.AI_INFERRED,
        priority=45,
        confidence=confidence,
        state=State.PENDING,
        tick=tick,
        phase=shelf.phase.id,
        created_at=ledger.now,
        updated_at=ledger.now,
        expires_at=ledger.now + timedelta(days=days),
        provenance=Provenance(
            actor=ledger.scope.actor,
            role=ledger.scope.role,
            via=ledger.scope.via,
            trust=ledger.scope.trust,
            agent=ledger.scope.agent,
            session_id=ledger.scope.session,
            run_id=ledger.scope.run_id,
            reason=reason,
        ),
        meta=meta,
    )
    identity = identity_of(key, memory.kind, value)
    ledger.memories.add(memory, shelf=shelf.number, slot=None, identity=identity)
    ledger.record(HistoryOp.ADD, memory, None, {"code": "staged", "reason": reason}, "stage_inferred")
    return Receipt(decision=Outcome.HELD, code="pending", ids=(memory.id,))


def check_person(scope: Scope) -> None:
    """Only the person decides about a guess; whoever proposed it cannot agree with itself."""
    if scope.role not in _PERSONS:
        raise Denied(
            "Only the person can confirm or reject what was guessed about them.",
            code="consent_needed",
            hint="Ask the user.",
        )


def conclude(ledger: Ledger, memory: Memory, kept: str | None) -> None:
    """The person has spoken: `kept` is the memory that stands for it now, None for a rejection."""
    if kept is None:
        _close(ledger, memory, State.SOFT_DELETED, "rejected", "reject_pending")
    else:
        _close(ledger, replace(memory, superseded_by=kept), State.SUPERSEDED, "confirmed", "promote_pending")


def _close(ledger: Ledger, memory: Memory, state: State, code: str, audit: str = "") -> None:
    identity = identity_of(memory.key, memory.kind, memory.text)
    changed = replace(memory, state=state, retired_tick=memory.tick, updated_at=ledger.now)
    saved = ledger.memories.update(changed, slot=None, identity=identity) or changed
    ledger.record(HistoryOp.DELETE, saved, memory.text, {"code": code}, audit)
