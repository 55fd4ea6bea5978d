"""What happened: history, changes, trace events and the audit, each numbered and append-only."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import takewhile
from typing import Any

from lamina.model import (
    CHAIN,
    AuditRecord,
    HistoryEntry,
    HistoryOp,
    Memory,
    TraceEvent,
    canonical,
    chain_of_number,
    iso,
)
from lamina.records import dataclass
from lamina.storage.database import Row, Tables, Transaction
from lamina.storage.ledger import STORE, lane_of
from lamina.storage.memories import from_row, micros, moment
from lamina.storage.rows import legible, shortened, whole


def next_number(transaction: Transaction, name: str) -> int:
    """The next value of one of the tenant's counters; who writes is alone on it, and need not wait for it."""
    number = transaction.noted["number", name] = last_number(transaction, name) + 1
    transaction.noted.setdefault("counted", set()).add(name)
    transaction.ledger.waiting["numbers"] = lambda: _write_numbers(transaction)
    return number


def _write_numbers(transaction: Transaction) -> None:
    names = sorted(transaction.noted.pop("counted", ()))
    rows = [{"name": name, "value": transaction.noted["number", name]} for name in names]
    transaction.many("raise_number", rows)


def next_shared(transaction: Transaction, name: str) -> int:
    """The next of numbers that nobody is told: behind all before it, with gaps or without."""
    row = transaction.one("next_shared", name=name)
    return int(row[0]) if row else 0


def last_number(transaction: Transaction, name: str) -> int:
    """The newest value of one of the tenant's counters, 0 before its first."""
    known: int | None = transaction.noted.get(("number", name))
    if known is None:
        row = transaction.one("read_number", name=name)
        known = transaction.noted["number", name] = int(row[0]) if row else 0
    return known


def raise_number(transaction: Transaction, name: str, value: int) -> None:
    """A counter is at least so far from now on."""
    transaction.noted["number", name] = value = max(value, last_number(transaction, name))
    transaction.run("raise_number", name=name, value=value)


class History(Tables):
    """The life of each memory."""

    def add(self, entry: HistoryEntry, *, first: bool = False) -> int:
        """Record one step; returns its number within the memory's life, which begins with the first."""
        last = 0 if first else self._last(entry.memory_id)
        number = self._tx.noted["step", entry.memory_id] = last + 1
        told = {
            "memory_id": entry.memory_id,
            "revision": entry.revision,
            "op": entry.op.value,
            "at": micros(entry.at),
            "actor": entry.actor,
            "via": entry.via,
            "decision": canonical(entry.decision),
        }
        ledger = self._tx.ledger
        seal = ledger.put("history", ledger.row("history", {**told, "number": number}))
        words = {"old_text": entry.old_text, "new_text": entry.new_text}
        self._tx.run("add_history", number=number, seal=seal, **told, **words)
        return number

    def _last(self, memory_id: str) -> int:
        if (known := self._tx.noted.get(("step", memory_id))) is not None:
            return int(known)
        row = self._tx.one("last_step", memory_id=memory_id)
        return int(row[0]) if row else 0

    def of(self, memory_id: str) -> list[HistoryEntry]:
        return self._tx.each(step_of, "history_of", memory_id=memory_id)


