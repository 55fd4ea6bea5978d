"""What is told while it happens: trace events in the shape of the governance contract (GC-9), redacted by one
rule set, and OpenTelemetry spans for a host that uses them."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lamina.errors import LaminaError
from lamina.language.secrets.privacy import redacted
from lamina.model import (
    Deny,
    Draft,
    Memory,
    Phase,
    Recollection,
    Role,
    Scope,
    Space,
    canonical,
    contract_kind,
)
from lamina.policy.phases import PhaseDiff
from lamina.text.normalise import dedup_key

TRACE_VERSION = "2024-10-01"
_SOURCE = {Role.USER: "user", Role.AGENT: "ai", Role.TOOL: "tool", Role.DOCUMENT: "tool"}
#: What the engine writes into a memory's meta that the contract knows.
#: Ticks up to which something is recent, and the importance from which on it counts (GC-7).
_RECENT, _IMPORTANT = 5, 2
_META = ("importance_reason", "policy_tags", "summary_of", "promoted_from", "promotion_reason")


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
        "ai_profile": scope.agent or "assistant",
        "session": scope.session or "",
        **data,
    }


def phase_fields(phase: Phase) -> dict[str, Any]:
    return {
        "phase_id": phase.id,
        "phase_name": phase.name,
        "phase_started_at": phase.started_tick,
        "phase_reason": phase.reason,
    }


def item(memory: Memory, phase: Phase | None = None) -> dict[str, Any]:
    """A memory as the contract's MemoryItem; its text has passed the privacy gate."""
    source = _SOURCE.get(memory.provenance.role, "system")
    summary = "summary_of" in memory.meta
    meta: dict[str, Any] = {
        "event_type": memory.kind.value,
        "space": memory.space.value,
        "owner": memory.owner,
        "dedup_key": f"fact:{memory.key}" if memory.key else _short(dedup_key(memory.kind, memory.text)),
        "authority": memory.authority.value,
        "authority_reason": "summary" if summary else f"source:{source}",
        **(phase_fields(phase) if phase else {"phase_id": memory.phase or "phase-1"}),
        **{name: memory.meta[name] for name in _META if name in memory.meta},
    }
    if memory.key:
        meta["key"] = memory.key
    if memory.provenance.source_turn_ids:
        meta["source_turn_ids"] = list(memory.provenance.source_turn_ids)
    if memory.expires_tick is not None:
        meta["expires_at"] = memory.expires_tick
    return {
        "id": memory.id,
        "kind": contract_kind(memory.layer),
        "text": _short(memory.text),
        "source": source,
        "created_at": memory.tick,
        "importance": memory.importance,
        "scope": "session",
        "meta": meta,
    }


def written(scope: Scope, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return _event("memory_write", scope, written=list(items), reason="interaction_recorded")


def denied(draft: Draft, objection: Deny, snapshot: dict[str, Any]) -> dict[str, Any]:
    """A refusal; the refused text is not in it, and what was refused has no number."""
    source, owner = _SOURCE.get(draft.scope.role, "system"), draft.scope.owner(draft.space) or ""
    kind = contract_kind(draft.layer)
    attempted = {
        "id": f"{draft.space}:{owner}:{kind}:0",
        "kind": kind,
        "text": "(redacted)",
        "source": source,
        "created_at": 0,
        "importance": draft.importance,
        "scope": "session",
        "meta": {
            "event_type": draft.kind.value,
            "space": draft.space.value,
            "owner": owner,
            "dedup_key": f"{draft.kind.value}:(redacted)",
            "authority": draft.scope.authority.value,
            "authority_reason": f"source:{source}",
            "importance_reason": list(draft.importance_reason),
            **objection.evidence,
        },
    }
    return _event(
        "memory_denied", draft.scope, attempted=attempted, reason=objection.code, policy_snapshot=snapshot
    )


def conflict(scope: Scope, *, winner: str, loser: str, rule: str, identity: str) -> dict[str, Any]:
    key = re.sub("^(?:key|heard):", "fact:", identity)
    if redacted(key) != key:  # nothing of a secret survives, not even in the key it would be found by
        key = f"{key.partition(':')[0]}:{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    return _event(
        "memory_conflict", scope, winner_id=winner, loser_id=loser, rule=rule, dedup_key=_short(key)
    )


