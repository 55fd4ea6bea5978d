"""The end of a memory: its words are taken out of every place, and each place is counted afterwards.

A purge is sealed in the audit before anything is looked for elsewhere, so that a chain whose words are gone
can tell a purge from tampering. What has to happen to files is in the outbox until the receipt is sealed:
a crash in between is finished when the memory is next opened (docs/decisions/0016-purge-and-the-audit.md).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Any

from lamina.audit.events import ids_in, told_without
from lamina.errors import Conflict, Denied, LaminaError, NotFound
from lamina.lifecycle.export import drop_exports, exports_with
from lamina.lifecycle.fading import PIECE, keeper, whose
from lamina.model import Memory, Outcome, Role, Scope, State, canonical, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.ends import Purging
from lamina.storage.ledger import lanes_of
from lamina.storage.logs import AuditLog, Events, History
from lamina.storage.memories import Memories, micros, moment
from lamina.storage.sealed_rows import telling_of
from lamina.storage.shelf_contents import around, forgotten_with, put_aside_on
from lamina.storage.small_tables import PURGE, FileOperation, Operations
from lamina.text.entries import EntryFile
from lamina.workspace.files import drop_versions, read_file
from lamina.write.commit import again, forbidden
from lamina.write.noes import refuse
from lamina.write.store import Caller, Store
from lamina.write.unit_of_work import UnitOfWork, is_learning
from lamina.write.verbs import forget, get

_log = logging.getLogger("lamina.engine")

_AT_ONCE = 100
_PAGE = 2000
_TELLING = 8  #: characters; what is shorter stands in too many places to be looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReceipt:
    """What was looked at after a purge, and how much was found there; nothing, where all went well."""

    memory_id: str
    at: datetime
    actor: str
    found: dict[str, int]  #: place to how many traces of the memory it has
    same_words: tuple[str, ...] = ()  #: other memories of this person that have these words too; they stay
    exports: tuple[str, ...] = ()  #: exports on this machine that hold it

    @property
    def clean(self) -> bool:
        """Whether nothing of the memory was found anywhere."""
        return not any(self.found.values())


def purge(
    caller: Caller, memory_id: str = "", *, now: bool = False, exports: bool = False
) -> tuple[PurgeReceipt, ...]:
    """Take the caller's memory, or all of theirs that is due, out of every place for good; a receipt each.

    What can still be restored is purged with `now` only; an active memory is forgotten first. Earlier values
    that it took the place of go with it, and so does what came of it. That the person wants none of it stays
    known, as marks without words. With `exports`, known exports that hold it are removed. Only a
    person or an administrator may.
    """
    check_owner(caller)
    store = caller.store
    store.sync()
    ids = _ready(caller, memory_id, now) if memory_id else _due_for(caller, now)
    receipts: list[PurgeReceipt] = []
    for start in range(0, len(ids), _AT_ONCE):
        receipts += _purged(store, caller.scope, ids[start : start + _AT_ONCE], exports, bool(memory_id))
    return tuple(receipts)


def purge_due(store: Store, check: Callable[[], None] = lambda: None) -> int:
    """Purge what can no longer be restored, whoever's it is; how many memories. `check` before each batch."""
    total = len(_finished(store, keeper(store)))
    while True:
        check()
        due = store.database.read(lambda tx: Memories(tx).due(store.now(), _AT_ONCE))
        people = {(one := whose(store, memory)).user: one for memory in due}
        done = sum(
            len(_purged(store, people[user], [one for one in due if whose(store, one) == people[user]]))
            for user in sorted(people)
        )
        total += done
        if len(due) < _AT_ONCE or not done:  # what cannot be read stays, and is not tried for ever
            return total


def finish_purges(store: Store) -> None:
    """End what a process began that died: what the outbox says of files, and the receipts."""
    try:
        _finished(store, keeper(store))
    except LaminaError as error:  # it is tried again at the next start, and nothing else waits for it
        _log.warning("A purge that was interrupted could not be finished. %s", error)


