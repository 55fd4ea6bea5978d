"""The text index: shelves, slots and posting lists; derived, and made anew by `rebuild`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence

from lamina.model import canonical
from lamina.ranking.conversation import Place, Places, placed, unplaced
from lamina.ranking.lexical import SLOTS_PER_BLOCK, Block, Shelf, packed, without
from lamina.storage.database import Row, Transaction

FRESH = 32  #: how many texts wait before they are spread over the posting lists


class TextIndex:
    """One tenant's text index inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def shelf(self, name: str) -> tuple[int, int] | None:
        """The number of a shelf and of the phase it is in, None while nothing was ever put on it."""
        row = self._tx.one("shelf_number", name=name)
        return None if row is None else (int(row[0]), int(row[1]))

    def open_shelf(self, name: str) -> tuple[int, int]:
        """The same, and the shelf is made if it is new."""
        known = self.shelf(name)
        if known is None:
            row = self._tx.one("next_number", name="shelf")
            known = (int(row[0]) if row else 0, 0)
            self._tx.run("add_shelf", number=known[0], name=name)
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
        row = self._tx.one("take_slot", shelf=shelf, length=len(terms))
        slot = int(row[0]) if row else 0
        place = None
        if said is not None:
            place = placed(slot, Place(self._conversation(shelf, said[0]), said[1], len(terms)))
        counts = canonical(Counter(terms))
        self._tx.run("add_fresh", shelf=shelf, slot=slot, length=len(terms), terms=counts, place=place)
        if slot % FRESH == FRESH - 1:
            self._spread(shelf)
        return slot

    def remove(self, shelf: int, slot: int, terms: Sequence[str]) -> None:
        """Take a text out; `terms` are those it was indexed by."""
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

    def _spread(self, shelf: int) -> None:
        """Move a shelf's fresh texts over to the posting lists, each list written once."""
        lists: dict[tuple[str, int], bytearray] = defaultdict(bytearray)
        places: dict[int, bytearray] = defaultdict(bytearray)
        taken = self._tx.each(_counted, "take_fresh", shelf=shelf)
        for slot, length, terms, place in sorted(taken, key=lambda row: row[0]):
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
            row = self._tx.one("next_number", name=f"conversation:{shelf}")
            self._tx.run("add_conversation", shelf=shelf, name=name, number=row[0] if row else 1)
        return int(row[0]) if row else 1

    def members(self) -> list[int]:
        """How many texts each shelf of the tenant has."""
        return [members for _, _, members in self._tx.all("all_shelves")]

    def shelves(self, names: Sequence[str]) -> list[Shelf]:
        """Statistics of those shelves that hold anything, in the order of the names."""
        rows = self._tx.all("shelf_statistics", names=list(names))
        order = {name: at for at, name in enumerate(names)}
        rows.sort(key=lambda row: order[row[4]])
        return [Shelf(*row) for row in rows]

    def blocks(self, shelves: Sequence[int], terms: Sequence[str]) -> list[Block]:
        """Every entry of these terms on these shelves, spread or fresh."""
        found: list[Block] = [
            (shelf, term, block, data)
            for shelf, term, block, data in self._tx.all(
                "posting_blocks", shelves=list(shelves), terms=list(terms)
            )
        ]
        for shelf, slot, length, counts in self._tx.each(_texts, "fresh_texts", shelves=list(shelves)):
            found += [
                (shelf, term, slot // SLOTS_PER_BLOCK, packed(slot, counts[term], length))
                for term in terms
                if term in counts
            ]
        return found

    def places(self, shelves: Sequence[Shelf]) -> dict[int, Places]:
        """By shelf number, the place of each slot in its conversation; shelves without any are left out."""
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
        last = f"{start}\U0010ffff"
        found: set[str] = set()
        for shelf in shelves:
            found |= {row[0] for row in self._tx.all("terms_between", shelf=shelf, first=start, last=last)}
        for _, _, _, counts in self._tx.each(_texts, "fresh_texts", shelves=list(shelves)):
            found |= {term for term in counts if term.startswith(start)}
        return found

    def clear(self) -> None:
        """An empty index; every memory loses its slot."""
        for name in (
            "empty_postings",
            "empty_fresh",
            "empty_shelves",
            "empty_slots",
            "empty_placements",
            "empty_conversations",
        ):
            self._tx.run(name)


def _texts(row: Row) -> tuple[int, int, int, dict[str, int]]:
    return row[0], row[1], row[2], json.loads(row[3])


def _counted(row: Row) -> tuple[int, int, dict[str, int], bytes | None]:
    return row[0], row[1], json.loads(row[2]), row[3]
