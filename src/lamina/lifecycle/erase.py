"""Everything of one person's taken out of the store, its files and the workspace, with a receipt."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.engine import Engine
from lamina.errors import Denied
from lamina.lifecycle.export import drop_exports
from lamina.lifecycle.purge import check_owner
from lamina.model import Role, checked_name, quoted
from lamina.scoped import ScopedMemory
from lamina.storage.database import Transaction
from lamina.storage.documents import DOCUMENTS
from lamina.workspace.files import HISTORY_DIR, explained, read_file, replace_file
from lamina.workspace.locks import locked
from lamina.write.allowance import load_allowed
from lamina.write.unit_of_work import UnitOfWork

#: The tables with anything of a person's, in the order in which they are emptied of it.
TABLES = (
    "history",
    "relation",
    "memory",
    "posting",
    "fresh",
    "vector_block",
    "vector_fresh",
    "vector_shelf",
    "placement",
    "conversation",
    "phase",
    "passage",
    "document",
    "shelf",
    "change_log",
    "event",
    "idempotency",
    "entry",
    "operation",
    "operational",
    "session",
    "token",
    "import_position",
    "import_entry",
    "checkpoint",
    "checkpoint_blob",
    "checkpoint_write",
    "supervisor_checkpoints",
    "job_mark",
    "property",
)
#: What stays: the chain, which cannot change (0016), the numbers, so that no id is ever given twice, and what
#: is nobody's.
STAYS = ("audit", "counter", "schema_migration")
#: What of a workspace is its owner's memory; with the entry files, which begin anew.
_FILES = ("MEMORY.md", "memory", "second-brain")
_ENTRY_FILES = {"PROFILE.md": b"# PROFILE\n", "SESSION.md": b"# SESSION\n"}
_PAGE = 2000


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


def erase(mind: ScopedMemory, user: str) -> EraseReceipt:
    """Take out everything of a person's: memories, history, sessions, tokens, checkpoints, exports, files.

    A person may erase themselves, an administrator anybody; Denied otherwise. Everybody else's stays as it
    is. The audit keeps names, times and keyed hashes, and says that this was done.
    """
    check_owner(mind)
    checked_name("user", user)
    if mind.scope.role is not Role.ADMIN and mind.scope.user != user:
        raise Denied(
            f"Only {user} or an administrator can erase {user}.",
            code="erase_not_allowed",
            hint="Ask an administrator.",
        )
    engine, owner = mind.engine, quoted(user)
    names = _names(user)
    whole = user == engine.config.owner
    engine.count_now()
    erased = {"exports": drop_exports(engine, owner), "files": _emptied(engine) if whole else 0}
    engine.sync()
    words = engine.database.read(lambda tx: [row[0] for row in tx.all("some_words", **names)])

    def work(unit: UnitOfWork) -> dict[str, int]:
        for start in (names["ids"], names["first"]):
            unit.record_end("erase", start, "erased")
        return _taken_out(unit.transaction, names, whole)

    erased |= engine.act(mind.scope, work)
    erased["audit_files"] = _scrubbed(engine, names, dry=False)
    engine.database.read(lambda tx: load_allowed(tx, engine.ruleset))
    left = engine.database.scour(engine.database.read(lambda tx: [one for one in words if _unsaid(tx, one)]))

    def again(unit: UnitOfWork) -> tuple[dict[str, int], int]:
        found = _taken_out(unit.transaction, names, whole)
        row = unit.transaction.one("count_shared", actor=f'"actor":"user:{user}"')
        told = f"{sum(erased.values())} erased, {sum(found.values())} left"
        unit.record_act("erase_receipt", names["own"], told)
        return found, int(row[0]) if row else 0

    found, shared = engine.act(mind.scope, again)
    found |= {"audit_files": _scrubbed(engine, names, dry=True), "files": _left(engine) if whole else 0}
    found |= {} if left is None else {"bytes": left}
    return EraseReceipt(user=user, at=engine.now(), erased=erased, found=found, shared=shared)


def _names(user: str) -> dict[str, Any]:
    """What the queries know a person by."""
    owner = quoted(user)
    own, first, beyond = f"user:{owner}", f"session:{owner},", f"session:{owner}-"
    return {
        "user": user,
        "owner": owner,
        "own": own,
        "documents": f"{DOCUMENTS}:{owner}",
        "first": first,
        "beyond": beyond,
        "ids": f"{own}:",
        "ids_beyond": f"{own};",
        "calls": f"{owner}/",
        "calls_beyond": f"{owner}0",
        "named": f'"{own}:',
        "named_session": f'"{first}',
        "allowed": f"allowed:{owner}",
        "exports": f"export:{owner}:",
        "exports_beyond": f"export:{owner};",
        "noes": f"no:{owner}:",
        "noes_beyond": f"no:{owner};",
    }


def _taken_out(transaction: Transaction, names: dict[str, Any], whole: bool) -> dict[str, int]:
    done = {table: len(transaction.all(f"erase_{table}", **names)) for table in TABLES}
    if whole:
        done["job_run"] = len(transaction.all("erase_job_run"))
        transaction.run("drop_property", name="session")  # the name of the one that SESSION.md is about
    return done


def _unsaid(transaction: Transaction, words: str) -> bool:
    return transaction.one("also_said", words=words) is None


def _scrubbed(engine: Engine, names: dict[str, Any], *, dry: bool) -> int:
    """Take a person's words out of the audit's files; how many lines had any."""

    def work(transaction: Transaction) -> dict[str, dict[int, str]]:
        found: dict[str, dict[int, str]] = {}
        after = -(2**62)
        while rows := transaction.all("audit_subjects", after=after, limit=_PAGE):
            for seq, run_id, memory_id, _ in rows:
                if memory_id.startswith((names["ids"], names["first"])):
                    found.setdefault(run_id, {})[seq] = "all"
            after = rows[-1][0]
        return found

    by_run = engine.database.read(work) if engine.root is not None else {}
    return sum(len(engine.mirror.scrub(run_id, seqs, dry=dry)) for run_id, seqs in sorted(by_run.items()))


def _emptied(engine: Engine) -> int:
    """Take the owner's memory out of the workspace's files; how many files."""
    if (root := engine.root) is None:
        return 0
    count = 0
    for name, blank in _ENTRY_FILES.items():  # not removed: a file that is lost is written anew
        with locked(root, name, engine.config.lock_timeout_s):
            if (before := read_file(root, name)) not in (None, blank):
                replace_file(root, name, blank, before)
                count += 1
    for path in list(_their_files(root)):
        try:
            path.unlink()
        except OSError as error:
            raise explained(path.name, error) from error
        count += 1
    with suppress(FileNotFoundError):
        shutil.rmtree(root / HISTORY_DIR)
    return count


def _left(engine: Engine) -> int:
    """How many files of the owner's are in the workspace, or kept versions of some."""
    if (root := engine.root) is None:
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
