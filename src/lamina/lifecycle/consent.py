"""The consent queue as people see it: what is proposed, by whom, how it is treated and what became of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.errors import InvalidInput
from lamina.layers.layers import confirm
from lamina.layers.writing import drafted
from lamina.lifecycle.fading import in_pieces
from lamina.model import Hold, Memory, Receipt, Role, Space, State
from lamina.policy.consent import Care, Channel, standing_of
from lamina.read.resolve import resolve
from lamina.records import dataclass
from lamina.storage.memories import Memories
from lamina.storage.shelf_contents import guesses_on
from lamina.write.guesses import close, turns_of
from lamina.write.noes import refused_before
from lamina.write.store import Caller, Store, caller_of
from lamina.write.unit_of_work import UnitOfWork
from lamina.write.verbs import pending, reject

#: How many proposals are shown, or closed in one transaction.
_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One guess or wish about a person, and how it stands."""

    id: str
    key: str
    text: str  #: the value
    field: str  #: such as `preferred_name`; the key where it belongs to none
    care: str  #: sensitive, benign or ordinary
    status: str  #: proposed, approved, denied, expired or replaced
    signals: int  #: how many turns said it
    confidence: float
    proposed_by: str
    reason: str
    days_left: int  #: whole days until it expires, 0 once it is decided
    created_at: datetime
    expires_at: datetime | None


def proposals(caller: Caller, *, decided: bool = False) -> list[Proposal]:
    """What waits for the person's word, oldest first; with `decided`, also what was decided lately."""
    name = caller.scope.shelf(Space.USER) or ""
    found = (
        caller.store.database.read(lambda tx: guesses_on(tx, name, _AT_ONCE)) if decided else pending(caller)
    )
    return [proposal_of(caller, one) for one in found]


def proposal_of(caller: Caller, memory: Memory) -> Proposal:
    fields, now = caller.store.ruleset.fields, caller.store.now()
    status = standing_of(memory, now)
    left = memory.expires_at - now if memory.expires_at and status == "proposed" else timedelta(0)
    return Proposal(
        id=memory.id,
        key=memory.key or "",
        text=memory.text,
        field=fields.name_of(memory.key),
        care=fields.care(memory.key).value,
        status=status.value,
        signals=len(turns_of(memory)),
        confidence=memory.confidence,
        proposed_by=memory.provenance.actor,
        reason=memory.provenance.reason or "",
        days_left=max(0, -(-left // timedelta(days=1))),
        created_at=memory.created_at,
        expires_at=memory.expires_at,
    )


def needs_consent(caller: Caller, text: str, key: str) -> bool:
    """Whether the person should be asked before this is remembered: it is sensitive and not decided yet.

    What cannot be kept at all is not asked about.
    """
    store = caller.store
    try:
        draft = drafted(caller, text, {"key": key})
    except InvalidInput:
        return False
    if store.ruleset.fields.care(draft.key) is not Care.SENSITIVE or not isinstance(store.judge(draft), Hold):
        return False
    known = resolve(caller, [draft.key or ""]).get(draft.key or "")
    if known is not None and known.value == draft.text:
        return False
    now = store.now()
    return store.database.read(
        lambda tx: refused_before(UnitOfWork(tx, store.ruleset, caller.scope, now), draft) is None
    )


def answered(caller: Caller, key: str, *, agreed: bool) -> Receipt:
    """The person's answer to a form that was shown to them about what an agent proposed.

    Whoever calls this vouches that a person gave it: the store has no way to see them.
    """
    scope = caller.scope
    person = caller_of(caller.store, user=scope.user, session=scope.session, role=Role.USER, via=scope.via)
    decide = confirm if agreed else reject
    return decide(person, key, channel=Channel.ELICITATION)[0]


def lapse_guesses(store: Store) -> int:
    """Close what nobody decided in time, as expired; how many."""
    return in_pieces(
        store,
        lambda transaction, now: Memories(transaction).overdue(now, _AT_ONCE),
        lambda unit, guess: close(unit, guess, State.EXPIRED, {"code": "expired"}, "expire_pending"),
    )
