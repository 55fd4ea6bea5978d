"""What a person said no to, and what agents were shown that nobody vouches for: marks, and never words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.logs import next_number
from lamina.storage.memories import from_micros, micros, moment
from lamina.storage.small_tables import Properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One no of a person: what made it, who and when, and whether it still stands."""

    number: int
    cause: str  #: forgotten, purged, rejected or taken_back
    shelf: str
    actor: str
    at: datetime
    source: str  #: the memory it was made with
    asked_at: datetime | None = None  #: when the person was asked about something near it
    lifted_by: str | None = None
    lifted_at: datetime | None = None
    tries: int = 0  #: how often somebody brought it back and was refused
    tried_by: str = ""  #: who last did


class MatchedNo(NamedTuple):
    """A no that stands and has a mark that was looked for."""

    mark: str
    number: int
    telling: str  #: what its statement is known by, where the mark is of a term
    asked_at: int | None


class Guards(NamedTuple):
    """Whether anything stands against what is written for a person, without what it is."""

    refused: str | None  #: the newest no, its number first
    shown: int | None  #: something that nobody vouches for was lately shown
    version: str  #: stands for what was shown; empty where that is not known


def guards(transaction: Transaction, owner: str, since: datetime) -> Guards:
    """What there is to look at, in one question: most have nothing of it."""
    row = transaction.one("guards", owner=owner, since=micros(since), shown=shown_by(owner))
    refused, shown, version = row or (None, None, None)
    return Guards(refused, shown, version or "")


def shown_by(owner: str) -> str:
    """The property that holds the version of what was shown."""
    return f"shown:{owner}"


