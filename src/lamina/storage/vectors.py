"""Vectors of texts beside their words: written in the same transaction, kept in memory while true."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lamina.ranking.lexical import SLOTS_PER_BLOCK, Shelf
from lamina.similarity import nearness
from lamina.similarity.nearness import Small
from lamina.storage.damage import DamagedRow, row_damaged
from lamina.storage.database import Row, Transaction
from lamina.storage.logs import next_shared
from lamina.storage.text_index import FRESH

_MOST_KEPT = 512 * 2**20  #: bytes of vectors that stay in memory
_NEWEST = 2**15  #: slots among which what is like a new text is looked for
_STATES = 3  #: a reader may still be on the snapshot before the last
_RECENT = (
    8  #: of how many shelves earlier states are kept: those of a session that is over are asked for no more
)
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


class Vectors:
    """One tenant's vectors inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def add(self, embedder: str, shelf: int, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Give texts of a shelf their vectors, by slot; a slot gets a vector of an encoder once."""
        if not vectors:
            return
        slots = sorted(vectors)
        rows = nearness.small(np.stack([vectors[slot] for slot in slots]))
        if len(slots) == 1:
            self._tx.run(
                "add_fresh_vector", shelf=shelf, embedder=embedder, slot=slots[0], data=rows[0].tobytes()
            )
            self._count(shelf, embedder, rows.shape[1], 1)
            if slots[0] % FRESH == FRESH - 1:
                self._spread(shelf, embedder)
            return
        self._append(shelf, embedder, dict(zip(slots, rows, strict=True)), len(slots))

    def remove(self, shelf: int, slot: int) -> None:
        """A text's vectors go, whichever encoder made them."""
        for (embedder,) in self._tx.all("drop_fresh_vector", shelf=shelf, slot=slot):
            self._count(shelf, embedder, 0, -1)
        block = slot // SLOTS_PER_BLOCK
        for embedder, dimension, data in self._tx.all("vector_blocks_at", shelf=shelf, block=block):
            rest = nearness.without(data, slot, dimension)
            if len(rest) < len(data):
                version = self._version()
                place = {"shelf": shelf, "embedder": embedder, "block": block}
                self._tx.run("write_vector_block", version=version, data=rest, **place)
                self._count(shelf, embedder, dimension, -1, version)

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
            kept = nearness.Vectors(len(asked), -1, {})
            if state is not None:
                kept = self._current((shelf.number, embedder), len(asked), (int(state[1]), int(state[2])))
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
        kept = self._current((shelf, embedder), 0, (int(state[1]), int(state[2])))
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
            kept = self._current((shelf, embedder), dimension, (int(state[1]), int(state[2])))
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

    def _current(self, key: _Key, dimension: int, stamp: tuple[int, int]) -> nearness.Vectors:
        """The blocks of a shelf as this snapshot has them; read once and kept, then only what changed."""
        version, since = stamp
        with _KEPT_LOCK:
            kept: dict[_Key, list[nearness.Vectors]] = self._tx.kept.setdefault("vectors", {})
            usable = [one for one in kept.get(key, ()) if since <= one.version <= version]
        best = max(usable, key=lambda one: one.version, default=nearness.Vectors(dimension, -1, {}))
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
            while len(kept) > 1 and sum(states[-1].size for states in kept.values()) > _MOST_KEPT:
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
        known = ("vectors", shelf, embedder) in self._tx.noted
        if known or self._tx.one("vector_shelf_state", **place) is not None:
            self._tx.run("count_vectors", change=change, version=version, **place)
        else:
            version = version or self._version()
            self._tx.run("open_vector_shelf", dimension=dimension, members=change, version=version, **place)
        self._tx.noted["vectors", shelf, embedder] = True

    def _version(self) -> int:
        self._tx.settled = False
        return next_shared(self._tx, "vectors")