def verify_purge(caller: Caller, memory_id: str) -> PurgeReceipt:
    """Look at every place again for a memory that was purged; NotFound where none of the caller's was."""
    check_owner(caller)
    shelves = {memory_id.rpartition(":")[0].rpartition(":")[0]} & set(_own_shelves(caller, memory_id))
    rows = caller.store.database.read(lambda tx: AuditLog(tx).end_of(memory_id)) if shelves else []
    if not rows:
        raise NotFound(f"No memory {memory_id!r:.80} was purged here.", hint="`lamina purge ID` purges one.")
    trail: dict[str, Any] = {"id": memory_id, "shelf": shelves.pop(), "file": None, "key": None, "marks": []}
    for row in rows:
        if row[2] == "purge_receipt":
            trail |= json.loads(row[4])["trail"]
    seen = _looked(caller.store, [FileOperation(0, PURGE, PURGE, trail)])[memory_id]
    _, at, _, actor, _ = rows[0]
    return replace(seen, at=moment(at), actor=actor)


def check_owner(caller: Caller) -> None:
    """Raises Denied for everybody but the person themselves and an administrator."""
    if caller.scope.role not in (Role.USER, Role.ADMIN):
        raise Denied(
            "Only the person or an administrator can take something out for good.",
            code="purge_not_allowed",
            hint="Let the user do it; an agent can forget.",
        )


def _own_shelves(caller: Caller, memory_id: str) -> Iterator[str]:
    """Every shelf of the caller, and that of the memory where it is one of their other sessions."""
    yield from caller.scope.shelves()
    shelf = memory_id.rpartition(":")[0].rpartition(":")[0]
    if shelf.startswith(f"session:{quoted(caller.scope.user)},"):
        yield shelf


def _ready(caller: Caller, memory_id: str, now: bool) -> list[str]:
    """The ids of a memory that may be purged, put aside by now, and of what was forgotten with it."""
    memory = get(caller, memory_id)
    due = memory.state is State.SOFT_DELETED and memory.purge_at and memory.purge_at <= caller.store.now()
    if not due and not now:
        at = memory.purge_at
        until = f"can be restored until {at:%Y-%m-%d}" if at else "was not forgotten"
        raise Conflict(
            f"{memory_id} {until}.",
            code="purge_not_due",
            hint="Purge it with --now.",
        )
    if memory.state is State.ACTIVE:
        receipt = forget(caller, memory_id, reason="purge")
        if receipt.decision is Outcome.DENIED:
            raise Denied(receipt.warnings[0], code=receipt.code)
        return list(receipt.ids)
    scope = caller.scope_of(memory_id)

    def work(unit: UnitOfWork) -> list[str]:
        refuse(unit, again(unit, memory), memory_id, "purged")  # unless they said no to it before
        reach = around(unit.transaction, memory, scope)
        return [memory_id, *(one.id for one in forgotten_with(unit.transaction, memory, reach))]

    return caller.store.act(scope, work)


def _due_for(caller: Caller, now: bool) -> list[str]:
    until = 2**62 if now else micros(caller.store.now())

    shelves = caller.scope.shelves()
    return caller.store.database.read(lambda tx: put_aside_on(tx, shelves, until, _PAGE))


def _purged(
    store: Store, scope: Scope, ids: Sequence[str], exports: bool = False, one: bool = False
) -> list[PurgeReceipt]:
    """Purge these memories, none of which is active; `one` for a person's own choice, looked into closely."""
    if not ids:
        return []
    store.count_now()  # what waits to be counted names them too
    words: set[str] = set()
    for start in range(0, len(ids), PIECE):
        words |= _taken_out(store, scope, ids[start : start + PIECE], frozenset(ids))
    return _finished(store, scope, tuple(words) if one else (), exports)


def _taken_out(store: Store, scope: Scope, ids: Sequence[str], leaving: frozenset[str]) -> set[str]:
    """Everything that the store has of some memories goes, in a transaction; the words they ever had.

    `leaving` are all that go, before or after.
    """
    told = store.database.read(lambda tx: dict(_events_naming(tx, frozenset(ids))))

    def work(unit: UnitOfWork) -> set[str]:
        words: set[str] = set()
        gone: dict[str, Memory] = {}
        for memory_id in ids:
            for memory in _line_of(unit, memory_id):
                gone[memory.id] = memory
        for memory in gone.values():
            if scope.role is not Role.SYSTEM and (objection := forbidden(unit, memory)):
                raise Denied(objection.why, code=objection.code, hint=objection.hint)
            words.update(_end(unit, memory, leaving | gone.keys()))
        names = frozenset(gone)
        later = _events_naming(unit.transaction, names) if len(names) > len(ids) else told.items()
        for seq, data in later:
            Events(unit.transaction).rewrite(seq, told_without(json.loads(data), names))
        return words

    return store.act(scope, work, lanes_of(*ids))


