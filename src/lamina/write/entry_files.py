"""Memories whose home is a file: the owner's keyed entries in PROFILE.md.

A change is written down as an operation, applied to the file as it is at that moment, and then committed
with its index, history and audit. A crash anywhere is finished by replaying the operation. What a person
changed in the file is a write by that person, enters through the same gates, and wins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lamina.config import Config
from lamina.errors import Conflict, Damaged, InvalidInput, LaminaError, Unavailable
from lamina.language.secrets.privacy import find_secrets
from lamina.late import late
from lamina.model import (
    Authority,
    Deny,
    Draft,
    Hold,
    Kind,
    Layer,
    Memory,
    Outcome,
    Receipt,
    Role,
    Scope,
    Space,
    State,
    iso,
    quoted,
)
from lamina.policy.gates import RESERVED, decide, is_reserved
from lamina.records import dataclass
from lamina.storage.database import Database, Transaction
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Entries, FileOperation, KnownEntry, Operations, Properties
from lamina.text.entries import EntryFile
from lamina.text.entry_line import Entry
from lamina.text.normalise import canonical_key, well_formed
from lamina.text.ttl import check_ttl, parse_ttl
from lamina.workspace.files import read_file, replace_file, stamp, sweep
from lamina.workspace.layout import HOMES, PROFILE, workspace_id
from lamina.workspace.locks import locked
from lamina.write.unit_of_work import Ruleset, UnitOfWork

with late():
    import logging

    from lamina.write import commit
    from lamina.write import request as changes

if TYPE_CHECKING:
    from lamina.write.request import Effect, Request, Verb

T = TypeVar("T")

_SOURCE = {
    Authority.USER_ASSERTED: "user_explicit",
    Authority.AI_INFERRED: "user_inferred",
    Authority.TOOL_VERIFIED: "system",
    Authority.SYSTEM_IMPOSED: "system",
}
_AT_ONCE = 500  #: lines that are taken in before others get their turn
_TOLD = 5000  #: of more lines than this it is told how many are taken in
_ATTEMPTS = 50
_SAVES = 5  #: how many saves by a person a write waits out; an emptied file is one that is not over yet
_UNSEEN = (-1, -1, -1)
_TITLES = {"PROFILE.md": ("Preferences", "PROFILE"), "SESSION.md": ("Context", "SESSION")}


class _Preview(Exception):
    """Carries a result out of a transaction that must leave no trace."""

    def __init__(self, changes: bool) -> None:
        self.changes = changes
        super().__init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A line that is not used, and why."""

    file: str
    line: int
    message: str
    hint: str


@dataclass(slots=True, kw_only=True)
class _Rest:
    """What a person changed in a file, and how much of it is taken in."""

    data: bytes | None  #: the file that says so
    changed: list[Entry]
    gone: list[str]  #: keys
    problems: list[FileProblem]
    done: int = 0

    @property
    def total(self) -> int:
        return len(self.changed) + len(self.gone)