def forgotten(scope: Scope, memory: Memory, reason: str, snapshot: dict[str, Any]) -> dict[str, Any]:
    return _event("memory_forget", scope, memory_id=memory.id, reason=reason, policy_snapshot=snapshot)


def border_check(
    scope: Scope, action: str, source: Space, target: Space | None, answer: str, snapshot: dict[str, Any]
) -> dict[str, Any]:
    """Whether a border was open; `answer` is `allowed` or the code of the refusal."""
    return _event(
        "memory_border_check",
        scope,
        action=action,
        from_space=source.value,
        **({"to_space": target.value} if target is not None else {}),
        allowed=answer == "allowed",
        reason=answer,
        policy_snapshot=snapshot,
    )


def promoted(scope: Scope, old: Memory, new: Memory, snapshot: dict[str, Any]) -> dict[str, Any]:
    return _event(
        "memory_promoted",
        scope,
        from_space=old.space.value,
        to_space=new.space.value,
        from_id=old.id,
        to_id=new.id,
        authority_used=new.authority.value,
        reason=new.meta["promotion_reason"],
        policy_snapshot=snapshot,
    )


def promotion_denied(
    scope: Scope, memory_id: str, source: Space, target: Space, code: str, snapshot: dict[str, Any]
) -> dict[str, Any]:
    return _event(
        "memory_promotion_denied",
        scope,
        from_space=source.value,
        to_space=target.value,
        memory_id=memory_id,
        allowed=False,
        reason=code,
        policy_snapshot=snapshot,
    )


def phase_started(scope: Scope, shelf: str, phase: Phase, snapshot: dict[str, Any]) -> dict[str, Any]:
    space, _, owner = shelf.partition(":")
    return _event(
        "memory_phase_started",
        scope,
        space=space,
        owner=owner,
        phase_id=phase.id,
        phase_name=phase.name,
        reason=phase.reason,
        policy_snapshot=snapshot,
    )


def phase_diff(scope: Scope, shelf: str, before: str, after: str, diff: PhaseDiff) -> dict[str, Any]:
    space, _, owner = shelf.partition(":")
    return _event(
        "memory_phase_diff",
        scope,
        space=space,
        owner=owner,
        from_phase_id=before,
        to_phase_id=after,
        added_count=diff.added_count,
        deleted_count=diff.deleted_count,
        replaced_count=diff.replaced_count,
        top_changes=list(diff.top_changes),
        summary_lines=list(diff.summary_lines),
    )


def deleted(
    scope: Scope, memory: Memory, reason: str, snapshot: dict[str, Any], replaced_by: str | None = None
) -> dict[str, Any]:
    return _event(
        "memory_deleted",
        scope,
        space=memory.space.value,
        owner=memory.owner,
        phase_id=memory.phase or "phase-1",
        memory_id=memory.id,
        reason=reason,
        **({"replaced_by": replaced_by} if replaced_by else {}),
        policy_snapshot=snapshot,
    )


def recalled(
    scope: Scope,
    question: str,
    found: Recollection,
    memories: Mapping[str, Memory],
    phases: Mapping[Space, Phase | None],
    snapshot: dict[str, Any],
) -> dict[str, Any]:
    """A reading, with the hash by which two readings can be told to be the same.

    `phases` has every space that was looked at, with the phase it is in; None for one that is empty.
    """
    items = []
    newest = max((memories[hit.id].tick for hit in found.hits), default=0)
    for hit in found.hits:
        memory = memories[hit.id]
        one = item(memory, phases.get(memory.space) if _current(memory, phases) else None)
        one["text"] = shown(memory.text)
        one["meta"] |= {"recall_reason": list(_codes(hit.reasons, memory, newest)), "score": hit.score}
        if memory.expires_tick is not None:
            one["meta"]["policy_tags"] = [*one["meta"].get("policy_tags", ()), "kept_by:retention_rule"]
        items.append(one)
    pairs = "|".join(f"{one['kind']}:{one['id']}" for one in items)
    counts = Counter(one["meta"]["space"] for one in items)
    by_phase = Counter((one["meta"]["space"], one["meta"]["phase_id"]) for one in items)
    nearest = next((phase for phase in phases.values() if phase is not None), None)
    return _event(
        "memory_recall",
        scope,
        query=shown(question),
        recalled=items,
        policy=snapshot,
        deterministic_hash=hashlib.sha256(pairs.encode()).hexdigest(),
        spaces_consulted=[space.value for space in phases],
        recall_counts={space.value: counts[space.value] for space in phases},
        current_phase=phase_fields(nearest) if nearest else None,
        phase_counts={
            space.value: {phase: n for (name, phase), n in sorted(by_phase.items()) if name == space}
            for space in phases
        },
    )


