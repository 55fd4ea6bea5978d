"""What is on a caller's shelves, by where it stands rather than by what it says: now, by layer, or
at another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from lamina.model import Layer, Memory, Role, Scope, Space, canonical, quoted, unquoted
from lamina.storage.database import Tables, Transaction
from lamina.storage.ends import of_person
from lamina.storage.memories import Memories, from_row, micros, moment
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Phases, Sessions


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


def told_on(transaction: Transaction, name: str, now: datetime, limit: int) -> list[Memory]:
    """What people stated on a shelf and holds, what matters most first, then the newest."""
    numbers, until = _numbers(transaction, [name]), micros(now)
    found = [transaction.each(from_row, "told_on", shelf=n, now=until, limit=limit) for n in numbers]
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


class Surroundings(NamedTuple):
    """How far a person's forgetting reaches: their own shelves, and their word in their project."""

    owner: str  #: as their shelves are named; empty where it is nobody's
    user: str
    project: int | None  #: the number of the project's shelf


def around(transaction: Transaction, memory: Memory, scope: Scope) -> Surroundings:
    """How far that reaches for this caller."""
    owner = quoted(scope.user) if memory.space is Space.PROJECT else _person(memory)
    name = scope.shelf(Space.PROJECT)
    known = TextIndex(transaction).shelf(name) if name else None
    return Surroundings(owner, scope.user, known[0] if known else None)


def derived_from(
    transaction: Transaction, memory: Memory, reach: Surroundings, *, telling: bool
) -> list[Memory]:
    """What may have come of a person's memory, or it of them: the same words, the turns of their sessions,
    what names it as its source."""
    sources = list(memory.provenance.source_turn_ids)
    return transaction.each(
        from_row,
        "derived_from",
        id=memory.id,
        text=memory.text,
        telling=int(telling),
        turn=int(memory.layer is Layer.WORKING),
        named=f'"{memory.id}"',
        sources=sources,
        **of_person(reach.owner),
    )


def told_in_project(transaction: Transaction, memory: Memory, reach: Surroundings) -> list[Memory]:
    """What a person or their agents said in their project with all the words of a memory."""
    if reach.project is None:
        return []
    user = f'"user":{canonical(reach.user)}'
    asked = {"id": memory.id, "text": memory.text, "user": user, "project": reach.project}
    return transaction.each(from_row, "told_in_project", **asked)


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


def forgotten_with(transaction: Transaction, memory: Memory, reach: Surroundings) -> list[Memory]:
    """What was put aside together with a memory."""
    asked = {"named": f'"forgotten_with":"{memory.id}"', "project": reach.project or 0}
    return transaction.each(from_row, "forgotten_with", **asked, **of_person(reach.owner))


def _person(memory: Memory) -> str:
    """Whose memory it is, as their shelves are named; empty for what is nobody's alone."""
    return memory.owner.partition(",")[0] if memory.space in (Space.USER, Space.SESSION) else ""


def written_by(transaction: Transaction, owner: str, name: str, after: str, limit: int) -> list[Memory]:
    """What of a person's is active or waits and has a name somewhere in where it is from, behind an id."""
    sought = canonical(name)
    of = {"after": after, "limit": limit, "named": sought, "user": f'"user":{canonical(unquoted(owner))}'}
    return transaction.each(from_row, "written_by", **of, **of_person(owner))


def saying(transaction: Transaction, owner: str, text: str) -> list[Memory]:
    """What of a person's is active and may say a text: all of it that is no longer than some pages."""
    return transaction.each(from_row, "may_say", least=max(1, len(text) // 2), **of_person(owner))


_PAGE = 500


class LayerRows(Tables):
    """The rows of one tenant's layers inside one transaction."""

    def newest(self, layer: Layer, shelf: int, now: datetime, limit: int) -> list[Memory]:
        """The newest episodes or procedures of a shelf first."""
        name = "episodes_on" if layer is Layer.EPISODIC else "procedures_on"
        return self._tx.each(from_row, name, shelf=shelf, now=micros(now), limit=limit)

    def unused(self, before: datetime, below: int, learnt: str, limit: int) -> list[Memory]:
        """What matters little and nobody found, changed or pinned since then, the longest unused first.

        Of what lives in a file only what begins with `learnt`.
        """
        asked = {"before": micros(before), "below": below, "learnt": f"{learnt}%", "limit": limit}
        return self._tx.each(from_row, "unused_memories", **asked)

    def over(self, now: datetime, limit: int) -> list[Memory]:
        """Episodes of anybody whose time is up, oldest first."""
        return self._tx.each(from_row, "episodes_over", now=micros(now), limit=limit)

    def procedure_slots(self, shelf: int, most: int) -> list[int] | None:
        """Where the procedures of a shelf stand in its index; None where there are more than so many."""
        rows = self._tx.all("procedure_slots", shelf=shelf, limit=most + 1)
        return None if len(rows) > most else [slot for (slot,) in rows]

    def topic_slots(self, shelf: int, topics: Sequence[str], most: int) -> list[int] | None:
        """The same of the memories of some categories."""
        found: list[int] = []
        for topic in topics:
            rows = self._tx.all("topic_slots", shelf=shelf, category=topic, limit=most + 1 - len(found))
            found += [slot for (slot,) in rows]
            if len(found) > most:
                return None
        return found

    def note(self, reads: Mapping[str, tuple[int, datetime]], renewed: timedelta) -> None:
        """Count what was found: how often and when last; an episode lives at least `renewed` from then."""
        self._tx.many(
            "note_access",
            [{"id": one, "count": count, "at": micros(at)} for one, (count, at) in sorted(reads.items())],
        )
        until = {one: micros(at + renewed) for one, (_, at) in reads.items()}
        ids = sorted(until)
        for start in range(0, len(ids), _PAGE):
            rows = self._tx.all("sealed_episodes", ids=ids[start : start + _PAGE])
            ends = [self._tx.ledger.named("memory", row)["expires_at"] for row in rows]
            earlier = [row for row, end in zip(rows, ends, strict=True) if end < until[row[0]]]
            Memories(self._tx).set_ends(until, earlier)

    def known_at(self, shelf: int, at: datetime) -> list[Memory]:
        """What a shelf held at a moment, in the words it had then."""
        return self._tx.each(
            lambda row: replace(from_row(row[1:]), text=row[0]), "known_at", shelf=shelf, at=micros(at)
        )

    def change_at(self, thread: str, revision: int) -> datetime | None:
        """When a thread reached a revision."""
        row = self._tx.one("change_at", thread=thread, revision=revision)
        return None if row is None else moment(row[0])
