"""The state of a store in figures."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from lamina.documents.results import LibraryStatus
from lamina.records import dataclass
from lamina.retrieval.meaning import Meaning, meaning_of
from lamina.storage.database import Transaction
from lamina.storage.logs import AuditLog
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Operations, Properties, Runs
from lamina.write.entry_files import FileProblem
from lamina.write.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """The state of a store in figures."""

    store: str
    tenant: str
    workspace: str | None
    memories: dict[str, int]
    shelves: int
    bytes: int
    audit_records: int
    pending_operations: int
    dead_jobs: tuple[str, ...]  #: jobs that failed as often as they are tried
    analyser: int
    problems: tuple[FileProblem, ...]
    meaning: Meaning
    documents: LibraryStatus | None = None  #: None where no workspace has any


def status_of(store: Store) -> StoreStatus:
    """Figures about the store, and lines of the workspace's files that are not used."""
    store.sync()
    meaning = meaning_of(store.database, store.embedder, store.ruleset.encoder, store.config.embedder)

    def work(transaction: Transaction) -> StoreStatus:
        return StoreStatus(
            store=_without_password(store.database.url),
            tenant=store.database.tenant,
            workspace=None if store.root is None else str(store.root),
            memories=Memories(transaction).count_by_state(),
            shelves=len(TextIndex(transaction).members()),
            bytes=0,
            audit_records=AuditLog(transaction).count(),
            pending_operations=Operations(transaction).count(),
            dead_jobs=tuple(sorted({run.job for run in Runs(transaction).dead()})),
            analyser=Properties(transaction).number("analyser"),
            problems=store.problems(),
            meaning=meaning,
        )

    documents = None if store.library is None else store.library.status()
    return replace(store.database.read(work), bytes=store.database.size_bytes(), documents=documents)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    shown = f"{user.partition(':')[0]}{at}{place}"
    query = "&".join(one for one in parts.query.split("&") if not one.lower().startswith("password="))
    return urlunsplit((parts.scheme, shown, parts.path, query, "")) if parts.netloc else url
