"""The end of every change: what its ticks have outlived is forgotten, and the events are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.model import Draft, Kind, Layer, Memory, Role, Space, Trust, contract_kind
from lamina.policy.rules import RetentionMode
from lamina.storage.sessions import Sessions
from lamina.write.commit import commit_remember, expire, reword, standing
from lamina.write.unit_of_work import Shelf, UnitOfWork

#: Characters of a part of a rolling summary, how many parts, and characters of the whole.
_PART = 80
_PARTS = 6
_WHOLE = 240

_NOTHING = "Earlier turns were not trusted."
_WHO = {Role.USER: "user", Role.AGENT: "ai"}


def settle(unit: UnitOfWork, *, last: bool = True) -> None:
    """Ends a change, and with `last` a transaction; nothing may be written through the unit after it."""
    for shelf in list(unit.shelves.values()):
        unit.transaction.told(tick=unit.tick(shelf.name))
        if Space(shelf.name.partition(":")[0]) is Space.SESSION:
            _narrow(unit, shelf)
            _live_on(unit, shelf)
        if Space(shelf.name.partition(":")[0]) in unit.ruleset.policy.retention_spaces:
            _sweep(unit, shelf)
    if last:
        unit.learn()
    unit.keep_events()


def _live_on(unit: UnitOfWork, shelf: Shelf) -> None:
    """A session that is written to is in use: what it keeps until its end is kept for longer."""
    scope, sessions = unit.scope, Sessions(unit.transaction)
    if scope.session is not None and scope.shelf(Space.SESSION) == shelf.name:
        sessions.touch(scope.user, scope.session, unit.now)
        sessions.keep(shelf.number, unit.clock, unit.clock + unit.ruleset.session_timeout)


def _sweep(unit: UnitOfWork, shelf: Shelf) -> None:
    """Forget what the policy keeps only for so many ticks."""
    policy = unit.ruleset.policy
    for memory in unit.memories.expired_by(shelf.number, unit.tick(shelf.name)):
        rule = policy.retention_of(memory.space, contract_kind(memory.layer), memory.kind)
        expire(unit, memory, "ttl_expired" if rule.mode is RetentionMode.TTL else "decay")


def _narrow(unit: UnitOfWork, shelf: Shelf) -> None:
    """Let the oldest turns go where there are more than the window holds, and sum them up."""
    turns = unit.memories.turns(shelf.number, shelf.phase.id)
    leaving = turns[: max(0, len(turns) - unit.ruleset.policy.short_term_turns)]
    for memory in leaving:
        expire(unit, memory, "decay")
    if leaving:
        _sum_up(unit, shelf, leaving)


def _sum_up(unit: UnitOfWork, shelf: Shelf, turns: Sequence[Memory]) -> None:
    """One summary a phase; it names every turn it stands for, and says nothing that was not trusted."""
    place = f"summary:{shelf.phase.id}"
    old = standing(unit, shelf.number, place)
    said, ids = _trusted(turns), [turn.id for turn in turns]
    if old is not None:
        meta = {**old.meta, "summary_of": [*old.meta["summary_of"], *ids]}
        new = replace(old, text=rolled(old.text, said), meta=meta)
        reword(unit, old, new, place, {"code": "summarised"})
        return
    system = replace(unit.scope, role=Role.SYSTEM, agent=None)
    draft = Draft(
        scope=system,
        text=rolled("", said) or _NOTHING,
        space=Space.SESSION,
        layer=Layer.WORKING,
        kind=Kind.CONTEXT,
        importance=1,
        importance_reason=("event:context", "summary"),
        place=place,
        meta={"summary_of": ids},
    )
    commit_remember(unit, draft, ())


def _trusted(turns: Sequence[Memory]) -> list[tuple[str, str]]:
    """Who said what, without what a tool or a document said."""
    return [
        (_WHO.get(turn.provenance.role, "system"), turn.text)
        for turn in turns
        if turn.provenance.trust is Trust.TRUSTED
    ]


def summed_up(turns: Sequence[Memory]) -> str:
    """A summary of these turns alone."""
    return rolled("", _trusted(turns)) or _NOTHING


def rolled(earlier: str, turns: Sequence[tuple[str, str]]) -> str:
    """What was summed up before, then who said what; each part cut, and the whole."""
    parts = [f"Earlier: {_cut(earlier.removeprefix('Earlier: '), _PART)}"] if earlier else []
    parts += [f"{who}: {_cut(text, _PART)}" for who, text in turns[-_PARTS:]]
    whole = " | ".join(parts)
    return whole if len(whole) <= _WHOLE else f"{whole[:_WHOLE]}..."


def _cut(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
