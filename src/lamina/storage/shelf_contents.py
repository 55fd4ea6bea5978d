"""What is on a caller's shelves, by where it stands rather than by what it says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.model import Memory, Role, Space, canonical, unquoted
from lamina.storage.database import Transaction
from lamina.storage.ends import of_person
from lamina.storage.memories import Memories, from_row, micros
from lamina.storage.phases import Phases
from lamina.storage.sessions import Sessions
from lamina.storage.text_index import TextIndex


def _numbers(transaction: Transaction, names: Sequence[str]) -> list[int]:
    found = (TextIndex(transaction).shelf(name) for name in names)
    return [known[0] for known in found if known is not None]


def keyed_on(transaction: Transaction, names: Sequence[str], now: datetime) -> list[Memory]:
    """The memories of these shelves that hold a key, those that were only heard too."""
    memories = Memories(transaction)
    return [
        memory
        for number in _numbers(transaction, names)
        for memory in (*memories.keyed(number, now), *memories.heard(number))
    ]


def latest_on(transaction: Transaction, names: Sequence[str]) -> list[Memory]:
    """The newest lasting memory of these shelves, as a list of none or one."""
    found = [Memories(transaction).newest(number) for number in _numbers(transaction, names)]
    known = sorted((one for one in found if one is not None), key=lambda one: (one.created_at, one.id))
    return known[-1:]


def turns_on(transaction: Transaction, name: str) -> list[Memory]:
    """The turns of a user in the window of a session, latest last."""
    known = TextIndex(transaction).shelf(name)
    phase = Phases(transaction).get(*known) if known else None
    if known is None or phase is None:
        return []
    turns = Memories(transaction).turns(known[0], phase.id)
    return [turn for turn in turns if turn.provenance.role is Role.USER]


def pending_on(transaction: Transaction, name: str, now: datetime) -> list[Memory]:
    """The guesses on a shelf that wait for their person's word, oldest first."""
    memories = Memories(transaction)
    return [memory for number in _numbers(transaction, [name]) for memory in memories.pending(number, now)]


def lapsed_on(transaction: Transaction, name: str, now: datetime) -> list[str]:
    """Ids of the active memories of a shelf whose time is up."""
    return [one for n in _numbers(transaction, [name]) for one in Sessions(transaction).lapsed(n, now)]


def lapsing_on(transaction: Transaction, name: str) -> list[str]:
    """Ids of what goes when the session of a shelf ends."""
    return [one for n in _numbers(transaction, [name]) for one in Sessions(transaction).lapsing(n)]


def statements_on(transaction: Transaction, name: str, now: datetime, limit: int) -> list[Memory]:
    """What is stated on a shelf, last changed first; nothing of a tool or a file."""
    numbers, until = _numbers(transaction, [name]), micros(now)
    found = [transaction.each(from_row, "statements_on", shelf=n, now=until, limit=limit) for n in numbers]
    return [one for some in found for one in some]


def guesses_on(transaction: Transaction, name: str, limit: int) -> list[Memory]:
    """The latest guesses on a shelf, whatever became of them, oldest of them first."""
    numbers, like = _numbers(transaction, [name]), "%:%:pending:%"
    found = [transaction.each(from_row, "guesses_on", shelf=n, guesses=like, limit=limit) for n in numbers]
    return [one for some in found for one in reversed(some)]


def put_aside_on(transaction: Transaction, names: Sequence[str], until: int, limit: int) -> list[str]:
    """Ids of what was put aside on some shelves and is due by then, so many of each."""
    numbers = _numbers(transaction, names)
    rows = [transaction.all("put_aside_on", shelf=one, now=until, limit=limit) for one in numbers]
    return [row[0] for some in rows for row in some]


def topics_on(transaction: Transaction, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Category to state to how many memories of some shelves; categories in order."""
    found: dict[str, dict[str, int]] = {}
    for number in _numbers(transaction, names):
        for topic, state, count in transaction.all("count_topics", shelf=number):
            states = found.setdefault(topic, {})
            states[state] = states.get(state, 0) + count
    return dict(sorted(found.items()))


def people(transaction: Transaction) -> set[str]:
    """Everybody this tenant holds something of."""
    shelves = {unquoted(str(name).partition(":")[2]) for (name,) in transaction.all("user_shelves")}
    return shelves | {str(name) for (name,) in transaction.all("session_users")}


def derived_from(transaction: Transaction, memory: Memory, telling: bool) -> list[Memory]:
    """What may have come of a person's memory, or it of them: the same words, the turns of their sessions,
    what names it as its source."""
    sources = list(memory.provenance.source_turn_ids)
    return transaction.each(
        from_row,
        "derived_from",
        id=memory.id,
        text=memory.text,
        telling=int(telling),
        named=f'"{memory.id}"',
        sources=sources,
        **of_person(_person(memory)),
    )


def summaries_of(transaction: Transaction, ids: Sequence[str]) -> list[Memory]:
    """The active summaries that tell of some turns."""
    found = {
        one.id: one
        for each in ids
        if each.startswith("session:")
        for one in transaction.each(
            from_row, "summaries_of", shelf_name=each.rpartition(":")[0].rpartition(":")[0], named=f'"{each}"'
        )
    }
    return [found[one] for one in sorted(found)]


def forgotten_with(transaction: Transaction, memory: Memory) -> list[Memory]:
    """What was put aside together with a memory."""
    named = f'"forgotten_with":"{memory.id}"'
    return transaction.each(from_row, "forgotten_with", named=named, **of_person(_person(memory)))


def _person(memory: Memory) -> str:
    return memory.owner.partition(",")[0] if memory.space in (Space.USER, Space.SESSION) else ""


def written_by(transaction: Transaction, owner: str, name: str, after: str, limit: int) -> list[Memory]:
    """What of a person's is active or waits and has a name somewhere in where it is from, behind an id."""
    sought = canonical(name)
    of = {"after": after, "limit": limit, "named": sought, "user": f'"user":{canonical(unquoted(owner))}'}
    return transaction.each(from_row, "written_by", **of, **of_person(owner))


def saying(transaction: Transaction, owner: str, text: str) -> list[Memory]:
    """What of a person's is active and may say a text: all of it that is no longer than some pages."""
    return transaction.each(from_row, "may_say", least=max(1, len(text) // 2), **of_person(owner))
