"""The audit chain, its key and its anchor: each record is sealed with a key that lies outside the
workspace's reach.

The key and the anchor, which remembers how far the chain reached, are two small files, which make tampering
visible.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from lamina.clock import random_key
from lamina.durable import make_folder, put_file, settle
from lamina.errors import Damaged
from lamina.model import CHAIN, AuditRecord, Finding, canonical, chain_of_number, iso
from lamina.records import dataclass


class Sealer:
    """Seals records and fingerprints values; without the key neither can be forged or guessed."""

    def __init__(self, key: bytes) -> None:
        self._keyed = _keyed(key, "sha256")
        self._keyed_row = _keyed(self.subkey("row"), "sha512")
        self._lane_key = self.subkey("lane")
        self._keyed_lane = _keyed(self._lane_key, "sha256")
        self.key_id = hashlib.sha256(b"lamina audit key\0" + key).hexdigest()[:16]

    def fingerprint(self, text: str | None) -> str | None:
        """A keyed hash of a value: the same value gives the same one, the value cannot be guessed from it."""
        return None if text is None else self._keyed(b"value\0" + text.encode()).hex()

    def subkey(self, purpose: str) -> bytes:
        """A key of its own for another purpose."""
        return self._keyed(b"subkey\0" + purpose.encode())

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
        digest = self._keyed_row(text.encode())
        return int.from_bytes(digest[:32], "big"), digest[32:48].hex()

    def shut(self, name: str, content: bytes) -> bytes:
        """Content that only `opened` can read; the same content and name give the same."""
        tag = self._keyed_lane(name.encode() + b"\0" + content)
        return tag + self._veiled(tag, content)

    def opened(self, name: str, body: bytes) -> bytes | None:
        """What was shut under a name; None where it was altered."""
        tag, veiled = body[:32], body[32:]
        content = self._veiled(tag, veiled)
        known = self._keyed_lane(name.encode() + b"\0" + content)
        return content if hmac.compare_digest(known, tag) else None

    def _veiled(self, tag: bytes, content: bytes) -> bytes:
        stream = hashlib.shake_256(self._lane_key + tag).digest(len(content))
        veiled = int.from_bytes(content, "big") ^ int.from_bytes(stream, "big")
        return veiled.to_bytes(len(content), "big")

    def mark(self, text: str) -> str:
        """A seal over any line of text, for what is kept beside the store."""
        return self._keyed(b"mark\0" + text.encode()).hex()

    def _hash(self, record: AuditRecord, *, before: bool = False) -> str:
        body = f"{record.prev}\0{canonical(record)}"
        kind = b"" if before else b"story\0"
        return self._keyed(kind + body.encode()).hex()


def _keyed(key: bytes, name: str) -> Callable[[bytes], bytes]:
    """HMAC (RFC 2104) under a key that is taken in once; in `hmac` a copy costs four times all of this."""
    size = hashlib.new(name).block_size
    block = (key if len(key) <= size else hashlib.new(name, key).digest()).ljust(size, b"\0")
    inner, outer = (hashlib.new(name, bytes(one ^ pad for one in block)) for pad in (0x36, 0x5C))

    def digest(message: bytes) -> bytes:
        within, around = inner.copy(), outer.copy()
        within.update(message)
        around.update(within.digest())
        return around.digest()

    return digest


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


#: After so many records the disk is waited for; a power cut before leaves an older note, never half of one.
SETTLED_EVERY = 64
_NOTE = re.compile(rb"[0-9]{20} [0-9a-f]{64} [0-9a-f]{64}\n")
_LENGTH = 151  #: bytes of a note
_BEFORE = "0" * 64  #: stands for the hash before the first record; every note is as long as the others


#: What still works where the key is lost.
_WITHOUT_KEY = "`lamina rescue` saves what is in the store without it."


def load_key(path: Path) -> bytes:
    """The audit key, made on first use; readable by its owner only."""
    try:
        make_folder(path.parent)
        if not path.exists():
            put_file(path, random_key(), replace=False)  # when two processes race, both get the winner's
        elif not path.is_file():  # a pipe would be waited for
            raise IsADirectoryError(errno.EISDIR, "it is not a plain file")
        key = path.read_bytes()
    except OSError as error:
        raise Damaged(
            f"The audit key {path} cannot be read or made: {error.strerror}.",
            code="audit_key_unreadable",
            hint=f"Put a copy of the key in its place, or name one in LAMINA_AUDIT_KEY_FILE. {_WITHOUT_KEY}",
        ) from error
    if len(key) < 32:
        raise Damaged(
            f"The audit key {path.name} is shorter than 32 bytes.",
            code="audit_key_unreadable",
            hint="Copy it back from where you keep it. If it is lost, move this file away and use"
            f" `lamina audit adopt-key`. {_WITHOUT_KEY}",
        )
    return key


Note = tuple[int, str]  #: number and hash of a record


@dataclass(slots=True)
class Anchor:
    """Remembers how far each chain had come, where whoever can edit the store cannot reach.

    A chain whose tail was cut off looks whole by itself; against its anchor it does not. The file is made
    whole and durable; from then on its lines, one for each chain and all of one length, are overwritten in
    their places. The first is the store's own; of another chain there is none until this machine wrote to it.
    """

    path: Path
    sealer: Sealer
    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _unsettled: int = 0

    def drop(self, seq: int, digest: str, records: int = 1) -> None:
        """Note the newest of some records, unless a newer one is noted; what is lost is not made anew by
        this."""
        chain = chain_of_number(seq)
        with self._mutex:
            if (first := self.read()) is not None:
                noted = self.read(chain) if chain else first
                if noted is None or noted[0] < seq:
                    self._unsettled += records
                    self._overwrite(chain, self._line(seq, digest))

    def renew(self, notes: Sequence[Note]) -> None:
        """Put notes in the place of whatever is there."""
        with self._mutex:
            self._make(notes)

    def begin(self, notes: Sequence[Note]) -> None:
        """Notes where there are none; those that another process makes at the same time stay."""
        if why := self.lost():
            self._make(notes, replace=why != "missing")

    def _make(self, notes: Sequence[Note], *, replace: bool = True) -> None:
        make_folder(self.path.parent)
        lines = {0: self._line(0, ""), **{chain_of_number(seq): self._line(seq, one) for seq, one in notes}}
        whole = b"".join(lines.get(chain, bytes(_LENGTH)) for chain in range(max(lines) + 1))
        put_file(self.path, whole, replace=replace)

    def _line(self, seq: int, digest: str) -> bytes:
        body = f"{seq:020d} {digest or _BEFORE}"
        return f"{body} {self.sealer.mark(body)}\n".encode()

    def _overwrite(self, chain: int, line: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.pwrite(handle, line, chain * _LENGTH)
            if self._unsettled >= SETTLED_EVERY:
                settle(handle)
                self._unsettled = 0
        finally:
            os.close(handle)

    def settle(self) -> None:
        """Wait until the disk has the newest notes."""
        with self._mutex, suppress(FileNotFoundError):
            if self._unsettled:
                handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    settle(handle)
                finally:
                    os.close(handle)
                self._unsettled = 0

    def lost(self) -> str:
        """Why there is no note: `missing`, `empty`, or `torn` where it is no whole line; "" if it is there.

        A crash or a restored home folder can leave these. A whole line with a wrong seal it cannot.
        """
        return _lost(self._content(0))

    def read(self, chain: int = 0) -> Note | None:
        """Number and hash of the noted record; None where the note is lost; Damaged where it was altered."""
        for _ in range(3):  # another process may be writing it this very moment
            data = self._content(chain)
            if data is None or _lost(data):
                return None
            body, _, mark = data.decode("ascii").strip().rpartition(" ")
            seq, digest = body.split(" ")
            if mark == self.sealer.mark(body) and chain_of_number(int(seq)) == chain:
                return int(seq), digest
        raise Damaged(
            "The audit anchor was altered.",
            code="audit_anchor",
            hint=f"If you trust the audit as it is, remove {self.path}; it is made again, which is recorded.",
        )

    def _content(self, chain: int) -> bytes | None:
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.pread(handle, _LENGTH, chain * _LENGTH)
            finally:
                os.close(handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Damaged(
                f"The audit anchor cannot be read: {error.strerror}.",
                code="audit_anchor",
                hint=f"Everything else works. Move {self.path} away; it is made again, which is recorded.",
            ) from error


def _lost(data: bytes | None) -> str:
    if data is None:
        return "missing"
    if not data.strip(b"\0"):
        return "empty"
    return "" if _NOTE.fullmatch(data) else "torn"
