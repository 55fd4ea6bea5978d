"""Documents and passages as rows, and their place in the text index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time

from lamina.model import Query, canonical
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import from_micros, micros, to_micros
from lamina.storage.search_index import TextIndex, Vectors
from lamina.text.passages import Document, Passage
from lamina.text.terms import terms

DOCUMENTS = "documents"  #: how the shelf of somebody's documents begins
ID_PREFIX = "doc:"
_PAGE = 500
_WITH_STAMP = 11  #: columns of a passage, before that of its file's stamp


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What a file was when it was last read."""

    stamp: tuple[int, ...]
    hash: str
    gone: bool
    hidden: tuple[int, ...]  #: lines that hold a secret, which is in no index


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A markdown file as it was read just now."""

    path: str
    stamp: tuple[int, ...]  #: how it was read, its size, time and inode
    hash: str
    tier: str
    depth: int  #: 0 is looked at first, 1 when that is not enough, 2 when the question reaches that far
    hidden: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage in the store."""

    shelf: int
    slot: int | None
    path: str
    number: int
    passage: Passage
    changed_at: datetime | None = None  #: when the file was last saved

    @property
    def id(self) -> str:
        return f"{ID_PREFIX}{self.path}#{self.number}"

    @property
    def dated_at(self) -> datetime | None:
        return _moment(self.passage.date)


def indexed_words(passage: Passage) -> list[str]:
    """What a passage is found by: the headings above it, and its own text."""
    return terms(f"{passage.heading} {passage.text}")