def _current(memory: Memory, phases: Mapping[Space, Phase | None]) -> bool:
    phase = phases.get(memory.space)
    return phase is not None and phase.id == memory.phase


def _codes(reasons: Sequence[str], memory: Memory, newest: int) -> list[str]:
    """Why it is here in the contract's words, then where it comes from; `newest` is the latest tick found."""
    codes = ["matches_query"] if reasons else []
    codes += ["recency"] if newest - memory.tick <= _RECENT else []
    codes += ["importance"] if memory.importance >= _IMPORTANT else []
    return [*(codes or ["active_rule"]), f"space:{memory.space}"]


_ID = re.compile(r'"((?:session|user|project|system):[^"\\]+:[a-z_]+:\d+)"')
_WORDS = ("text", "dedup_key", "dedupe_key")
_GONE = "(purged)"


def ids_in(data: str) -> list[str]:
    """Every memory that an event names, in the event as JSON."""
    return _ID.findall(data)


def named_in(event: dict[str, Any]) -> frozenset[str]:
    """The same of an event as it is."""
    return frozenset(ids_in(canonical(event)))


def told_without(event: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    """An event without the words of some memories, and without the question that found them."""
    asked = {"query": _GONE} if "query" in event else {}
    return {**_scrubbed(event, ids), **asked}


def _scrubbed(value: Any, ids: frozenset[str], within: bool = False) -> Any:
    """A value without the words of some memories: those beside or below their ids."""
    if isinstance(value, list):
        return [_scrubbed(one, ids, within) for one in value]
    if not isinstance(value, dict):
        return value
    within = within or any(isinstance(one, str) and one in ids for one in value.values())
    hide = _WORDS if within else ()
    return {name: _GONE if name in hide else _scrubbed(one, ids, within) for name, one in value.items()}


def told_otherwise(event: Any, standing: Mapping[str, Memory]) -> Iterator[str]:
    """The memories of which an event has other words than they have now."""
    if isinstance(event, list):
        for one in event:
            yield from told_otherwise(one, standing)
    if not isinstance(event, dict):
        return
    for value in event.values():
        memory = standing.get(value) if isinstance(value, str) else None
        if memory is not None and not _tells_as_now(event, memory):
            yield memory.id
        yield from told_otherwise(value, standing)


def _tells_as_now(told: dict[str, Any], memory: Memory) -> bool:
    if "text" in told:
        return told["text"] in (_short(memory.text), shown(memory.text))
    key = told.get("dedup_key", told.get("dedupe_key"))
    return key in (None, dedup_key(memory.kind, memory.text), f"fact:{memory.key}")


Note = Callable[[str, Any], None]


@contextmanager
def span(operation: str, scope: Scope, content: Mapping[str, str] | None = None) -> Iterator[Note]:
    """A span around one operation on the memory; `content` is what was said, for those who ask for it."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        yield lambda _, __: None
        return
    known = {
        "gen_ai.operation.name": operation,
        "gen_ai.memory.store.id": scope.tenant,
        "gen_ai.agent.id": scope.agent,
        "gen_ai.conversation.id": scope.session,
        **(content or {}),
    }
    with api.get_tracer("lamina").start_as_current_span(
        operation,
        kind=api.SpanKind.INTERNAL,
        attributes={name: value for name, value in known.items() if value is not None},
        record_exception=False,  # a message may repeat what somebody said
        set_status_on_exception=False,
    ) as current:
        try:
            yield current.set_attribute
        except LaminaError as error:
            current.set_attribute("error.type", error.code)
            current.set_status(api.StatusCode.ERROR)
            raise
