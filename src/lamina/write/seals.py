"""The seal over the whole story: put over a store, and compared with what is there.

What is compared is everything that `explain`, `history`, `list` and `context` say, and that it is there at
all (docs/decisions/0024-a-seal-over-the-whole-story.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import field

from lamina.audit.chain import Sealer
from lamina.model import canonical
from lamina.model.audit import AuditRecord, Finding
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.ledger import STORE, TABLES, Order, Sums, is_top, lane_of, opened_sums
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
    unit.transaction.ledger.spread(lanes, Order(chains))
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
