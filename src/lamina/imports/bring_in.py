"""Bringing in what other tools hold, once and under the gates: conversations as turns, memories as facts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from lamina.errors import ConfigError, InvalidInput
from lamina.imports.detect import ALWAYS_READ, READERS, RESUMABLE, PathName, find
from lamina.imports.restore_export import bring_in, judged, sorted_out
from lamina.imports.turn import (
    Carried,
    HeldAs,
    ImportedFact,
    ImportedTurn,
    ImportFile,
    ReadUpTo,
    Skipped,
    Speaker,
    session_name,
)
from lamina.language.events import importance
from lamina.language.secrets.privacy import find_secrets, redacted
from lamina.model import Decision, Deny, Draft, Hold, Kind, Layer, Outcome, Role, Scope, canonical
from lamina.ranking.decay import EPISODE_LIFE, EPISODE_RENEWED
from lamina.records import dataclass
from lamina.storage.shelf_contents import LayerRows
from lamina.storage.small_tables import Imports, Position
from lamina.text.normalise import well_formed
from lamina.write.details import MAX_TAGS, checked_tags, draft_of
from lamina.write.noes import kept_out
from lamina.write.request import Request, Verb
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

_BATCH = 250
_HEAD = 1024
_PROBLEMS = ("bad_line", "truncated", "line_too_long", "import_unreadable")
_MOST_PROBLEMS = 100
_RUN = "import"  #: the run whose audit file gets an import's changes, rather than a file for each session

Progress = Callable[[int, int], None]


class Options(TypedDict, total=False):
    """What to import, and how."""

    format: str
    since: datetime | None
    tool_output: bool
    dry_run: bool
    bring_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportWish:
    """The same, with what is usual."""

    format: str = "auto"
    since: datetime | None = None
    tool_output: bool = False
    dry_run: bool = False
    bring_back: bool = False  #: also what the person said no to since


@dataclass(slots=True, kw_only=True)
class Report:
    """What an import came to."""

    dry_run: bool = False
    files: Counter[str] = field(default_factory=Counter)  #: by format
    unchanged: int = 0  #: files that have nothing new
    read: int = 0  #: turns and facts that could be taken
    new: int = 0
    known: int = 0
    held: int = 0  #: what waits for the person's word
    skipped: Counter[str] = field(default_factory=Counter)  #: by reason
    refused: Counter[str] = field(default_factory=Counter)  #: by the policy's code
    problems: list[Skipped] = field(default_factory=list)  #: lines that could not be read, the first hundred

    def skip(self, one: Skipped) -> None:
        self.skipped[one.reason] += 1
        if one.reason in _PROBLEMS and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(one)


def import_files(
    caller: Caller,
    paths: Iterable[PathName],
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Report:
    """Bring in every transcript and export under the paths; `progress(done, total)` counts bytes.

    Turns become episodes of the user with the time at which they were said, facts what some program
    believed. Everything passes the gates. What came in before does not come in again, and a file is read
    on from where it was left. A dry run says what would happen and writes nothing. Raises NotFound or
    InvalidInput for a path or format that cannot be used; then nothing happened.
    """
    wanted = ImportWish(**options)
    own, others = sorted_out(paths, wanted.format)
    found = [file for path in others for file in find(path, wanted.format)]
    sizes = [file.size for file in found]
    importing = _Import(caller, wanted, Report(dry_run=wanted.dry_run))
    for folder in own:
        importing.export(folder, progress)
    for number, file in enumerate(found):
        for at in importing.file(replace(file, tool_output=wanted.tool_output)):
            if progress is not None:
                progress(sum(sizes[:number]) + at, sum(sizes))
    return importing.report


@dataclass
class _Import:
    caller: Caller
    wanted: ImportWish
    report: Report
    seen: set[str] = field(default_factory=set)  #: keys a dry run would have brought in by now

    def export(self, folder: PathName, progress: Progress | None) -> None:
        """An export of Lamina's own; see `bring_in`."""
        wanted = self.wanted
        came = bring_in(
            self.caller,
            folder,
            progress,
            dry_run=wanted.dry_run,
            since=wanted.since,
            bring_back=wanted.bring_back,
        )
        report = self.report
        report.files["lamina"] += 1
        report.read += came.read
        report.new += came.new
        report.known += came.known
        report.held += came.held
        report.refused.update(came.refused)
        report.problems += [Skipped(reason=told, path=str(folder)) for told in came.differences]

    def file(self, file: ImportFile) -> Iterator[int]:
        """Read one file from where it was left, a batch at a time; after each, how far it has come."""
        size = file.size  # before it is read: what is added meanwhile is for the next time
        if not file.format or size < 0:
            self.report.skip(file.skipped("import_unreadable"))
            return
        place = self._start(file, size)
        if place is None:
            self.report.unchanged += 1
            return
        self.report.files[file.format] += 1
        batch: list[ImportedTurn | ImportedFact] = []
        try:
            for item in READERS[file.format](file, place):
                match item:
                    case Skipped():
                        self.report.skip(item)
                    case ReadUpTo():
                        place = item
                    case _ if reason := self._left_out(item):
                        self.report.skipped[reason] += 1
                    case _:
                        batch.append(item)
                # A batch ends at a place to go on from, where the format has some on its way.
                if len(batch) >= _BATCH and (isinstance(item, ReadUpTo) or len(batch) >= 2 * _BATCH):
                    self._bring_in(batch, self._position(file, place, -1))
                    yield place.offset
                    batch.clear()
        except (InvalidInput, OSError) as error:
            if isinstance(error, ConfigError):
                raise
            self.report.skip(file.skipped("import_unreadable"))
            size = -1
        self._bring_in(batch, self._position(file, place, size))
        yield file.size

    def _start(self, file: ImportFile, size: int) -> ReadUpTo | None:
        """Where to begin; None where there is nothing new."""
        user = self.caller.scope.user
        known = self.caller.store.database.read(lambda tx: Imports(tx, user).position(file.name))
        if known is None or known.mark != self._mark(file, int(known.mark.rpartition(":")[2])):
            return ReadUpTo()
        if known.size == size and file.format not in ALWAYS_READ:
            return None
        place = ReadUpTo(**known.place)
        return place if file.format in RESUMABLE | ALWAYS_READ and place.offset <= size else ReadUpTo()

    def _position(self, file: ImportFile, place: ReadUpTo, size: int) -> Position:
        mark = self._mark(file, min(_HEAD, max(file.size, 0)))
        return Position(path=file.name, mark=mark, size=size, place=asdict(place))

    def _mark(self, file: ImportFile, head: int) -> str:
        """A file as it was asked to be read; another, or another question, is read from its beginning."""
        since = self.wanted.since.isoformat() if self.wanted.since else ""
        # The head of a database changes with its rows, and those say how far they were read.
        which = file.mark(0 if file.format in ALWAYS_READ else head)
        asked = f"{int(self.wanted.tool_output)}{'b' if self.wanted.bring_back else ''}"
        return f"{file.format}:{asked}:{since}:{which}"

    def _bring_in(self, batch: Sequence[ImportedTurn | ImportedFact], position: Position) -> None:
        """Store what is new of a batch, then that it is known and how far the file was read."""
        store, user, report = self.caller.store, self.caller.scope.user, self.report
        items = {entry_key(item): item for item in batch}
        report.read += len(batch)
        known = store.database.read(lambda tx: Imports(tx, user).known(items)) | (self.seen & items.keys())
        requests = {
            key: request
            for key, item in items.items()
            if key not in known and (request := self._request(key, item)) is not None
        }
        report.known += len(batch) - len(items) + len(known)
        if self.wanted.dry_run:
            self.seen |= items.keys()
            codes = [one.decision.code for one in requests.values() if isinstance(one.decision, Deny)]
            waiting = sum(isinstance(one.decision, Hold) for one in requests.values())
            report.refused.update(codes)
            report.held += waiting
            report.new += len(requests) - len(codes) - waiting
            return
        receipts = store.carry_out_all([*requests.values()])
        for receipt in receipts:
            report.new += receipt.decision is Outcome.ADMITTED
            report.known += receipt.decision is Outcome.UNCHANGED
            report.held += receipt.decision is Outcome.HELD
            report.refused.update([receipt.code] if receipt.decision is Outcome.DENIED else [])
        kept = [
            key for key, one in zip(requests, receipts, strict=True) if one.decision is not Outcome.DENIED
        ]

        uses = {
            one.ids[0]: (held.uses, min(held.used_at or store.now(), store.now()))
            for key, one in zip(requests, receipts, strict=True)
            if one.decision is Outcome.ADMITTED and (held := getattr(items[key], "held", None)) and held.uses
        }

        def note(imports: Imports) -> None:
            imports.add(kept)
            imports.keep(position, store.now())

        store.database.write(lambda tx: note(Imports(tx, user)))
        store.database.write(lambda tx: LayerRows(tx).note(uses, EPISODE_RENEWED))

    def _request(self, key: str, item: ImportedTurn | ImportedFact) -> Request | None:
        store = self.caller.store
        try:
            text = well_formed(item.text, "text", store.config.max_text_chars)
            draft = self._turn(key, item, text) if isinstance(item, ImportedTurn) else self._fact(item, text)
        except InvalidInput as error:
            self.report.skip(Skipped(reason=error.code, path=item.path))
            return None
        weight = importance(draft.kind, draft.scope.role, text, book=store.ruleset.rules)
        draft = replace(
            draft,
            importance=weight.value,
            importance_reason=weight.reasons,
            second_hand=not self.wanted.bring_back,
        )
        return Request(
            verb=Verb.REMEMBER,
            scope=draft.scope,
            at=store.now(),
            draft=draft,
            decision=self._judged(draft),
        )

    def _judged(self, draft: Draft) -> Decision:
        """What the gates say, and in a dry run the person's own no."""
        decision, store = judged(self.caller, draft), self.caller.store
        if not self.wanted.dry_run or isinstance(decision, Deny):
            return decision
        now = store.now()
        return store.database.read(
            lambda tx: kept_out(UnitOfWork(tx, store.ruleset, draft.scope, now), draft) or decision
        )

    def _turn(self, key: str, turn: ImportedTurn, text: str) -> Draft:
        meta = {"source": turn.source, "entry": redacted(turn.entry_id)[:200]}
        return Draft(
            scope=self._scope(turn),
            text=text,
            layer=Layer.EPISODIC,
            kind=Kind.CONTEXT,
            said_at=self._said(turn.at),
            session_path=turn.path,
            message_range=redacted(turn.message_range)[:400],
            place=f"turn:{turn.source}:{key}",
            meta={**meta, "speaker": redacted(turn.speaker)[:100]} if turn.speaker else meta,
            tainted=turn.role is Speaker.ASSISTANT,  # second-hand: nobody here heard it say so
        )

    def _fact(self, fact: ImportedFact, text: str) -> Draft:
        """What a program believed is text of unknown origin: it is found, and never taken for the user's."""
        if fact.held is not None:
            return self._held(fact, fact.held, text)
        scope = replace(self.caller.scope, role=Role.DOCUMENT, agent=fact.source, run=_RUN)
        told = fact.carried or Carried()
        if find_secrets(canonical([told.meta, told.tags])):
            raise InvalidInput("What comes with it holds a secret.", code="import_secret")
        return Draft(
            scope=scope,
            text=text,
            layer=told.layer,
            tags=checked_tags(told.tags[:MAX_TAGS]),
            confidence=told.confidence,
            valid_from=self._said(told.since),
            valid_until=told.until,
            said_at=self._said(fact.at),
            session_path=fact.path,
            message_range=redacted(fact.entry_id)[:400],
            meta={"source": fact.source, **told.meta},
        )

    def _held(self, fact: ImportedFact, held: HeldAs, text: str) -> Draft:
        """What the user's own agents kept in a memory with layers: theirs still, in its layer, in no file."""
        store, kinds = self.caller.store, {Layer.PROCEDURAL: Kind.PROCEDURE, Layer.EPISODIC: Kind.EPISODE}
        details: Any = {"layer": held.layer, "tags": held.tags, "confidence": held.confidence}
        details |= {"key": held.name} if held.name else {"kind": kinds.get(Layer(held.layer), Kind.FACT)}
        details |= {"ttl": f"{EPISODE_LIFE.days}d"} if held.layer == Layer.EPISODIC else {}
        scope = self._agent(replace(self.caller.scope, run=_RUN), fact.source)
        draft = draft_of(scope, text, details, store.now(), store.config.max_text_chars, store.ruleset.rules)
        return replace(
            draft,
            said_at=self._said(fact.at),
            session_path=fact.path,
            message_range=redacted(fact.entry_id)[:400],
            place=f"key:{held.name}" if held.name else f"{fact.source}:{fact.entry_id}",
            meta={**({} if held.name else {"source": fact.source}), **held.meta},
        )

    def _left_out(self, item: ImportedTurn | ImportedFact) -> str | None:
        """Why something is not taken: it is too old, its time is over, or it is about somebody else."""
        held = item.held if isinstance(item, ImportedFact) else None
        if self.wanted.since and item.at and item.at < self.wanted.since:
            return "before"
        if held is not None and held.until and held.until <= self.caller.store.now():
            return "expired"
        whose = (held.user if held else item.user) if isinstance(item, ImportedFact) else None
        return "other_user" if whose not in (None, self.caller.scope.user) else None

    def _said(self, at: datetime | None) -> datetime | None:
        return at if at is not None and at < self.caller.store.now() else None

    def _scope(self, turn: ImportedTurn) -> Scope:
        """Who speaks: by the file's structure, and never with more weight than whoever imports it."""
        scope = replace(self.caller.scope, session=session_name(turn.session_id), run=_RUN)
        if turn.role is Speaker.TOOL:
            return replace(scope, role=Role.TOOL, agent=turn.source)
        if scope.role not in (Role.USER, Role.ADMIN, Role.SYSTEM):
            return scope
        if turn.role is Speaker.USER:
            return replace(scope, role=Role.USER)
        return self._agent(scope, turn.source)

    def _agent(self, scope: Scope, name: str) -> Scope:
        """An agent of the user's, where it is the user who imports."""
        own = scope.role in (Role.USER, Role.ADMIN, Role.SYSTEM)
        return replace(scope, role=Role.AGENT, agent=name) if own else scope


def entry_key(item: ImportedTurn | ImportedFact) -> str:
    """By what an entry is known once it came in, by whatever way."""
    return hashlib.sha256(item.key.encode("utf-8", "replace")).hexdigest()[:40]
