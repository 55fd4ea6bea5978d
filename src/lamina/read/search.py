"""Search with a strategy: warm before cold, archives when the question reaches that far, within its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypedDict

from lamina.clock import monotonic
from lamina.documents.results import Corpus, DocumentLines, LibraryStatus, SearchResults, behind, result_of
from lamina.documents.settings import Citations, SearchSettings
from lamina.errors import InvalidInput, NotFound
from lamina.model import Query, Space
from lamina.ranking.tiers import DEEPEST, DEPTHS, is_enough, reaches_far
from lamina.read.recall import Answer, recall
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents
from lamina.storage.text_index import TextIndex
from lamina.write.details import chosen, whole_number

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory


class Library(Protocol):
    """The documents of a workspace, as the engine needs them; `lamina.documents` has the one there is."""

    shelf: str  #: where they are; nobody's scope but the owner's reaches it
    edited: set[str]  #: files of what was learnt that a person changed

    @property
    def settings(self) -> SearchSettings: ...

    def sync(self, now: datetime) -> LibraryStatus: ...

    def refresh(self, now: datetime) -> None: ...

    def index(
        self,
        now: datetime,
        *,
        full: bool = False,
        agreed: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> LibraryStatus: ...

    def status(self) -> LibraryStatus: ...

    def read(self, path: str, start: int, count: int) -> tuple[str, int]: ...


class SearchOptions(TypedDict, total=False):
    """Everything `search` takes beside the question."""

    max_results: int | None
    corpus: str  #: all, documents or memories
    archive: bool  #: look into the archives whatever the question says
    citations: str | None  #: auto, on or off
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """An answer, how deep it was looked for, and what there was no time for."""

    answer: Answer
    depth: int
    cut: tuple[str, ...] = ()


def reach(
    transaction: Transaction, query: Query, engine: Engine, now: datetime, is_late: Callable[[], bool]
) -> Reached:
    """The answer from as deep as it takes: what is warm, and the cold where that says too little.

    A query with the greatest depth, because its question reaches across months, looks everywhere at once.
    """

    def look(depth: int) -> Answer:
        return recall(transaction, replace(query, depth=depth), now, engine.means)

    shelf = TextIndex(transaction).shelf(query.documents) if query.documents else None
    deepest = 0 if shelf is None else Documents(transaction).deepest(shelf[0])
    if query.depth == DEEPEST or not deepest:
        return Reached(look(query.depth), query.depth)
    first = look(0)
    if is_enough(query.text, [hit.text for hit in first.found.hits]):
        return Reached(first, 0)
    return Reached(first, 0, ("cold",)) if is_late() else Reached(look(1), 1)


def covering(mind: ScopedMemory, query: Query) -> tuple[Query, LibraryStatus | None]:
    """The query with the documents that its caller may see, taken in as far as they changed.

    What is narrowed to layers, kinds, categories or what is trusted is about memories alone.
    """
    library, engine = mind.engine.library, mind.engine
    narrowed = query.layers or query.kinds or query.categories or query.trusted_only
    own = mind.scope.user == engine.config.owner and Space.USER in query.spaces
    own = own and mind.scope.sees("documents")
    if library is None or narrowed or not own:
        return query, None
    state = library.sync(engine.now())
    depth = DEEPEST if reaches_far(query.text, engine.now()) else query.depth
    return replace(query, documents=library.shelf, depth=depth), state


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search is to be carried out: what was asked for, else what the settings say."""

    most: int
    corpus: Corpus
    archive: bool
    citations: Citations
    timeout_s: float


def planned(library: Library | None, options: SearchOptions) -> Plan:
    """The plan for a search, or InvalidInput that says what is wrong with the options."""
    settings = SearchSettings() if library is None else library.settings
    given = {name: value for name, value in options.items() if value is not None}
    if unknown := given.keys() - SearchOptions.__annotations__.keys():
        raise InvalidInput(f"Unknown detail: {', '.join(sorted(unknown))}.", code="detail_unknown")
    timeout = given.get("timeout_ms", int(settings.timeout_s * 1000))
    return Plan(
        most=whole_number(given.get("max_results", settings.max_results), "max_results", 1, 100),
        corpus=chosen(Corpus, given.get("corpus", Corpus.ALL), "corpus"),
        archive=bool(given.get("archive", False)),
        citations=chosen(Citations, given.get("citations", settings.citations), "citations"),
        timeout_s=whole_number(timeout, "timeout_ms", 0, 600_000) / 1000,
    )


def searched(mind: ScopedMemory, query: Query, plan: Plan) -> SearchResults:
    """What the documents and memories of the caller say about a question, each with where it stands."""
    start, engine = monotonic(), mind.engine
    engine.sync()
    state = None
    if plan.corpus is not Corpus.MEMORIES:
        query, state = covering(mind, query)
        query = replace(query, depth=DEEPEST) if plan.archive else query
    if plan.corpus is Corpus.DOCUMENTS:
        query = replace(query, spaces=())
    now = engine.now()
    reached = engine.database.read(
        lambda tx: reach(tx, query, engine, now, lambda: monotonic() - start >= plan.timeout_s)
    )
    results = tuple(result_of(hit, query.text, plan.citations) for hit in reached.answer.found.hits)
    looked = ("memories",) if plan.corpus is not Corpus.DOCUMENTS else ()
    answer = SearchResults(
        results=results,
        uncertainty=results[0].uncertainty if results else "high",
        searched=(*looked, *(DEPTHS[: reached.depth + 1] if query.documents else ())),
        partial=bool(reached.cut),
        cut=reached.cut,
    )
    return answer if state is None or not state.stale else behind(answer, state)


def read_lines(mind: ScopedMemory, path: str, start: int = 1, lines: int = 200) -> DocumentLines:
    """Some lines of one of the caller's documents as the file has them now, without secrets."""
    library = mind.engine.library
    own = mind.scope.user == mind.engine.config.owner and mind.scope.sees("documents")
    if library is None or not own:
        raise NotFound("There are no documents here.")
    first, count = whole_number(start, "start", 1, 2**31), whole_number(lines, "lines", 1, 2000)
    text, total = library.read(path, first, count)
    return DocumentLines(path=path, text=text, start=first, total=total)
