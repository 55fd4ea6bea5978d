"""Trace events in the shape of the governance contract (GC-9), redacted."""

from __future__ import annotations

import re
from typing import Any

from lamina.model import Deny, Draft, Memory, Role, Scope, contract_kind
from lamina.policy.privacy import redacted

TRACE_VERSION = "2024-10-01"
_SOURCE = {Role.USER: "user", Role.AGENT: "ai", Role.TOOL: "tool", Role.DOCUMENT: "tool"}


def shown(text: str) -> str:
    """Text as a trace may show it: one line, no secrets, at most 200 characters."""
    return _short(redacted(text))


def _short(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= 200 else f"{line[:200]}... (truncated)"


def _event(kind: str, scope: Scope, **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "trace_version": TRACE_VERSION,
        "ai_profile": scope.agent or "default",
        "session": scope.session or "",
        **data,
    }


def item(memory: Memory) -> dict[str, Any]:
    """A memory as the contract's MemoryItem; its text has just passed the privacy gate."""
    return {
        "id": memory.id,
        "kind": contract_kind(memory.layer),
        "text": _short(memory.text),
        "source": _SOURCE.get(memory.provenance.role, "system"),
        "created_at": memory.tick,
        "importance": memory.importance,
        "scope": "session",
        "meta": {
            "event_type": memory.kind.value,
            "space": memory.space.value,
            "owner": memory.owner,
            "authority": memory.authority.value,
            "authority_reason": f"source:{_SOURCE.get(memory.provenance.role, 'system')}",
            **({"key": memory.key} if memory.key else {}),
        },
    }


def written(scope: Scope, memory: Memory) -> dict[str, Any]:
    return _event("memory_write", scope, written=[item(memory)], reason="interaction_recorded")


def denied(draft: Draft, objection: Deny, snapshot: dict[str, Any]) -> dict[str, Any]:
    """A refusal; the refused text is not in it."""
    attempted = {
        "kind": contract_kind(draft.layer),
        "text": "(redacted)",
        "source": _SOURCE.get(draft.scope.role, "system"),
        "meta": {"event_type": draft.kind.value, "space": draft.space.value, **objection.evidence},
    }
    return _event(
        "memory_denied", draft.scope, attempted=attempted, reason=objection.code, policy_snapshot=snapshot
    )


def conflict(scope: Scope, *, winner: str, loser: str, rule: str, identity: str) -> dict[str, Any]:
    return _event(
        "memory_conflict", scope, winner_id=winner, loser_id=loser, rule=rule, dedup_key=shown(identity)
    )


def deleted(scope: Scope, memory: Memory, reason: str, snapshot: dict[str, Any]) -> dict[str, Any]:
    return _event(
        "memory_deleted",
        scope,
        space=memory.space.value,
        owner=memory.owner,
        phase_id=memory.phase or "phase-1",
        memory_id=memory.id,
        reason=reason,
        policy_snapshot=snapshot,
    )