class Refusals:
    """The noes of one person inside one transaction."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._owner = transaction, owner

    def add(self, refusal: Refusal, marks: Sequence[tuple[str, str]]) -> int:
        """Keep a no with its marks, each with what a statement is known by; its number."""
        number = next_number(self._tx, f"refusal:{self._owner}")
        values = {
            "owner": self._owner,
            "number": number,
            "cause": refusal.cause,
            "shelf": refusal.shelf,
            "actor": refusal.actor,
            "at": micros(refusal.at),
            "source": refusal.source,
        }
        ledger = self._tx.ledger
        ledger.put("refusal", ledger.row("refusal", values))
        self._tx.run("add_refusal", **values)
        rows = [
            {"owner": self._owner, "mark": mark, "number": number, "part": part, "telling": telling}
            for part, (mark, telling) in enumerate(marks)
        ]
        for row in rows:
            ledger.put("refusal_mark", ledger.row("refusal_mark", row))
        self._tx.many("add_refusal_mark", rows)
        return number

    def marked(self, marks: Sequence[str]) -> list[MatchedNo]:
        """Those that stand and have one of these marks."""
        rows = self._tx.all("refusals_marked", owner=self._owner, marks=sorted(set(marks)))
        return [MatchedNo(*row) for row in rows]

    def marks_after(self, newest: str) -> tuple[set[str], bool]:
        """The marks of all noes since one was the newest; of every one, and False, where that one is gone."""
        number = int(newest.partition(" ")[0] or 0)
        row = self._tx.one("refusal_named", owner=self._owner, number=number)
        still = row is not None and row[0] == newest
        after = self._tx.all("refusal_marks_after", owner=self._owner, number=number if still else 0)
        return {mark for (mark,) in after}, still

    def get(self, number: int) -> Refusal | None:
        row = self._tx.one("refusal_of", owner=self._owner, number=number)
        return None if row is None else _refusal(row)

    def all(self, limit: int, *, lifted: bool = False) -> list[Refusal]:
        """The newest first; with `lifted`, also those that are over."""
        return self._tx.each(_refusal, "refusals", owner=self._owner, lifted=int(lifted), limit=limit)

    def brought_back(self, limit: int) -> list[Refusal]:
        """Those that stand and that somebody tried to bring back, the newest first."""
        return self._tx.each(_refusal, "refusals_tried", owner=self._owner, limit=limit)

    def about(self, source: str) -> list[int]:
        """The numbers of those that stand and were made with a memory."""
        return [row[0] for row in self._tx.all("refusals_about", owner=self._owner, source=source)]

    def lift(self, number: int, actor: str, at: datetime) -> bool:
        """A no is over; False where it was already."""
        new = self._tx.all("lift_refusal", owner=self._owner, number=number, actor=actor, at=micros(at))
        ledger = self._tx.ledger
        for row in new:
            ledger.take("refusal", [ledger.changed("refusal", row, {"lifted_by": None, "lifted_at": None})])
            ledger.put("refusal", row)
        return bool(new)

    def asked(self, number: int, at: datetime) -> None:
        """The person was asked about something near it, and is not asked again."""
        self._tx.run("ask_refusal", owner=self._owner, number=number, at=micros(at))

    def tried(self, number: int, actor: str) -> None:
        """Somebody brought it back and was refused."""
        self._tx.run("try_refusal", owner=self._owner, number=number, actor=actor)


class KnownMarks:
    """The marks of people's noes as this process last read them, so that most drafts are asked about nowhere.

    They are all that there are, and some of what was lifted since: the database decides about what is found.
    """

    _MOST, _KEPT = 50_000, 400_000  #: noes of one person, and marks of all

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, frozenset[str]]] = {}

    def among(self, marks: Sequence[str], newest: str, owner: str, refusals: Refusals) -> list[str]:
        """Those of the marks that a no of this person may have; `newest` is from the same transaction."""
        if int(newest.partition(" ")[0]) > self._MOST:
            return list(marks)
        version, known = self._of.get(owner, ("", frozenset[str]()))
        if version != newest:
            more, still = refusals.marks_after(version)
            known = known | more if still else frozenset(more)
            if sum(len(kept) for _, kept in self._of.values()) > self._KEPT:
                self._of.clear()
            self._of[owner] = newest, known
        return [mark for mark in marks if mark in known]

    def added(self, owner: str, number: int) -> None:
        """A no got this number; what was read under it before was undone or erased."""
        version, _ = self._of.get(owner, ("", None))
        if version and int(version.partition(" ")[0]) >= number:
            self._of.pop(owner, None)


def _refusal(row: Row) -> Refusal:
    return Refusal(
        number=row[0],
        cause=row[1],
        shelf=row[2],
        actor=row[3],
        at=moment(row[4]),
        source=row[5],
        asked_at=from_micros(row[6]),
        lifted_by=row[7],
        lifted_at=from_micros(row[8]),
        tries=row[9],
        tried_by=row[10],
    )


class Exposure(NamedTuple):
    """A text that an agent was shown: where it is from, which wording it is, its marks, and when."""

    source: str
    wording: str
    terms: bytes
    at: int


class Exposures:
    """What agents of one person were lately shown that nobody vouches for, by the marks of its terms."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._owner = transaction, owner

    def seen(self, since: datetime, limit: int) -> list[Exposure]:
        """The latest first."""
        rows = self._tx.all("seen_exposures", owner=self._owner, since=micros(since), limit=limit)
        return [Exposure(source, wording, bytes(terms), at) for source, wording, terms, at in rows]

    def put(
        self, texts: Iterable[tuple[str, bytes]], thread: str, at: datetime
    ) -> tuple[str, str, list[Exposure]]:
        """These were shown, each with its marks; the version before, the one now, and what is new in it."""
        told = [
            Exposure(source, hashlib.blake2b(terms, digest_size=16).hexdigest(), terms, micros(at))
            for source, terms in texts
        ]
        for one in told:
            self._tx.run("put_exposure", owner=self._owner, thread=thread, **one._asdict())
        return *self.turn("".join(f"{one.source} {one.wording} {one.at} " for one in told)), told

    def turn(self, change: str) -> tuple[str, str]:
        """Another version: it follows from the one before and from what changed, and from nothing else."""
        properties = Properties(self._tx)
        before = properties.get(shown_by(self._owner)) or ""
        version = hashlib.blake2b(f"{before} {change}".encode(), digest_size=16).hexdigest()
        properties.set(shown_by(self._owner), version)
        return before, version

    def drop(self, before: datetime) -> None:
        """What was shown before then counts no longer."""
        self._tx.run("drop_exposures", owner=self._owner, before=micros(before))


def never_shown(transaction: Transaction, source: str) -> None:
    """Nothing of a source counts as shown, to whomever it was."""
    for (owner,) in set(transaction.all("drop_exposure", source=source)):
        Exposures(transaction, owner).turn(source)