def step_of(row: Row) -> HistoryEntry:
    return HistoryEntry(
        memory_id=row[0],
        revision=row[2],
        op=HistoryOp(row[3]),
        at=moment(row[4]),
        actor=row[5],
        via=row[6],
        old_text=row[7],
        new_text=row[8],
        decision=json.loads(row[9]),
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One numbered line of a thread's delta."""

    revision: int
    at: str
    event: str
    memory_id: str


class Changes(Tables):
    """What changed, counted per thread."""

    def add(self, thread: str, event: str, memory_id: str, shelf: str, at: int) -> None:
        """Record a change of a memory of this shelf; the thread has a new revision by it."""
        noted = self._tx.noted
        in_thread, on_shelf = ("changes in", thread), ("changes on", shelf)
        if in_thread not in noted or on_shelf not in noted:
            row = self._tx.one("last_change", thread=thread, shelf=shelf) or (0, 0)
            noted[in_thread], noted[on_shelf] = row[:2]
        noted[in_thread] += 1
        noted[on_shelf] += 1
        numbers = {"revision": noted[in_thread], "number": noted[on_shelf]}
        self._tx.run(
            "add_change", thread=thread, at=at, event=event, memory_id=memory_id, shelf=shelf, **numbers
        )

    def since(self, thread: str, revision: int, limit: int) -> list[Change]:
        rows = self._tx.all("changes_since", thread=thread, since=revision, limit=limit)
        return [Change(number, iso(moment(at)), event, memory) for number, at, event, memory in rows]


def _told(event: dict[str, Any]) -> str:
    """An event as it is kept; what says no more than that a border was open is the same each time."""
    flat = not any(isinstance(value, list | dict) for value in event.values())
    return _told_flat(tuple(event.items())) if flat else shortened(canonical(event))


@lru_cache(maxsize=64)
def _told_flat(items: tuple[tuple[str, Any], ...]) -> str:
    return shortened(canonical(dict(items)))


class Events(Tables):
    """The trace."""

    def add(self, events: Sequence[tuple[int, str, dict[str, Any]]], at: int) -> None:
        """Number, shelf and event, in the order in which they are told."""
        ledger = self._tx.ledger
        rows = [
            {
                "seq": number,
                "at": at,
                "type": data["type"],
                "shelf": shelf,
                "data": _told(data),
            }
            for number, shelf, data in events
        ]
        for row in rows:
            ledger.put("event", ledger.row("event", row))
        if rows:
            self._tx.many("add_event", rows)

    def last(self, shelves: Sequence[str], limit: int) -> list[TraceEvent]:
        """The newest events of these shelves, oldest of them first.

        Within a chain they are in the order of their numbers; between chains their times decide.
        """
        chains: dict[int, list[str]] = defaultdict(list)
        for shelf in shelves:
            chains[self._tx.ledger.order.chain(lane_of(shelf))].append(shelf)
        found = [
            self._tx.each(event_of, "events_last", shelves=some, limit=limit)[::-1]
            for some in chains.values()
        ]
        by_chain: dict[int, list[TraceEvent]] = defaultdict(list)
        for event in (one for some in found for one in some):  # of a store that had one chain before
            by_chain[chain_of_number(event.seq)].append(event)
        return list(heapq.merge(*by_chain.values(), key=lambda one: one.at))[-limit:]

    def raw(self, ranges: Sequence[tuple[str, str]], page: int = 2000) -> Iterator[tuple[int, str]]:
        """Every event on shelves within ranges of names, its number and its words."""
        for first, beyond in ranges:
            shelf, seq = first, -(2**62)
            while rows := self._tx.all("events_within", shelf=shelf, seq=seq, beyond=beyond, limit=page):
                yield from ((number, whole(data)) for _, number, data in rows)
                shelf, seq = rows[-1][:2]

    def rewrite(self, seq: int, event: dict[str, Any]) -> None:
        """An event says something else from now on."""
        ledger, text = self._tx.ledger, shortened(canonical(event))
        for old in self._tx.all("sealed_event_of", seq=seq):
            ledger.take("event", [old])
            ledger.put("event", ledger.changed("event", old, {"data": text}))
        self._tx.run("write_event", seq=seq, data=text)

    def get(self, seq: int) -> TraceEvent | None:
        return self._tx.only(event_of, "event_by_seq", seq=seq)


def event_of(row: Row) -> TraceEvent:
    seq, at, kind, shelf, data = row
    return TraceEvent(seq=seq, at=moment(at), type=kind, shelf=shelf, data=json.loads(whole(data)))


@dataclass(frozen=True, slots=True)
class ChainHead:
    """How far a chain goes."""

    seq: int  #: of its newest record
    hash: str
    at: datetime | None  #: None for an empty chain
    event: int  #: the number of its newest event


class AuditLog(Tables):
    """The rows of the chains."""

    def head(self, lane: str = STORE) -> tuple[int, str]:
        """Number and hash of the newest record in the chain of a lane; no hash for an empty chain."""
        newest = self.newest(lane)
        return newest.seq, newest.hash

    def newest(self, lane: str = STORE) -> ChainHead:
        """How far the chain of a lane goes. What the seal over the lane needs is read along."""
        ledger = self._tx.ledger
        first = ledger.order.chain(lane) * CHAIN
        row = self._tx.one("audit_head", lane=lane, top=ledger.top(lane), first=first, beyond=first + CHAIN)
        if row is None:
            last = self._tx.one("last_event", first=first, beyond=first + CHAIN)
            return ChainHead(first, "", None, max(first, last[0] if last else 0))
        ledger.meet(lane, row[4], row[5])
        # A damaged one is no reason to write nothing any more: the check finds it.
        return ChainHead(row[0], legible(row[1]), moment(row[2]), max(first, row[3]))

    def heads(self) -> dict[int, tuple[int, str, datetime]]:
        """By chain, number, hash and time of its newest record; chains without any are left out."""
        rows = self._tx.all("audit_heads", size=CHAIN, last=self._tx.ledger.order.chains)
        return {
            chain_of_number(seq): (seq, legible(digest), moment(at))
            for seq, digest, at in rows
            if seq is not None
        }

    def count(self) -> int:
        """How many records there are, as their numbers have it."""
        return sum(seq % CHAIN for seq, _, _ in self.heads().values())

    def last(self, before: int, limit: int) -> list[AuditRecord]:
        """The newest records of all chains, or of those that are older than one; newest first."""
        at, seq = 2**62, 2**62
        if before:
            rows = self._tx.all("audit_after", after=before - 1, limit=1)
            at, seq = (rows[0][1], before) if rows else (at, before)
        return self._tx.each(record_of, "audit_newest", at=at, seq=seq, limit=limit)

    def newest_record(self) -> AuditRecord | None:
        """The newest record of the store's own chain."""
        return next(self.after(self.head()[0] - 1, page=1), None)

    def add(self, record: AuditRecord) -> None:
        self._tx.run(
            "add_audit",
            seq=record.seq,
            at=micros(record.at),
            op=record.op,
            scope=record.scope,
            key=record.key,
            memory_id=record.memory_id,
            number=record.number,
            actor=record.actor,
            via=record.via,
            run_id=record.run_id,
            reason=record.reason,
            old_hash=record.old_hash,
            new_hash=record.new_hash,
            key_id=record.key_id,
            prev=record.prev,
            hash=record.hash,
        )
        self._tx.ledger.put("audit", (record.seq, record.hash), lane_of(record.memory_id or record.scope))

    def behind(self, seq: int, chain: int) -> Iterator[AuditRecord]:
        """Every record of a chain above a number, in order."""
        first = max(seq, chain * CHAIN)
        return takewhile(lambda one: chain_of_number(one.seq) == chain, self.after(first))

    def after(self, seq: int, page: int = 1000) -> Iterator[AuditRecord]:
        """Every record above a number, in order, chain after chain."""
        while rows := self._tx.all("audit_after", after=seq, limit=page):
            yield from map(record_of, rows)
            seq = rows[-1][0]

    def words(self, page: int = 1000) -> Iterator[Row]:
        """Number, memory, step, the hashes of its old and new words, and both as the history has them now."""
        seq = -(2**62)
        while rows := self._tx.all("words_after", after=seq, limit=page):
            yield from rows
            seq = rows[-1][0]

    def subjects_of(self, ids: Sequence[str]) -> Iterator[Row]:
        """As `subjects`, of some memories."""
        for memory_id in ids:
            yield from self._tx.all("audit_subjects_of", id=memory_id)

    def subjects(self, page: int = 2000) -> Iterator[Row]:
        """Number, run, memory and step of every record that may have had words."""
        seq = -(2**62)
        while rows := self._tx.all("audit_subjects", after=seq, limit=page):
            yield from rows
            seq = rows[-1][0]

    def end_of(self, memory_id: str) -> list[Row]:
        """Number, time, act, actor and reason of what ended a memory."""
        return self._tx.all("audit_of", id=memory_id)

    def ends(self) -> list[Row]:
        """Number, act, memory and step of every record that lets words be missing."""
        return self._tx.all("audit_ends")

    def untold(self) -> str | None:
        """A memory with a step in its history that no record tells of, if there is any."""
        row = self._tx.one("history_without_record")
        return None if row is None else row[0]

    def unfounded(self) -> list[str]:
        """Ids of memories that say something else than what was recorded of them, or were never recorded."""
        names = ("memories_unlike_history", "memories_without_history")
        return sorted({row[0] for name in names for row in self._tx.all(name)})

    def values(self, record: AuditRecord) -> tuple[str | None, str | None, str]:
        """Old text, new text and the person's reason behind a record, as far as they are still kept."""
        row = self._tx.one("audit_values", memory_id=record.memory_id, number=record.number)
        if row is None:
            return None, None, record.reason
        return row[0], row[1], json.loads(row[2]).get("reason") or record.reason


def record_of(row: Row) -> AuditRecord:
    return AuditRecord(
        seq=row[0],
        at=moment(row[1]),
        op=row[2],
        scope=row[3],
        key=row[4],
        memory_id=row[5],
        number=row[6],
        actor=row[7],
        via=row[8],
        run_id=row[9],
        reason=row[10],
        old_hash=row[11],
        new_hash=row[12],
        key_id=row[13],
        prev=row[14],
        hash=row[15],
    )


#: The ids of guesses, which wait in a list of their own.
_GUESSES = "%:%:pending:%"


@dataclass(frozen=True, slots=True)
class ShelfChange:
    """One change of a memory."""

    number: int
    at: datetime
    event: str
    memory_id: str


#: What may happen to a memory, in the log of changes.
_EVENTS = frozenset({"created", "updated", "merged", "deleted", "soft_deleted", "restored"})


def _shelf_change(row: Row) -> ShelfChange:
    if row[2] not in _EVENTS:
        raise ValueError("no such change")
    return ShelfChange(row[0], moment(row[1]), row[2], row[3])


class Deltas(Tables):
    """The changes of a tenant's shelves, as far as the transaction may read them."""

    def after(self, shelf: str, number: int, limit: int) -> list[ShelfChange]:
        """The newest changes above a number, oldest of them first."""
        found = self._tx.each(
            _shelf_change, "changes_on", shelf=shelf, after=number, limit=limit, guesses=_GUESSES
        )
        return found[::-1]

    def last(self, shelf: str) -> int:
        """The number of the newest change on a shelf, 0 before the first."""
        row = self._tx.one("last_change_on", shelf=shelf)
        return int(row[0] or 0) if row else 0

    def revision(self, thread: str) -> int:
        """How many changes were made in a thread."""
        row = self._tx.one("thread_revision", thread=thread)
        return int(row[0] or 0) if row else 0

    def known(self, thread: str, after: int) -> int:
        """How many changes above a revision of a thread the transaction's caller may know of."""
        row = self._tx.one("known_changes", thread=thread, after=after, guesses=_GUESSES)
        return int(row[0] or 0) if row else 0


def always_on(tx: Transaction, shelf: int, category: str, now: datetime, limit: int) -> list[Memory]:
    """What a context always has of a category, what matters most first."""
    return tx.each(from_row, "always_on", shelf=shelf, category=category, now=micros(now), limit=limit)
