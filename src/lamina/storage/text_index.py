"""The text index: shelves, slots and posting lists; derived, and made anew by `rebuild`."""

from __future__ import annotations

import json
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from lamina.model import canonical
from lamina.ranking.conversation import Place, Places, placed, unplaced
from lamina.ranking.lexical import SLOTS_PER_BLOCK, Block, Decoded, Shelf, decoded, packed, without
from lamina.storage.database import Row, Transaction
from lamina.storage.logs import next_number

_ENTRY = 4  #: bytes of a posting, of which the first is the slot within its block
FRESH = 32  #: how many texts wait before they are spread over the posting lists
_FREQUENT = 16  #: blocks from which on a term's list is kept decoded
_MOST_KEPT = 64 * 2**20  #: bytes of such lists

_Stamp = tuple[int, int, int]
_Counted = tuple[int, int, Mapping[str, int], bytes | None]  #: slot, length, terms, place in a conversation


class _Kept:
    """The decoded lists of frequent terms that a process keeps of a store."""

    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[int, str], tuple[_Stamp, Decoded]] = OrderedDict()
        self._bytes = 0
        self._mutex = threading.Lock()

    @classmethod
    def of(cls, transaction: Transaction) -> _Kept | None:
        """Those of a snapshot's store; None where the transaction may change it."""
        return None if transaction.once is None else transaction.kept.setdefault("postings", cls())

    def get(self, shelf: int, stamp: _Stamp, terms: Sequence[str]) -> dict[str, Decoded]:
        """The lists of these terms that are still as they were kept."""
        found: dict[str, Decoded] = {}
        with self._mutex:
            for term in terms:
                known = self._lists.get((shelf, term))
                if known is not None and known[0] == stamp:
                    self._lists.move_to_end((shelf, term))
                    found[term] = known[1]
        return found

    def put(self, shelf: int, stamp: _Stamp, term: str, entries: Decoded) -> Decoded:
        """Keep a list; of too many the longest unused go."""
        with self._mutex:
            old = self._lists.pop((shelf, term), None)
            self._lists[shelf, term] = (stamp, entries)
            self._bytes += entries.nbytes - (old[1].nbytes if old else 0)
            while self._bytes > _MOST_KEPT and len(self._lists) > 1:
                _, (_, gone) = self._lists.popitem(last=False)
                self._bytes -= gone.nbytes
        return entries


