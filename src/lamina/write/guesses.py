"""Guesses about a person wait for that person's word: staged, counted, and approved, denied or expired."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from lamina.errors import Denied
from lamina.language.acknowledge import acknowledgement
from lamina.model import (
    Authority,
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
)
from lamina.policy.consent import Care, Channel
from lamina.records import dataclass
from lamina.storage.shelf_contents import turns_on
from lamina.text.normalise import is_note
from lamina.write.commit import (
    again,
    commit_denial,
    commit_remember,
    identity_of,
    restated,
    shelf_of,
)
from lamina.write.noes import (
    ASKED_AGAIN,
    lift_asked,
    note_asked,
    refuse,
    refused_before,
    repeated,
    term_mark,
    to_ask_about,
)
from lamina.write.origins import binds, traced
from lamina.write.unit_of_work import UnitOfWork

_PERSONS = (Role.USER, Role.ADMIN)
_PRIORITY = 45
_NO_TURN = "no turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What somebody might want kept, how sure that is, and what it would be if it were kept."""

    key: str
    value: str
    confidence: float
    reason: str  #: the rule or the agent it comes from
    importance: int = 0  #: of the insight it comes from, 0 for none
    layer: Layer = Layer.USER_MODEL
    kind: Kind = Kind.PREFERENCE
    meta: dict[str, Any] = field(default_factory=dict)
    origins: tuple[str, ...] = ()  #: what it repeats that nobody vouches for


def stage(unit: UnitOfWork, guess: Guess) -> Receipt:
    """Put a guess before its person; a benign one holds by itself once other turns say the same.

    What its person said no to before is denied: nobody is asked again, and it counts for nothing.
    """
    draft = Draft(
        scope=unit.scope,
        text=guess.value,
        layer=guess.layer,
        kind=guess.kind,
        key=guess.key,
        reason=guess.reason,
        tags=tuple(guess.meta.get("asked", {}).get("tags", ())),
    )
    if not guess.origins and (found := traced(unit, draft)).tainted:
        guess = replace(guess, origins=found.origins)
    if (objection := refused_before(unit, draft)) is not None:
        return commit_denial(unit, draft, objection)
    if (near := repeated(unit, draft)) is not None:
        note_asked(unit, draft, near.number)
    name = unit.scope.shelf(Space.USER) or ""
    waiting = unit.memories.pending(unit.shelf(name).number, unit.clock)
    old = next((one for one in waiting if one.key == guess.key), None)
    turn = _turn(unit)
    asked = guess.meta.get("asked", {})
    if old is not None and (old.text, old.meta.get("asked", {})) == (guess.value, asked):
        signals = list(dict.fromkeys([*old.meta.get("signals", ()), turn]))
        memory = old if turn in old.meta.get("signals", ()) else _signalled(unit, old, signals, guess)
    else:
        if old is not None:
            close(unit, old, State.SUPERSEDED, {"code": "replaced"})
        signals = [turn]
        memory = _proposed(unit, name, guess, signals)
    turns = turns_of(memory)
    enough = unit.ruleset.fields.suffices(guess.key, turns, guess.importance, guess.confidence)
    # What was meant for a session or a project does not come to hold for the person.
    # What repeats a tool or a document comes to hold by nobody's word but the person's.
    doubted = bool(memory.provenance.origins or guess.origins)
    applied = _applied(unit, memory, guess) if enough and not doubted and "space" not in asked else None
    return applied or Receipt(decision=Outcome.HELD, code="pending", ids=(memory.id,))


def waiting_for(unit: UnitOfWork, draft: Draft) -> Receipt | None:
    """What has to wait for the person though no gate objects: it is near a no, or repeats what nobody vouches
    for and would be acted upon. None where it may be kept."""
    if (number := to_ask_about(unit, draft)) is not None:
        return ask_again(unit, draft, number)
    if draft.tainted and not draft.second_hand and binds(draft):
        mark = term_mark(unit.ruleset.no_key, draft.text)
        return _put_before(
            unit, draft, draft.key or f"unvouched.{mark}", "repeats what a tool or a document said"
        )
    return None


