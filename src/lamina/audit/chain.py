"""The audit chain: each record is sealed with a key that lies outside the workspace's reach."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lamina.model import canonical, iso
from lamina.model.audit import AuditRecord, Finding


class Sealer:
    """Seals records and fingerprints values; without the key neither can be forged or guessed."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.key_id = hashlib.sha256(b"lamina audit key\0" + key).hexdigest()[:16]

    def fingerprint(self, text: str | None) -> str | None:
        """A keyed hash of a value: the same value gives the same one, the value cannot be guessed from it."""
        if text is None:
            return None
        return hmac.digest(self._key, b"value\0" + text.encode(), "sha256").hex()

    def subkey(self, purpose: str) -> bytes:
        """A key of its own for another purpose."""
        return hmac.digest(self._key, b"subkey\0" + purpose.encode(), "sha256")

    def sealed(self, record: AuditRecord) -> AuditRecord:
        """The record with its own hash, which covers the hash before it; it carries our key's id already."""
        return replace(record, hash=self._hash(record))

    def intact(self, record: AuditRecord) -> bool:
        return hmac.compare_digest(self._hash(replace(record, hash="")), record.hash)

    def mark(self, text: str) -> str:
        """A seal over any line of text, for what is kept beside the store."""
        return hmac.digest(self._key, b"mark\0" + text.encode(), "sha256").hex()

    def _hash(self, record: AuditRecord) -> str:
        body = f"{record.prev}\0{canonical(record)}"
        return hmac.digest(self._key, body.encode(), "sha256").hex()


def check_chain(records: Iterable[AuditRecord], sealer: Sealer) -> Iterator[Finding]:
    """Everything wrong inside a chain: what was edited, removed, inserted or sealed with another key."""
    expected, prev = 1, ""
    for record in records:
        if record.seq > expected:
            yield _finding("removed", expected, f"records {expected} to {record.seq - 1} are gone")
        elif record.prev != prev:
            yield _finding("removed", record.seq, "it does not follow the record before it")
        if record.key_id != sealer.key_id:
            yield _finding("unverifiable", record.seq, f"it was sealed with key {record.key_id}, not here")
        elif not sealer.intact(record):
            yield _finding("edited", record.seq, "its content does not match its seal")
        expected, prev = record.seq + 1, record.hash


def _finding(what: str, seq: int, detail: str) -> Finding:
    return Finding(what=what, seq=seq, detail=detail)


def audit_line(record: AuditRecord, old: str | None, new: str | None, reason: str) -> dict[str, Any]:
    """A record in the shape of the run's audit file, tied to the chain by its number and hash."""
    return {
        "ts": iso(record.at),
        "op": record.op,
        "scope": record.scope,
        "key": record.key or record.memory_id,
        "old": old,
        "new": new,
        "actor": record.actor,
        "reason": reason,
        "seq": record.seq,
        "hash": record.hash,
    }
