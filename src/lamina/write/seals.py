"""The seal over the whole story: put over a store, and compared with what is there.

What is compared is everything that `explain`, `history`, `list` and `context` say, and that it is there at
all (docs/decisions/0024-a-seal-over-the-whole-story.md).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from lamina.audit.chain import Sealer
from lamina.clock import random_token
from lamina.errors import ConfigError, InvalidInput, NotFound
from lamina.model import AuditRecord, Finding, canonical, from_plain, iso
from lamina.records import dataclass
from lamina.storage.database import Database, Row, Transaction, load_queries
from lamina.storage.ledger import (
    STORE,
    TABLES,
    LaneOrder,
    Sums,
    is_top,
    lane_of,
    opened_sums,
    row_text,
    sealed_columns,
)
from lamina.storage.logs import AuditLog
from lamina.storage.sealed_rows import MARKED, SealedRows
from lamina.storage.small_tables import Properties, parsed
from lamina.write.unit_of_work import UnitOfWork

#: The acts by which a store came under the seal that was there before, and by which an owner accepts it.
BEGUN, ANEW = "story_sealed", "story_resealed"
#: The act by which the ends of all chains are sealed in the store's own, and how much of a seal it tells.
HEADS, SHORT = "heads", 32
CHAINS_KNOWN = "chains"  #: the property that says how many chains there are beside the store's own
Told = Callable[[int], None]  #: how many rows were looked at
_OFTEN = 5000
_CALLED = {
    "memory": "memories",
    "history": "steps of memories",
    "audit": "records",
    "relation": "links",
    "shelf": "shelves",
    "phase": "phases",
    "event": "events",
    "refusal": "noes",
    "refusal_mark": "marks of noes",
    "token": "tokens",
}


def under_seal(transaction: Transaction, sealer: Sealer) -> bool:
    """Whether the story of this store was ever put under the seal: its row, or its newest record, says so."""
    newest = AuditLog(transaction).newest_record()
    if newest is not None and sealer.under_seal(newest):
        return True
    return any(is_top(name) for name, _ in SealedRows(transaction).lanes())


def known_chains(transaction: Transaction) -> int:
    """How many chains a store has beside its own."""
    return Properties(transaction).number(CHAINS_KNOWN)


def spread(unit: UnitOfWork, chains: int) -> None:
    """From now on so many chains grow beside the store's own; what is there stays where it is."""
    lanes = list(SealedRows(unit.transaction).lanes())
    unit.transaction.ledger.spread(lanes, LaneOrder(chains))
    Properties(unit.transaction).set(CHAINS_KNOWN, str(chains))


def seal_store(unit: UnitOfWork, act: str, reason: str = "") -> int:
    """Put everything under the seal as it is found, which a record says; how many rows.

    An empty store needs no record: nothing in it is older than its seal.
    """
    counted, rows = Counted(unit.transaction), SealedRows(unit.transaction)
    for record in AuditLog(unit.transaction).after(-(2**62)):
        counted.record(record)
    counted.rows(rows)
    for shelf in counted.unlinked:
        rows.link(shelf)
    rows.replace(counted.sums, counted.stale)
    if counted.looked or act != BEGUN:
        unit.record_act(act, "audit", reason or f"{counted.looked} rows")
        tie(unit)
    return counted.looked


def tie(unit: UnitOfWork) -> None:
    """Seal the ends of all other chains in the store's own; nothing where they were not written to since."""
    ends = {
        str(chain): [seq, digest[:SHORT]]
        for chain, (seq, digest, _) in AuditLog(unit.transaction).heads().items()
        if chain
    }
    told = canonical(ends)
    if ends and Properties(unit.transaction).get(HEADS) != (mark := unit.ruleset.sealer.mark(told)):
        unit.record_act(HEADS, "audit", told)
        Properties(unit.transaction).set(HEADS, mark)


def heads_told(record: AuditRecord) -> dict[int, tuple[int, str]]:
    """By chain, number and seal of the record that was its newest, as such an act tells it."""
    told = parsed(record.reason)
    return {int(chain): (seq, digest) for chain, (seq, digest) in told.items()} if told else {}


@dataclass(slots=True)
class Counted:
    """What the rows add up to, lane by lane, and which of them are not as they were sealed."""

    transaction: Transaction
    told: Told | None = None
    sums: dict[str, Sums] = field(default_factory=lambda: defaultdict(Sums))
    stale: list[tuple[str, Row, str]] = field(default_factory=list)  #: table, row, the seal it should carry
    unlinked: list[str] = field(default_factory=list)  #: shelves with links that they say they have not
    looked: int = 0

    def record(self, record: AuditRecord) -> None:
        lane = lane_of(record.memory_id or record.scope)
        self._add("audit", lane, (record.seq, record.hash))

    def rows(self, rows: SealedRows) -> None:
        shelves = dict[int, str]()
        for table, lane, row, seal in rows.each():
            if table == "linked":
                self.unlinked.append(row[1])
                continue
            if table == "shelf":
                shelves[row[0]] = str(row[1])
            made = self._add(table, lane, row)
            if table in MARKED and made != seal:
                self.stale.append((table, row[:2], made))
        for lane, row in rows.phases(shelves):
            self._add("phase", lane, row)

    def _add(self, table: str, lane: str, row: Row) -> str:
        element, seal = self.transaction.ledger.element_of(table, row)
        self.sums[lane].add(table, element)
        self.looked += 1
        if self.told is not None and self.looked % _OFTEN == 0:
            self.told(self.looked)
        return seal


