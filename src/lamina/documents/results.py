"""What a search answers: results to be cited, how sure each is, and whether the index is behind."""

from __future__ import annotations

from dataclasses import field, replace
from enum import StrEnum

from lamina.documents.settings import Citations
from lamina.documents.snippets import snippet
from lamina.model import Hit
from lamina.ranking.tiers import coverage
from lamina.records import dataclass

DOCUMENT = "doc:"  #: how the id of a passage begins
_GUESS = "None of the question's terms is there; it is a guess by meaning."
_REPLACED = "It is superseded: something later took its place. "


class Corpus(StrEnum):
    """What is searched."""

    ALL = "all"
    DOCUMENTS = "documents"
    MEMORIES = "memories"


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryStatus:
    """The disk and the index, compared."""

    documents: dict[str, int] = field(default_factory=dict)  #: by tier
    passages: int = 0
    files: int = 0
    dirty: int = 0
    gone: int = 0
    is_paused: bool = False  #: more is gone than can be believed; nothing is dropped
    weekly_job: bool = False  #: it is at work, and the index waits
    skipped: dict[str, str] = field(default_factory=dict)  #: path to reason
    hidden: tuple[str, ...] = ()  #: `path:line` of what looks like a secret and is in no index
    notes: tuple[str, ...] = ()

    @property
    def stale(self) -> bool:
        return bool(self.dirty or self.is_paused)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One thing found by a search, to be cited."""

    id: str
    source: str  #: `document`, or `memory` for what no file of its own says
    path: str | None
    start_line: int | None
    end_line: int | None
    score: float
    snippet: str  #: at most 700 characters, around what matches
    heading: str | None
    date: str | None
    status: str | None
    confidence: float  #: the probability that it answers the question
    uncertainty: str  #: the same in a word: low, medium or high
    why: str  #: the uncertainty in words
    citation: str | None  #: `path#L12-L30`, None where citations are off
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """The answer to a search. It is complete only where it is neither partial nor stale."""

    results: tuple[SearchResult, ...]
    uncertainty: str  #: that of the best result; high where there is none
    searched: tuple[str, ...]  #: which tiers were looked at: memories, warm, cold, archive
    partial: bool = False
    cut: tuple[str, ...] = ()  #: what there was no time for
    stale: bool = False
    warning: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLines:
    """Some lines of a document, as its file has them now."""

    path: str
    text: str
    start: int
    total: int  #: how many lines the file has


def result_of(hit: Hit, question: str, citations: Citations) -> SearchResult:
    """A hit as a result, with its citation and how unsure it is that it answers the question."""
    source = hit.source
    is_document = hit.id.startswith(DOCUMENT)
    has, of = coverage(question, f"{source.heading or hit.key or ''} {hit.text}")
    replaced = source.status == "superseded"
    unsure = "medium" if replaced and hit.uncertainty == "low" else hit.uncertainty
    told = f"{has} of the question's {of} terms are there." if has else _GUESS
    told = "The question names it." if "exact" in hit.ranks else told
    place = f"{source.path}#L{source.start_line}-L{source.end_line}" if is_document else hit.id
    cited = citations is Citations.ON or (citations is Citations.AUTO and is_document)
    return SearchResult(
        id=hit.id,
        source="document" if is_document else "memory",
        path=source.path,
        start_line=source.start_line,
        end_line=source.end_line,
        score=hit.score,
        snippet=snippet(hit.text, question),
        heading=source.heading,
        date=source.date or f"{hit.at:%Y-%m-%d}",
        status=source.status if is_document else "active",
        confidence=hit.confidence,
        uncertainty=unsure,
        why=f"{_REPLACED if replaced else ''}{told}",
        citation=place if cited else None,
        reasons=hit.reasons,
    )


def behind(answer: SearchResults, state: LibraryStatus) -> SearchResults:
    """The answer of an index that is not up to the files, which it says."""
    if state.is_paused:
        warning = f"{state.gone} documents are gone at once; they are not shown, and not dropped either."
        return replace(answer, stale=True, warning=warning, action="lamina index --yes")
    waits = " The weekly job is at work." if state.weekly_job else ""
    warning = f"{state.dirty} files changed and are not indexed yet.{waits}"
    return replace(answer, stale=True, warning=warning, action="lamina index")
