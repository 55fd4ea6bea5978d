"""The text index: shelves, slots and posting lists; derived, and made anew by `rebuild`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lamina.search.lexical import SLOTS_PER_BLOCK, Block, Shelf, packed, without
from lamina.storage.database import Transaction


class Lexicon:
    """One tenant's text index inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def shelf(self, name: str) -> int | None:
        """The number of a shelf, None while nothing was ever put on it."""
        row = self._tx.one("shelf_number", name=name)
        return None if row is None else int(row[0])

    def open_shelf(self, name: str) -> int:
        """The number of a shelf, made if it is new."""
        number = self.shelf(name)
        if number is None:
            row = self._tx.one("next_number", name="shelf")
            number = int(row[0]) if row else 0
            self._tx.run("add_shelf", number=number, name=name)
        return number

    def add(self, shelf: int, terms: Sequence[str]) -> int:
        """Index a text by its terms; returns its slot, which no other text of the shelf ever had."""
        row = self._tx.one("take_slot", shelf=shelf, length=len(terms))
        slot = int(row[0]) if row else 0
        block = slot // SLOTS_PER_BLOCK
        self._tx.many(
            "add_posting",
            [
                {"shelf": shelf, "term": term, "block": block, "data": packed(slot, count, len(terms))}
                for term, count in sorted(Counter(terms).items())
            ],
        )
        return slot

    def remove(self, shelf: int, slot: int, terms: Sequence[str]) -> None:
        """Take a text out; `terms` are those it was indexed by."""
        block = slot // SLOTS_PER_BLOCK
        for term, data in self._tx.all("posting_block", shelf=shelf, terms=sorted(set(terms)), block=block):
            if rest := without(data, slot):
                self._tx.run("write_block", shelf=shelf, term=term, block=block, data=rest)
            else:
                self._tx.run("drop_block", shelf=shelf, term=term, block=block)
        self._tx.run("free_slot", shelf=shelf, length=len(terms))

    def shelves(self, names: Sequence[str]) -> list[Shelf]:
        """Statistics of those shelves that hold anything, in the order of the names."""
        rows = self._tx.all("shelf_statistics", names=list(names))
        order = {name: at for at, name in enumerate(names)}
        rows.sort(key=lambda row: order[row[4]])
        return [Shelf(number, members, length, slots) for number, members, length, slots, _ in rows]

    def blocks(self, shelves: Sequence[int], terms: Sequence[str]) -> list[Block]:
        return [
            (shelf, term, block, data)
            for shelf, term, block, data in self._tx.all(
                "posting_blocks", shelves=list(shelves), terms=list(terms)
            )
        ]

    def clear(self) -> None:
        """An empty index; every memory loses its slot."""
        for name in ("empty_postings", "empty_shelves", "empty_slots"):
            self._tx.run(name)