def check_seals(
    counted: Counted, sealer: Sealer, located: set[tuple[str, str]], lane: str | None = None
) -> Iterator[Finding]:
    """What is not as it was sealed; `located` are lanes and tables of which something was found before."""
    for table, row, _ in counted.stale:
        located.add((lane_of(str(row[0])), table))
        what = f"{row[0]}" if table == "memory" else f"step {row[1]} of {row[0]}"
        yield Finding(what="edited", seq=None, detail=f"{what} is not as it was sealed")
    for shelf in counted.unlinked:
        yield Finding(what="edited", seq=None, detail=f"the links of {shelf} were hidden")
    ledger, tops, kept = counted.transaction.ledger, defaultdict[str, Sums](Sums), dict[str, bytes]()
    for name, body in SealedRows(counted.transaction).lanes():
        if not is_top(name):
            tops[ledger.top(name)].add("lane", ledger.element_of("lane", (name, body.hex()))[0])
        if lane in (None, name) or is_top(name):
            kept[name] = body
    # A chain without lanes has no row; one whose lanes and row were all taken away has records left.
    names = {STORE, *tops, *filter(is_top, kept)}
    known = {name: opened_sums(sealer, name, kept.get(name)) for name in names}
    if any(sums is None or sums.of("lane") != tops[name].of("lane") for name, sums in known.items()):
        detail = "the seals of all lanes together are not those that were made last"
        yield Finding(what="edited", seq=None, detail=detail)
    # Somebody who has nothing has no seal; that one was taken away is seen in the sum of all.
    there = {name for name in (*kept, *counted.sums) if name == STORE or not is_top(name)}
    for name in sorted(there if lane is None else {lane} & there):
        sums = known[STORE] if name == STORE else opened_sums(sealer, name, kept.get(name))
        yield from _compared(name, sums, counted.sums.get(name) or Sums(), located)


def _compared(lane: str, known: Sums | None, found: Sums, located: set[tuple[str, str]]) -> Iterator[Finding]:
    whose = "the store" if lane == STORE else lane
    if known is None:
        yield Finding(what="edited", seq=None, detail=f"the seal over {whose} is missing or was altered")
        return
    for table in TABLES:
        if table == "lane" or known.of(table) == found.of(table) or (lane, table) in located:
            continue
        sealed, there, what = known.of(table)[0], found.of(table)[0], _CALLED[table]
        if there < sealed:
            yield Finding(what="removed", seq=None, detail=f"{sealed - there} {what} of {whose} are gone")
        elif there > sealed:
            yield Finding(what="inserted", seq=None, detail=f"{there - sealed} {what} of {whose} were put in")
        else:
            yield Finding(what="edited", seq=None, detail=f"{what} of {whose} are not as they were sealed")


#: The act by which a store went on with another key, and the property that holds the fingerprint in use.
ADOPTED = "key_adopted"
_PROPERTY = "audit_key"


def store_id(database: Database) -> str:
    """The name by which a store's anchor is known; made when the store is."""

    def work(transaction: Transaction) -> str:
        properties = Properties(transaction)
        known = properties.get("store_id")
        if known is None:
            known = random_token(12)
            properties.set("store_id", known)
        return known

    return database.read(lambda tx: Properties(tx).get("store_id")) or database.write(work)


def check_key(transaction: Transaction, sealer: Sealer) -> None:
    """Raise ConfigError (`audit_key_other`) where another key seals this store: what the two write would look
    forged to each other."""
    known = _sealing(transaction, sealer)
    if known not in (None, sealer.key_id):
        raise ConfigError(
            f"Another key seals the audit of this store: its fingerprint is {known}, and that of the key here"
            f" is {sealer.key_id}.",
            code="audit_key_other",
            hint="Copy `keys/audit.key` in the LAMINA_HOME of the machine that made the store to its place"
            " here, or name it in LAMINA_AUDIT_KEY_FILE. If it is lost, `lamina audit adopt-key` goes on with"
            " the key here; what was sealed before can then no longer be checked. `lamina rescue` saves"
            " what is in the store without a key.",
        )


def in_custody(transaction: Transaction, sealer: Sealer) -> bool:
    """Whether our key is known to be the one of this store, and its story is under the seal."""
    ours = Properties(transaction).get(_PROPERTY) == sealer.key_id
    return ours and under_seal(transaction, sealer)


