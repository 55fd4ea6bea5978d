"""What stands at a place of the index: a memory, or a passage of a document read as one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from lamina.model import Authority, Hit, Kind, Layer, Memory, Provenance, Query, Role, Source, Space, Trust
from lamina.policy.gates import is_reserved
from lamina.ranking.decay import decay
from lamina.ranking.fusion import Fused
from lamina.ranking.lexical import Shelf
from lamina.ranking.timing import Period
from lamina.storage.database import Transaction
from lamina.storage.documents import DOCUMENTS, ID_PREFIX, Documents, Found
from lamina.storage.memories import Edges, Memories
from lamina.text.terms import terms
from lamina.text.tokens import count_tokens

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_NAMED = 32  #: passages of one file that its path finds
_TOLD_LATER = timedelta(days=3)
_REPLACED = ("superseded", "deprecated")


def ask_ahead(transaction: Transaction, query: Query, shelf: Shelf, slots: list[int], now: datetime) -> None:
    """What stands in some slots will be asked for, and where it leads to."""
    if not shelf.name.startswith(f"{DOCUMENTS}:"):
        Memories(transaction).readable_slots(query, shelf.number, slots, now, ahead=True)
        if shelf.linked:
            Edges(transaction).leaving(shelf.number, slots, ahead=True)


def at_slots(
    transaction: Transaction, query: Query, shelf: Shelf, slots: list[int], now: datetime
) -> dict[int, Memory]:
    """By slot, what stands in some slots of a shelf and the query may see."""
    if shelf.name.startswith(f"{DOCUMENTS}:"):
        ids = Documents(transaction).readable(query, shelf.number, slots)
        known = loaded(transaction, list(ids.values()))
        return {slot: known[one] for slot, one in ids.items() if one in known}
    return Memories(transaction).readable_slots(query, shelf.number, slots, now)


def slots_then(transaction: Transaction, shelf: Shelf, period: Period, most: int) -> list[int]:
    """The slots of a shelf whose content was said in a period, or right after it; none if they are too many.

    What happened is told a little later as often as on the day.
    """
    start, end = period.start, period.end + _TOLD_LATER
    documents = shelf.name.startswith(f"{DOCUMENTS}:")
    found = (
        Documents(transaction).dated_between(shelf.number, start, end, most + 1)
        if documents
        else Memories(transaction).said_between(shelf.number, start, end, most + 1)
    )
    return found if len(found) <= most else []


def loaded(transaction: Transaction, ids: Sequence[str]) -> dict[str, Memory]:
    """What has these ids, passages read as memories of their owner."""
    of_files = [one for one in ids if one.startswith(ID_PREFIX)]
    passages = Documents(transaction).load(of_files) if of_files else {}
    others = [one for one in ids if not one.startswith(ID_PREFIX)]
    memories = Memories(transaction).load(others) if others else {}
    return memories | {name: _as_memory(one) for name, one in passages.items()}


def weight_left(memory: Memory, now: datetime) -> float:
    """What time has left of its weight; a document does not fade."""
    if memory.id.startswith(ID_PREFIX):
        return 1.0
    return decay(memory.layer, memory.updated_at, memory.access_count, now).score


def named(transaction: Transaction, query: Query, shelves: Sequence[Shelf]) -> list[str]:
    """Ids of the passages that a question names: by their id, a decision's id, or a path."""
    shelf = next((one for one in shelves if one.name == query.documents), None)
    if shelf is None:
        return []
    asked, documents = query.text.strip(), Documents(transaction)
    whole = documents.load([asked]) if asked.startswith(ID_PREFIX) else {}
    found = [one for one in whole.values() if one.shelf == shelf.number]
    found += documents.named(shelf.number, asked.removeprefix("./"), _MOST_NAMED)
    return [one.id for one in found]


def source_of(memory: Memory) -> Source:
    """Where something that was found comes from."""
    origin = memory.provenance
    place = {name: memory.meta.get(name) for name in ("start_line", "end_line", "heading", "date", "status")}
    if not memory.id.startswith(ID_PREFIX):
        place = {}
    return Source(path=memory.file, actor=origin.actor, via=origin.via, session=origin.session_id, **place)


def _as_memory(found: Found) -> Memory:
    """A passage as recall sees it: the text of a file is data, and nothing in it is an instruction."""
    passage, actor = found.passage, f"file:{found.path}"
    at = found.dated_at or found.changed_at or _NEVER
    return Memory(
        id=found.id,
        space=Space.USER,
        owner=found.path,
        layer=Layer.SEMANTIC,
        kind=Kind.DECISION if passage.key else Kind.CONTEXT,
        text=passage.text,
        authority=Authority.USER_ASSERTED,
        created_at=at,
        updated_at=at,
        valid_from=at,
        superseded_by="a later decision" if passage.status in _REPLACED else None,
        file=found.path,
        provenance=Provenance(actor=actor, role=Role.DOCUMENT, via="file", trust=Trust.UNTRUSTED),
        meta={
            "start_line": passage.start_line,
            "end_line": passage.end_line,
            "heading": passage.heading,
            "date": passage.date.isoformat() if passage.date else None,
            "status": passage.status,
        },
    )


def hit_of(one: Fused, words: Sequence[str]) -> Hit:
    """What is told of a memory that was found by these words, and why it was."""
    memory = one.memory
    return Hit(
        id=memory.id,
        text=memory.text,
        score=one.score,
        reasons=_reasons(one, memory, words),
        ranks=one.ranks,
        scores=one.scores,
        adjustments={name: round(value, 6) for name, value in one.adjustments.items()},
        layer=memory.layer,
        kind=memory.kind,
        space=memory.space,
        key=memory.key,
        at=memory.said_at if memory.said_at < memory.created_at else memory.updated_at,
        source=source_of(memory),
        tokens=count_tokens(memory.text),
        trust=memory.provenance.trust,
        confidence=one.confidence,
        uncertainty=one.uncertainty,
    )


def is_forged(memory: Memory) -> bool:
    """Whether somebody gave it a key that was closed later, or is: it is never told as known."""
    return is_reserved(memory.key or "") and memory.authority is not Authority.SYSTEM_IMPOSED


@lru_cache(maxsize=32)  # what one message asks of the same texts again and again
def _present(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _reasons(one: Fused, memory: Memory, words: Sequence[str]) -> tuple[str, ...]:
    reasons = []
    if memory.provenance.trust is Trust.UNTRUSTED:
        reasons.append(f"untrusted: a {memory.provenance.role} said it")
    if "exact" in one.ranks:
        reasons.append("named by its key or id")
    if "lexical" in one.scores:
        present = _present(f"{memory.key} {memory.text}" if memory.key else memory.text)
        reasons.append(f"matches {sum(word in present for word in words)} of {len(words)} terms")
    elif "meaning" in one.scores:
        reasons.append(f"a guess: alike in meaning ({one.scores['meaning']:.2f}), no word in common")
    if "conversation" in one.scores:
        reasons.append("said near what matches")
    return tuple(reasons)