class HomeFile:
    """One entry file of one workspace and the memories that live in it."""

    def __init__(
        self, root: Path, space: Space, owner: Scope, database: Database, ruleset: Ruleset, config: Config
    ) -> None:
        self.name = HOMES[space]
        self._space = space
        self.problems: tuple[FileProblem, ...] = ()
        self._root = root
        self._database = database
        self._ruleset = ruleset
        self._owner = owner
        self._config = config
        self._seen: tuple[int, int, int] | None = _UNSEEN
        self._taken_in: bytes | None = None  #: the file as it was when all of it was known
        self._read: tuple[bytes, EntryFile] | None = None  #: what was parsed last
        self._rest: _Rest | None = None  #: what is still to be taken in

    def holds(self, scope: Scope, space: Space, key: str | None) -> bool:
        """Whether this file is the home: keyed, and on the shelf that the file is about."""
        return key is not None and space is self._space and scope.shelf(space) == self.shelf

    @property
    def shelf(self) -> str:
        """The shelf that the file is about."""
        return self._owner.shelf(self._space) or ""

    def shows(self, memory_id: str) -> bool | None:
        """Whether the file as it is now has a memory's line with its value; None where it lives elsewhere."""
        memory = self._database.read(lambda tx: Memories(tx).load([memory_id])).get(memory_id)
        if memory is None or memory.file != self.name or memory.key is None:
            return None
        entry = self._parsed().get(memory.key)
        return entry is not None and entry.value == memory.text

    def look_again(self) -> None:
        """Somebody wrote down something to do to the file."""
        self._seen = _UNSEEN

    def enter(self, session: str, now: datetime) -> None:
        """Be the file of another session: the lines of the last one go, those of this one come."""
        if self._space is not Space.SESSION or session == self._owner.session:
            return
        with locked(self._root, self.name, self._config.lock_timeout_s):
            self._all_caught_up(now)
            self._owner = replace(self._owner, session=session)

            def work(transaction: Transaction) -> None:
                Properties(transaction).drop(self._whole)
                for known in Entries(transaction).of(self.name).values():
                    changes.release(transaction, self.name, known, now)
                shelf = TextIndex(transaction).shelf(self.shelf)
                for memory in Memories(transaction).keyed(shelf[0], now) if shelf else ():
                    self._adopt(transaction, memory, now)

            self._database.write(work)
            self._all_caught_up(now)

    def _adopt(self, transaction: Transaction, memory: Memory, now: datetime) -> None:
        """Give a memory that lived in the database its line here."""
        entry = _entry_of_memory(memory, memory.text, memory.updated_at)
        Memories(transaction).set_home(memory.id, self.name)
        Entries(transaction).put(self.name, _known(entry, memory.id))
        effect = changes.Effect(key=entry.key, entry=entry, base=None)
        Operations(transaction).add(changes.MOVE, self.name, {"effect": changes.effect_to_plain(effect)}, now)

    def sync(self, now: datetime) -> list[UnitOfWork]:
        """Take in what a person changed in the file since we last looked; nothing when nothing did.

        Of many changes some: what is taken in stays so, others get their turn, and the next call goes on.
        """
        if stamp(self._root, self.name) == self._seen:
            return []
        with locked(self._root, self.name, self._config.lock_timeout_s):
            return self._caught_up(now)

    def carry_out(self, request: Request) -> tuple[Receipt, list[UnitOfWork]]:
        """Do what a request asks, in the file and in the store, all or nothing."""
        units: list[UnitOfWork] = []
        with locked(self._root, self.name, self._config.lock_timeout_s):
            for _ in range(_SAVES):
                units += self._all_caught_up(request.at)
                if not self._changes_file(request):
                    receipt, unit = self._commit(request, lambda led: changes.perform(led, request))
                    return receipt, [*units, unit]
                operation, effect = self._planned(request)
                if self._applied_first(operation, effect):
                    with self._still_to_do():
                        receipt, unit = self._finish(operation, request, effect)
                    return receipt, [*units, unit]
                # A person saved this very moment: that is taken in first, and their word on this key stands.
                known = self._known_value(effect.key)
                units += self._all_caught_up(request.at)
                if self._known_value(effect.key) != known:
                    break
            message = f"{self.name} is being changed by a person."
            raise Conflict(message, code="file_changed", hint="Try again.", retryable=True)

    def tidy(self) -> int:
        """Take out the lines that say again what another has in force; how many. No memory changes by it."""
        for _ in range(_SAVES):
            data = read_file(self._root, self.name)
            tidied, count = EntryFile.parse(data or b"").without_repeats()
            if not count:
                return 0
            with (
                suppress(Conflict),  # a person saved this very moment
                locked(self._root, self.name, self._config.lock_timeout_s),
            ):
                replace_file(self._root, self.name, tidied.to_bytes(), expected=data)
                self._seen = _UNSEEN
                return count
        raise Conflict(f"{self.name} keeps changing.", code="file_changed", hint="Try again.", retryable=True)

    def _applied_first(self, operation: FileOperation, effect: Effect) -> bool:
        """Apply a planned change to the file as we know it; False when a person was faster."""
        try:
            file = self._changed(self._parse(self._taken_in), effect)
            changed = file.to_bytes()
            replace_file(self._root, self.name, changed, expected=self._taken_in)
        except LaminaError as error:
            with self._still_to_do():
                self._database.write(lambda tx: Operations(tx).end(operation.id))
            self._seen = _UNSEEN
            if error.code != "file_changed":
                raise
            return False
        self._taken_in, self._read = changed, (changed, file)
        return True

    @contextmanager
    def _still_to_do(self) -> Iterator[None]:
        """While an operation is pending, a store that fails does not undo it, and the caller is told so."""
        try:
            yield
        except Unavailable as error:
            message = f"The change to {self.name} is written down, and the next use completes it."
            raise Unavailable(message, code=error.code, hint=error.hint, retryable=True) from error

    def _known_value(self, key: str) -> KnownEntry | None:
        return self._database.read(lambda tx: Entries(tx).get(self.name, key))

    def _changes_file(self, request: Request) -> bool:
        """Whether the request would come to a change: tried in a transaction of which nothing stays."""

        def work(transaction: Transaction) -> bool:
            unit = UnitOfWork(transaction, self._ruleset, request.scope, request.at, self.name)
            receipt = changes.perform(unit, request)
            raise _Preview(receipt.decision is Outcome.ADMITTED and bool(unit.lines))

        try:
            return self._database.write(work)
        except _Preview as preview:
            return preview.changes

    def _planned(self, request: Request) -> tuple[FileOperation, Effect]:
        current = self._parsed()

        def work(transaction: Transaction) -> tuple[FileOperation, Effect]:
            effect = self._effect(transaction, request, current)
            payload = {"request": request.to_plain(), "effect": changes.effect_to_plain(effect)}
            number = Operations(transaction).add(request.verb, self.name, payload, request.at)
            return FileOperation(number, request.verb, self.name, payload), effect

        return self._database.write(work)

    def _effect(self, transaction: Transaction, request: Request, current: EntryFile) -> Effect:
        entry: Entry | None
        if request.verb is changes.Verb.REMEMBER and request.draft is not None:
            key, entry = request.draft.key or "", _entry_of(request.draft, request.at)
        else:
            memory = Memories(transaction).get(request.memory_id)
            if memory is None or memory.key is None:
                raise AssertionError("a file-backed memory has a key")
            text = request.draft.text if request.draft is not None else memory.text
            key, entry = memory.key, _entry_of_memory(memory, text, request.at)
            leaves = request.verb is changes.Verb.PROMOTE and memory.file == self.name
            if request.verb in (changes.Verb.FORGET, changes.Verb.EXPIRE) or leaves:
                entry = None
        standing = current.get(key)
        return changes.Effect(key=key, entry=entry, base=None if standing is None else standing.value)

    def _apply(self, effect: Effect) -> None:
        """Change the one entry in the file as it is now; every other byte stays."""
        for _ in range(_ATTEMPTS):
            data = read_file(self._root, self.name)
            changed = self._changed(self._parse(data), effect)
            if changed.to_bytes() == (data or b""):
                return
            try:
                replace_file(self._root, self.name, changed.to_bytes(), expected=data)
                return
            except Conflict:
                continue  # a person saved this very moment: take their version and apply to that
        raise Conflict(f"{self.name} keeps changing.", code="file_changed", hint="Try again.", retryable=True)

    def _changed(self, file: EntryFile, effect: Effect) -> EntryFile:
        """The file with one entry changed and every other byte as it was."""
        if effect.entry is None:
            return file.remove(effect.key)
        return file.put(effect.entry, *_TITLES[self.name])

    def _finish(
        self, operation: FileOperation, request: Request, effect: Effect
    ) -> tuple[Receipt, UnitOfWork]:
        def work(unit: UnitOfWork) -> Receipt:
            receipt = changes.perform(unit, request)
            entries = Entries(unit.transaction)
            if effect.entry is None:
                entries.drop(self.name, effect.key)
            else:
                entries.put(self.name, _known(effect.entry, receipt.ids[0]))
            Operations(unit.transaction).end(operation.id)
            self._note_whole(unit.transaction, self._taken_in, self.problems)
            return receipt

        result = self._commit(request, work)
        seen = stamp(self._root, self.name)
        # What a person saved since is not ours: it is still to be taken in.
        self._seen = seen if read_file(self._root, self.name) == self._taken_in else _UNSEEN
        return result

    def _commit(self, request: Request, work: Callable[[UnitOfWork], T]) -> tuple[T, UnitOfWork]:
        def whole(transaction: Transaction) -> tuple[T, UnitOfWork]:
            unit = UnitOfWork(transaction, self._ruleset, request.scope, request.at, self.name)
            result = work(unit)
            commit.settle(unit)
            return result, unit

        return self._database.write(whole)

    def _parsed(self) -> EntryFile:
        return self._parse(read_file(self._root, self.name))

    def _parse(self, data: bytes | None) -> EntryFile:
        """A file's text, of which only the lines are read that were not there when we last looked."""
        if self._read is None or self._read[0] != (data or b""):
            self._read = data or b"", EntryFile.parse(data or b"", self._read[1] if self._read else None)
        return self._read[1]

    def _all_caught_up(self, now: datetime) -> list[UnitOfWork]:
        units = self._caught_up(now)
        while self._rest is not None:
            units += self._caught_up(now)
        return units

    def _caught_up(self, now: datetime) -> list[UnitOfWork]:
        """Under the lock: finish what a crash left, then take in some of what a person changed."""
        units = self._replayed(now)
        seen = stamp(self._root, self.name)
        if seen is None:
            self.write_missing()
            seen = stamp(self._root, self.name)
        if seen is not None and seen.size == 0 and self._blank_by_accident():
            self._rest = None
            return units
        if seen != self._seen or units:
            units += self._absorbed(now)
        self._seen = seen if self._rest is None else _UNSEEN
        return units

    def _blank_by_accident(self) -> bool:
        """An editor that saves in place empties the file first: nothing is forgotten for that moment."""
        kept = self._database.read(lambda tx: Entries(tx).count(self.name))
        if kept:
            self.problems = (
                FileProblem(
                    file=self.name,
                    line=1,
                    message=f"The file is empty; its {kept} entries are kept until it has any text again.",
                    hint="Undo in your editor, or leave a heading in the file if this is what you want.",
                ),
            )
        return kept > 0

    def _replayed(self, now: datetime) -> list[UnitOfWork]:
        pending = self._database.read(lambda tx: Operations(tx).pending(self.name))
        units = []
        self._taken_in = None if pending else self._taken_in
        for operation in pending:
            if operation.kind == changes.MOVE:
                self._move(operation)
                continue
            request = changes.Request.from_plain(operation.payload["request"])
            effect = changes.effect_from_plain(operation.payload["effect"])
            standing = self._parsed().get(effect.key)
            ours = effect.entry.value if effect.entry is not None else None
            value = standing.value if standing is not None else None
            if value not in (ours, effect.base):
                # A person has changed this entry since: theirs stands, and it is taken in below.
                _, unit = self._commit(replace(request, at=now), partial(_overtaken, operation))
            else:
                self._apply(effect)
                _, unit = self._finish(operation, request, effect)
            units.append(unit)
        return units

    def _move(self, operation: FileOperation) -> None:
        """A line that comes or goes with its memory; one that a person has changed since is theirs."""
        effect = changes.effect_from_plain(operation.payload["effect"])
        standing = self._parsed().get(effect.key)
        if (None if standing is None else standing.value) == effect.base:
            self._apply(effect)
        self._database.write(lambda tx: Operations(tx).end(operation.id))

    def write_missing(self) -> None:
        """Write the known entries that the file lacks: after it was lost, or taken over from elsewhere."""
        data = read_file(self._root, self.name)
        file = self._parse(data)
        known = self._database.read(lambda tx: Entries(tx).of(self.name))
        if lacking := [one for one in known.values() if one.memory_id and file.get(one.key) is None]:
            entries = (Entry(key=one.key, value=one.value, **one.fields) for one in lacking)
            file = file.put_new(entries, *_TITLES[self.name])
            replace_file(self._root, self.name, file.to_bytes(), expected=data)

    def _absorbed(self, now: datetime) -> list[UnitOfWork]:
        """Take in what is next of what a person changed; `_rest` is what comes after."""
        data = read_file(self._root, self.name)
        if self._rest is None or self._rest.data != data:
            if self._database.read(lambda tx: self._is_whole(tx, data)):
                self._rest, self.problems, self._taken_in = None, (), data
                return []
            self._rest = self._changes(data)
        rest, found = self._rest, list[FileProblem]()

        def work(unit: UnitOfWork) -> None:
            entries = Entries(unit.transaction)
            found.clear()
            for entry in rest.changed[rest.done : rest.done + _AT_ONCE]:
                key = canonical_key(entry.key)
                known = entries.get(self.name, key) or entries.get(self.name, self._place(key))
                found.extend(self._take_in(unit, key, entry, known))
            start = max(0, rest.done - len(rest.changed))
            for key in rest.gone[start : max(0, rest.done + _AT_ONCE - len(rest.changed))]:
                if (gone := entries.get(self.name, key)) is not None:
                    self._let_go(unit, gone)
            if rest.done + _AT_ONCE >= rest.total:
                self._note_whole(unit.transaction, data, (*rest.problems, *found))

        _, unit = self._commit(self._as_person(changes.Verb.REMEMBER, now), work)
        rest.problems += found
        rest.done += _AT_ONCE
        if rest.total > _TOLD and rest.done % _TOLD == 0:
            logging.getLogger("lamina.engine").warning(
                "%s: %d of %d new or changed lines are taken in.", self.name, rest.done, rest.total
            )
        if rest.done >= rest.total:
            self.problems = tuple(sorted(rest.problems, key=lambda one: one.line))
            self._taken_in, self._rest = data, None
        return [unit]

    def _changes(self, data: bytes | None) -> _Rest:
        """What the file says that is not known, and what is known that it says no more."""
        file, known = self._parse(data), self._database.read(lambda tx: Entries(tx).of(self.name))
        changed, present = list[Entry](), set[str]()
        for entry in file.entries:
            key = canonical_key(entry.key)
            present.add(key)
            one = known.get(key)
            if one is None or not one.memory_id or not _unchanged(one, entry) or is_reserved(key):
                present.add(self._place(key))
                changed.append(entry)
        problems = [
            FileProblem(file=self.name, line=one.line, message=one.message, hint=one.hint)
            for one in file.problems
        ]
        return _Rest(data=data, changed=changed, gone=sorted(known.keys() - present), problems=problems)

    @property
    def _whole(self) -> str:
        """The property that says which bytes the file had when all of it was taken in without a problem."""
        return f"whole:{self.name}"

    def _is_whole(self, transaction: Transaction, data: bytes | None) -> bool:
        return Properties(transaction).get(self._whole) == self._mark_of(transaction, data)

    def _note_whole(
        self, transaction: Transaction, data: bytes | None, problems: Sequence[FileProblem]
    ) -> None:
        if data is None or problems:
            Properties(transaction).drop(self._whole)
        else:
            Properties(transaction).set(self._whole, self._mark_of(transaction, data))

    def _mark_of(self, transaction: Transaction, data: bytes | None) -> str:
        """The bytes, how many entries they are, and the names that were closed: else it is read again."""
        digest = hashlib.sha256(data or b"").hexdigest()
        return f"{digest} {Entries(transaction).count(self.name)} {','.join(RESERVED)}"

    def _as_person(self, verb: Verb, now: datetime) -> Request:
        return changes.Request(verb=verb, scope=self._owner, at=now)

    def _take_in(
        self, unit: UnitOfWork, key: str, entry: Entry, known: KnownEntry | None
    ) -> list[FileProblem]:
        """An entry as the person left it; returns why it is not used, if it is not."""
        mark = self._ruleset.sealer.fingerprint(entry.value) or ""
        if known is not None and known.memory_id and is_reserved(key):
            self._let_go(unit, known)  # it was taken in before such keys were closed
            known = None
        if known is not None and known.memory_id and _unchanged(known, entry):
            return []
        try:
            draft = self._draft_of(key, entry, unit.clock)
        except InvalidInput as error:
            return [FileProblem(file=self.name, line=entry.line, message=error.message, hint=error.hint)]
        unit.scope = draft.scope
        decision = decide(draft, self._ruleset.law(draft.scope))
        if known is not None and (known.memory_id, known.value) == ("", mark):
            code, why = known.fields["code"], ""
            if isinstance(decision, Deny):
                code, why = decision.code, f"{decision.why} {decision.hint}"
            if isinstance(decision, Deny) or code.startswith("conflict_"):
                return [self._refused(entry, code, why)]  # told once
        request = changes.Request(
            verb=changes.Verb.REMEMBER, scope=draft.scope, at=unit.clock, draft=draft, decision=decision
        )
        try:
            receipt = changes.perform(unit, request)
        except Damaged as error:  # its line stays as it is, and the others are taken in
            return [FileProblem(file=self.name, line=entry.line, message=error.message, hint=error.hint)]
        if receipt.decision is Outcome.DENIED:
            refused = KnownEntry(self._place(key), "", mark, {"code": receipt.code})
            Entries(unit.transaction).put(self.name, refused)
            return [self._refused(entry, receipt.code, " ".join(receipt.warnings))]
        Entries(unit.transaction).put(self.name, _known(entry, receipt.ids[0]))
        return []

    def _place(self, key: str) -> str:
        """What a refused entry is known by: its key may be the very thing that is not to be kept."""
        return (self._ruleset.sealer.fingerprint(key) or "") if find_secrets(key) else key

    def _refused(self, entry: Entry, code: str, why: str) -> FileProblem:
        message, hint = f"This entry is refused ({code}).", why.strip() or "Change it."
        return FileProblem(file=self.name, line=entry.line, message=message, hint=hint)

    def _let_go(self, unit: UnitOfWork, known: KnownEntry) -> None:
        """An entry whose line the person took out."""
        memory = Memories(unit.transaction).load([known.memory_id]).get(known.memory_id)
        if memory is None and unit.transaction.damage.has("memory", known.memory_id):
            return  # it cannot be read, so it cannot be put aside either
        if memory is not None and memory.state is State.ACTIVE:
            unit.scope = self._owner
            request = replace(
                self._as_person(changes.Verb.FORGET, unit.clock),
                memory_id=known.memory_id,
                undo_days=self._config.undo_days,
                reason=f"taken out of {self.name}",
            )
            changes.perform(unit, request)
        Entries(unit.transaction).drop(self.name, known.key)

    def _draft_of(self, key: str, entry: Entry, now: datetime) -> Draft:
        ttl, _ = parse_ttl(entry.ttl, now)
        check_ttl(ttl, self._space)
        # The file is the person's channel: its `source` may lower the authority, never raise it.
        inferred = entry.source == "user_inferred"
        return Draft(
            scope=replace(self._owner, role=Role.AGENT if inferred else Role.USER),
            text=well_formed(entry.value, "value", self._config.max_text_chars),
            space=self._space,
            layer=Layer.USER_MODEL if self._space is Space.USER else Layer.WORKING,
            kind=Kind(entry.kind),
            key=key,
            priority=entry.priority,
            ttl=ttl,
            reason=f"edited in {self.name}",
        )