def claim_key(unit: UnitOfWork, *, adopt: bool, anew: bool = False) -> None:
    """Make our key the one of this store: a new one, one from before stores knew theirs, or one to adopt.

    The story comes under the seal with it, where it is not; with `anew` it is taken as it is found.
    """
    transaction, sealer = unit.transaction, unit.ruleset.sealer
    if not adopt:
        check_key(transaction, sealer)
    known = _sealing(transaction, sealer)
    if known not in (None, sealer.key_id):
        seal_store(unit, ADOPTED, known)
    elif anew:
        seal_store(unit, ANEW, "owner")
    elif not under_seal(transaction, sealer):
        seal_store(unit, BEGUN)
    if Properties(transaction).get(_PROPERTY) != sealer.key_id:
        Properties(transaction).set(_PROPERTY, sealer.key_id)


def _sealing(transaction: Transaction, sealer: Sealer) -> str | None:
    """The fingerprint of the key that seals this store; of an older store, that of its newest record."""
    if known := Properties(transaction).get(_PROPERTY):
        return known
    newest = AuditLog(transaction).newest_record()
    if newest is None or sealer.intact(newest):
        return None if newest is None else sealer.key_id
    return newest.key_id


_FORM = 1
_ENDS = ("purge", "purge_receipt", "erase")


def proof_of(transaction: Transaction, sealer: Sealer, memory_id: str, now: datetime) -> dict[str, Any]:
    """The story of a memory with a mark over it; NotFound where the audit knows of no such memory.

    Of one that was purged the records are left, which say so.
    """
    told = SealedRows(transaction).story(memory_id)
    if not told["records"]:
        raise NotFound(f"The audit knows of no memory {memory_id!r:.80}.", hint="`lamina list` shows ids.")
    seq, newest = AuditLog(transaction).head(lane_of(memory_id))
    proof = {
        "lamina_proof": _FORM,
        "store": Properties(transaction).get("store_id") or "",
        "tenant": transaction.tenant,
        "key_id": sealer.key_id,
        "at": iso(now),
        "memory_id": memory_id,
        "chain": {"records": seq, "newest": newest},
        **told,
    }
    return {**proof, "mark": sealer.mark(canonical(proof))}


def read_proof(text: str) -> dict[str, Any]:
    """A proof from its file; InvalidInput where it is none."""
    try:
        proof = json.loads(text)
    except ValueError:
        proof = None
    if not isinstance(proof, dict) or proof.get("lamina_proof") != _FORM:
        raise InvalidInput(
            "This file is not a proof of a memory's story.",
            code="proof_invalid",
            hint="Make one with `lamina audit export-proof ID > proof.json`.",
        )
    return proof


def check_proof(proof: Mapping[str, Any], sealer: Sealer) -> list[str]:
    """What is wrong with a proof, as somebody with the key can tell it; nothing where all of it holds."""
    if proof.get("key_id") != sealer.key_id:
        return [f"it was made with the key {proof.get('key_id')}, and the key here is {sealer.key_id}"]
    rest = {name: value for name, value in proof.items() if name != "mark"}
    found = [] if proof.get("mark") == sealer.mark(canonical(rest)) else ["it is not as it was made"]
    try:
        return [*found, *_faults(proof, sealer)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return [*found, "something in it has not the form of a proof"]


def _faults(proof: Mapping[str, Any], sealer: Sealer) -> Iterator[str]:
    records = [from_plain(AuditRecord, one) for one in proof["records"]]
    for record in records:
        if record.key_id == sealer.key_id and not sealer.intact(record):
            yield f"record {record.seq} is not as it was sealed"
    queries = load_queries("sqlite")
    for table, rows in (("memory", proof["memory"]), ("history", proof["steps"])):
        for row in rows:
            names = sealed_columns(queries[f"sealed_{table}"])
            values = tuple(None if (table, name) == ("history", "number") else row[name] for name in names)
            if sealer.element(row_text(proof["tenant"], table, values, queries))[1] != row["seal"]:
                yield f"a row of {table} is not as it was sealed"
    steps = {one["number"]: one for one in proof["steps"]}
    told = {one.number: one for one in records if one.number is not None and one.op not in _ENDS}
    gone = {one.number for one in records if one.op in ("purge", "erase")}
    for number, step in steps.items():
        record = told.get(number)
        if record is None:
            yield f"no record tells of step {number}"
        elif record.key_id == sealer.key_id:
            seal = sealer.fingerprint
            old, new = seal(step["old_text"]), seal(step["new_text"])
            if new != record.new_hash or old != (None if number in gone else record.old_hash):
                yield f"step {number} has other words than were sealed"
    if None not in gone and (missing := told.keys() - steps.keys()):
        yield f"steps {', '.join(map(str, sorted(missing)))} are missing"
    last = [steps[max(steps)]["revision"]] if steps else []
    if [one["revision"] for one in proof["memory"]] != last:
        yield "the memory is not what its last step made it"
