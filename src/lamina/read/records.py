"""The audit as a list: its newest records, narrowed to who, what or which; values stay hashes."""

from __future__ import annotations

from lamina.model import AuditRecord
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.logs import AuditLog
from lamina.write.store import Store

#: So many of the newest records are looked through for what a list is narrowed to.
WINDOW = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Some records of the audit, newest first, and how many there are."""

    records: tuple[AuditRecord, ...]
    head: int  #: how many records there are
    seal: str  #: the seal of the newest, which covers all before it in its chain


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What a list of records is narrowed to; empty narrows nothing."""

    actor: str = ""
    op: str = ""
    memory_id: str = ""
    before: int = 0


def records(store: Store, narrowed: AuditFilter, limit: int) -> AuditPage:
    """The newest records that fit, of the newest `WINDOW` before a number."""

    def work(transaction: Transaction) -> AuditPage:
        log = AuditLog(transaction)
        found = [one for one in log.last(narrowed.before, WINDOW) if _fits(one, narrowed)]
        newest = log.last(0, 1)
        seal = newest[0].hash if newest else ""
        return AuditPage(records=tuple(found[:limit]), head=log.count(), seal=seal)

    return store.database.read(work)


def _fits(record: AuditRecord, narrowed: AuditFilter) -> bool:
    return (
        (not narrowed.actor or narrowed.actor in record.actor)
        and (not narrowed.op or record.op == narrowed.op)
        and (not narrowed.memory_id or record.memory_id == narrowed.memory_id)
    )
