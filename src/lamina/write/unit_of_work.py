"""One transaction's bookkeeping, and what governs it.

A change is in history, thread, trace and audit, or it is nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.audit import events
from lamina.audit.chain import Sealer, audit_line
from lamina.encoders.port import Embedder
from lamina.language.secrets.privacy import Allowed
from lamina.model import (
    AuditRecord,
    HistoryEntry,
    HistoryOp,
    Layer,
    Memory,
    Phase,
    Role,
    Scope,
    Space,
    State,
    canonical,
    quoted,
)
from lamina.policy.categories import Categories
from lamina.policy.consent import Fields, load_fields
from lamina.policy.gates import Law
from lamina.policy.rules import Policy
from lamina.records import dataclass
from lamina.retrieval.meaning import meant_by, vectors_of
from lamina.similarity.merge_bands import MergeBands
from lamina.storage.database import Transaction
from lamina.storage.ledger import lane_of
from lamina.storage.logs import (
    AuditLog,
    ChainHead,
    Changes,
    Events,
    History,
    last_number,
    next_number,
)
from lamina.storage.memories import Memories, micros
from lamina.storage.refusals import KnownMarks
from lamina.storage.search_index import WRITTEN, TextIndex, Vectors, Voice
from lamina.storage.small_tables import Operations, Phases
from lamina.text.terms import terms

if TYPE_CHECKING:
    from lamina.language.rulebook import Rulebook

#: What a step in a memory's history is called in the audit (CM-10) and in a thread's delta (IS-1).
_AUDIT_OP = {
    HistoryOp.ADD: "upsert",
    HistoryOp.UPDATE: "upsert",
    HistoryOp.DELETE: "delete",
    HistoryOp.RESTORE: "restore",
    HistoryOp.TTL: "expire",
    HistoryOp.MERGE: "merge",
    HistoryOp.LINK: "link",
}


class _Subject(NamedTuple):
    """What a record of the audit is about: a memory, the number of a step of its life, its key."""

    memory_id: str | None = None
    number: int | None = None
    key: str | None = None


_NOBODY = _Subject()
_FILE_SCOPE = {"PROFILE.md": "profile", "SESSION.md": "session"}
_CHANGE = {
    HistoryOp.ADD: "created",
    HistoryOp.UPDATE: "updated",
    HistoryOp.DELETE: "soft_deleted",
    HistoryOp.RESTORE: "restored",
    HistoryOp.TTL: "deleted",
    HistoryOp.MERGE: "merged",
}


#: A clock that is less behind the store than this is one of several that differ, or was corrected.
_FAR_BEHIND = timedelta(days=1)

#: Where what is learnt is written down, and the name of the operation that does it.
LEARNINGS, LEARNING = "memory/learnings/", "learning"


@dataclass(frozen=True, slots=True)
class OpenShelf:
    """A shelf that is being written to, and the phase it is in."""

    name: str
    number: int
    phase: Phase


@dataclass(slots=True)
class UnitOfWork:
    """Everything one change may touch, and what it came to."""

    transaction: Transaction
    ruleset: Ruleset
    scope: Scope
    clock: datetime  #: what the caller's clock says: by it deadlines are set and kept
    home: str | None = None  #: the file whose lock the caller holds, None for a change in the database alone
    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  #: run id, audit line
    written: list[Memory] = field(default_factory=list)
    done: list[tuple[HistoryOp, Memory]] = field(default_factory=list)  #: every step of every memory
    traced: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  #: shelf, event
    shelves: dict[str, OpenShelf] = field(default_factory=dict)  #: those whose clock this change moved
    heads: dict[int, ChainHead] = field(default_factory=dict)  #: how far the chains go that this change met
    unlearnt: dict[int, dict[int, str]] = field(default_factory=dict)  #: shelf, slot, what has no vector yet
    unlinked: dict[int, dict[int, Memory]] = field(default_factory=dict)  #: the same, what has no edges yet
    filed: bool = False  #: whether a file of something learnt has to follow
    closeness: dict[str, float] = field(default_factory=dict)  #: of what was merged into a memory, by its id
    known: dict[str, OpenShelf] = field(default_factory=dict)  #: every shelf met in this transaction
    looked_up: dict[tuple[str, ...], Any] = field(default_factory=dict)  #: what was found out about a draft
    _told: list[tuple[str, dict[str, Any]]] | None = None  #: the events, once they are kept
    _now: datetime | None = None

    def __post_init__(self) -> None:
        self.transaction.told(now=micros(self.clock))

    @property
    def now(self) -> datetime:
        """The store's time, which what is written gets: the clock's, but never before what was written last.

        Clocks differ between machines and are set back; the order of what happened does not change for that.
        """
        if self._now is None:
            latest = self._head(lane_of(self.scope.shelf(Space.USER) or ""))[1].at
            self._now = self.clock if latest is None else max(self.clock, latest)
        return self._now

    def _head(self, lane: str) -> tuple[int, ChainHead]:
        """The chain that a lane is in, and how far it goes."""
        chain = self.transaction.ledger.chain(lane)
        if chain not in self.heads:
            self.heads[chain] = AuditLog(self.transaction).newest(lane)
        return chain, self.heads[chain]

    @property
    def said_now(self) -> datetime:
        """The date of what is being said: the store's time, or the clock's where that is far behind.

        Then a clock once stood months or years ahead, and the dates people ask for would be wrong till then.
        """
        return self.now if self.now - self.clock < _FAR_BEHIND else self.clock

    def after(self, before: UnitOfWork) -> None:
        """Go on where another change of the same transaction ended."""
        self.heads, self._now = dict(before.heads), max(self.clock, before.now)
        self.unlearnt, self.unlinked = before.unlearnt, before.unlinked
        self.known = before.known
        self.looked_up = {about: found for about, found in before.looked_up.items() if about[0] == "guards"}

    @property
    def forgotten_turns(self) -> list[Memory]:
        """The turns that this change put aside."""
        return [
            one
            for op, one in self.done
            if op is HistoryOp.DELETE and one.layer is Layer.WORKING and one.state is State.SOFT_DELETED
        ]

    @property
    def memories(self) -> Memories:
        return Memories(self.transaction)

    @property
    def seen(self) -> Transaction:
        """The store as the caller may read it."""
        return self.transaction.narrowed(*self.scope.reach_marks)

    @property
    def text_index(self) -> TextIndex:
        return TextIndex(self.transaction)

    @property
    def snapshot(self) -> dict[str, Any]:
        return self.ruleset.snapshot

    def shelf(self, name: str) -> OpenShelf:
        """A shelf to write to; the first write to it begins its first phase."""
        if (known := self.shelves.get(name)) is not None:
            return known
        if (known := self.known.get(name)) is not None:
            return self._opened(known)
        number, phase = self.text_index.open_shelf(name)
        current = Phases(self.transaction).get(number, phase) if phase else None
        if current is None:
            return self.start_phase(name, number, phase + 1, None, "auto")
        return self._opened(OpenShelf(name, number, current))

    def start_phase(self, name: str, number: int, which: int, title: str | None, reason: str) -> OpenShelf:
        """Begin the next phase of a shelf, `which` it is and how it is called; it takes a tick."""
        tick = next_number(self.transaction, f"tick:{name}")
        phase = Phase(number=which, name=title, reason=reason, started_tick=tick, started_at=self.now)
        Phases(self.transaction).start(number, phase)
        if most := self.ruleset.policy.phase.max_phases:
            Phases(self.transaction).keep(number, which, most)
        space = Space(name.partition(":")[0])
        opened = events.border_check(self.scope, "phase_start", space, None, "allowed", self.snapshot)
        self.trace(name, opened)
        self.trace(name, events.phase_started(self.scope, name, phase, self.snapshot))
        return self._opened(OpenShelf(name, number, phase))

    def _opened(self, shelf: OpenShelf) -> OpenShelf:
        self.shelves[shelf.name] = self.known[shelf.name] = shelf
        return shelf

    def tick(self, shelf: str) -> int:
        """What the clock of a shelf says now."""
        return last_number(self.transaction, f"tick:{shelf}")

    def numbered(self, shelf: str, kind: str) -> tuple[str, int]:
        """The id of the next memory of a kind on a shelf, and its tick."""
        series = f"{shelf}:{kind}"
        self.transaction.ledger.chain(lane_of(shelf))  # nobody else counts on it meanwhile
        number = next_number(self.transaction, f"id:{series}")
        return f"{series}:{number}", next_number(self.transaction, f"tick:{shelf}")

    def record(
        self, op: HistoryOp, memory: Memory, old: str | None, decision: dict[str, Any], audit: str = ""
    ) -> None:
        """One step in a memory's life; `memory` is what it is after the step, `old` its text before."""
        new = None if op in (HistoryOp.DELETE, HistoryOp.TTL) else memory.text
        number = History(self.transaction).add(
            HistoryEntry(
                memory_id=memory.id,
                revision=memory.revision,
                op=op,
                at=self.now,
                actor=self.scope.actor,
                via=self.scope.via,
                old_text=old,
                new_text=new,
                decision=decision,
            ),
            first=op is HistoryOp.ADD,
        )
        if is_learning(memory.file):
            Operations(self.transaction).add(LEARNING, memory.file or "", {"id": memory.id}, self.now)
            self.filed = True
        event = "soft_deleted" if memory.state is State.SOFT_DELETED else _CHANGE.get(op)
        if event is not None:
            self._changed(event, memory)
        self.done.append((op, memory))
        reason = ":".join(str(decision[one]) for one in ("code", "channel") if one in decision)
        subject = _Subject(memory.id, number, memory.key)
        scope = _FILE_SCOPE.get(memory.file or "", memory.shelf)
        record = self._sealed(audit or _AUDIT_OP[op], scope, reason, subject, old, new)
        told = decision.get("reason") or reason
        self.lines.append((record.run_id, audit_line(record, old, new, told)))

    def relive(self, memory: Memory, steps: Sequence[HistoryEntry]) -> None:
        """The life that a memory had before it was restored, step by step as it was told; the audit says of
        each that it was restored, when and by whom."""
        for step in steps:
            number = History(self.transaction).add(step)
            subject, values = _Subject(memory.id, number, memory.key), (step.old_text, step.new_text)
            record = self._sealed(_AUDIT_OP[step.op], memory.shelf, "restored", subject, *values)
            self.lines.append((record.run_id, audit_line(record, *values, "restored")))
        self._changed(_CHANGE[HistoryOp.ADD], memory)
        self.done.append((HistoryOp.ADD, memory))

    def _changed(self, event: str, memory: Memory) -> None:
        Changes(self.transaction).add(self.scope.thread, event, memory.id, memory.shelf, micros(self.now))

    def record_refusal(self, shelf: str, code: str, text: str) -> None:
        """A refusal in the audit: its code and a keyed hash of what was refused, never the text."""
        record = self._sealed("deny", shelf, code, new=text)
        self.lines.append((record.run_id, audit_line(record, None, None, code)))

    def record_act(self, op: str, subject: str, reason: str) -> None:
        """An administrative act, such as making a token."""
        record = self._sealed(op, subject, reason)
        self.lines.append((record.run_id, audit_line(record, None, None, reason)))

    def record_end(self, op: str, memory_id: str, reason: str, number: int | None = None) -> None:
        """What lets the words of a memory be missing: all of it, or of one step what it says was before.

        With `erase`, `memory_id` is the beginning of the ids of everything that a person had.
        """
        record = self._sealed(op, memory_id, reason, _Subject(memory_id, number))
        self.lines.append((record.run_id, audit_line(record, None, None, reason)))

    def wrote(self, memory: Memory) -> None:
        """A memory that the event of this change names as written."""
        self.written.append(memory)

    def trace(self, shelf: str, event: dict[str, Any]) -> None:
        self.traced.append((shelf, event))

    @property
    def told(self) -> list[tuple[str, dict[str, Any]]]:
        """Shelf and event, as the contract orders them: what was written, then what governed it."""
        if self._told is not None:
            return self._told
        names = dict.fromkeys(memory.shelf for memory in self.written)
        return [*((name, self._writing(name)) for name in names), *self.traced]

    def _writing(self, name: str) -> dict[str, Any]:
        phase = self.shelves[name].phase if name in self.shelves else None
        items = [
            events.item(memory, phase if phase and phase.id == memory.phase else None)
            for memory in self.written
            if memory.shelf == name
        ]
        return events.written(self.scope, items)

    def keep_events(self) -> None:
        """Put the events into the store, each with the name of its policy instead of the whole of it."""
        name = self.ruleset.policy_name
        self._told = self.told
        rows = []
        newest: dict[int, int] = {}
        for shelf, event in self._told:
            chain, head = self._head(lane_of(shelf))
            number = newest[chain] = newest.get(chain, head.event) + 1
            kept = {k: name if k in ("policy_snapshot", "policy") else v for k, v in event.items()}
            rows.append((number, shelf, kept))
        for chain, number in newest.items():
            self.heads[chain] = replace(self.heads[chain], event=number)
        if rows:
            Events(self.transaction).add(rows, micros(self.now))

    def index(self, shelf: int, memory: Memory) -> int:
        """Put a memory's words and meaning into the index; returns its slot."""
        slot = self.text_index.add(shelf, indexed_terms(memory), said_in(memory))
        self.transaction.kept.setdefault(WRITTEN, {})[shelf] = None  # an encoder that is slow is behind now
        if self.ruleset.encoder is not None:
            self.unlearnt.setdefault(shelf, {})[slot] = meant_by(memory)
        return slot

    def relate(self, shelf: int, slot: int, memory: Memory) -> None:
        """What says something lasting is linked to what it is close to, at the end of the transaction."""
        if memory.layer is Layer.SEMANTIC and self.ruleset.linker is not None:
            self.unlinked.setdefault(shelf, {})[slot] = memory

    def unindex(self, shelf: int, slot: int | None, memory: Memory) -> None:
        """Take a memory out of the index; `memory` is as it was indexed."""
        if slot is not None:
            self.unlinked.get(shelf, {}).pop(slot, None)
            read = self.unlearnt.get(shelf, {}).pop(slot, None) is None
            unread = Vectors(self.transaction).removing(shelf, slot) if read else None
            self.text_index.remove(shelf, slot, indexed_terms(memory))
            if unread is not None:
                unread()

    def learn(self) -> None:
        """Give what was indexed its vectors, all at once, and link what was said to what it is close to."""
        encoder = self.ruleset.encoder
        for shelf in dict.fromkeys([*self.unlearnt, *self.unlinked]):
            made = vectors_of(encoder, self.unlearnt.get(shelf, {}))
            if self.ruleset.linker is not None and (new := self.unlinked.get(shelf)):
                self.ruleset.linker(self, shelf, new, made)
            if made and encoder is not None:
                Vectors(self.transaction).add(encoder.embedder_id, shelf, made)
        self.unlearnt.clear()
        self.unlinked.clear()

    def _sealed(
        self,
        op: str,
        scope: str,
        reason: str,
        subject: _Subject = _NOBODY,
        old: str | None = None,
        new: str | None = None,
    ) -> AuditRecord:
        chain, head = self._head(lane_of(subject.memory_id or scope))
        sealer = self.ruleset.sealer
        record = sealer.sealed(
            AuditRecord(
                seq=head.seq + 1,
                at=self.now if head.at is None else max(self.now, head.at),
                op=op,
                scope=scope,
                key=subject.key,
                memory_id=subject.memory_id,
                number=subject.number,
                actor=self.scope.actor,
                via=self.scope.via,
                run_id=self.scope.run_id,
                reason=reason,
                old_hash=sealer.fingerprint(old),
                new_hash=sealer.fingerprint(new),
                key_id=sealer.key_id,
                prev=head.hash,
                hash="",
            )
        )
        AuditLog(self.transaction).add(record)
        self.heads[chain] = replace(head, seq=record.seq, hash=record.hash, at=record.at)
        return record


