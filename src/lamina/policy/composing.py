"""What several memories that say the same are as one, and how each of them gets back what it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lamina.model import Draft, HistoryEntry, Memory, iso
from lamina.policy.rules import Policy
from lamina.text.ttl import parse_time


def composed(sources: Sequence[Memory], policy: Policy, now: datetime) -> tuple[Memory, Memory]:
    """Who leads, and the one that stands for all: nothing that any of them had is given up.

    The words are the longest of whoever weighs most, whole: two values are never put together, and an agent's
    words never get a user's authority.
    """
    top = [a for a in sources if not any(policy.outranks(b.authority, a.authority) for b in sources)]
    lead = min(top, key=lambda memory: (memory.tick, memory.id))
    peers = [one for one in top if one.kind is lead.kind]
    best = max(peers, key=lambda memory: (len(memory.text), memory.tick, memory.id))
    pinned, ends = any(one.pinned for one in sources), [one.expires_tick for one in sources]
    turns = dict.fromkeys(turn for one in sources for turn in one.provenance.source_turn_ids)
    return lead, replace(
        lead,
        text=best.text,
        importance=max(one.importance for one in sources),
        pinned=pinned,
        tags=all_tags(sources),
        created_at=min(one.created_at for one in sources),
        updated_at=now,
        expires_tick=None if pinned or None in ends else max(filter(None, ends), default=None),
        provenance=replace(lead.provenance, source_turn_ids=tuple(turns)),
    )


def all_tags(sources: Sequence[Memory | Draft]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for one in sources for tag in one.tags))


def kept_of(lead: Memory) -> dict[str, Any]:
    """What a merge may change of the memory that leads, beside its words, for the history."""
    return {
        "importance": lead.importance,
        "tags": list(lead.tags),
        "pinned": lead.pinned,
        "created_at": iso(lead.created_at),
        "expires_tick": lead.expires_tick,
        "source_turn_ids": list(lead.provenance.source_turn_ids),
    }


def undone(one: Memory, step: HistoryEntry) -> Memory:
    """The memory that led a merge as it was before that step."""
    before: Mapping[str, Any] = step.decision["before"]
    return replace(
        one,
        text=step.old_text or one.text,
        importance=before["importance"],
        tags=tuple(before["tags"]),
        pinned=before["pinned"],
        created_at=parse_time(before["created_at"]) or one.created_at,
        expires_tick=before["expires_tick"],
        provenance=replace(one.provenance, source_turn_ids=tuple(before["source_turn_ids"])),
    )
