"""Why a memory is there: recorded decisions in plain sentences, nothing recomputed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lamina.model import Explanation, HistoryEntry, HistoryOp, Memory, TraceEvent, Verdict, iso
from lamina.ranking.decay import faded
from lamina.read.journal import last_events, one_event
from lamina.read.snapshot import Snapshot, look
from lamina.storage.logs import History
from lamina.text.normalise import well_formed
from lamina.write.commit import readable
from lamina.write.details import whole_number
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

_SENTENCE = {
    HistoryOp.ADD: "{actor} said it through {via}",
    HistoryOp.UPDATE: "{actor} changed its words through {via}",
    HistoryOp.DELETE: "{actor} took it out through {via}",
    HistoryOp.RESTORE: "{actor} brought it back through {via}",
    HistoryOp.TTL: "its time was up",
    HistoryOp.MERGE: "{actor} merged it",
    HistoryOp.LINK: "{actor} linked it",
}


def history(caller: Caller, memory_id: str) -> tuple[HistoryEntry, ...]:
    """Every step in the life of a memory, oldest first."""
    return look(caller, lambda snapshot: _life(snapshot, memory_id)[1])


def explain(caller: Caller, memory_id: str) -> Explanation:
    """Why a memory is there, told from what was recorded when it was decided."""

    def work(snapshot: Snapshot) -> Explanation:
        memory, steps = _life(snapshot, memory_id)
        whole = not caller.store.database.damage.has("history", memory_id)
        return explained(memory, steps, whole=whole)

    return look(caller, work)


def explain_event(caller: Caller, seq: int) -> Verdict:
    """Why a write was refused, which of two won, what was recalled: from the event that was recorded."""
    whole_number(seq, "event", 1, 2**62)
    shelves, past = caller.in_session.shelves(), caller.sees_past
    return verdict(
        look(caller, lambda snapshot: one_event(snapshot.transaction, shelves, seq, past=past), synced=False)
    )


def trace(caller: Caller, last: int = 20) -> tuple[TraceEvent, ...]:
    """The newest trace events of the caller's shelves, oldest of them first."""
    whole_number(last, "last", 1, 10_000)
    shelves, past = caller.in_session.shelves(), caller.sees_past
    return look(caller, lambda snapshot: last_events(snapshot.transaction, shelves, last, past=past))


def _life(snapshot: Snapshot, memory_id: str) -> tuple[Memory, tuple[HistoryEntry, ...]]:
    memory = memory_in(snapshot, memory_id)
    steps = tuple(History(snapshot.transaction).of(memory_id))
    return memory, steps if snapshot.caller.sees_past else tuple(_as_now(one, memory) for one in steps)


def _as_now(step: HistoryEntry, memory: Memory) -> HistoryEntry:
    """A step without the words of another time: an agent reads what a memory says now."""
    old, new = (text if text == memory.text else None for text in (step.old_text, step.new_text))
    decision = {name: value for name, value in step.decision.items() if name != "before"}
    return replace(step, old_text=old, new_text=new, decision=decision)


def memory_in(snapshot: Snapshot, memory_id: str) -> Memory:
    """One memory of the caller's within a reading that has begun; NotFound otherwise."""
    well_formed(memory_id, "memory id", 4000)
    caller = snapshot.caller
    scope = caller.scope_of(memory_id)
    unit = UnitOfWork(snapshot.transaction, caller.store.ruleset, scope, snapshot.now)
    return faded(readable(unit, memory_id, *caller.states), snapshot.now)


def explained(memory: Memory, history: tuple[HistoryEntry, ...], *, whole: bool = True) -> Explanation:
    """A memory's standing and its life, a sentence each; one more where its history is not whole."""
    where = memory.file or "the database"
    lines = [
        f"{memory.id} is {memory.state}, belongs to {memory.shelf} and is kept in {where}.",
        f"It counts as {memory.authority.in_words} ({memory.authority}), because the role"
        f" {memory.provenance.role} wrote it through {memory.provenance.via}.",
    ]
    if memory.expires_at is not None:
        lines.append(f"It expires at {iso(memory.expires_at)}.")
    if memory.purge_at is not None:
        lines.append(f"It can be restored until {iso(memory.purge_at)}.")
    if memory.supersedes is not None:
        lines.append(f"It took the place of {memory.supersedes}.")
    if memory.superseded_by is not None:
        lines.append(f"{memory.superseded_by} took its place.")
    lines += [_told(entry) for entry in history]
    if not whole:
        lines.append("There is more in its history that is damaged and cannot be read.")
    return Explanation(memory=memory, history=history, lines=tuple(lines))


def _told(entry: HistoryEntry) -> str:
    decision = entry.decision
    parts = [_SENTENCE[entry.op].format(actor=entry.actor, via=entry.via)]
    if gates := decision.get("gates"):
        parts.append(f"it passed the checks {', '.join(gates)}")
    if rule := decision.get("rule"):
        parts.append(f"it was stored as `{rule}`")
    if sources := decision.get("sources"):
        parts.append(f"out of {', '.join(sources)}")
    if successor := decision.get("by"):
        parts.append(f"in favour of {successor}")
    if channel := decision.get("channel"):
        parts.append(f"the person decided through {channel}")
    if reason := decision.get("reason"):
        parts.append(f"reason: {reason}")
    return f"{entry.at:%Y-%m-%d %H:%M} UTC: {'; '.join(parts)} ({decision.get('code', '')})."


def verdict(event: TraceEvent) -> Verdict:
    """A recorded event in sentences; nothing is decided anew."""
    data = event.data
    lines = [f"{iso(event.at)}: {_HAPPENED[event.type].format_map(_Known(data))}"]
    if attempted := data.get("attempted"):
        lines.append(
            f"It would have been a {attempted['meta']['event_type']} kept as {attempted['kind']} in the"
            f" {attempted['meta']['space']} space; its words were not kept."
        )
    for item in data.get("recalled", ()):
        why = ", ".join(item["meta"]["recall_reason"])
        lines.append(f"{item['id']} was recalled ({why}).")
    lines += data.get("summary_lines", ())
    policy = data.get("policy_snapshot") or data.get("policy")
    if isinstance(policy, dict):
        lines.append(f"The policy was `{policy['name']}` with write_policy `{policy['write_policy']}`.")
    return Verdict(subject=f"event {event.seq}", lines=tuple(lines))


class _Known(dict[str, Any]):
    """What an event says; what it does not say is nothing."""

    def __missing__(self, key: str) -> str:
        return ""


_HAPPENED = {
    "memory_write": "this was written.",
    "memory_denied": "a write was refused with the code `{reason}`.",
    "memory_conflict": "{winner_id} won over {loser_id} by the rule `{rule}` (both are `{dedup_key}`).",
    "memory_forget": "{memory_id} was forgotten by itself ({reason}).",
    "memory_border_check": "the border of the {from_space} space was asked for `{action}`: {reason}.",
    "memory_promoted": "{from_id} moved to {to_id} ({reason}), with the authority {authority_used}.",
    "memory_promotion_denied": "{memory_id} did not move from {from_space} to {to_space}: {reason}.",
    "memory_phase_started": "{phase_id} of {space}:{owner} began ({reason}).",
    "memory_deleted": "{memory_id} was taken out ({reason}).",
    "memory_phase_diff": "{from_phase_id} was compared with {to_phase_id}.",
    "memory_recall": "somebody asked: {query}",
}