def _line_of(unit: UnitOfWork, memory_id: str) -> Iterator[Memory]:
    """A memory that is still put aside, and what it took the place of or was made of, however far back."""
    memory = unit.memories.load([memory_id]).get(memory_id)
    if memory is None or memory.state is State.ACTIVE:
        return  # somebody restored it meanwhile, or it cannot be read
    shelf, _, _ = unit.memories.place(memory_id)
    waiting = [memory]
    while waiting:
        yield (one := waiting.pop())
        waiting += Purging(unit.transaction).taken_over(shelf, one.id)


def _end(unit: UnitOfWork, memory: Memory, gone: Set[str]) -> set[str]:
    """Everything that the store has of a memory, in one transaction; returns the words it ever had."""
    transaction, purging, one = unit.transaction, Purging(unit.transaction), memory.id
    steps = History(transaction).of(one)
    words = {memory.text, *(text for step in steps for text in (step.old_text, step.new_text) if text)}
    shelf, slot, _ = unit.memories.place(one)
    unit.unindex(shelf, slot, memory)
    # Whatever once took its place repeats it there, even where that was undone since.
    heirs = {memory.superseded_by, *(step.decision.get("by") for step in steps)} - {None, *gone}
    echoes = [
        (heir, number)
        for heir in sorted(map(str, heirs))
        for text in sorted(words)
        for number in purging.echoes(heir, text)
    ]
    for heir, number in echoes:
        purging.scrub(heir, number)
        unit.record_end("purge", heir, f"repeats {one}", number)
    purging.remove(one, [text for text in words if len(text) >= _TELLING])
    unit.record_end("purge", one, "purged")
    seal = unit.ruleset.sealer.fingerprint
    trail = {
        "id": one,
        "shelf": memory.shelf,
        "file": memory.file,
        "key": memory.key,
        "marks": sorted(str(seal(text)) for text in words),
        "echoes": [list(echo) for echo in echoes],
        "same": [one for one in _repeating(transaction, memory) if one not in gone],
    }
    Operations(transaction).add(PURGE, PURGE, trail, unit.now)
    return words


def _finished(
    store: Store, scope: Scope, words: Sequence[str] = (), exports: bool = False
) -> list[PurgeReceipt]:
    """Do to the files what the outbox says, count what is left anywhere, and seal that."""
    pending = store.database.read(lambda tx: Operations(tx).of(PURGE))
    if not pending:
        return []
    _in_files(store, pending, dry=False)
    if exports:
        for owner in {person_of(one.payload["shelf"]) for one in pending}:
            drop_exports(store, owner, [one.payload["id"] for one in pending])
    seen = _looked(store, pending)
    others = {one for receipt in seen.values() for one in receipt.same_words}
    telling = [word for word in words if len(word) >= _TELLING] if not others else []
    left = store.database.scour(telling)
    if telling and left is not None:
        seen = {name: replace(one, found={**one.found, "bytes": left}) for name, one in seen.items()}
    receipts: list[PurgeReceipt] = []

    for start in range(0, len(pending), PIECE):
        receipts += _signed(store, scope, pending[start : start + PIECE], seen)
    return receipts


def _signed(
    store: Store, scope: Scope, pending: Sequence[FileOperation], seen: Mapping[str, PurgeReceipt]
) -> list[PurgeReceipt]:
    """Seal what was seen after some purges, and end them."""

    def work(unit: UnitOfWork) -> list[PurgeReceipt]:
        # Another process may have ended them meanwhile.
        still = {one.id for one in Operations(unit.transaction).of(PURGE)}
        receipts = []
        for operation in pending:
            trail = operation.payload
            made = replace(seen[trail["id"]], at=unit.now, actor=unit.scope.actor)
            receipts.append(made)
            if operation.id in still:
                told = canonical({"found": made.found, "trail": trail})
                unit.record_end("purge_receipt", trail["id"], told)
                Operations(unit.transaction).end(operation.id)
        return receipts

    return store.act(scope, work, lanes_of(*(one.payload["id"] for one in pending)))