def ask_again(unit: UnitOfWork, draft: Draft, number: int) -> Receipt:
    """What an agent says that is near a no is put before the person, this once."""
    return _put_before(unit, draft, f"{ASKED_AGAIN}{number}", "near what you said no to")


def _put_before(unit: UnitOfWork, draft: Draft, key: str, why: str) -> Receipt:
    layer = draft.layer if draft.layer is Layer.PROCEDURAL or draft.key else Layer.SEMANTIC
    guess = Guess(
        key=key,
        value=draft.text,
        confidence=draft.confidence,
        reason=why,
        layer=layer,
        kind=draft.kind,
        meta={**draft.meta, **_asked(draft)},
        origins=draft.origins if draft.tainted else (),
    )
    return told_held(stage(unit, guess), draft, draft.key or "")


def told_held(receipt: Receipt, draft: Draft, key: str) -> Receipt:
    """A receipt that says in words that something waits, where it does."""
    if receipt.decision is not Outcome.HELD:
        return receipt
    told = acknowledgement("held", draft.text, "" if is_note(key) else key)
    return replace(receipt, acknowledgement=told, warnings=(told,))


def held(unit: UnitOfWork, draft: Draft) -> Receipt:
    """What an agent wants to set waits for the person, unless it is so already or they said otherwise."""
    key, book, names = draft.key or "", unit.ruleset, (shelf_of(draft), unit.scope.shelf(Space.USER) or "")
    there, own = (_in_force(unit, name, key) for name in names)
    for known in (there, own):
        if known is not None and known.text == draft.text:
            return restated(unit, known, unit.shelf(known.shelf))
    outranked = there is not None and book.policy.outranks(there.authority, draft.scope.authority)
    if outranked and book.fields.care(key) is not Care.SENSITIVE and refused_before(unit, draft) is None:
        return commit_remember(unit, draft, ())  # which says that it lost, and to what
    guess = Guess(
        key=key,
        value=draft.text,
        confidence=draft.confidence,
        reason=draft.reason or "proposed:agent",
        kind=draft.kind,
        meta=_asked(draft),
    )
    return told_held(stage(unit, guess), draft, key)


def _in_force(unit: UnitOfWork, shelf: str, key: str) -> Memory | None:
    """What holds under a key; one past its time stays where it is, as its line in a file does."""
    found = unit.memories.active(unit.shelf(shelf).number, f"key:{key}")
    lapsed = found is not None and found.expires_at is not None and found.expires_at <= unit.now
    return None if lapsed else found


def _asked(draft: Draft) -> dict[str, Any]:
    """Where and for how long an agent wants a value, where that is not the usual: a yes is to this."""
    asked: dict[str, Any] = {} if draft.space is Space.USER else {"space": draft.space.value}
    asked |= {} if draft.ttl == "none" else {"ttl": draft.ttl}
    asked |= {"category": draft.category} if draft.category else {}
    asked |= {"tags": list(draft.tags)} if draft.tags else {}
    return {"asked": asked} if asked else {}


def _turn(unit: UnitOfWork) -> str:
    """The person's turn that this happens in."""
    turns = turns_on(unit.transaction, unit.scope.shelf(Space.SESSION) or "")
    return turns[-1].id if turns else _NO_TURN


def turns_of(guess: Memory) -> list[str]:
    """The person's turns that a guess was made in; what was said outside of any is no signal."""
    return [one for one in guess.meta.get("signals", ()) if one != _NO_TURN]


def _proposed(unit: UnitOfWork, name: str, guess: Guess, signals: list[str]) -> Memory:
    scope, shelf = unit.scope, unit.shelf(name)
    memory_id, tick = unit.numbered(name, "pending")
    source = Provenance(
        actor=scope.actor,
        role=scope.role,
        via=scope.via,
        trust=Trust.UNTRUSTED if guess.origins else scope.trust,
        agent=scope.agent,
        session_id=scope.session,
        run_id=scope.run_id,
        reason=guess.reason,
        origins=guess.origins,
    )
    memory = Memory(
        id=memory_id,
        space=Space.USER,
        owner=name.partition(":")[2],
        layer=guess.layer,
        kind=guess.kind,
        text=guess.value,
        key=guess.key,
        authority=Authority.AI_INFERRED,
        priority=_PRIORITY,
        confidence=guess.confidence,
        state=State.PENDING,
        tick=tick,
        phase=shelf.phase.id,
        created_at=unit.now,
        updated_at=unit.now,
        expires_at=unit.clock + unit.ruleset.patience,
        provenance=source,
        meta={**guess.meta, "signals": signals},
    )
    identity = identity_of(guess.key, guess.kind, guess.value)
    unit.memories.add(memory, shelf=shelf.number, slot=None, identity=identity)
    unit.record(HistoryOp.ADD, memory, None, {"code": "staged", "reason": guess.reason}, "stage_inferred")
    return memory


