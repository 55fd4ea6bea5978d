"""How a category comes into a context: whole, or as many of its hits as its file allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lamina.model import Hit, Recollection, Scope
from lamina.policy.categories import Categories
from lamina.read.snapshot import Snapshot
from lamina.storage.database import Transaction
from lamina.storage.logs import always_on
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.text.normalise import is_note

#: Most memories of a category with the mode `all`; the budget of a context is far smaller.
_MOST = 200


def by_modes(snapshot: Snapshot, found: Recollection) -> tuple[dict[str, str], Recollection]:
    """What every context has, id to text, and what was found for the task, as the categories file says."""
    kinds, tx = snapshot.caller.store.ruleset.categories, snapshot.transaction
    if not kinds.known:
        return {}, found
    trimmed = replace(found, hits=_trimmed(tx, found.hits, kinds))
    return _always(tx, snapshot.scope, kinds, snapshot.now), trimmed


def _always(tx: Transaction, scope: Scope, categories: Categories, now: datetime) -> dict[str, str]:
    """Id to text of what a context always has, category by category, what matters most first."""
    found: dict[str, str] = {}
    for category in categories.whole():
        for name in scope.shelves():
            known = TextIndex(tx).shelf(name)
            for memory in always_on(tx, known[0], category, now, _MOST) if known else ():
                named = memory.key and not is_note(memory.key)
                found[memory.id] = f"{memory.key}: {memory.text}" if named else memory.text
    return found


def _trimmed(tx: Transaction, hits: Sequence[Hit], categories: Categories) -> tuple[Hit, ...]:
    """The hits without those beyond the length of their category."""
    if all(one.length is None for one in categories.known.values()):
        return tuple(hits)
    memories, seen, kept = Memories(tx).load([hit.id for hit in hits]), Counter[str](), []
    for hit in hits:
        memory = memories.get(hit.id)
        category = categories.known.get(memory.topic) if memory else None
        if memory is not None and category is not None and category.length is not None:
            if seen[memory.topic] >= category.length:
                continue
            seen[memory.topic] += 1
        kept.append(hit)
    return tuple(kept)
