"""The documents of a workspace as a tree: every file that is searched, its tier, and lines it keeps back."""

from __future__ import annotations

from datetime import UTC, datetime

from lamina.errors import NotFound
from lamina.ranking.tiers import tier_of
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents, KnownFile
from lamina.write.entry_files import FileProblem
from lamina.write.store import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFile:
    """One file that is searched."""

    path: str
    tier: str  #: hot, warm, cold or archive: where a search looks first
    bytes: int
    changed_at: datetime | None
    hidden: tuple[int, ...]  #: lines that look like a secret and are in no index
    is_gone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTree:
    """Every file that is searched, by path, and lines of entry files that are not used."""

    files: tuple[DocumentFile, ...]
    unused: tuple[FileProblem, ...]


def document_tree(caller: Caller) -> DocumentTree:
    """The files of the workspace's owner; NotFound for everybody else, and where there is no workspace."""
    store = caller.store
    if not caller.is_owner or store.library is None:
        raise NotFound("There are no documents here.", hint="They are the workspace owner's alone.")

    def work(transaction: Transaction) -> tuple[DocumentFile, ...]:
        return tuple(_file(path, known) for path, known in sorted(Documents(transaction).known().items()))

    return DocumentTree(files=store.database.read(work), unused=store.problems())


def _file(path: str, known: KnownFile) -> DocumentFile:
    # A stamp is how the file was read, its size, its time in nanoseconds and its inode.
    size, nanoseconds = (known.stamp[1], known.stamp[2]) if len(known.stamp) >= 3 else (0, 0)
    at = datetime.fromtimestamp(nanoseconds // 10**9, UTC) if nanoseconds > 0 else None
    tier, _ = tier_of(path)
    return DocumentFile(
        path=path, tier=tier, bytes=size, changed_at=at, hidden=known.hidden, is_gone=known.gone
    )
