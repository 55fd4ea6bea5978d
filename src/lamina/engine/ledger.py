"""One transaction's bookkeeping: a change is in history, thread, trace and audit, or it is nowhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lamina.model import HistoryEntry, HistoryOp, Memory, Scope
from lamina.model.audit import AuditRecord
from lamina.policy.rules import Policy
from lamina.storage.database import Transaction
from lamina.storage.lexicon import Lexicon
from lamina.storage.logs import AuditLog, Changes, Events, History, next_numbers
from lamina.storage.memories import Memories, micros
from lamina.text.analyse import terms
from lamina.trace.chain import Sealer, audit_line

#: What a step in a memory's history is called in the audit (CM-10) and in a thread's delta (IS-1).
_AUDIT_OP = {
    HistoryOp.ADD: "upsert",
    HistoryOp.UPDATE: "upsert",
    HistoryOp.DELETE: "delete",
    HistoryOp.RESTORE: "restore",
    HistoryOp.TTL: "expire",
}
_CHANGE = {
    HistoryOp.ADD: "created",
    HistoryOp.UPDATE: "updated",
    HistoryOp.DELETE: "soft_deleted",
    HistoryOp.RESTORE: "restored",
    HistoryOp.TTL: "deleted",
}


@dataclass(frozen=True, slots=True)
class Book:
    """What every transaction of an engine shares."""

    sealer: Sealer
    policy: Policy


@dataclass(slots=True)
class Ledger:
    """Everything one change may touch, and what it came to."""

    transaction: Transaction
    book: Book
    scope: Scope
    now: datetime
    home: str | None = None  #: the file whose lock the caller holds, None for a change in the database alone
    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  #: run id, audit line
    events: list[dict[str, Any]] = field(default_factory=list)
    head: tuple[int, str] = (0, "")

    @property
    def memories(self) -> Memories:
        return Memories(self.transaction)

    @property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.transaction)

    @property
    def snapshot(self) -> dict[str, Any]:
        return self.book.policy.snapshot()

    def numbered(self, shelf: str, kind: str) -> tuple[str, int]:
        """The id of the next memory of a kind on a shelf, and its tick."""
        series = f"{shelf}:{kind}"
        number, tick = next_numbers(self.transaction, f"id:{series}", "tick")
        return f"{series}:{number}", tick

    def record(self, op: HistoryOp, memory: Memory, old: str | None, decision: dict[str, Any]) -> None:
        """One step in a memory's life; `memory` is what it is after the step, `old` its text before."""
        new = None if op in (HistoryOp.DELETE, HistoryOp.TTL) else memory.text
        number = History(self.transaction).add(
            HistoryEntry(
                memory_id=memory.id,
                revision=memory.revision,
                op=op,
                at=self.now,
                actor=self.scope.actor,
                via=self.scope.via,
                old_text=old,
                new_text=new,
                decision=decision,
            )
        )
        Changes(self.transaction).add(self.scope.thread, _CHANGE[op], memory.id, micros(self.now))
        reason = str(decision.get("code", ""))
        subject = (memory.id, number, memory.key)
        scope = "profile" if memory.file else memory.shelf
        record = self._sealed(_AUDIT_OP[op], scope, reason, subject, (old, new))
        told = decision.get("reason") or reason
        self.lines.append((record.run_id, audit_line(record, old, new, told)))

    def record_refusal(self, shelf: str, code: str, text: str) -> None:
        """A refusal in the audit: its code and a keyed hash of what was refused, never the text."""
        record = self._sealed("deny", shelf, code, (None, None, None), (None, text))
        self.lines.append((record.run_id, audit_line(record, None, None, code)))

    def record_act(self, op: str, subject: str, reason: str) -> None:
        """An administrative act, such as making a token."""
        record = self._sealed(op, subject, reason, (None, None, None), (None, None))
        self.lines.append((record.run_id, audit_line(record, None, None, reason)))

    def trace(self, shelf: str, event: dict[str, Any]) -> None:
        Events(self.transaction).add(shelf, event, micros(self.now))
        self.events.append(event)

    def index(self, shelf: int, memory: Memory) -> int:
        """Put a memory's words into the text index; returns its slot."""
        return self.lexicon.add(shelf, indexed_terms(memory))

    def unindex(self, shelf: int, slot: int | None, memory: Memory) -> None:
        """Take a memory's words out of the text index; `memory` is as it was indexed."""
        if slot is not None:
            self.lexicon.remove(shelf, slot, indexed_terms(memory))

    def _sealed(
        self,
        op: str,
        scope: str,
        reason: str,
        subject: tuple[str | None, int | None, str | None],
        values: tuple[str | None, str | None],
    ) -> AuditRecord:
        audit = AuditLog(self.transaction)
        seq, prev = self.head if self.head[0] else audit.head()
        memory_id, number, key = subject
        sealer = self.book.sealer
        record = sealer.sealed(
            AuditRecord(
                seq=seq + 1,
                at=self.now,
                op=op,
                scope=scope,
                key=key,
                memory_id=memory_id,
                number=number,
                actor=self.scope.actor,
                via=self.scope.via,
                run_id=self.scope.run_id,
                reason=reason,
                old_hash=sealer.fingerprint(values[0]),
                new_hash=sealer.fingerprint(values[1]),
                key_id=sealer.key_id,
                prev=prev,
                hash="",
            )
        )
        audit.add(record)
        self.head = (record.seq, record.hash)
        return record


def indexed_terms(memory: Memory) -> list[str]:
    """The words a memory is found by: its key's and its text's."""
    return terms(f"{memory.key} {memory.text}" if memory.key else memory.text)
