"""Everything of one person's taken out of the store, its files and the workspace, with a receipt."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.durable import settle_folder
from lamina.errors import Denied
from lamina.lifecycle.export import drop_exports
from lamina.lifecycle.purge import check_owner
from lamina.model import Role, checked_name, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.ends import Erasure, person_names
from lamina.storage.logs import AuditLog
from lamina.workspace.files import HISTORY_DIR, drop_versions, explained, read_file, replace_file
from lamina.workspace.locks import locked
from lamina.write.guardrails import load_allowed
from lamina.write.store import Caller, Store
from lamina.write.unit_of_work import UnitOfWork

#: What of a workspace is its owner's memory; with the entry files, which begin anew.
_FILES = ("MEMORY.md", "memory", "second-brain")
_ENTRY_FILES = {"PROFILE.md": b"# PROFILE\n", "SESSION.md": b"# SESSION\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """What was taken out of each place, and what a second look found there; nothing, where all went well."""

    user: str
    at: datetime
    erased: dict[str, int]  #: table or place to how much was taken out
    found: dict[str, int]  #: the same places, looked at again
    shared: int  #: memories of projects and of the system that they said; those stay

    @property
    def clean(self) -> bool:
        return not any(self.found.values())


def erase(caller: Caller, user: str) -> EraseReceipt:
    """Take out everything of a person's: memories, history, sessions, tokens, checkpoints, exports, files.

    A person may erase themselves, an administrator anybody; Denied otherwise. Everybody else's stays as it
    is. The audit keeps names, times and keyed hashes, and says that this was done.
    """
    check_owner(caller)
    checked_name("user", user)
    if caller.scope.role is not Role.ADMIN and caller.scope.user != user:
        raise Denied(
            f"Only {user} or an administrator can erase {user}.",
            code="erase_not_allowed",
            hint="Ask an administrator.",
        )
    store, owner = caller.store, quoted(user)
    names = person_names(user)
    whole = user == store.config.owner
    store.count_now()
    erased = {"exports": drop_exports(store, owner), "files": _emptied(store) if whole else 0}
    store.sync()
    words = store.database.read(lambda tx: Erasure(tx, user).words())

    def work(unit: UnitOfWork) -> dict[str, int]:
        for start in (names["ids"], names["first"]):
            unit.record_end("erase", start, "erased")
        return Erasure(unit.transaction, user).run(whole=whole)

    erased |= store.act(caller.scope, work)
    erased["audit_files"] = _scrubbed(store, names, dry=False)
    store.database.read(lambda tx: load_allowed(tx, store.ruleset))
    left = store.database.scour(
        store.database.read(lambda tx: [one for one in words if Erasure(tx, user).unsaid(one)])
    )

    def again(unit: UnitOfWork) -> tuple[dict[str, int], int]:
        erasure = Erasure(unit.transaction, user)
        found = erasure.run(whole=whole)
        told = f"{sum(erased.values())} erased, {sum(found.values())} left"
        unit.record_act("erase_receipt", names["own"], told)
        return found, erasure.shared()

    found, shared = store.act(caller.scope, again)
    found |= {"audit_files": _scrubbed(store, names, dry=True), "files": _left(store) if whole else 0}
    found |= {} if left is None else {"bytes": left}
    return EraseReceipt(user=user, at=store.now(), erased=erased, found=found, shared=shared)


def _scrubbed(store: Store, names: dict[str, Any], *, dry: bool) -> int:
    """Take a person's words out of the audit's files; how many lines had any."""

    def work(transaction: Transaction) -> dict[str, dict[int, str]]:
        found: dict[str, dict[int, str]] = {}
        for seq, run_id, memory_id, _ in AuditLog(transaction).subjects():
            if memory_id.startswith((names["ids"], names["first"])):
                found.setdefault(run_id, {})[seq] = "all"
        return found

    by_run = store.database.read(work) if store.root is not None else {}
    return sum(len(store.mirror.scrub(run_id, seqs, dry=dry)) for run_id, seqs in sorted(by_run.items()))


def _emptied(store: Store) -> int:
    """Take the owner's memory out of the workspace's files; how many files."""
    if (root := store.root) is None:
        return 0
    count = 0
    for name, blank in _ENTRY_FILES.items():  # not removed: a file that is lost is written anew
        with locked(root, name, store.config.lock_timeout_s):
            if (before := read_file(root, name)) not in (None, blank):
                replace_file(root, name, blank, before)
                count += 1
            drop_versions(root, name, lambda _: True)
    try:
        for path in list(_their_files(root)):
            path.unlink()
            settle_folder(path.parent)
            count += 1
        with suppress(FileNotFoundError):
            shutil.rmtree(root / HISTORY_DIR)
            settle_folder((root / HISTORY_DIR).parent)
    except OSError as error:
        raise explained("a file of the workspace", error) from error
    return count


def _left(store: Store) -> int:
    """How many files of the owner's are in the workspace, or kept versions of some."""
    if (root := store.root) is None:
        return 0
    kept = sum(path.is_file() for path in (root / HISTORY_DIR).rglob("*"))
    filled = sum((read_file(root, name) or blank) != blank for name, blank in _ENTRY_FILES.items())
    return kept + filled + sum(1 for _ in _their_files(root))


def _their_files(root: Path) -> Iterator[Path]:
    """Plain files among what Lamina keeps for a workspace's owner; no link is followed."""
    for name in _FILES:
        path = root / name
        found = sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else [path]
        yield from (one for one in found if one.is_file() and not one.is_symlink())