class TextIndex:
    """One tenant's text index inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def shelf(self, name: str) -> tuple[int, int] | None:
        """The number of a shelf and of the phase it is in, None while nothing was ever put on it."""
        row = self._tx.one("shelf_number", name=name)
        if row is None:
            return None
        number, phase, slot = row
        self._tx.noted.setdefault(("slot", number), slot)
        return int(number), int(phase)

    def open_shelf(self, name: str) -> tuple[int, int]:
        """The same, and the shelf is made if it is new."""
        known = self.shelf(name)
        if known is None:
            row = self._tx.one("next_shared", name="shelf")
            known = (int(row[0]) if row else 0, 0)
            self._tx.run("add_shelf", number=known[0], name=name)
            self._tx.noted["slot", known[0]] = 0
            self._tx.ledger.put("shelf", (known[0], name, 0))
        return known

    def mend(self) -> None:
        """Give a shelf whose name cannot be read the name that what is on it says, unless another has it."""
        known = {number: name for number, name, _ in self._tx.all("all_shelves")}
        for number, space, owner in self._tx.all("shelves_in_use"):
            if number not in known and (name := f"{space}:{owner}") not in known.values():
                self._tx.run("name_shelf", number=number, name=name)

    def add(self, shelf: int, terms: Sequence[str], said: tuple[str, int] | None = None) -> int:
        """Index a text by its terms; returns its slot, which no other text of the shelf ever had.

        `said` names the conversation that it is part of, and the voice: 0 for the person, 1 for others.
        """
        slot: int | None = self._tx.noted.get(("slot", shelf))
        if slot is None:
            row = self._tx.one("next_slot", shelf=shelf)
            slot = int(row[0]) if row else 0
        self._tx.noted["slot", shelf] = slot + 1
        place = self._placed(shelf, slot, len(terms), said)
        new: dict[int, list[_Counted]] = self._tx.noted.setdefault("texts", {})
        new.setdefault(shelf, []).append((slot, len(terms), Counter(terms), place))
        self._tx.ledger.waiting["texts"] = self._settle
        return slot

    def _settle(self) -> None:
        """Write the texts that were added: into the lists, but for the last few, which wait for others."""
        new: dict[int, list[_Counted]] = self._tx.noted.pop("texts", {})
        for shelf, texts in new.items():
            length = sum(text[1] for text in texts)
            self._tx.run("take_slots", shelf=shelf, texts=len(texts), length=length)
            full = (texts[-1][0] + 1) // FRESH * FRESH
            if texts[0][0] < full:
                fresh = self._tx.each(_counted, "take_fresh", shelf=shelf)
                self._put(shelf, [*fresh, *(text for text in texts if text[0] < full)])
            if late := [_fresh(shelf, text) for text in texts if text[0] >= full]:
                self._tx.many("add_fresh", late)

    def renew(self, shelf: int, texts: Iterable[tuple[int, Sequence[str], tuple[str, int] | None]]) -> int:
        """Make a shelf's lists anew from its texts, each in the slot it has; how many."""
        self._settle()
        for name in ("drop_postings", "drop_placements"):
            self._tx.run(name, shelf=shelf)
        self._tx.all("take_fresh", shelf=shelf)
        rows: list[_Counted] = []
        for slot, terms, said in texts:
            place = self._placed(shelf, slot, len(terms), said)
            rows.append((slot, len(terms), Counter(terms), place))
        self._put(shelf, rows)
        length = sum(row[1] for row in rows)
        self._tx.run("recount_shelf", shelf=shelf, members=len(rows), length=length)
        return len(rows)

    def _placed(self, shelf: int, slot: int, length: int, said: tuple[str, int] | None) -> bytes | None:
        return (
            None if said is None else placed(slot, Place(self._conversation(shelf, said[0]), said[1], length))
        )

    def remove(self, shelf: int, slot: int, terms: Sequence[str]) -> None:
        """Take a text out; `terms` are those it was indexed by."""
        self._settle()
        if self._tx.one("drop_fresh", shelf=shelf, slot=slot) is None:
            block = slot // SLOTS_PER_BLOCK
            wanted = sorted(set(terms))
            for term, data in self._tx.all("posting_block", shelf=shelf, terms=wanted, block=block):
                if rest := without(data, slot):
                    self._tx.run("write_block", shelf=shelf, term=term, block=block, data=rest)
                else:
                    self._tx.run("drop_block", shelf=shelf, term=term, block=block)
            if row := self._tx.one("placement_block", shelf=shelf, block=block):
                self._tx.run("put_placement", shelf=shelf, block=block, data=unplaced(row[0], slot))
        self._tx.run("free_slot", shelf=shelf, length=len(terms))

    def _put(self, shelf: int, texts: Sequence[_Counted]) -> None:
        """Texts into the posting lists, each list written once."""
        lists: dict[tuple[str, int], bytearray] = defaultdict(bytearray)
        places: dict[int, bytearray] = defaultdict(bytearray)
        for slot, length, terms, place in sorted(texts, key=lambda row: row[0]):
            places[slot // SLOTS_PER_BLOCK] += place or b""
            for term, count in terms.items():
                lists[term, slot // SLOTS_PER_BLOCK] += packed(slot, count, length)
        self._tx.many(
            "add_posting",
            [
                {"shelf": shelf, "term": term, "block": block, "data": bytes(data)}
                for (term, block), data in sorted(lists.items())
            ],
        )
        for block, data in sorted(places.items()):
            if data:
                row = self._tx.one("placement_block", shelf=shelf, block=block)
                whole = (row[0] if row else b"") + bytes(data)
                self._tx.run("put_placement", shelf=shelf, block=block, data=whole)

    def _conversation(self, shelf: int, name: str) -> int:
        row = self._tx.one("conversation_number", shelf=shelf, name=name)
        if row is None:
            row = (next_number(self._tx, f"conversation:{shelf}"),)
            self._tx.run("add_conversation", shelf=shelf, name=name, number=row[0])
        return int(row[0])

    def finds(self, shelf: Shelf, slot: int, term: str) -> bool:
        """Whether a text is found by one of its terms."""
        return any(
            block == slot // SLOTS_PER_BLOCK and slot % SLOTS_PER_BLOCK in data[::_ENTRY]
            for _, _, block, data in self.blocks([shelf], [term])
        )

    def members(self) -> list[int]:
        """How many texts each shelf of the tenant has."""
        self._settle()
        return [members for _, _, members in self._tx.all("all_shelves")]

    def after(self, number: int, limit: int) -> list[tuple[int, str]]:
        """Number and name of so many shelves behind one."""
        return [(int(one), name) for one, name in self._tx.all("shelves_after", number=number, limit=limit)]

    def counted(self, number: int) -> tuple[int, int]:
        """How many shelves there are up to one, and in all."""
        done, every = self._tx.one("count_shelves", number=number) or (0, 0)
        return int(done), int(every)

    def shelves(self, names: Sequence[str]) -> list[Shelf]:
        """Statistics of those shelves that hold anything, in the order of the names."""
        self._settle()
        rows = self._tx.all("shelf_statistics", names=list(names))
        order = {name: at for at, name in enumerate(names)}
        rows.sort(key=lambda row: order[row[4]])
        return [Shelf(*row) for row in rows]

    def blocks(self, shelves: Sequence[Shelf], terms: Sequence[str]) -> list[Block]:
        """Every entry of these terms on these shelves, spread or fresh."""
        self._settle()
        found: list[Block] = []
        for shelf in shelves:
            found += self._spread_blocks(shelf, terms)
        numbers = [shelf.number for shelf in shelves]
        return found + self._fresh_blocks(numbers, terms)

    def _spread_blocks(self, shelf: Shelf, terms: Sequence[str]) -> list[Block]:
        """Entries in the posting lists; those of frequent terms stay decoded while the lists are the same.

        Lists change when fresh texts are spread and when a text goes. A transaction that writes keeps none.
        """
        number, kept = shelf.number, _Kept.of(self._tx)
        stamp = (shelf.making, shelf.next_slot - shelf.members, shelf.next_slot // FRESH)
        known = kept.get(number, stamp, terms) if kept else {}
        found: list[Block] = [(number, term, -1, entries) for term, entries in known.items()]
        missing = [term for term in terms if term not in known]
        rows = self._tx.all("posting_blocks", shelves=[number], terms=missing) if missing else []
        for term, group in groupby(rows, key=lambda row: str(row[1])):
            some = [(block, data) for _, _, block, data in group]
            if kept and len(some) >= _FREQUENT:
                found.append((number, term, -1, kept.put(number, stamp, term, decoded(some))))
            else:
                found += [(number, term, block, data) for block, data in some]
        return found

    def _fresh_blocks(self, shelves: Sequence[int], terms: Sequence[str]) -> list[Block]:
        found: list[Block] = []
        for shelf, slot, length, counts in self._fresh(shelves):
            found += [
                (shelf, term, slot // SLOTS_PER_BLOCK, packed(slot, counts[term], length))
                for term in terms
                if term in counts
            ]
        return found

    def _fresh(self, shelves: Sequence[int]) -> list[tuple[int, int, int, dict[str, int]]]:
        """The texts that wait to be spread over the lists: shelf, slot, length, and how often each term."""
        name, numbers = ("waiting", *shelves), list(shelves)
        return self._tx.same(name, lambda: self._tx.each(_texts, "fresh_texts", shelves=numbers))

    def places(self, shelves: Sequence[Shelf]) -> dict[int, Places]:
        """By shelf number, the place of each slot in its conversation; shelves without any are left out."""
        self._settle()
        found: dict[int, Places] = {}
        for shelf in shelves:
            blocks = self._tx.all("placements", shelf=shelf.number)
            blocks += [
                (slot // SLOTS_PER_BLOCK, data)
                for slot, data in self._tx.all("fresh_places", shelf=shelf.number)
            ]
            if blocks:
                found[shelf.number] = Places.of(blocks, shelf.next_slot)
        return found

    def terms_like(self, shelves: Sequence[int], start: str) -> set[str]:
        """The terms on these shelves that begin so."""
        self._settle()
        last = f"{start}\U0010ffff"
        found: set[str] = set()
        for shelf in shelves:
            found |= {row[0] for row in self._tx.all("terms_between", shelf=shelf, first=start, last=last)}
        for _, _, _, counts in self._fresh(shelves):
            found |= {term for term in counts if term.startswith(start)}
        return found

    def clear(self, shelf: int) -> None:
        """Nothing in the index of a shelf; every memory on it loses its slot."""
        self._tx.ledger.flush()
        self._tx.noted.clear()
        for name in ("drop_postings", "drop_placements", "drop_conversations", "empty_slots", "empty_shelf"):
            self._tx.run(name, shelf=shelf)
        self._tx.all("take_fresh", shelf=shelf)


def _texts(row: Row) -> tuple[int, int, int, dict[str, int]]:
    return row[0], row[1], row[2], _counts(row[3])


@lru_cache(maxsize=8 * FRESH)  # every question reads those that wait
def _counts(terms: str) -> dict[str, int]:
    return dict(json.loads(terms))


def _fresh(shelf: int, text: _Counted) -> dict[str, Any]:
    slot, length, terms, place = text
    return {"shelf": shelf, "slot": slot, "length": length, "terms": canonical(terms), "place": place}


def _counted(row: Row) -> _Counted:
    return row[0], row[1], json.loads(row[2]), row[3]
