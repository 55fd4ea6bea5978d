"""The audit key and the anchor: two small files outside the workspace that make tampering visible."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from lamina.audit.chain import Sealer
from lamina.clock import random_key
from lamina.durable import make_folder, put_file, settle
from lamina.errors import Damaged
from lamina.model.audit import chain_of_number
from lamina.records import dataclass

#: After so many records the disk is waited for; a power cut before leaves an older note, never half of one.
SETTLED_EVERY = 64
_NOTE = re.compile(rb"[0-9]{20} [0-9a-f]{64} [0-9a-f]{64}\n")
_LENGTH = 151  #: bytes of a note
_BEFORE = "0" * 64  #: stands for the hash before the first record; every note is as long as the others


def load_key(path: Path) -> bytes:
    """The audit key, made on first use; readable by its owner only."""
    try:
        make_folder(path.parent)
        if not path.exists():
            put_file(path, random_key(), replace=False)  # when two processes race, both get the winner's
        key = path.read_bytes()
    except OSError as error:
        raise Damaged(
            f"The audit key {path.name} cannot be read or made.",
            code="audit_key_unreadable",
            hint="Check the folder in LAMINA_HOME, or set LAMINA_AUDIT_KEY_FILE.",
        ) from error
    if len(key) < 32:
        raise Damaged(
            f"The audit key {path.name} is shorter than 32 bytes.",
            code="audit_key_unreadable",
            hint="Restore it from a backup.",
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
        with self._mutex:
            if self.read() is not None:
                noted = self.read(chain_of_number(seq))
                if noted is None or noted[0] < seq:
                    self._unsettled += records
                    self._overwrite(chain_of_number(seq), self._line(seq, digest))

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
            with self.path.open("rb") as file:
                file.seek(chain * _LENGTH)
                return file.read(_LENGTH)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Damaged("The audit anchor cannot be read.", code="audit_anchor") from error


def _lost(data: bytes | None) -> str:
    if data is None:
        return "missing"
    if not data.strip(b"\0"):
        return "empty"
    return "" if _NOTE.fullmatch(data) else "torn"