def _overtaken(operation: FileOperation, unit: UnitOfWork) -> None:
    unit.record_act("overtaken", operation.target, operation.kind)
    Operations(unit.transaction).end(operation.id)


def _known(entry: Entry, memory_id: str) -> KnownEntry:
    return KnownEntry(canonical_key(entry.key), memory_id, entry.value, changes.fields_of(entry))


def _unchanged(known: KnownEntry, entry: Entry) -> bool:
    return known.value == entry.value and known.fields == changes.fields_of(entry)


def _entry_of(draft: Draft, at: datetime) -> Entry:
    return Entry(
        key=draft.key or "",
        value=draft.text,
        kind=draft.kind.value,
        priority=draft.priority,
        ttl=draft.ttl,
        source=_SOURCE[draft.scope.authority],
        updated_at=iso(at.replace(microsecond=0)),
    )


def _entry_of_memory(memory: Memory, text: str, at: datetime) -> Entry:
    return Entry(
        key=memory.key or "",
        value=text,
        kind=memory.kind.value,
        priority=memory.priority,
        ttl=memory.ttl,
        source=_SOURCE[memory.authority],
        updated_at=iso(at.replace(microsecond=0)),
    )


#: The session of a caller who names none.
DEFAULT_SESSION = "main"


class Homes:
    """The files of one workspace, or none at all."""

    def __init__(self, database: Database, ruleset: Ruleset, config: Config) -> None:
        self._database, self._ruleset, self._config = database, ruleset, config
        self._files: tuple[HomeFile, ...] = ()
        self._problems: tuple[FileProblem, ...] = ()

    def move_in(self, root: Path, adopt: bool, now: datetime) -> Scope | None:
        """Make the workspace's files the home of their entries; their owner, None where others' are that."""
        sweep(root, now=now)
        own, tenant = workspace_id(root, self._config.tenant)
        if tenant and tenant != quoted(self._config.tenant):
            message = f"This workspace's files belong to the tenant {tenant}; they are not used here."
            self._unused(message, "Give each tenant a workspace of its own.")
            return None

        def work(transaction: Transaction) -> tuple[bool, bool]:
            properties = Properties(transaction)
            holder = properties.get(f"home:{PROFILE}")
            if holder is None or adopt:
                properties.set(f"home:{PROFILE}", own)
            return holder in (None, own) or adopt, holder not in (None, own)

        ours, taken_over = self._database.write(work)
        if not ours:
            message = "This store's entries live in the file of another workspace; this one is not used."
            self._unused(message, "Use `lamina init --adopt` to make this workspace's file the home.")
            return None
        owner = Scope(
            tenant=self._config.tenant,
            user=self._config.owner,
            session=self.current_session(),
            project=self._config.project,
            via="file",
        )
        parts = (self._database, self._ruleset, self._config)
        self._files = tuple(HomeFile(root, space, owner, *parts) for space in HOMES)
        if taken_over:
            for home in self._files:
                home.write_missing()
        return owner

    def _unused(self, message: str, hint: str) -> None:
        self._problems = (FileProblem(file=PROFILE, line=1, message=message, hint=hint),)

    def sync(self, now: datetime) -> Iterator[list[UnitOfWork]]:
        """Take in what a person changed; file by file what that came to, if anything changed."""
        for home in self._files:
            while units := home.sync(now):
                yield units

    def tidy(self, shelf: str) -> int:
        """Take lines that only repeat others out of the file of a shelf; how many."""
        return sum(home.tidy() for home in self._files if home.shelf == shelf)

    def look_again(self) -> None:
        """What is known of the files may be out of date."""
        for home in self._files:
            home.look_again()

    def problems(self) -> tuple[FileProblem, ...]:
        """Lines that are not used, and why."""
        return self._problems + tuple(problem for home in self._files for problem in home.problems)

    def shows(self, memory_id: str) -> bool | None:
        """Whether a memory's line is in its file right now; None where it has no file."""
        return next((known for home in self._files if (known := home.shows(memory_id)) is not None), None)

    def current_session(self) -> str:
        """The session of the workspace's owner whose entries are in SESSION.md."""
        return self._database.read(lambda tx: Properties(tx).get("session")) or DEFAULT_SESSION

    def enter_session(self, name: str, now: datetime) -> None:
        """From now on SESSION.md is about another session of the owner."""
        self._database.write(lambda tx: Properties(tx).set("session", name))
        for home in self._files:
            home.enter(name, now)

    def of(self, request: Request, seen: Database) -> HomeFile | None:
        """The file that a request changes, if it changes one; `seen` is the store as the caller reads it."""
        if not self._files or (request.verb is changes.Verb.REMEMBER and request.draft is None):
            return None
        if isinstance(request.decision, Hold):
            return None  # it waits in the store
        if request.verb is changes.Verb.REMEMBER and request.draft is not None:
            draft = request.draft
            return self._holder(draft.scope, draft.space, None if draft.place else draft.key)
        memory = seen.read(lambda tx: Memories(tx).load([request.memory_id])).get(request.memory_id)
        if memory is None:
            return None  # or it cannot be read, which whoever carries it out will say
        if request.target is not None and (home := self._holder(request.scope, request.target, memory.key)):
            return home
        return next((home for home in self._files if home.name == memory.file), None)

    def _holder(self, scope: Scope, space: Space, key: str | None) -> HomeFile | None:
        return next((home for home in self._files if home.holds(scope, space, key)), None)
