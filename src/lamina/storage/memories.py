"""Memories as rows, the edges between them, and what stands beside an answer because of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from lamina.model import (
    Authority,
    Filters,
    Kind,
    Layer,
    Memory,
    Provenance,
    Query,
    Related,
    Role,
    Space,
    State,
    Trust,
    canonical,
    plain,
    quoted,
)
from lamina.storage.database import Row, Tables
from lamina.storage.rows import MEMORY, shortened, whole
from lamina.text.tokens import count_tokens


class SaidAt(NamedTuple):
    """A place in what a user said, in the order of time, shelf and tick."""

    at: datetime
    shelf: int = 0
    tick: int = 0


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime | None) -> int | None:
    """UTC microseconds since 1970; exact, unlike a float timestamp."""
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_micros(value: int | None) -> datetime | None:
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


class Memories(Tables):
    """The rows of one tenant's memories inside one transaction."""

    def add(self, memory: Memory, *, shelf: int, slot: int | None, identity: str) -> None:
        values, ledger = {"shelf": shelf, "identity": identity, **_to_row(memory)}, self._tx.ledger
        seal = ledger.put("memory", ledger.row("memory", values))
        self._tx.run("add_memory", slot=slot, seal=seal, **values)

    def get(self, memory_id: str) -> Memory | None:
        return self._tx.only(from_row, "memory_by_id", id=memory_id)

    def load(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids that exist and can be read."""
        return {one.id: one for one in self._tx.each(from_row, "memories_by_id", ids=list(ids))}

    def active(self, shelf: int, identity: str) -> Memory | None:
        """The one active memory on a shelf that holds this key, or says this."""
        return self._tx.only(from_row, "active_by_identity", shelf=shelf, identity=identity)

    def placed(self, shelf: int, first: str, last: str, now: datetime) -> list[tuple[str, Memory]]:
        """The active memories in a range of places, each with its place, what changed last first."""
        return self._tx.each(_behind, "memories_placed", shelf=shelf, first=first, last=last, now=micros(now))

    def place(self, memory_id: str) -> tuple[int, int | None, str]:
        """Shelf number, slot in the text index, identity."""
        self._tx.told(id=memory_id, memory_id=memory_id)
        row = self._tx.one("memory_place", id=memory_id)
        if row is None:
            raise KeyError(memory_id)
        return row[0], row[1], row[2]

    def identities(self, ids: Sequence[str]) -> dict[str, str]:
        """By their ids, what makes each of these memories the same as another on its shelf."""
        return dict(self._tx.all("identities_of", ids=list(ids))) if ids else {}

    def update(self, memory: Memory, *, slot: int | None, identity: str) -> Memory | None:
        """Store the memory if its revision is still the stored one; None when another writer was first."""
        row = _to_row(memory)
        values = {"identity": identity, **{name: row[name] for name in _MUTABLE}}
        old, ledger = self._tx.all("sealed_memory_of", id=memory.id), self._tx.ledger
        rows = [ledger.changed("memory", one, {"revision": memory.revision + 1, **values}) for one in old]
        element, seal = ledger.element_of("memory", rows[0]) if rows else (0, "")
        if any(ledger.named("memory", one)["revision"] != memory.revision for one in old):
            return None
        expected = {"id": memory.id, "expected": memory.revision}
        done = self._tx.later("update_memory", slot=slot, seal=seal, **expected, **values)
        if not old and not done():  # of a row that cannot be read, the database says it
            return None
        ledger.take("memory", old)
        for one in rows:
            ledger.add("memory", one, element)
        return replace(memory, revision=memory.revision + 1)

    def _reseal(self, old: Sequence[Row], new: Sequence[Row]) -> list[str]:
        """Some rows took the place of others; their seals."""
        self._tx.ledger.take("memory", old)
        return [self._tx.ledger.put("memory", row) for row in new]

    def set_ends(self, until: dict[str, int], rows: Sequence[Row]) -> None:
        """Memories end at other times from now on, which is no new revision of them."""
        ledger = self._tx.ledger
        new = [ledger.changed("memory", row, {"expires_at": until[row[0]]}) for row in rows]
        seals = self._reseal(rows, new)
        ends = [
            {"id": row[0], "until": until[row[0]], "seal": seal} for row, seal in zip(new, seals, strict=True)
        ]
        self._tx.many("set_end", ends)

    def expired_by(self, shelf: int, tick: int) -> list[Memory]:
        """Active memories of a shelf whose ticks are over, oldest first."""
        return self._tx.each(from_row, "expired_by", shelf=shelf, tick=tick)

    def keyed(self, shelf: int, now: datetime) -> list[Memory]:
        """The active memories of a shelf that hold a key, in key order."""
        return self._tx.each(from_row, "keyed_on", shelf=shelf, now=micros(now))

    def heard(self, shelf: int) -> list[Memory]:
        """The facts about a person that were heard in a session, in key order."""
        return self._tx.each(from_row, "heard_on", shelf=shelf)

    def pending(self, shelf: int, now: datetime) -> list[Memory]:
        """What waits for its person's word, oldest first."""
        return self._tx.each(from_row, "pending_on", shelf=shelf, now=micros(now))

    def overdue(self, now: datetime, limit: int) -> list[Memory]:
        """Guesses about anybody that nobody decided in time."""
        return self._tx.each(from_row, "overdue_guesses", now=micros(now), limit=limit)

    def due(self, now: datetime, limit: int) -> list[str]:
        """Ids of what was put aside and can no longer be restored, whoever's, the longest due first."""
        return [row[0] for row in self._tx.all("due_memories", now=micros(now), limit=limit)]

    def newest(self, shelf: int) -> Memory | None:
        """The last lasting memory that was put on a shelf."""
        return self._tx.only(from_row, "newest_on", shelf=shelf)

    def set_home(self, memory_id: str, file: str | None) -> None:
        old, ledger = self._tx.all("sealed_memory_of", id=memory_id), self._tx.ledger
        seals = self._reseal(old, [ledger.changed("memory", row, {"file": file}) for row in old])
        self._tx.run("release_file", id=memory_id, home=file, seal="".join(seals))

    def turns(self, shelf: int, phase: str) -> list[Memory]:
        """The turns of a conversation that are still in its window, oldest first."""
        return self._tx.each(from_row, "turns_of", shelf=shelf, phase=phase)

    def said(self, user: str, after: SaidAt, until: datetime, limit: int) -> list[tuple[int, Memory]]:
        """Turns of a user's conversations behind a time, shelf and tick, in that order, with their shelf."""
        owner = quoted(user)
        return self._tx.each(
            _behind,
            "turns_said",
            owner=owner,
            first=f"{owner},",
            beyond=f"{owner}-",
            at=micros(after.at),
            shelf=after.shelf,
            tick=after.tick,
            until=micros(until),
            limit=limit,
        )

    def set_slot(self, memory_id: str, slot: int | None) -> None:
        self._tx.run("set_slot", id=memory_id, slot=slot)

    def slot_of(self, memory_id: str) -> int | None:
        """The slot of its shelf in which a memory is indexed; None where it is in none."""
        row = self._tx.one("slot_of", id=memory_id)
        return None if row is None or row[0] is None else int(row[0])

    def in_order(self) -> list[str]:
        """The ids of all active memories, each shelf's in the order in which they were said."""
        return [row[0] for row in self._tx.all("active_in_order")]

    def active_on(self, shelf: int) -> list[str]:
        """The ids of all active memories on a shelf, in the order in which they were said."""
        return [row[0] for row in self._tx.all("active_on", shelf=shelf)]

    def count_by_state(self) -> dict[str, int]:
        return dict(self._tx.all("count_by_state"))

    def miscounted(self) -> int:
        """On how many shelves how much there is of a state is not what was counted."""
        rows = self._tx.all("miscounted")
        return int(rows[0][0])

    def recount(self, shelf: int) -> None:
        """Count anew what there is on a shelf."""
        self._tx.run("uncount_shelf", shelf=shelf)
        self._tx.run("count_shelf_rows", shelf=shelf)

    def slots_on(self, shelf: int, slots: range) -> dict[str, int]:
        """The slot of everything that has one of these on a shelf, by its id, in their order."""
        return dict(self._tx.all("slots_on", shelf=shelf, first=slots.start, last=slots.stop))

    def readable_slots(
        self, query: Query, shelf: int, slots: list[int], now: datetime, *, ahead: bool = False
    ) -> dict[int, Memory]:
        """By slot, what stands in some slots of a shelf and the query may see; `ahead`: it will be asked."""
        asked = {"shelf": shelf, "slots": slots, **narrowing_of(query, now)}
        if ahead:
            self._tx.ahead("readable_slots", **asked)
            return {}
        return dict(self._tx.each(_behind, "readable_slots", **asked))

    def stated(self, shelf: int, since: datetime) -> list[str]:
        """What a person stated themselves on a shelf since then, the latest first."""
        return [row[0] for row in self._tx.all("stated", shelf=shelf, start=micros(since))]

    def said_between(self, shelf: int, start: datetime, end: datetime, most: int) -> list[int]:
        """The slots of what was said from one moment up to another, the earliest first, at most so many."""
        limits = {"start": micros(start), "end_": micros(end), "limit": most}
        return [slot for (slot,) in self._tx.all("said_between", shelf=shelf, **limits) if slot is not None]

    def readable_ids(self, query: Query, ids: list[str], now: datetime) -> list[str]:
        """Those of the ids that the query may see."""
        names = list(query.scope.shelves(query.spaces))
        rows = self._tx.all("readable_ids", ids=ids, names=names, **narrowing_of(query, now))
        return [row[0] for row in rows]

    def readable_identities(
        self, query: Query, shelves: list[int], identities: list[str], now: datetime, *, ahead: bool = False
    ) -> list[str]:
        """Ids of the memories on these shelves that hold one of these keys or wordings; `ahead`: as above."""
        asked = {"shelves": shelves, "identities": identities, **narrowing_of(query, now)}
        if ahead:
            self._tx.ahead("readable_identities", **asked)
            return []
        return [row[0] for row in self._tx.all("readable_identities", **asked)]


_MUTABLE = (
    "text",
    "state",
    "updated_at",
    "expires_at",
    "purge_at",
    "superseded_by",
    "priority",
    "ttl",
    "pinned",
    "kind",
    "authority",
    "provenance",
    "trust",
    "phase",
    "expires_tick",
    "retired_tick",
    "meta",
    "confidence",
    "valid_from",
    "valid_until",
    "importance",
    "tags",
    "created_at",
)


_FILTERS = tuple(one.name for one in fields(Filters))
#: Filters that ask for something of the provenance, and what it is called there.
_OF_PROVENANCE = {"agent_id": "agent", "run_id": "run_id", "actor_id": "actor", "role": "role"}


def _bare(name: str, value: Any) -> Any:
    """A filter's value as a column holds it."""
    if isinstance(value, datetime):
        return micros(value)
    if name in _OF_PROVENANCE and value is not None:
        return f'"{_OF_PROVENANCE[name]}":{canonical(value)}'
    return int(value) if isinstance(value, bool) else value


@lru_cache(maxsize=64)  # most ask for nothing of it, and one recall asks several times
def _filtering(filters: Filters) -> dict[str, Any]:
    bare = {name: _bare(name, getattr(filters, name)) for name in _FILTERS}
    return {"filtered": int(filters != Filters()), **bare}


def narrowing_of(query: Query, now: datetime) -> dict[str, Any]:
    """What a query asks of a memory beside its words, as the named queries are given it."""
    asks_more = query.layers or query.kinds or query.categories or query.phases or query.trusted_only
    filtering = _filtering(query.filters)
    dated = query.since is not None or query.until is not None
    return {
        "narrowed": int(bool(asks_more or dated or filtering["filtered"])),
        "now": micros(now),
        "layers": [str(layer) for layer in query.layers],
        "kinds": [str(kind) for kind in query.kinds],
        "categories": list(query.categories),
        "since": to_micros(query.since),
        "until": to_micros(query.until),
        "trusted": int(query.trusted_only),
        **filtering,
        "phases": list(query.phases),
    }


def _to_row(m: Memory) -> dict[str, Any]:
    return {
        "id": m.id,
        "space": m.space.value,
        "owner": m.owner,
        "layer": m.layer.value,
        "kind": m.kind.value,
        "text": m.text,
        "key": m.key,
        "category": m.category,
        "tags": canonical(m.tags) if m.tags else "[]",
        "authority": m.authority.value,
        "importance": m.importance,
        "priority": m.priority,
        "confidence": m.confidence,
        "pinned": int(m.pinned),
        "state": m.state.value,
        "revision": m.revision,
        "tick": m.tick,
        "phase": m.phase,
        "ttl": m.ttl,
        "created_at": micros(m.created_at),
        "updated_at": micros(m.updated_at),
        "valid_from": to_micros(m.valid_from),
        "valid_until": to_micros(m.valid_until),
        "expires_at": to_micros(m.expires_at),
        "purge_at": to_micros(m.purge_at),
        "last_accessed_at": to_micros(m.last_accessed_at),
        "access_count": m.access_count,
        "supersedes": m.supersedes,
        "superseded_by": m.superseded_by,
        "file": m.file,
        "provenance": _stated(m.provenance),
        "meta": shortened(canonical(m.meta), MEMORY) if m.meta else "{}",
        "trust": m.provenance.trust.value,
        "expires_tick": m.expires_tick,
        "retired_tick": m.retired_tick,
    }


@lru_cache(maxsize=256)  # what is written together comes from one place
def _stated(provenance: Provenance) -> str:
    """A provenance without what it has none of."""
    told: dict[str, Any] = plain(provenance)
    return canonical({name: value for name, value in told.items() if value})


#: By what they are called in a row: a recall makes dozens of memories, and these are five look-ups of each.
_SPACES, _LAYERS, _KINDS, _AUTHORITIES, _STATES = (
    {one.value: one for one in Space},
    {one.value: one for one in Layer},
    {one.value: one for one in Kind},
    {one.value: one for one in Authority},
    {one.value: one for one in State},
)


@lru_cache(maxsize=4096)  # a recall reads dozens of rows, and most of them another has read
def from_row(row: Row) -> Memory:
    """A memory from the columns of `memory_columns`."""
    row[10] + row[11] + row[12] + row[13] + row[15] + row[16] + row[26]  # raises where one is no number
    if not row[5]:
        raise ValueError("a memory without words")
    return Memory(
        id=row[0],
        space=_SPACES[row[1]],
        owner=row[2],
        layer=_LAYERS[row[3]],
        kind=_KINDS[row[4]],
        text=row[5],
        key=row[6],
        category=row[7],
        tags=() if row[8] == "[]" else tuple(json.loads(row[8])),
        authority=_AUTHORITIES[row[9]],
        importance=row[10],
        priority=row[11],
        confidence=row[12],
        pinned=bool(row[13]),
        state=_STATES[row[14]],
        revision=row[15],
        tick=row[16],
        phase=row[17],
        ttl=row[18],
        created_at=moment(row[19]),
        updated_at=moment(row[20]),
        valid_from=from_micros(row[21]),
        valid_until=from_micros(row[22]),
        expires_at=from_micros(row[23]),
        purge_at=from_micros(row[24]),
        last_accessed_at=from_micros(row[25]),
        access_count=row[26],
        supersedes=row[27],
        superseded_by=row[28],
        file=row[29],
        provenance=_provenance(row[30]),
        meta=dict(_meta(row[31])),
        expires_tick=row[32],
        retired_tick=row[33],
    )


def _behind(row: Row) -> tuple[Any, Memory]:
    """What stands before a memory's columns, and the memory."""
    return row[0], from_row(row[1:])


@lru_cache(maxsize=4096)  # what many say in the same words is read once
def _meta(text: str) -> dict[str, Any]:
    return dict(json.loads(whole(text)))


@lru_cache(maxsize=4096)  # many memories share one: a recall reads dozens of them
def _provenance(text: str) -> Provenance:
    value = json.loads(text)
    return Provenance(
        **{
            **value,
            "role": Role(value["role"]),
            "trust": Trust(value["trust"]),
            "source_turn_ids": tuple(value.get("source_turn_ids", ())),
            "origins": tuple(value.get("origins", ())),
        }
    )


#: Beside an answer stand so many that are linked to one of so many of its hits, of so many edges each.
_BESIDE, _HITS, _EDGES = 2, 6, 16


def shelf_of(memory_id: str) -> str:
    """The name of the shelf that a memory's id says it is on."""
    return memory_id.rpartition(":")[0].rpartition(":")[0]


def _edge(row: Row) -> Row:
    """The row; raises where its strength is no number or its time no time."""
    moment(row[5] + int(0 * row[3]))
    return row


class Edges(Tables):
    """One tenant's edges inside one transaction."""

    def put(self, from_id: str, to_id: str, kind: str, strength: float, at: datetime) -> None:
        """An edge that somebody said."""
        self._put((from_id, to_id, kind, strength, 1, micros(at)))

    def _put(self, row: Row) -> None:
        named = dict(zip(("from_id", "to_id", "type"), row, strict=False))
        self._tx.ledger.take("relation", self._tx.all("relation_of", **named))
        self._add([row])

    def _add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._tx.ledger.put("relation", row)
        names = ("from_id", "to_id", "type", "strength", "explicit", "created_at")
        self._tx.many("add_relation", [dict(zip(names, row, strict=True)) for row in rows])

    def find(self, edges: Sequence[tuple[str, str, str, float]], at: datetime, *, anew: bool) -> None:
        """Edges that were found: from, to, what they say and how close. With `anew` one of them may be linked
        already, either way round, and that stays as it is."""
        known = self.among(sorted({one for edge in edges for one in edge[:2]})) if anew else []
        there = {frozenset(row[:2]) for row in known}
        self._add(
            [
                (from_id, to_id, kind, strength, 0, micros(at))
                for from_id, to_id, kind, strength in edges
                if frozenset((from_id, to_id)) not in there
            ]
        )

    def drop(self, from_id: str, to_id: str, kind: str) -> bool:
        """Take an edge away, whichever way round it is; whether there was one."""
        gone = self._tx.all("drop_relation", from_id=from_id, to_id=to_id, type=kind)
        self._tx.ledger.take("relation", gone)
        return bool(gone)

    def note_linked(self, shelf: str) -> None:
        """From now on something on this shelf may be linked."""
        self._tx.run("note_linked", name=shelf)

    def between(self, first: str, beyond: str) -> list[Row]:
        """The edges from the ids in a range."""
        return self._tx.each(_edge, "relations_between", first=first, beyond=beyond)

    def reworded(self, memory_id: str) -> None:
        """Forget what was found for a memory's earlier words."""
        self._tx.ledger.take("relation", self._tx.all("drop_found_relations", id=memory_id))

    def hand_on(self, old: str, new: str) -> None:
        """Another memory took this one's place: what somebody said of it holds for that one, too."""
        for from_id, to_id, kind, strength, _, at in self._tx.all("said_relations", id=old):
            edge = (new if from_id == old else from_id, new if to_id == old else to_id, kind)
            if new not in (from_id, to_id):
                known = self._tx.all("relation_of", from_id=edge[0], to_id=edge[1], type=kind)
                self._put((*edge, strength, 1, known[0][5] if known else at))
                self.note_linked(shelf_of(new))

    def among(self, ids: Sequence[str]) -> list[Row]:
        """The edges between these: from, to, strength."""
        return self._tx.all("relations_among", ids=list(ids))

    def bonds(self, some: Sequence[str], ids: Sequence[str]) -> list[Row]:
        """The edges between some of these and any other of them: from, to, strength."""
        return self._tx.all("relations_with", some=list(some), ids=list(ids)) if some else []

    def leaving(self, shelf: int, slots: Sequence[int], *, ahead: bool = False) -> list[Row]:
        """The edges from what stands in some slots: from, to, strength. `ahead`: they will be asked for."""
        asked = {"shelf": shelf, "slots": list(slots)}
        if ahead:
            self._tx.ahead("relations_from", **asked)
            return []
        return self._tx.all("relations_from", **asked)

    def touching(self, ids: Sequence[str], most: int) -> list[Row]:
        """The strongest edges of each of these: which of them, then the edge; the strongest first."""
        return self._tx.all("relations_touching", ids=list(ids), most=most)

    def beside(
        self, query: Query, ids: Sequence[str], now: datetime, budget: int | None
    ) -> tuple[Related, ...]:
        """What is linked to the best of an answer and not in it, the strongest first, within what is left of
        its budget; nothing that the query may not see."""
        if not ids:
            return ()
        best, told = list(ids[:_HITS]), list[Related]()
        names = list(query.scope.shelves(query.spaces))
        limits = {"ids": best, "outside": list(ids), "names": names, "most": _EDGES, "limit": 2 * _BESIDE}
        found = self._tx.each(
            lambda row: (*row[:3], from_row(row[3:])),
            "relations_beside",
            **limits,
            **narrowing_of(query, now),
        )
        for here, kind, strength, one in found:
            text = f"{one.key}: {one.text}" if one.key else one.text
            size = 0 if budget is None else count_tokens(text)
            if len(told) < _BESIDE and size <= (budget or 0):
                budget = None if budget is None else budget - size
                trust = one.provenance.trust
                told.append(Related(id=one.id, text=text, to=here, type=kind, strength=strength, trust=trust))
        return tuple(told)
