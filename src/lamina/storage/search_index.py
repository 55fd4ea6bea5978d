"""The search index: shelves, slots, posting lists, and vectors of the same texts; made anew by `rebuild`.

Words and vectors are written in the same transaction; a process keeps what it reads of both while it is true.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.model import canonical
from lamina.ranking.conversation import Place, Places, placed, unplaced
from lamina.ranking.lexical import (
    SLOTS_PER_BLOCK,
    Block,
    Decoded,
    Shelf,
    decoded,
    lengths_in,
    packed,
    without,
)
from lamina.similarity import nearness
from lamina.similarity.nearness import Small
from lamina.storage.database import Row, Tables, Transaction
from lamina.storage.logs import next_number, next_shared
from lamina.storage.rows import DamagedRow, row_damaged

_ENTRY = 4  #: bytes of a posting, of which the first is the slot within its block
FRESH = 32  #: how many texts wait before they are spread over the posting lists
_FREQUENT = 16  #: blocks from which on a term's list is kept decoded
_MOST_KEPT = 64 * 2**20  #: bytes of such lists


class Voice(NamedTuple):
    """Who says a text of a conversation: 0 the person, 1 another."""

    conversation: str
    whose: int


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


class TextIndex(Tables):
    """One tenant's text index inside one transaction."""

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

    def add(self, shelf: int, terms: Sequence[str], said: Voice | None = None) -> int:
        """Index a text by its terms; returns its slot, which no other text of the shelf ever had.

        `said` is whose voice it is in which conversation, if it is part of one.
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

    def renew(
        self, shelf: int, slots: range, texts: Iterable[tuple[int, Sequence[str], Voice | None]]
    ) -> bool:
        """Make a block of a shelf's lists anew, each text in the slot it has; whether it is the last."""
        self._settle()
        block, first = slots.start // SLOTS_PER_BLOCK, slots.start
        lengths: dict[int, int] = {}  # by slot within the block; of what is gone by now some may be left
        for (data,) in self._tx.all("drop_block_postings", shelf=shelf, block=block):
            lengths |= lengths_in(data)
        self._tx.run("drop_block_placements", shelf=shelf, block=block)
        for slot, length in self._tx.all("drop_block_fresh", shelf=shelf, first=first, last=slots.stop):
            lengths[slot - first] = length
        rows: list[_Counted] = []
        for slot, terms, said in texts:
            place = self._placed(shelf, slot, len(terms), said)
            rows.append((slot, len(terms), Counter(terms), place))
        self._put(shelf, rows)
        self._tx.run(
            "recount_shelf",
            shelf=shelf,
            block_size=SLOTS_PER_BLOCK,
            members=len(rows),
            length=sum(row[1] for row in rows),
            before=sum(lengths.get(slot - first, 0) for slot, *_ in rows),
        )
        row = self._tx.one("next_slot", shelf=shelf)
        return row is None or int(row[0]) <= slots.stop

    def _placed(self, shelf: int, slot: int, length: int, said: Voice | None) -> bytes | None:
        if said is None:
            return None
        return placed(slot, Place(self._conversation(shelf, said.conversation), said.whose, length))

    def remove(self, shelf: int, slot: int, terms: Sequence[str]) -> None:
        """Take a text out; `terms` are those it was indexed by."""
        self._settle()
        if self._tx.one("drop_fresh", shelf=shelf, slot=slot) is None:
            block = slot // SLOTS_PER_BLOCK
            found = self._tx.all("posting_block", shelf=shelf, terms=sorted(set(terms)), block=block)
            rest = [
                {"shelf": shelf, "block": block, "term": term, "data": without(data, slot)}
                for term, data in sorted(found)
            ]
            if gone := [one["term"] for one in rest if not one["data"]]:
                self._tx.run("drop_blocks", shelf=shelf, terms=gone, block=block)
            self._tx.many("write_block", [one for one in rest if one["data"]])
            if row := self._tx.one("placement_block", shelf=shelf, block=block):
                self._tx.run("put_placement", shelf=shelf, block=block, data=unplaced(row[0], slot))
        self._tx.run("free_slot", shelf=shelf, length=len(terms))

    def _put(self, shelf: int, texts: Sequence[_Counted]) -> None:
        """Texts into the posting lists, each list written once."""
        lists: dict[tuple[str, int], bytearray] = defaultdict(bytearray)
        places: dict[int, bytearray] = defaultdict(bytearray)
        for slot, length, terms, place in sorted(texts, key=lambda row: row[0]):
            places[slot // SLOTS_PER_BLOCK] += place or b""
            entries = {count: packed(slot, count, length) for count in {*terms.values()}}
            for term, count in terms.items():
                lists[term, slot // SLOTS_PER_BLOCK] += entries[count]
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


_MOST_VECTORS = 512 * 2**20  #: bytes of vectors that stay in memory
_FEW = 8  #: of fewer new vectors each waits in a row of its own, as the words of the texts do
_NEWEST = 2**15  #: slots among which what is like a new text is looked for
_STATES = 3  #: a reader may still be on the snapshot before the last
#: Of how many shelves earlier states are kept: those of a session that is over are asked for no more.
_RECENT = 8
_KEPT_LOCK = threading.Lock()

_Key = tuple[int, str]  #: shelf, encoder
Stretch = tuple[int, int]  #: shelves by their numbers: those behind the first, up to the second
BEYOND = 2**62  #: behind every number of a shelf
WRITTEN = "written"  #: what a process keeps of a store: the shelves that it wrote to since it looked
EVERYWHERE: Sequence[Stretch] = ((0, BEYOND),)
Text = tuple[str | None, str]  #: the key or heading of a text, and the text


def _together(shelf: int, fresh: Sequence[Row], dimension: int) -> Small:
    """The vectors of some rows, one below the other."""
    try:
        return np.frombuffer(b"".join(data for _, data in fresh), dtype=np.int8).reshape(
            len(fresh), dimension
        )
    except (TypeError, ValueError) as error:
        raise row_damaged(DamagedRow("vector_fresh", str(shelf), "data")) from error


class Vectors(Tables):
    """One tenant's vectors inside one transaction."""

    def add(self, embedder: str, shelf: int, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Give texts of a shelf their vectors, by slot; a slot gets a vector of an encoder once."""
        if not vectors:
            return
        slots = sorted(vectors)
        rows = nearness.small(np.stack([vectors[slot] for slot in slots]))
        if len(slots) < _FEW:
            place = {"shelf": shelf, "embedder": embedder}
            new = zip(slots, rows, strict=True)
            fresh = [{**place, "slot": slot, "data": row.tobytes()} for slot, row in new]
            self._tx.many("add_fresh_vector", fresh)
            self._count(shelf, embedder, rows.shape[1], len(slots))
            if any(slot % FRESH == FRESH - 1 for slot in slots):
                self._spread(shelf, embedder)
            return
        self._append(shelf, embedder, dict(zip(slots, rows, strict=True)), len(slots))

    def removing(self, shelf: int, slot: int) -> Callable[[], None]:
        """A text's vectors go, whichever encoder made them, once what this returns is called as well."""
        at = {"shelf": shelf, "block": slot // SLOTS_PER_BLOCK}
        fresh = self._tx.later("drop_fresh_vector", shelf=shelf, slot=slot)
        self._tx.ahead("vector_blocks_at", **at)

        def rest() -> None:
            for (embedder,) in fresh():
                self._count(shelf, embedder, 0, -1)
            for embedder, dimension, data in self._tx.all("vector_blocks_at", **at):
                left = nearness.without(data, slot, dimension)
                if len(left) < len(data):
                    version = self._version()
                    self._tx.run("write_vector_block", version=version, data=left, embedder=embedder, **at)
                    self._count(shelf, embedder, dimension, -1, version)

        return rest

    def missing(self, embedder: str) -> int:
        """How many texts have no vector of this encoder."""
        return sum(count for _, count, _ in self._shelves_lacking(embedder, EVERYWHERE))

    def _shelves_lacking(self, embedder: str, among: Sequence[Stretch]) -> Iterator[Row]:
        for after, last in among:
            yield from self._tx.all("shelves_lacking", embedder=embedder, after=after, last=last)

    def stretch(self, after: int, shelves: int) -> Stretch:
        """So many shelves behind one, or all that are left."""
        row = self._tx.one("shelf_numbered", after=after, count=shelves - 1)
        return after, BEYOND if row is None else int(row[0])

    def lacking(
        self, embedder: str, dimension: int, limit: int, among: Sequence[Stretch] = EVERYWHERE
    ) -> dict[tuple[int, str], dict[int, Text]]:
        """So many of the texts without a vector of this encoder, by number and name of a shelf, and slot."""
        found: dict[tuple[int, str], dict[int, Text]] = {}
        for shelf, _, name in self._shelves_lacking(embedder, among):
            if texts := self.lacking_in(embedder, dimension, shelf, limit):
                found[shelf, name] = texts
                limit -= len(texts)
            if limit <= 0:
                break
        return found

    def lacking_in(self, embedder: str, dimension: int, shelf: int, limit: int) -> dict[int, Text]:
        """So many of the texts of one shelf that have none, by slot, in that order."""
        found: dict[int, Text] = {}
        fresh = {slot for slot, _ in self._tx.all("fresh_vectors", shelf=shelf, embedder=embedder)}
        counts = Counter(slot // SLOTS_PER_BLOCK for slot in fresh)
        for block, size in self._tx.all("vector_block_sizes", shelf=shelf, embedder=embedder):
            counts[block] += size // (dimension + 1)
        for block, texts in self._tx.all("texts_per_block", shelf=shelf):
            if texts > counts[block]:
                known = fresh | self._slots(embedder, dimension, shelf, block)
                found |= {at: text for at, text in self._texts(shelf, block) if at not in known}
            if len(found) >= limit:
                return dict(islice(found.items(), limit))
        return found

    def _slots(self, embedder: str, dimension: int, shelf: int, block: int) -> set[int]:
        row = self._tx.one("vector_block", shelf=shelf, embedder=embedder, block=block)
        places = () if row is None else nearness.unpacked(row[0], dimension)[0].tolist()
        return {block * SLOTS_PER_BLOCK + place for place in places}

    def _texts(self, shelf: int, block: int) -> Iterator[tuple[int, Text]]:
        first = block * SLOTS_PER_BLOCK
        rows = self._tx.all("texts_in_block", shelf=shelf, first=first, beyond=first + SLOTS_PER_BLOCK)
        return ((slot, (name, text)) for slot, name, text in sorted(rows))

    def clear(self, shelf: int) -> None:
        """No vectors at all of what is on a shelf."""
        self._tx.ledger.flush()
        self._tx.noted.clear()
        for name in ("drop_vector_shelf", "drop_vector_blocks", "drop_fresh_vectors"):
            self._tx.run(name, shelf=shelf)

    def lacking_on(self, embedder: str, shelf: Shelf) -> int:
        """How many texts of a shelf have no vector of this encoder."""
        state = self._state(shelf.number, embedder)
        return max(0, shelf.members - (0 if state is None else int(state[0])))

    def newest_lacking(self, embedder: str, dimension: int, shelf: Shelf, most: int) -> dict[int, Text]:
        """So many texts of a shelf without a vector of this encoder, by slot; the newest first."""
        found: dict[int, Text] = {}
        fresh = {slot for slot, _ in self._tx.all("fresh_vectors", shelf=shelf.number, embedder=embedder)}
        for block in range((shelf.next_slot - 1) // SLOTS_PER_BLOCK, -1, -1):
            known = fresh | self._slots(embedder, dimension, shelf.number, block)
            found |= {at: text for at, text in self._texts(shelf.number, block) if at not in known}
            if len(found) >= most:
                break
        return found

    def likeness(
        self,
        embedder: str,
        question: NDArray[np.float32],
        shelves: Sequence[Shelf],
        more: Mapping[int, Mapping[int, NDArray[np.float32]]],
    ) -> dict[int, NDArray[np.float32]]:
        """By shelf number, how alike each slot's text is to the question; without vectors, left out.

        `more` are vectors by shelf and slot that are not stored yet.
        """
        asked = nearness.small(question[None, :])[0]
        found = {}
        for shelf in shelves:
            state = self._state(shelf.number, embedder)
            new = more.get(shelf.number, {})
            if not new and (state is None or not state[0]):
                continue
            kept = nearness.ShelfVectors(len(asked), -1, {})
            if state is not None:
                kept = self._current((shelf.number, embedder), len(asked), *map(int, state[1:3]))
            found[shelf.number] = scores = kept.likeness(asked, shelf.next_slot)
            if fresh := self._fresh(shelf.number, embedder):
                rows = _together(shelf.number, fresh, len(asked))
                scores[[slot for slot, _ in fresh]] = nearness.cosines(rows, asked)
            if new:
                scores[list(new)] = nearness.cosines(nearness.small(np.stack(list(new.values()))), asked)
        return found

    def some(self, embedder: str, shelf: int, slots: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors of some texts of a shelf by their slots, as they are kept; without those of none."""
        state = self._state(shelf, embedder) if slots else None
        if state is None or not state[0]:
            return {}
        kept = self._current((shelf, embedder), 0, *map(int, state[1:3]))
        found = {slot: row for slot in slots if (row := kept.row(slot)) is not None}
        if len(found) < len(slots):
            fresh = self._fresh(shelf, embedder)
            found |= {slot: np.frombuffer(data, dtype=np.int8) for slot, data in fresh if slot in slots}
        return {slot: row.astype(np.float32) for slot, row in found.items()}

    def near(
        self, embedder: str, shelf: int, vectors: Mapping[int, NDArray[np.float32]], least: float, most: int
    ) -> dict[int, list[tuple[int, float]]]:
        """By slot of texts that get these vectors next, what stands in slots before it: slot and cosine.

        At least so alike, the nearest first, at most so many, among the newest of a very large shelf.
        """
        slots = sorted(vectors)
        asked = nearness.part(slots, nearness.small(np.stack([vectors[slot] for slot in slots])))
        parts = [asked]
        state = self._tx.one("vector_shelf_state", shelf=shelf, embedder=embedder)
        if state is not None and state[0]:
            dimension = asked[1].vectors.shape[1]
            kept = self._current((shelf, embedder), dimension, *map(int, state[1:3]))
            parts += kept.newest(slots[0] - _NEWEST)
        if fresh := self._tx.all("fresh_vectors", shelf=shelf, embedder=embedder):
            rows = _together(shelf, fresh, asked[1].vectors.shape[1])
            parts.append(nearness.part([slot for slot, _ in fresh], rows))
        return nearness.before(asked, parts, least, most)

    def _state(self, shelf: int, embedder: str) -> Row | None:
        """How many vectors of an encoder a shelf has, and of which version they are."""
        place = {"shelf": shelf, "embedder": embedder}
        name = ("vectors", shelf, embedder)
        return self._tx.same(name, lambda: self._tx.one("vector_shelf_state", **place))

    def _fresh(self, shelf: int, embedder: str) -> list[Row]:
        """Those that wait to be moved to their blocks, by slot."""
        place = {"shelf": shelf, "embedder": embedder}
        return self._tx.same(("fresh", shelf, embedder), lambda: self._tx.all("fresh_vectors", **place))

    def _current(self, key: _Key, dimension: int, version: int, since: int) -> nearness.ShelfVectors:
        """The blocks of a shelf as this snapshot has them; read once and kept, then only what changed."""
        with _KEPT_LOCK:
            kept: dict[_Key, list[nearness.ShelfVectors]] = self._tx.kept.setdefault("vectors", {})
            usable = [one for one in kept.get(key, ()) if since <= one.version <= version]
        best = max(usable, key=lambda one: one.version, default=nearness.ShelfVectors(dimension, -1, {}))
        if best.version != version:
            rows = self._tx.all("vector_blocks_since", shelf=key[0], embedder=key[1], version=best.version)
            try:
                best = best.changed(version, rows)
            except (TypeError, ValueError) as error:
                raise row_damaged(DamagedRow("vector_block", str(key[0]), "data")) from error
        if not self._tx.settled:  # what is rolled back leaves its version to another change
            return best
        with _KEPT_LOCK:
            states = [one for one in kept.pop(key, ()) if one.version != version]
            kept[key] = sorted([*states, best], key=lambda one: one.version)[-_STATES:]
            if (older := next(islice(reversed(kept), _RECENT, None), None)) is not None:
                kept[older] = kept[older][-1:]
            while len(kept) > 1 and sum(states[-1].size for states in kept.values()) > _MOST_VECTORS:
                del kept[next(iter(kept))]
        return best

    def _spread(self, shelf: int, embedder: str) -> None:
        """Move a shelf's fresh vectors over to their blocks."""
        fresh = self._tx.all("take_fresh_vectors", shelf=shelf, embedder=embedder)
        rows = {slot: np.frombuffer(data, dtype=np.int8) for slot, data in sorted(fresh)}
        self._append(shelf, embedder, rows, 0)

    def _append(self, shelf: int, embedder: str, rows: Mapping[int, Small], new: int) -> None:
        """Write vectors into their blocks; so many of them were not counted before."""
        blocks: dict[int, list[int]] = defaultdict(list)
        for slot in rows:
            blocks[slot // SLOTS_PER_BLOCK].append(slot)
        version = self._version()
        self._tx.many(
            "add_vector_block",
            [
                {
                    "shelf": shelf,
                    "embedder": embedder,
                    "block": block,
                    "version": version,
                    "data": nearness.packed(slots, np.stack([rows[slot] for slot in slots])),
                }
                for block, slots in sorted(blocks.items())
            ],
        )
        self._count(shelf, embedder, len(next(iter(rows.values()))), new, version)

    def _count(self, shelf: int, embedder: str, dimension: int, change: int, version: int = 0) -> None:
        place = {"shelf": shelf, "embedder": embedder}
        known = change < 0 or ("vectors", shelf, embedder) in self._tx.noted  # what goes was counted there
        if known or self._tx.one("vector_shelf_state", **place) is not None:
            self._tx.run("count_vectors", change=change, version=version, **place)
        else:
            version = version or self._version()
            self._tx.run("open_vector_shelf", dimension=dimension, members=change, version=version, **place)
        self._tx.noted["vectors", shelf, embedder] = True

    def _version(self) -> int:
        self._tx.settled = False
        return next_shared(self._tx, "vectors")
