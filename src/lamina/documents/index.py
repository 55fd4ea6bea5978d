"""The index of the workspace's documents: kept up with the files, never ahead of them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from lamina.clock import monotonic
from lamina.config import Config
from lamina.documents.files import (
    DocumentSource,
    Swept,
    read_settings,
    sources_of,
    sweep_documents,
    weekly_at_work,
)
from lamina.documents.results import LibraryStatus
from lamina.documents.settings import SearchSettings
from lamina.encoders.port import Embedder
from lamina.errors import LaminaError, NotFound
from lamina.language.secrets.privacy import REDACTED, find_secrets
from lamina.late import late
from lamina.model import Scope, quoted
from lamina.ranking.tiers import tier_of
from lamina.records import dataclass
from lamina.retrieval.meaning import learn
from lamina.storage.database import Database, Transaction
from lamina.storage.documents import DOCUMENTS, Documents, FileRead, KnownFile
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Properties
from lamina.text.passages import PASSAGES_VERSION, read_markdown
from lamina.workspace.files import Stamp, read_file

with late():
    from lamina.text import learning_page

SWEEP_S = 0.05  #: how long a search looks for changed files
_MOST_GONE = 0.3  #: of the documents; more at once and somebody has to agree
_MANY = 500  #: documents, from which on two searches within a second share a sweep
_TAKEN_IN = 1 << 20  #: bytes of changed text that a search waits for
_AT_ONCE = 64  #: files in one transaction
_REVISION = "documents"  #: the property that says that somebody changed the index

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    source: DocumentSource
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class _Plan:
    """How far to go."""

    now: datetime
    most: int | None = None  #: bytes of changed text to wait for
    yields: bool = False  #: to the weekly job, which writes what would be read
    full: bool = False
    agreed: bool = False
    progress: Progress | None = None


class Library:
    """One workspace's documents. They are on a shelf of their own that only its owner's callers reach."""

    def __init__(
        self, root: Path, owner: Scope, database: Database, config: Config, encoder: Embedder | None
    ) -> None:
        self._root = root
        self._encoder = encoder
        self._database = database
        self._config = config
        self.shelf = shelf_of(owner)
        self.edited: set[str] = set()  #: files of what was learnt that a person changed
        self._known: dict[str, KnownFile] = {}
        self._revision: str | None = ""  #: of which `known` is; at first of none
        self._swept_at = 0.0
        self._last = LibraryStatus()
        self._unreadable: dict[str, tuple[Stamp, str]] = {}
        self._mutex = threading.Lock()  # a server's threads share what is known of the files

    @property
    def settings(self) -> SearchSettings:
        """What a search covers and how it answers, as the files say it now."""
        return read_settings(self._root, self._config.search_settings, self._config.extra_paths)

    def sync(self, now: datetime) -> LibraryStatus:
        """Take in what changed in the files, as far as a search can wait for that."""
        start = monotonic()
        if len(self._known) > _MANY and start - self._swept_at < 1.0:
            return self._last
        if not self._mutex.acquire(timeout=SWEEP_S):  # somebody takes in more than a search waits for
            return replace(self._last, dirty=max(1, self._last.dirty))
        try:
            swept, notes = self._sweep(lambda: monotonic() - start > SWEEP_S)
            self._last = self._caught_up(swept, _Plan(now, most=_TAKEN_IN, yields=True), notes)
        finally:
            self._mutex.release()
        self._swept_at = start
        return self._last

    def refresh(self, now: datetime) -> None:
        """Take in everything that changed, in the background: not while the weekly job is at work."""
        with self._mutex:
            swept, notes = self._sweep(lambda: False)
            self._last = self._caught_up(swept, _Plan(now, yields=True), notes)

    def index(
        self, now: datetime, *, full: bool = False, agreed: bool = False, progress: Progress | None = None
    ) -> LibraryStatus:
        """Take in everything; `full` reads every file again, `agreed` lets go of however many are gone."""
        with self._mutex:
            if full:
                self._unreadable = {}
            swept, notes = self._sweep(lambda: False)
            self._caught_up(swept, _Plan(now, full=full, agreed=agreed, progress=progress), notes)
        return self.status()

    def status(self) -> LibraryStatus:
        """The disk compared with the index; nothing is changed."""
        tiers, passages = self._database.read(lambda tx: Documents(tx).counts())
        with self._mutex:
            swept, notes = self._sweep(lambda: False)
            self._load()
            hidden = tuple(f"{path}:{line}" for path, one in self._known.items() for line in one.hidden)
            return replace(self._compared(swept, notes), documents=tiers, passages=passages, hidden=hidden)

    def read(self, path: str, start: int, count: int) -> tuple[str, int]:
        """Some lines of a document as the file has them now, without secrets, and how many lines it has."""
        swept, _ = self._sweep(lambda: False)
        if path not in swept.files:
            hint = "`lamina search` shows the paths of what it finds."
            raise NotFound(f"There is no document {path!r:.120} here.", hint=hint)
        text, _ = self._text(swept.files[path][0], path)
        lines = text.split("\n")
        return "\n".join(lines[start - 1 : start - 1 + count]), len(lines)

    def _sweep(self, is_late: Callable[[], bool]) -> tuple[Swept, tuple[str, ...]]:
        settings = self.settings
        allowed = [Path(one.strip()) for one in self._config.document_roots.split(",") if one.strip()]
        sources, notes = sources_of(self._root, settings, tuple(allowed))
        return sweep_documents(sources, is_late), (*settings.notes, *notes)

    def _load(self) -> None:
        def work(transaction: Transaction) -> None:
            revision = Properties(transaction).get(_REVISION)
            if revision != self._revision:
                self._known, self._revision = Documents(transaction).known(), revision

        self._database.read(work)

    def _caught_up(self, swept: Swept, plan: _Plan, notes: tuple[str, ...]) -> LibraryStatus:
        self._load()
        dirty = self._dirty(swept, plan.full)
        gone = self._gone(swept)
        is_news = any(plan.agreed or not self._known[path].gone for path in gone)
        if (dirty or is_news) and not (plan.yields and weekly_at_work(self._root)):
            taken = list(_within(dirty, plan.most))
            if len(taken) < len(dirty):
                gone = []  # a file that moved may be among those that wait
            for start in range(0, len(taken) or 1, _AT_ONCE):
                part, is_last = taken[start : start + _AT_ONCE], start + _AT_ONCE >= len(taken)
                self._take_in(part, gone, plan, lets_go=is_last)
                if plan.progress is not None:
                    plan.progress(start + len(part), len(taken))
            self._load()
        return self._compared(swept, notes)

    def _dirty(self, swept: Swept, full: bool = False) -> list[_Change]:
        found = []
        for path, (source, stamp) in swept.files.items():
            known, refused = self._known.get(path), self._unreadable.get(path)
            if refused is not None and refused[0] == stamp:
                swept.skipped[path] = refused[1]
            elif full or known is None or known.gone or known.stamp != (PASSAGES_VERSION, *stamp):
                found.append(_Change(path, source, stamp))
        return found

    def _gone(self, swept: Swept) -> list[str]:
        return [path for path in self._known if path not in swept.files] if swept.complete else []

    def _take_in(self, changes: list[_Change], gone: list[str], plan: _Plan, *, lets_go: bool) -> None:
        """Read some files and put what they say into the index, in one transaction."""
        read = [(change, said) for change in changes if (said := self._read(change)) is not None]

        def work(transaction: Transaction) -> None:
            documents = Documents(transaction)
            shelf, _ = TextIndex(transaction).open_shelf(self.shelf)
            known = documents.known() if gone else {}
            left = dict.fromkeys(path for path in gone if path in known)
            by_hash = {known[path].hash: path for path in left}
            texts: dict[int, str] = {}
            for change, (file, text) in read:
                here = documents.hash_of(file.path)
                if here == file.hash and not plan.full:
                    documents.touch(file)
                    continue
                if here is None and (old := by_hash.pop(file.hash, None)) is not None:
                    documents.move(old, file.path)
                    del left[old]
                # What shows a memory is found as that memory, and not a second time as a document.
                said = "" if learning_page.shown_in(text) else text
                texts |= documents.put(shelf, file, read_markdown(change.path, said), plan.now)
            learn(transaction, self._encoder, shelf, texts)
            if lets_go:
                _let_go(documents, list(left), len(known), plan.agreed)
            number = int(Properties(transaction).get(_REVISION) or 0)
            Properties(transaction).set(_REVISION, str(number + 1))

        self._database.write(work)

    def _read(self, change: _Change) -> tuple[FileRead, str] | None:
        """A file as it is now; None where it cannot be read, which is said in the status."""
        try:
            if find_secrets(change.path):
                raise NotFound("its name looks like a secret")
            text, hidden = self._text(change.source, change.path)
        except LaminaError as error:
            self._unreadable[change.path] = (change.stamp, error.message)
            return None
        if learning_page.shown_in(text) and not learning_page.untouched(text):
            self.edited.add(change.path)
        tier, depth = tier_of(change.path)
        digest = hashlib.sha256(f"{PASSAGES_VERSION}\n{text}".encode()).hexdigest()
        stamp = (PASSAGES_VERSION, *change.stamp)
        return FileRead(
            path=change.path, stamp=stamp, hash=digest, tier=tier, depth=depth, hidden=hidden
        ), text

    def _text(self, source: DocumentSource, path: str) -> tuple[str, tuple[int, ...]]:
        """What a file says without its secrets, line for line, and the lines where those are."""
        data = read_file(source.base, path.removeprefix(source.prefix))
        if data is None:
            raise NotFound("it is gone")
        text = data.decode("utf-8", errors="replace").replace("\x00", "\ufffd")
        out, hidden, done = [], [], 0
        for one in find_secrets(text):
            breaks = text.count("\n", one.start, one.end)
            out += [text[done : one.start], REDACTED, "\n" * breaks]
            hidden.append(text.count("\n", 0, one.start) + 1)
            done = max(done, one.end)
        return "".join([*out, text[done:]]), tuple(hidden)

    def _compared(self, swept: Swept, notes: tuple[str, ...]) -> LibraryStatus:
        dirty, gone = self._dirty(swept), self._gone(swept)
        unseen = () if swept.complete else ("Not every file could be looked at in time.",)
        return LibraryStatus(
            files=len(swept.files),
            dirty=len(dirty) + (not swept.complete),
            gone=len(gone),
            is_paused=any(self._known[path].gone for path in gone),
            weekly_job=bool(dirty) and weekly_at_work(self._root),
            skipped=swept.skipped,
            notes=(*notes, *unseen),
        )


def shelf_of(owner: Scope) -> str:
    """The shelf of a person's documents; nobody else's scope names it."""
    return f"{DOCUMENTS}:{quoted(owner.user)}"


def _let_go(documents: Documents, gone: list[str], known: int, agreed: bool) -> None:
    """Drop what is gone; so much at once that a disk may be missing is only kept out of the answers."""
    is_odd = len(gone) > 1 and len(gone) > _MOST_GONE * known
    for path in gone:
        if is_odd and not agreed:
            documents.mark(path, gone=True)
        else:
            documents.drop(path)


def _within(changes: Iterable[_Change], most: int | None) -> Iterator[_Change]:
    """As many as fit; the first one always does."""
    total = 0
    for change in changes:
        if most is not None and total and total + change.stamp.size > most:
            return
        total += change.stamp.size
        yield change
