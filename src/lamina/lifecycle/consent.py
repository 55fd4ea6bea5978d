"""The consent queue as people see it: what is proposed, by whom, how it is treated and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.engine import Engine
from lamina.errors import InvalidInput
from lamina.layers.drafting import drafted
from lamina.model import Hold, Memory, Receipt, Role, Space, State
from lamina.policy.consent import Care, Channel, standing_of
from lamina.scoped import ScopedMemory
from lamina.storage.database import Transaction
from lamina.storage.memories import from_row, micros
from lamina.storage.text_index import TextIndex
from lamina.write.guesses import close, turns_of
from lamina.write.noes import refused_before
from lamina.write.unit_of_work import UnitOfWork

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


def proposals(mind: ScopedMemory, *, decided: bool = False) -> list[Proposal]:
    """What waits for the person's word, oldest first; with `decided`, also what was decided lately."""
    name = mind.scope.shelf(Space.USER) or ""
    found = mind.engine.database.read(lambda tx: _all_on(tx, name)) if decided else mind.pending()
    return [proposal_of(mind, one) for one in found]


def _all_on(transaction: Transaction, name: str) -> list[Memory]:
    """The latest proposals on a shelf, whatever became of them, oldest of them first."""
    if (known := TextIndex(transaction).shelf(name)) is None:
        return []
    guesses = "%:%:pending:%"
    return transaction.each(from_row, "guesses_on", shelf=known[0], guesses=guesses, limit=_AT_ONCE)[::-1]


def proposal_of(mind: ScopedMemory, memory: Memory) -> Proposal:
    fields, now = mind.engine.ruleset.fields, mind.engine.now()
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


def needs_consent(mind: ScopedMemory, text: str, key: str) -> bool:
    """Whether the person should be asked before this is remembered: it is sensitive and not decided yet.

    What cannot be kept at all is not asked about.
    """
    engine = mind.engine
    try:
        draft = drafted(mind, text, {"key": key})
    except InvalidInput:
        return False
    if engine.ruleset.fields.care(draft.key) is not Care.SENSITIVE or not isinstance(
        engine.judge(draft), Hold
    ):
        return False
    known = mind.resolve([draft.key or ""]).get(draft.key or "")
    if known is not None and known.value == draft.text:
        return False
    now = engine.now()
    return engine.database.read(
        lambda tx: refused_before(UnitOfWork(tx, engine.ruleset, mind.scope, now), draft) is None
    )


def answered(mind: ScopedMemory, key: str, *, agreed: bool) -> Receipt:
    """The person's answer to a form that was shown to them about what an agent proposed.

    Whoever calls this vouches that a person gave it: the engine has no way to see them.
    """
    scope = mind.scope
    person = mind.engine.scope(user=scope.user, session=scope.session, role=Role.USER, via=scope.via)
    decide = person.confirm if agreed else person.reject
    return decide(key, channel=Channel.ELICITATION)[0]


def lapse_guesses(engine: Engine) -> int:
    """Close what nobody decided in time, as expired; how many."""
    system = engine.scope(role=Role.SYSTEM, via="job").scope

    def work(unit: UnitOfWork) -> int:
        over = _overdue(unit.transaction, unit.clock)
        for one in over:
            close(unit, one, State.EXPIRED, {"code": "expired"}, "expire_pending")
        return len(over)

    total = 0
    while engine.database.read(lambda tx: _overdue(tx, engine.now())):
        total += engine.act(system, work)
    return total


def _overdue(transaction: Transaction, now: datetime) -> list[Memory]:
    """Proposals of anybody that nobody decided in time."""
    return transaction.each(from_row, "overdue_guesses", now=micros(now), limit=_AT_ONCE)
