"""Why a memory is there: recorded decisions in plain sentences, nothing recomputed."""

from __future__ import annotations

from lamina.model import Explanation, HistoryEntry, HistoryOp, Memory, iso

_SENTENCE = {
    HistoryOp.ADD: "{actor} said it through {via}",
    HistoryOp.UPDATE: "{actor} changed its words through {via}",
    HistoryOp.DELETE: "{actor} took it out through {via}",
    HistoryOp.RESTORE: "{actor} brought it back through {via}",
    HistoryOp.TTL: "its time was up",
    HistoryOp.MERGE: "it was merged by {actor}",
    HistoryOp.LINK: "it was linked by {actor}",
}


def explained(memory: Memory, history: tuple[HistoryEntry, ...]) -> Explanation:
    """A memory's standing and its life, a sentence each."""
    where = memory.file or "the database"
    lines = [
        f"{memory.id} is {memory.state}, on the shelf {memory.shelf}, and lives in {where}.",
        f"Its authority is {memory.authority}, which follows from the role {memory.provenance.role}"
        f" ({memory.provenance.via}).",
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
    return Explanation(memory=memory, history=history, lines=tuple(lines))


def _told(entry: HistoryEntry) -> str:
    decision = entry.decision
    parts = [_SENTENCE[entry.op].format(actor=entry.actor, via=entry.via)]
    if gates := decision.get("gates"):
        parts.append(f"the gates {', '.join(gates)} let it pass")
    if rule := decision.get("rule"):
        parts.append(f"it was stored by the rule `{rule}`")
    if successor := decision.get("by"):
        parts.append(f"in favour of {successor}")
    if reason := decision.get("reason"):
        parts.append(f"the reason given was: {reason}")
    return f"{iso(entry.at)}: {'; '.join(parts)} ({decision.get('code', '')})."
