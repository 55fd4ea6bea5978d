"""The index of words and meaning, made anew from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from lamina.encoders.port import Embedder
from lamina.ranking.lexical import SLOTS_PER_BLOCK
from lamina.retrieval.meaning import learn, meant_by
from lamina.storage.database import Database, Transaction
from lamina.storage.documents import DOCUMENTS, Documents
from lamina.storage.ledger import lane_of
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex, Vectors, Voice
from lamina.storage.small_tables import Properties
from lamina.text.terms import ANALYSER_VERSION
from lamina.write.unit_of_work import indexed_terms, said_in

_PAGE = 500
_EVERY = 2**31  #: shelves
_Words = Mapping[tuple[str | None, str], Sequence[str]]  #: by key and text, the terms of them
#: The version that lists are made anew for, the last shelf that has them, and up to which slot the next does.
_RENEWED = "analyser_renewed"


def is_current(transaction: Transaction) -> bool:
    """Whether this version of the analyser made the index."""
    return Properties(transaction).get("analyser") == str(ANALYSER_VERSION)


def begin_index(transaction: Transaction) -> None:
    """An index that is empty is of this version of the analyser."""
    if Properties(transaction).get("analyser") is None:
        Properties(transaction).set("analyser", str(ANALYSER_VERSION))


def renewal(transaction: Transaction) -> tuple[int, int] | None:
    """How many shelves are done and how many there are, while an index is made anew; None where none is."""
    if is_current(transaction):
        return None
    return TextIndex(transaction).counted(_renewed(transaction)[0])


def renew(database: Database, most: int | None = None) -> bool:
    """Make the lists of some shelves anew that another version of the analyser made; whether all are.

    A few hundred texts are a transaction that only those wait for who write on their shelf. Whoever stops
    half-way, or does it at the same time, goes on where it was. A text keeps its slot, and so its vector.
    """
    shelves = database.read(lambda tx: _next_shelves(tx, most))
    for number, name in shelves:
        done = False
        while not done:  # others write in between
            known = database.read(partial(_next_words, number=number))  # read while nobody waits
            part = partial(_renew_part, number=number, name=name, known=known)
            done = database.write(part, lanes=[lane_of(name)])
    if most is not None and len(shelves) == most:
        return False
    return database.write(_end_renewal)


def _next_shelves(transaction: Transaction, most: int | None) -> list[tuple[int, str]]:
    if is_current(transaction):
        return []
    return TextIndex(transaction).after(_renewed(transaction)[0], _EVERY if most is None else most)


def _renewed(transaction: Transaction) -> tuple[int, int]:
    """The last shelf that is done, and up to which slot the one after it is."""
    version, *done = (Properties(transaction).get(_RENEWED) or "0").split()
    if version != str(ANALYSER_VERSION) or not done or not all(map(str.isdecimal, done)):
        return 0, 0
    return int(done[0]), int(done[1]) if len(done) > 1 else 0


def _next_words(transaction: Transaction, number: int) -> _Words:
    """The terms of what stands in the next block of a shelf, by key and text."""
    start, memories = _renewed(transaction)[1], Memories(transaction)
    slots = memories.slots_on(number, range(start, start + SLOTS_PER_BLOCK))
    return {(one.key, one.text): indexed_terms(one) for one in memories.load(list(slots)).values()}


def _renew_part(transaction: Transaction, number: int, name: str, known: _Words) -> bool:
    """The next block of a shelf; whether it was the last one."""
    last, start = _renewed(transaction)
    if is_current(transaction) or last >= number:
        return True  # another process was faster
    block, memories = range(start, start + SLOTS_PER_BLOCK), Memories(transaction)
    slots = memories.slots_on(number, block)

    def texts() -> Iterator[tuple[int, Sequence[str], Voice | None]]:
        for one in memories.load(list(slots)).values():
            yield slots[one.id], known.get((one.key, one.text)) or indexed_terms(one), said_in(one)
        if name.startswith(f"{DOCUMENTS}:"):
            yield from ((slot, words, None) for slot, words in Documents(transaction).words_on(number, block))

    done = TextIndex(transaction).renew(number, block, texts())
    place = f"{number}" if done else f"{last} {block.stop}"
    Properties(transaction).set(_RENEWED, f"{ANALYSER_VERSION} {place}")
    return done


def _end_renewal(transaction: Transaction) -> bool:
    """Alone on the store: every shelf is of this version now, or a new one was opened and is left to do."""
    if not is_current(transaction) and _next_shelves(transaction, 1):
        return False
    _say_current(transaction)
    return True


def rebuild(database: Database, encoder: Embedder | None) -> int:
    """Make the index of words and meaning anew from the rows; how many memories.

    Each shelf is a transaction that only those wait for who write there: whoever stops half-way leaves
    every shelf with its old index or its new one.
    """
    count = 0
    for number, name in database.write(_named_shelves):
        work = partial(_rebuild_shelf, encoder=encoder, number=number, name=name)
        count += database.write(work, lanes=[lane_of(name)])
    database.write(_say_current)
    return count


def _named_shelves(transaction: Transaction) -> list[tuple[int, str]]:
    index = TextIndex(transaction)
    index.mend()
    return index.after(0, _EVERY)


def _rebuild_shelf(transaction: Transaction, encoder: Embedder | None, number: int, name: str) -> int:
    index, memories = TextIndex(transaction), Memories(transaction)
    memories.recount(number)
    index.clear(number)
    Vectors(transaction).clear(number)
    ids, count = memories.active_on(number), 0
    for start in range(0, len(ids), _PAGE):
        page, texts = ids[start : start + _PAGE], {}
        known = memories.load(page)
        count += len(known)
        for memory in (known[one] for one in page if one in known):  # the others cannot be read
            slot = index.add(number, indexed_terms(memory), said_in(memory))
            memories.set_slot(memory.id, slot)
            texts[slot] = meant_by(memory)
        learn(transaction, encoder, number, texts)
    if name.startswith(f"{DOCUMENTS}:"):
        learn(transaction, encoder, number, dict(Documents(transaction).reindex(number)))
    return count


def _say_current(transaction: Transaction) -> None:
    Properties(transaction).set("analyser", str(ANALYSER_VERSION))
    Properties(transaction).drop(_RENEWED)
