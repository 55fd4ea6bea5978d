"""The trace as callers read it: their own shelves only, each event with the policy that applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lamina.audit import events
from lamina.errors import NotFound
from lamina.model import Phase, Query, Space, State, TraceEvent
from lamina.retrieval.hits import Answer
from lamina.storage.database import Transaction
from lamina.storage.logs import Events
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Phases, Properties
from lamina.write.unit_of_work import Ruleset

_PROJECTS = f"{Space.PROJECT}:"
_POLICY = ("policy_snapshot", "policy")


def last_events(
    transaction: Transaction, shelves: Sequence[str], limit: int, *, past: bool = True
) -> tuple[TraceEvent, ...]:
    """The newest events of these shelves, oldest of them first; without the `past`, only words that stand."""
    found = _whole(transaction, _reached(transaction, Events(transaction).last(shelves, limit)))
    return found if past else _standing(transaction, found)


def _reached(transaction: Transaction, found: Sequence[TraceEvent]) -> list[TraceEvent]:
    """Those events that name memories, all of which the caller's allowlist lets it read."""
    if not transaction.reach and not transaction.project_reach:
        return list(found)
    named = {event.seq: _named(event.data) for event in found}
    known = Memories(transaction).load(sorted({one for ids in named.values() for one in ids}))
    if not transaction.reach:  # a person, who is kept from some of what is the project's
        hidden = {one for ids in named.values() for one in ids - known.keys() if one.startswith(_PROJECTS)}
        return [event for event in found if not named[event.seq] & hidden]
    return [event for event in found if named[event.seq] and named[event.seq] <= known.keys()]


def _named(data: dict[str, Any]) -> set[str]:
    """Every memory that an event names."""
    names = ("memory_id", "winner_id", "loser_id", "from_id", "to_id")
    listed = [one["id"] for name in ("written", "recalled") for one in data.get(name) or ()]
    changed = [one["memory_id"] for one in data.get("top_changes") or () if one.get("memory_id")]
    return {*listed, *changed, *(data[name] for name in names if data.get(name))}


def one_event(transaction: Transaction, shelves: Sequence[str], seq: int, *, past: bool = True) -> TraceEvent:
    """An event by its number; on anybody else's shelf it does not exist."""
    found = Events(transaction).get(seq)
    if found is None or found.shelf not in shelves or not _reached(transaction, [found]):
        raise NotFound(
            f"There is no event {seq} here.", hint="`lamina trace` shows the numbers of the newest."
        )
    whole = _whole(transaction, [found])
    return (whole if past else _standing(transaction, whole))[0]


def _standing(transaction: Transaction, found: Sequence[TraceEvent]) -> tuple[TraceEvent, ...]:
    """The events without words that no active memory has now, and without the questions that found them."""
    named = {event.seq: events.named_in(event.data) for event in found}
    known = Memories(transaction).load(sorted({one for ids in named.values() for one in ids}))
    active = {name: one for name, one in known.items() if one.state is State.ACTIVE}
    return tuple(
        replace(event, data=events.told_without(event.data, gone))
        if (gone := named[event.seq] - active.keys() | {*events.told_otherwise(event.data, active)})
        else event
        for event in found
    )


def _whole(transaction: Transaction, found: Sequence[TraceEvent]) -> tuple[TraceEvent, ...]:
    """Each event with the policy it names in full."""
    policies: dict[str, Any] = {}

    def policy(name: str) -> Any:
        if name not in policies:
            policies[name] = Properties(transaction).value(name) or name
        return policies[name]

    return tuple(
        replace(event, data={k: policy(v) if k in _POLICY else v for k, v in event.data.items()})
        for event in found
    )


def reading_events(
    transaction: Transaction, query: Query, asked: Sequence[Space], answer: Answer, ruleset: Ruleset
) -> list[dict[str, Any]]:
    """What the contract says of a recall: the recall itself, then every border it looked across."""
    phases, snapshot = current_phases(transaction, query), ruleset.snapshot
    told = [events.recalled(query.scope, query.text, answer.found, answer.memories, phases, snapshot)]
    for space in asked:
        code = "allowed" if space in ruleset.policy.read_order else "space_disabled"
        told.append(events.border_check(query.scope, "read", space, None, code, snapshot))
    return told


def current_phases(transaction: Transaction, query: Query) -> dict[Space, Phase | None]:
    """The phase each of the query's spaces is in, in reading order; None for one that holds nothing yet."""
    found: dict[Space, Phase | None] = {}
    for space in query.spaces:
        if (name := query.scope.shelf(space)) is not None:
            known = TextIndex(transaction).shelf(name)
            found[space] = Phases(transaction).get(*known) if known else None
    return found