def _signalled(unit: UnitOfWork, old: Memory, signals: list[str], guess: Guess) -> Memory:
    """Another turn says the same."""
    sure = max(old.confidence, guess.confidence)
    new = replace(old, meta={**old.meta, "signals": signals}, confidence=sure, updated_at=unit.now)
    saved = unit.memories.update(new, slot=None, identity=identity_of(old.key, old.kind, old.text)) or new
    told = {"code": "signal", "signals": len(signals), "reason": guess.reason}
    unit.record(HistoryOp.UPDATE, saved, old.text, told, "signal_inferred")
    return saved


def _applied(unit: UnitOfWork, memory: Memory, guess: Guess) -> Receipt | None:
    """A benign guess becomes a value, inferred and in no file; None where somebody's word stands."""
    shelf, place = unit.shelf(memory.shelf), f"key:{memory.key}"
    known = unit.memories.active(shelf.number, place)  # also where its time is up: its line is there
    if known is not None and (known.file or known.authority is not Authority.AI_INFERRED):
        return None
    draft = Draft(
        scope=replace(unit.scope, role=Role.AGENT, agent=unit.scope.agent or "lamina"),
        text=memory.text,
        layer=memory.layer,
        kind=memory.kind,
        key=memory.key,
        priority=_PRIORITY,
        confidence=memory.confidence,
        place=place,
        reason=guess.reason,
        ttl=guess.meta.get("asked", {}).get("ttl", "none"),
    )
    receipt = commit_remember(unit, draft, ("consent",))
    conclude(unit, memory, receipt.ids[0], Channel.SIGNALS)
    told = receipt.acknowledgement
    return Receipt(
        decision=receipt.decision,
        code="corroborated",
        ids=receipt.ids,
        revision=receipt.revision,
        acknowledgement=told,
    )


def check_person(scope: Scope) -> None:
    """Only the person decides about a guess; whoever proposed it cannot agree with itself."""
    if scope.role not in _PERSONS:
        raise Denied(
            "Only the person can confirm or reject what was guessed about them.",
            code="consent_needed",
            hint="Ask the user.",
        )


def unnamed(memory: Memory) -> Denied:
    """Why a bare yes does not do."""
    return Denied(
        f"`{memory.key}` is personal: only a yes that names it is consent.",
        code="consent_unnamed",
        hint=f"Say `confirm memory {memory.key}`, or use `lamina pending confirm {memory.key}`.",
    )


def conclude(unit: UnitOfWork, memory: Memory, kept: str | None, channel: str) -> None:
    """It is decided: `kept` is the memory that stands for the guess now, None for a rejection."""
    if kept is None:
        refuse(unit, again(unit, memory), memory.id, "rejected")
        close(unit, memory, State.SOFT_DELETED, {"code": "rejected", "channel": channel}, "reject_pending")
    else:
        lift_asked(unit, again(unit, memory))
        told = {"code": "confirmed", "channel": channel}
        close(unit, replace(memory, superseded_by=kept), State.SUPERSEDED, told, "promote_pending")


def close(unit: UnitOfWork, memory: Memory, state: State, decision: dict[str, Any], audit: str = "") -> None:
    identity = identity_of(memory.key, memory.kind, memory.text)
    changed = replace(memory, state=state, retired_tick=memory.tick, updated_at=unit.now)
    saved = unit.memories.update(changed, slot=None, identity=identity) or changed
    op = HistoryOp.TTL if state is State.EXPIRED else HistoryOp.DELETE
    unit.record(op, saved, memory.text, decision, audit)
