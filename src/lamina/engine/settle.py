"""The end of every change: what its ticks have outlived is forgotten, and the events are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.engine.commit import commit_remember, expire, reword, standing
from lamina.engine.ledger import Ledger, Shelf
from lamina.model import Draft, Kind, Layer, Memory, Role, Space, Trust, contract_kind
from lamina.storage.sessions import Sessions
from lamina.views.summary import rolled
from lamina_policy.rules import RetentionMode

_WHO = {Role.USER: "user", Role.AGENT: "ai"}


def settle(ledger: Ledger, *, last: bool = True) -> None:
    """Ends a change, and with `last` a transaction; nothing may be written through the ledger after it."""
    for shelf in list(ledger.shelves.values()):
        if Space(shelf.name.partition(":")[0]) is Space.SESSION:
            _narrow(ledger, shelf)
            _live_on(ledger, shelf)
        if Space(shelf.name.partition(":")[0]) in ledger.book.policy.retention_spaces:
            _sweep(ledger, shelf)
    if last:
        ledger.learn()
    ledger.keep_events()


def _live_on(ledger: Ledger, shelf: Shelf) -> None:
    """A session that is written to is in use: what it keeps until its end is kept for longer."""
    scope, sessions = ledger.scope, Sessions(ledger.transaction)
    if scope.session is not None and scope.shelf(Space.SESSION) == shelf.name:
        sessions.touch(scope.user, scope.session, ledger.now)
        sessions.keep(shelf.number, ledger.now, ledger.now + ledger.book.session_timeout)


def _sweep(ledger: Ledger, shelf: Shelf) -> None:
    """Forget what the policy keeps only for so many ticks."""
    policy = ledger.book.policy
    for memory in ledger.memories.expired_by(shelf.number, ledger.tick(shelf.name)):
        rule = policy.retention_of(memory.space, contract_kind(memory.layer), memory.kind)
        expire(ledger, memory, "ttl_expired" if rule.mode is RetentionMode.TTL else "decay")


def _narrow(ledger: Ledger, shelf: Shelf) -> None:
    """Let the oldest turns go where there are more than the window holds, and sum them up."""
    turns = ledger.memories.turns(shelf.number, shelf.phase.id)
    leaving = turns[: max(0, len(turns) - ledger.book.policy.short_term_turns)]
    for memory in leaving:
        expire(ledger, memory, "decay")
    if leaving:
        _sum_up(ledger, shelf, leaving)


def _sum_up(ledger: Ledger, shelf: Shelf, turns: Sequence[Memory]) -> None:
    """One summary a phase; it names every turn it stands for, and says nothing that was not trusted."""
    place = f"summary:{shelf.phase.id}"
    old = standing(ledger, shelf.number, place)
    said = [
        (_WHO.get(turn.provenance.role, "system"), turn.text)
        for turn in turns
        if turn.provenance.trust is Trust.TRUSTED
    ]
    ids = [turn.id for turn in turns]
    if old is not None:
        meta = {**old.meta, "summary_of": [*old.meta["summary_of"], *ids]}
        new = replace(old, text=rolled(old.text, said), meta=meta)
        reword(ledger, old, new, place, {"code": "summarised"})
        return
    system = replace(ledger.scope, role=Role.SYSTEM, agent=None)
    draft = Draft(
        scope=system,
        text=rolled("", said) or "Earlier turns were not trusted.",
        space=Space.SESSION,
        layer=Layer.WORKING,
        kind=Kind.CONTEXT,
        importance=1,
        importance_reason=("event:context", "summary"),
        place=place,
        meta={"summary_of": ids},
    )
    commit_remember(ledger, draft, ())
