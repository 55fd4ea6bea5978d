"""The audit chain: each record is sealed with a key that lies outside the workspace's reach."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lamina.model import canonical, iso
from lamina.model.audit import CHAIN, AuditRecord, Finding, chain_of_number


class Sealer:
    """Seals records and fingerprints values; without the key neither can be forged or guessed."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._row_key, self._lane_key = self.subkey("row"), self.subkey("lane")
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
        """Whether a record is as it was sealed, now or before the whole story was."""
        bare = replace(record, hash="")
        found = (self._hash(bare), self._hash(bare, before=True))
        return any(hmac.compare_digest(one, record.hash) for one in found)

    def under_seal(self, record: AuditRecord) -> bool:
        """Whether a record is as it was sealed, and the whole story was under the seal by then."""
        return hmac.compare_digest(self._hash(replace(record, hash="")), record.hash)

    def element(self, text: str) -> tuple[int, str]:
        """What the key makes of a row: a number to add to a sum, and a seal to keep beside it.

        The number is written down nowhere. Whoever knew those of many rows could look for others with the
        same sum.
        """
        digest = hmac.digest(self._row_key, text.encode(), "sha512")
        return int.from_bytes(digest[:32], "big"), digest[32:48].hex()

    def shut(self, name: str, content: bytes) -> bytes:
        """Content that only `opened` can read; the same content and name give the same."""
        tag = hmac.digest(self._lane_key, name.encode() + b"\0" + content, "sha256")
        return tag + self._veiled(tag, content)

    def opened(self, name: str, body: bytes) -> bytes | None:
        """What was shut under a name; None where it was altered."""
        tag, veiled = body[:32], body[32:]
        content = self._veiled(tag, veiled)
        known = hmac.digest(self._lane_key, name.encode() + b"\0" + content, "sha256")
        return content if hmac.compare_digest(known, tag) else None

    def _veiled(self, tag: bytes, content: bytes) -> bytes:
        stream = hashlib.shake_256(self._lane_key + tag).digest(len(content))
        veiled = int.from_bytes(content, "big") ^ int.from_bytes(stream, "big")
        return veiled.to_bytes(len(content), "big")

    def mark(self, text: str) -> str:
        """A seal over any line of text, for what is kept beside the store."""
        return hmac.digest(self._key, b"mark\0" + text.encode(), "sha256").hex()

    def _hash(self, record: AuditRecord, *, before: bool = False) -> str:
        body = f"{record.prev}\0{canonical(record)}"
        kind = b"" if before else b"story\0"
        return hmac.digest(self._key, kind + body.encode(), "sha256").hex()


def check_chain(records: Iterable[AuditRecord], sealer: Sealer) -> Iterator[Finding]:
    """Everything wrong inside the chains, one after the other: what was edited, removed, inserted or sealed
    with another key."""
    chain, expected, prev = 0, 1, ""
    for record in records:
        if (which := chain_of_number(record.seq)) != chain:
            chain, expected, prev = which, which * CHAIN + 1, ""
        if record.seq > expected:
            yield _finding("removed", expected, f"records {expected} to {record.seq - 1} are gone")
        elif record.prev != prev:
            yield _finding("removed", record.seq, "it does not follow the record before it")
        if record.key_id != sealer.key_id:
            yield foreign(record)
        elif not sealer.intact(record):
            yield edited(record)
        expected, prev = record.seq + 1, record.hash


def foreign(record: AuditRecord) -> Finding:
    """A record of another key."""
    return _finding("unverifiable", record.seq, f"it was sealed with key {record.key_id}, not here")


def edited(record: AuditRecord) -> Finding:
    """A record that is not as it was sealed."""
    return _finding("edited", record.seq, "its content does not match its seal")


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