def is_learning(file: str | None) -> bool:
    """Whether a file is the written form of a memory, made from it, and not its home."""
    return file is not None and file.startswith(LEARNINGS)


def indexed_terms(memory: Memory) -> list[str]:
    """The words a memory is found by: its key's and its text's."""
    return terms(f"{memory.key} {memory.text}" if memory.key else memory.text)


def said_in(memory: Memory) -> Voice | None:
    """The conversation that an episode is part of, and whose voice it is."""
    session = memory.provenance.session_id
    if session is None or memory.layer is not Layer.EPISODIC:
        return None
    return Voice(session, int(memory.provenance.role is not Role.USER))


#: The unit of work, shelf, what is new on it by slot, and its vectors where it has any.
Linker = Callable[[Any, int, Mapping[int, Memory], Mapping[int, Any]], None]


@dataclass(frozen=True)
class Ruleset:
    """What every transaction of an engine shares."""

    sealer: Sealer
    policy: Policy
    rulebook: Callable[[], Rulebook]  #: read when something is first heard
    session_timeout: timedelta = timedelta(minutes=30)
    patience: timedelta = timedelta(days=7)  #: how long a guess waits for its person
    allowed: dict[str, frozenset[str]] = field(default_factory=dict)  #: user to fingerprints of no secrets
    categories: Categories = field(default_factory=Categories)
    linker: Linker | None = None  #: links what is new to what it is close to; None links nothing
    fields: Fields = field(default_factory=load_fields)  #: what needs a person's consent
    merging: MergeBands = field(default_factory=MergeBands)
    encoder: Embedder | None = None  #: the table: compares what is written, at once
    noes: KnownMarks = field(default_factory=KnownMarks)  #: what this process knows of people's noes

    @property
    def rules(self) -> Rulebook:
        """How messages are understood."""
        return self.rulebook()

    def law(self, scope: Scope) -> Law:
        """What this caller's drafts are judged by."""
        marks = self.allowed.get(quoted(scope.user), frozenset())
        allowed, known = Allowed(self._allowing_key, marks), frozenset(self.categories.known)
        return Law(self.policy, allowed, known, self.fields)

    @cached_property
    def _allowing_key(self) -> bytes:
        return self.sealer.subkey("allowed")

    @cached_property
    def no_key(self) -> bytes:
        """What the marks of a person's noes are made with."""
        return self.sealer.subkey("no")

    @cached_property
    def snapshot(self) -> dict[str, Any]:
        """The policy as events carry it."""
        return self.policy.snapshot()

    @cached_property
    def policy_name(self) -> str:
        """The property under which the store keeps the snapshot; stored events name it instead of it."""
        return f"policy:{hashlib.sha256(canonical(self.snapshot).encode()).hexdigest()[:16]}"
