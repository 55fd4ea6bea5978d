"""The index of words and meaning, made anew from the rows."""

from __future__ import annotations

from collections import defaultdict

from lamina.encoders.port import Embedder
from lamina.retrieval.meaning import learn, meant_by
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Properties
from lamina.storage.text_index import TextIndex
from lamina.storage.vectors import Vectors
from lamina.text.terms import ANALYSER_VERSION
from lamina.write.unit_of_work import indexed_terms, said_in

_PAGE = 500


def is_current(transaction: Transaction) -> bool:
    """Whether this version of the analyser made the index."""
    return Properties(transaction).get("analyser") == str(ANALYSER_VERSION)


def keep_current(transaction: Transaction, encoder: Embedder | None) -> None:
    """Make the index anew if another version of the analyser made it."""
    properties = Properties(transaction)
    known = properties.get("analyser")
    if known is None:
        properties.set("analyser", str(ANALYSER_VERSION))
    elif known != str(ANALYSER_VERSION):
        reindex(transaction, encoder)


def reindex(transaction: Transaction, encoder: Embedder | None) -> int:
    """Make the index of words and meaning anew from the rows; how many memories."""
    text_index, memories = TextIndex(transaction), Memories(transaction)
    text_index.mend()
    text_index.clear()
    Vectors(transaction).clear()
    ids, count = memories.in_order(), 0
    for start in range(0, len(ids), _PAGE):
        texts: dict[int, dict[int, str]] = defaultdict(dict)
        page = ids[start : start + _PAGE]
        known = memories.load(page)
        count += len(known)
        for memory in (known[one] for one in page if one in known):  # the others cannot be read
            shelf = text_index.open_shelf(memory.shelf)[0]
            slot = text_index.add(shelf, indexed_terms(memory), said_in(memory))
            memories.set_slot(memory.id, slot)
            texts[shelf][slot] = meant_by(memory)
        for shelf, those in texts.items():
            learn(transaction, encoder, shelf, those)
    for shelf, those in Documents(transaction).reindex():
        learn(transaction, encoder, shelf, those)
    Properties(transaction).set("analyser", str(ANALYSER_VERSION))
    return count
