"""What a person said no to, and what agents were shown that nobody vouches for: marks, and never words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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


class Match(NamedTuple):
    """A no that stands and has a mark that was looked for."""

    mark: str
    number: int
    telling: str  #: what its statement is known by, where the mark is of a term
    asked_at: int | None


class Guards(NamedTuple):
    """Whether anything stands against what is written for a person, without what it is."""

    refused: int | None  #: a no stands
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

    def marked(self, marks: Sequence[str]) -> list[Match]:
        """Those that stand and have one of these marks."""
        rows = self._tx.all("refusals_marked", owner=self._owner, marks=sorted(set(marks)))
        return [Match(*row) for row in rows]

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


class Exposures:
    """What agents of one person were lately shown that nobody vouches for, by the marks of its terms."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._owner = transaction, owner

    def seen(self, since: datetime, limit: int) -> list[tuple[str, bytes, int]]:
        """Where it is from, its marks and when it was shown, the latest first."""
        rows = self._tx.all("seen_exposures", owner=self._owner, since=micros(since), limit=limit)
        return [(source, bytes(terms), at) for source, terms, at in rows]

    def put(self, texts: Sequence[tuple[str, bytes]], thread: str, at: datetime) -> None:
        """These were shown: where each is from, and its marks."""
        told = [
            (source, terms, hashlib.blake2b(terms, digest_size=16).hexdigest()) for source, terms in texts
        ]
        for source, terms, wording in told:
            about = {"source": source, "thread": thread, "at": micros(at), "wording": wording}
            self._tx.run("put_exposure", owner=self._owner, terms=terms, **about)
        self.turn("".join(f"{source} {wording} {micros(at)} " for source, _, wording in told))

    def turn(self, change: str) -> None:
        """Another version: it follows from the one before and from what changed, and from nothing else."""
        properties = Properties(self._tx)
        before = properties.get(shown_by(self._owner)) or ""
        version = hashlib.blake2b(f"{before} {change}".encode(), digest_size=16).hexdigest()
        properties.set(shown_by(self._owner), version)

    def drop(self, before: datetime) -> None:
        """What was shown before then counts no longer."""
        self._tx.run("drop_exposures", owner=self._owner, before=micros(before))


def never_shown(transaction: Transaction, source: str) -> None:
    """Nothing of a source counts as shown, to whomever it was."""
    for (owner,) in set(transaction.all("drop_exposure", source=source)):
        Exposures(transaction, owner).turn(source)
