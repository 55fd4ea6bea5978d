"""Audit records and trace events: what was done, in a form that can be proven."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lamina.records import dataclass

#: A number of a record or an event says which chain it is in: record 5 of chain 17 is 17,000,000,000,005.
CHAIN = 10**12


def chain_of_number(seq: int) -> int:
    """The chain that a record or an event is in; 0 where there is but one."""
    return max(seq, 0) // CHAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One link of the chain; values appear only as keyed hashes."""

    seq: int
    at: datetime
    op: str
    scope: str
    key: str | None
    memory_id: str | None
    number: int | None  #: which step of the memory's history this is
    actor: str
    via: str
    run_id: str
    reason: str
    old_hash: str | None
    new_hash: str | None
    key_id: str
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One event of the governance contract, redacted."""

    seq: int
    at: datetime
    type: str
    shelf: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an audit check found wrong, or that whoever reads it should know."""

    #: edited, removed, inserted, truncated, unverifiable, damaged, mirror_edited, mirror_missing; or an act
    what: str
    seq: int | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a full check of the chain and its files came to."""

    records: int
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...] = ()  #: what the chain itself says of how far it can be trusted
    proof: dict[str, Any] | None = None  #: of one memory that was asked for: its story, with a mark over it

    @property
    def intact(self) -> bool:
        return not self.findings