def _looked(store: Store, pending: Sequence[FileOperation]) -> dict[str, PurgeReceipt]:
    """Count in every place what there is of some memories."""
    trails = {one.payload["id"]: one.payload for one in pending}
    lines, kept = _in_files(store, pending, dry=True)

    def work(transaction: Transaction) -> dict[str, PurgeReceipt]:
        stray = {
            shelf: Purging(transaction).strays(shelf) for shelf in {one["shelf"] for one in trails.values()}
        }
        named = _still_told(transaction, frozenset(trails))
        return {
            one: PurgeReceipt(
                memory_id=one,
                at=store.now(),
                actor="",
                found={
                    **Purging(transaction).counted(one),
                    "index": stray[trail["shelf"]][0],
                    "vectors": stray[trail["shelf"]][1],
                    "trace": named.get(one, 0),
                    "audit_files": lines.get(one, 0),
                    "files": kept.get(one, 0),
                },
                same_words=tuple(sorted(Memories(transaction).load(trail.get("same", [])))),
                exports=exports_with(transaction, person_of(trail["shelf"]), one),
            )
            for one, trail in trails.items()
        }

    return store.database.read(work)


def _repeating(transaction: Transaction, memory: Memory) -> list[str]:
    """Other memories of the same person with these words in them, such as the turn in which it was said."""
    telling, owner = len(memory.text) >= _TELLING, person_of(memory.shelf)
    return Purging(transaction).repeating(owner, memory.text, telling=telling)


def person_of(shelf: str) -> str:
    """Whose shelf it is, in the form of a file name; nobody's for a project or the system."""
    space, _, owner = shelf.partition(":")
    return owner.partition(",")[0] if space in ("user", "session") else ""


def _events_naming(transaction: Transaction, ids: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Every event that names one of these memories, with its number.

    What is a person's is told of on their own shelves and on those that people share; the cost follows these.
    """
    for seq, data in Events(transaction).raw(telling_of(ids)):
        if not ids.isdisjoint(ids_in(data)):
            yield seq, data


def _still_told(transaction: Transaction, ids: frozenset[str]) -> dict[str, int]:
    """By memory, how many events still have words of it."""
    found: dict[str, int] = {}
    for _, data in _events_naming(transaction, ids):
        event = json.loads(data)
        for one in ids.intersection(ids_in(data)):
            if told_without(event, frozenset({one})) != event:
                found[one] = found.get(one, 0) + 1
    return found


def _in_files(
    store: Store, pending: Sequence[FileOperation], *, dry: bool
) -> tuple[dict[str, int], dict[str, int]]:
    """Take the words out of the files beside the store: the audit's lines, and kept versions of files.

    Returns by memory how many lines and how many files had any; with `dry` nothing is changed.
    """
    lines: dict[str, int] = {}
    kept: dict[str, int] = {}
    if (root := store.root) is None:
        return lines, kept
    for run_id, seqs in store.database.read(lambda tx: _audited(tx, pending)).items():
        which = {seq: half for seq, (half, _) in seqs.items()}
        for seq in store.mirror.scrub(run_id, which, dry=dry):
            lines[seqs[seq][1]] = lines.get(seqs[seq][1], 0) + 1
    for operation in pending:
        trail = operation.payload
        if (name := trail["file"]) is None:
            continue
        if is_learning(name):
            found = drop_versions(root, name, lambda _: True, dry=dry) + (read_file(root, name) is not None)
        else:
            has = _has_entry(store, trail["key"], frozenset(trail["marks"]))
            found = drop_versions(root, name, has, dry=dry) + has(read_file(root, name) or b"")
        kept[trail["id"]] = found
    return lines, kept


def _has_entry(store: Store, key: str, marks: frozenset[str]) -> Callable[[bytes], bool]:
    """Whether a file has an entry with this key and a value of which we know the seal."""

    def has(data: bytes) -> bool:
        entry = EntryFile.parse(data).get(key)
        return entry is not None and store.ruleset.sealer.fingerprint(entry.value) in marks

    return has


def _audited(
    transaction: Transaction, pending: Sequence[FileOperation]
) -> dict[str, dict[int, tuple[str, str]]]:
    """Run to the numbers of the records with words of these memories: which of the two, and whose."""
    ids = {one.payload["id"] for one in pending}
    echoes = {
        (heir, number): one.payload["id"] for one in pending for heir, number in one.payload.get("echoes", ())
    }
    found: dict[str, dict[int, tuple[str, str]]] = {}
    named = sorted({*ids, *(heir for heir, _ in echoes)})
    for seq, run_id, one, number in AuditLog(transaction).subjects_of(named):
        if one in ids:
            found.setdefault(run_id, {})[seq] = ("all", one)
        elif (one, number) in echoes:
            found.setdefault(run_id, {})[seq] = ("old", echoes[one, number])
    return found
