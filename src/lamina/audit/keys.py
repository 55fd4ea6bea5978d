"""The audit key and the anchor: two small files outside the workspace that make tampering visible."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lamina.audit.chain import Sealer
from lamina.clock import random_key, random_token
from lamina.errors import Damaged


def load_key(path: Path) -> bytes:
    """The audit key, made on first use; readable by its owner only."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = path.read_bytes() if path.exists() else _made(path)
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


def _made(path: Path) -> bytes:
    """A new key that appears whole or not at all; when two processes race, both get the winner's."""
    draft = path.with_name(f"{path.name}.{random_token(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(random_key())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return path.read_bytes()


@dataclass(frozen=True, slots=True)
class Anchor:
    """Remembers how far the chain had come, where whoever can edit the store cannot reach.

    A chain whose tail was cut off looks whole by itself; against its anchor it does not.
    """

    path: Path
    sealer: Sealer

    def drop(self, seq: int, digest: str) -> None:
        """Note the newest record. Losing this note weakens the next check and breaks nothing."""
        body = f"{seq:020d} {digest}"
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(handle, f"{body} {self.sealer.mark(body)}\n".encode(), 0)
        finally:
            os.close(handle)

    def read(self) -> tuple[int, str] | None:
        """Number and hash of the noted record; None when there is no note; Damaged when it was altered."""
        try:
            text = self.path.read_text("ascii").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise Damaged("The audit anchor cannot be read.", code="audit_anchor") from error
        body, _, mark = text.rpartition(" ")
        if mark != self.sealer.mark(body):
            raise Damaged("The audit anchor was altered.", code="audit_anchor")
        seq, digest = body.split(" ")
        return int(seq), digest