class Documents:
    """One tenant's documents inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._lexicon = TextIndex(transaction)

    def known(self) -> dict[str, KnownFile]:
        """Every file that was ever read and not dropped, by its path."""
        return dict(self._tx.each(_known, "documents_known"))

    def hash_of(self, path: str) -> str | None:
        """What a file that is known said, None for one that is not."""
        row = self._tx.one("document_by_path", path=path)
        return None if row is None else row[0]

    def put(self, shelf: int, file: FileRead, document: Document, now: datetime) -> dict[int, str]:
        """Make the index say what the file says; a passage whose words were there keeps its number.

        Returns the new words by their slots.
        """
        new: dict[int, str] = {}
        row = self._tx.one("document_by_path", path=file.path)
        number = int(row[1]) if row else 1
        before: dict[tuple[str, str], list[Found]] = {}
        for old in self.of(file.path):
            before.setdefault((old.passage.heading, old.passage.text), []).append(old)
        for passage in document.passages:
            if same := before.get((passage.heading, passage.text)):
                kept = same.pop(0)
                self._tx.run("update_passage", path=file.path, number=kept.number, **_place(passage))
                continue
            slot = self._lexicon.add(shelf, indexed_words(passage))
            self._tx.run(
                "add_passage",
                path=file.path,
                number=number,
                shelf=shelf,
                slot=slot,
                heading=passage.heading,
                text=passage.text,
                **_place(passage),
            )
            new[slot] = f"{passage.heading} {passage.text}"
            number += 1
        self._remove(old for same in before.values() for old in same)
        self._tx.run(
            "put_document",
            path=file.path,
            shelf=shelf,
            stamp=_written(file),
            hash=file.hash,
            title=document.title,
            tier=file.tier,
            dated_at=to_micros(_moment(document.date)),
            indexed_at=micros(now),
            depth=file.depth,
            next_number=number,
            hidden=canonical(file.hidden),
        )
        return new

    def touch(self, file: FileRead) -> None:
        """The file has another time and says what it said."""
        self._tx.run("restamp_document", path=file.path, stamp=_written(file))

    def move(self, path: str, new: str) -> None:
        """The file has another name, which is free; its passages keep their numbers."""
        self._tx.run("move_document", path=path, new=new)
        self._tx.run("move_passages", path=path, new=new)

    def drop(self, path: str) -> None:
        self._remove(self.of(path))
        self._tx.run("drop_document", path=path)

    def mark(self, path: str, gone: bool) -> None:
        """A file that is gone is in no answer, and stays in the index until somebody agrees."""
        self._tx.run("mark_document", path=path, gone=int(gone))

    def of(self, path: str) -> list[Found]:
        return self._tx.each(_found, "passages_of", path=path)

    def _remove(self, passages: Iterable[Found]) -> None:
        for one in passages:
            if one.slot is not None:
                self._lexicon.remove(one.shelf, one.slot, indexed_words(one.passage))
                Vectors(self._tx).removing(one.shelf, one.slot)()
            self._tx.run("drop_passage", path=one.path, number=one.number)

    def reindex(self, shelf: int) -> Iterator[tuple[int, str]]:
        """Give every passage on a shelf a place in its index, which was emptied; slots and words."""
        self._tx.run("empty_passage_slots", shelf=shelf)
        for one in self.all():
            if one.shelf == shelf:
                slot = self._lexicon.add(shelf, indexed_words(one.passage))
                self._tx.run("set_passage_slot", path=one.path, number=one.number, slot=slot)
                yield slot, f"{one.passage.heading} {one.passage.text}"

    def words_on(self, shelf: int, slots: range) -> Iterator[tuple[int, list[str]]]:
        """The slot of every passage that has one of these on a shelf, and what it is found by."""
        between = {"shelf": shelf, "first": slots.start, "last": slots.stop}
        for one in self._tx.each(_found, "passages_between", **between):
            if one.slot is not None:
                yield one.slot, indexed_words(one.passage)

    def all(self) -> Iterator[Found]:
        path, number = "", 0
        while page := self._tx.each(_found, "passages_after", path=path, number=number, limit=_PAGE):
            yield from page
            path, number = page[-1].path, page[-1].number

    def readable(self, query: Query, shelf: int, slots: list[int]) -> dict[int, str]:
        """Slot to id, for those slots whose passage the query may see."""
        since, until = to_micros(query.since), to_micros(query.until)
        rows = self._tx.all(
            "readable_passages", shelf=shelf, slots=slots, depth=query.depth, since=since, until=until
        )
        return {slot: f"{ID_PREFIX}{path}#{number}" for slot, path, number in rows}

    def dated_between(self, shelf: int, start: datetime, end: datetime, most: int) -> list[int]:
        """The slots of passages that carry a date from one moment up to another, at most so many."""
        limits = {"start": to_micros(start), "end_": to_micros(end), "limit": most}
        return [slot for (slot,) in self._tx.all("passages_dated", shelf=shelf, **limits) if slot is not None]

    def named(self, shelf: int, name: str, limit: int) -> list[Found]:
        """Passages that a question names: a decision's id, a file's path."""
        return self._tx.each(_found, "passages_named", shelf=shelf, name=name, limit=limit)

    def load(self, ids: Sequence[str]) -> dict[str, Found]:
        """The passages with these ids that exist."""
        places = [one.removeprefix(ID_PREFIX).rpartition("#") for one in ids if one.startswith(ID_PREFIX)]
        wanted = [(path, int(number)) for path, _, number in places if number.isdecimal()]
        paths, numbers = [path for path, _ in wanted], [number for _, number in wanted]
        return {one.id: one for one in self._tx.each(_found, "passages_at", paths=paths, numbers=numbers)}

    def deepest(self, shelf: int) -> int:
        """How deep a search of a shelf can reach."""
        row = self._tx.one("deepest_document", shelf=shelf)
        return int(row[0] or 0) if row else 0

    def counts(self) -> tuple[dict[str, int], int]:
        """Documents by tier, and how many passages there are."""
        row = self._tx.one("count_passages")
        return dict(self._tx.all("count_documents")), int(row[0]) if row else 0


def _written(file: FileRead) -> str:
    return " ".join(map(str, file.stamp))


def _place(passage: Passage) -> dict[str, int | str | None]:
    return {
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "status": passage.status,
        "key": passage.key,
        "dated_at": to_micros(_moment(passage.date)),
    }


def _moment(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _known(row: Row) -> tuple[str, KnownFile]:
    path, stamp, digest, gone, hidden = row
    return path, KnownFile(tuple(map(int, stamp.split())), digest, bool(gone), tuple(json.loads(hidden)))


def _found(row: Row) -> Found:
    dated = from_micros(row[10])
    passage = Passage(
        start_line=row[4],
        end_line=row[5],
        heading=row[6],
        text=row[7],
        status=row[8],
        key=row[9],
        date=None if dated is None else dated.date(),
    )
    saved = from_micros(int(row[11].split()[2]) // 1000) if len(row) > _WITH_STAMP else None
    return Found(row[0], row[1], row[2], row[3], passage, saved)
