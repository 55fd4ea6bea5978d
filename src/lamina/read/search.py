"""Search with a strategy: warm before cold, archives when the question reaches that far, within its time."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict, Unpack

from lamina.clock import monotonic
from lamina.documents.index import Library
from lamina.documents.results import Corpus, DocumentLines, SearchResults, behind, result_of
from lamina.documents.settings import Citations, SearchSettings
from lamina.errors import NotFound
from lamina.model import Trust
from lamina.ranking.tiers import DEEPEST, DEPTHS
from lamina.read.answered import show_to
from lamina.read.recall import allowed_query, covering, find_deep
from lamina.read.snapshot import look
from lamina.records import dataclass
from lamina.write.details import check_details, checked_query, chosen, query_of, whole_number
from lamina.write.store import Caller


class SearchOptions(TypedDict, total=False):
    """Everything `search` takes beside the question."""

    max_results: int | None
    corpus: str  #: all, documents or memories
    archive: bool  #: look into the archives whatever the question says
    citations: str | None  #: auto, on or off
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a search is to be carried out: what was asked for, else what the settings say."""

    most: int
    corpus: Corpus
    archive: bool
    citations: Citations
    timeout_s: float


def planned(library: Library | None, options: SearchOptions) -> SearchPlan:
    """The plan for a search, or InvalidInput that says what is wrong with the options."""
    settings = SearchSettings() if library is None else library.settings
    given = {name: value for name, value in options.items() if value is not None}
    check_details(given, SearchOptions.__annotations__)
    timeout = given.get("timeout_ms", int(settings.timeout_s * 1000))
    return SearchPlan(
        most=whole_number(given.get("max_results", settings.max_results), "max_results", 1, 100),
        corpus=chosen(Corpus, given.get("corpus", Corpus.ALL), "corpus"),
        archive=bool(given.get("archive", False)),
        citations=chosen(Citations, given.get("citations", settings.citations), "citations"),
        timeout_s=whole_number(timeout, "timeout_ms", 0, 600_000) / 1000,
    )


def search(caller: Caller, question: str, **options: Unpack[SearchOptions]) -> SearchResults:
    """What the documents and memories of the caller say about a question, each with where it stands.

    Recent files first, the others when those say too little, the archives when the question reaches across
    months or `archive` asks for it. No file is written.
    """
    start, plan = monotonic(), planned(caller.store.library, options)
    query = allowed_query(
        caller, checked_query(query_of(caller.in_session, question, {"k": plan.most}, plan.most))
    )
    caller.store.sync()
    state = None
    if plan.corpus is not Corpus.MEMORIES:
        query, state = covering(caller, query)
        query = replace(query, depth=DEEPEST) if plan.archive else query
    if plan.corpus is Corpus.DOCUMENTS:
        query = replace(query, spaces=())
    reached = look(
        caller,
        lambda snapshot: find_deep(snapshot, query, lambda: monotonic() - start >= plan.timeout_s),
        synced=False,
        question=query.text,
    )
    store, hits = caller.store, reached.answer.found.hits
    store.reads.note([hit.id for hit in hits], store.now())
    show_to(caller, [(hit.id, hit.text) for hit in hits if hit.trust is Trust.UNTRUSTED])
    results = tuple(result_of(hit, query.text, plan.citations) for hit in hits)
    looked = ("memories",) if plan.corpus is not Corpus.DOCUMENTS else ()
    answer = SearchResults(
        results=results,
        uncertainty=results[0].uncertainty if results else "high",
        searched=(*looked, *(DEPTHS[: reached.depth + 1] if query.documents else ())),
        partial=bool(reached.cut),
        cut=reached.cut,
    )
    return answer if state is None or not state.stale else behind(answer, state)


def read_document(caller: Caller, path: str, start: int = 1, lines: int = 200) -> DocumentLines:
    """Some lines of one of the caller's documents as the file has them now, without secrets."""
    library = caller.store.library
    if library is None or not caller.is_owner:
        raise NotFound("There are no documents here.")
    first, count = whole_number(start, "start", 1, 2**31), whole_number(lines, "lines", 1, 2000)
    text, total = library.read(path, first, count)
    show_to(caller, [(f"{path}#{first}", text)])
    return DocumentLines(path=path, text=text, start=first, total=total)
