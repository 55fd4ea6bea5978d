"""The store's small books.

Properties, file operations, file entries, repeated requests, tokens, sessions and phases, receipts of
answers, counts of what was done, runs of jobs, and how far files of other tools were read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from lamina.model import Layer, Phase, Right, Role, Token, canonical, contract_kind
from lamina.policy.phases import MemoryThen
from lamina.records import dataclass
from lamina.storage.database import Row, Tables, Transaction
from lamina.storage.ledger import lane_of
from lamina.storage.logs import next_shared
from lamina.storage.memories import Memories, from_micros, micros, moment, to_micros

#: The operation that takes what was purged out of files; the property that says when episodes were seen to.
PURGE, LOOKED_AFTER = "purge", "episodes_expired"


class Properties(Tables):
    """What a store knows about itself."""

    def get(self, name: str) -> str | None:
        """None also for one that cannot be read: it can be made anew; what cannot is read with `sealed`."""
        rows = self._tx.all("read_property", name=name)
        return rows[0][0] if rows and isinstance(rows[0][0], str) else None

    def sealed(self, name: str) -> str | None:
        """One that may not be missed unnoticed; Damaged where it cannot be read."""
        return self._tx.only(lambda row: str(row[0]), "read_property", name=name)

    def value(self, name: str) -> Any:
        """What is kept as JSON; None where it is not there, or is none."""
        return parsed(self.get(name) or "null")

    def number(self, name: str) -> int:
        """0 for one that is not there, or is no number."""
        text = self.get(name) or ""
        return int(text) if text.isascii() and text.isdigit() else 0

    def set(self, name: str, value: str) -> None:
        self._tx.run("write_property", name=name, value=value)

    def put(self, values: Mapping[str, str]) -> None:
        self._tx.many("write_property", [{"name": name, "value": value} for name, value in values.items()])

    def drop(self, name: str) -> None:
        self._tx.run("drop_property", name=name)

    def below(self, prefix: str) -> dict[str, str]:
        """Every property whose name begins so, without that beginning."""
        rows = self._tx.all("properties_below", prefix=prefix, beyond=prefix[:-1] + chr(ord(prefix[-1]) + 1))
        return {name.removeprefix(prefix): value for name, value in rows}


def parsed(text: str) -> Any:
    """What a text says in JSON; None for one that is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class FileOperation:
    """Something that must still happen to a file."""

    id: int
    kind: str
    target: str
    payload: dict[str, Any]


class Operations(Tables):
    """The outbox."""

    def add(self, kind: str, target: str, payload: dict[str, Any], at: datetime) -> int:
        number = next_shared(self._tx, "operation")
        self._tx.run(
            "add_operation", id=number, at=micros(at), kind=kind, target=target, payload=canonical(payload)
        )
        return number

    def pending(self, target: str) -> list[FileOperation]:
        """What is still to be done to a file, in the order it was asked for."""
        return self._tx.each(_operation, "pending_operations", target=target)

    def of(self, kind: str) -> list[FileOperation]:
        """What of one kind is still to be done, in the order it was asked for."""
        return self._tx.each(
            lambda row: _operation((row[0], kind, row[1], row[2])), "operations_of", kind=kind
        )

    def end(self, number: int) -> None:
        self._tx.run("end_operation", id=number)

    def count(self) -> int:
        row = self._tx.one("count_operations")
        return int(row[0]) if row else 0


def _operation(row: Row) -> FileOperation:
    return FileOperation(row[0], row[1], row[2], json.loads(row[3]))


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """A keyed entry as it last stood in its file."""

    key: str
    memory_id: str
    value: str
    fields: dict[str, Any]


class Entries(Tables):
    """The base against which a person's edit of a file is told from ours."""

    def put(self, file: str, entry: KnownEntry) -> None:
        self._tx.run(
            "put_entry",
            file=file,
            key=entry.key,
            memory_id=entry.memory_id,
            value=entry.value,
            fields=canonical(entry.fields),
        )

    def drop(self, file: str, key: str) -> None:
        self._tx.run("drop_entry", file=file, key=key)

    def of(self, file: str) -> dict[str, KnownEntry]:
        found = self._tx.each(_known_entry, "entries_of", file=file)
        return {entry.key: entry for entry in found}

    def get(self, file: str, key: str) -> KnownEntry | None:
        return self._tx.only(_known_entry, "entry_of", file=file, key=key)

    def count(self, file: str) -> int:
        row = self._tx.one("how_many_entries", file=file)
        return row[0] if row is not None else 0


def _known_entry(row: Row) -> KnownEntry:
    return KnownEntry(row[0], row[1], row[2], json.loads(row[3]))


class Responses(Tables):
    """Requests already answered, so that repeating one does nothing twice."""

    def get(self, caller: str, key: str) -> tuple[str, dict[str, Any]] | None:
        """Fingerprint of the first request and the answer it got."""
        return self._tx.only(
            lambda row: (row[0], json.loads(row[1])), "remembered_response", caller=caller, key=key
        )

    def add(self, caller: str, key: str, fingerprint: str, response: dict[str, Any], at: datetime) -> None:
        self._tx.run(
            "remember_response",
            caller=caller,
            key=key,
            fingerprint=fingerprint,
            response=canonical(response),
            at=micros(at),
        )

    def any_before(self, before: datetime) -> bool:
        return self._tx.one("any_responses", before=micros(before)) is not None

    def forget(self, before: datetime) -> None:
        self._tx.run("forget_responses", before=micros(before))


class Tokens(Tables):
    """Bearer tokens, by id; the secret is only ever a hash here."""

    def add(self, token: Token) -> None:
        values = {
            "id": token.id,
            "hash": token.hash,
            "label": token.label,
            "user_name": token.user or "",
            "agent": token.agent,
            "role": token.role.value,
            "scopes": canonical(token.rights),
            "created_at": micros(token.created_at),
            "expires_at": to_micros(token.expires_at),
            "acts_for": canonical(token.acts_for),
        }
        self._tx.ledger.put("token", self._tx.ledger.row("token", values))
        self._tx.run("add_token", **values)

    def get(self, token_id: str) -> Token | None:
        return self._tx.only(token_of, "token_by_id", id=token_id)

    def all(self) -> list[Token]:
        return self._tx.each(token_of, "all_tokens")

    def revoke(self, token_id: str, at: datetime) -> bool:
        """False when there is no such token, or it was revoked before."""
        new, ledger = self._tx.all("revoke_token", id=token_id, at=micros(at)), self._tx.ledger
        for row in new:
            ledger.take("token", [ledger.changed("token", row, {"revoked_at": None})])
            ledger.put("token", row)
        return bool(new)

    def release(self, user: str) -> int:
        """No token acts for this person any more; how many did."""
        found = [one for one in self.all() if user in one.acts_for]
        ledger = self._tx.ledger
        for one in found:
            left = tuple(name for name in one.acts_for if name != user)
            for row in self._tx.all("change_acts_for", id=one.id, acts_for=canonical(left)):
                ledger.take("token", [ledger.changed("token", row, {"acts_for": canonical(one.acts_for)})])
                ledger.put("token", row)
        return len(found)


def token_of(row: Row) -> Token:
    return Token(
        id=row[0],
        hash=row[1],
        label=row[2],
        user=row[3] or None,
        agent=row[4],
        role=Role(row[5]),
        rights=tuple(Right(right) for right in json.loads(row[6])),
        created_at=moment(row[7]),
        expires_at=from_micros(row[8]),
        revoked_at=from_micros(row[9]),
        acts_for=tuple(json.loads(row[10])),
    )


class Mark(NamedTuple):
    """When a job last dealt with something, and what it noted."""

    at: datetime
    note: str


class Marks:
    """The marks of one job about one user, '' for the tenant, inside one transaction."""

    def __init__(self, transaction: Transaction, job: str, owner: str = "") -> None:
        self._tx, self._job, self._owner = transaction, job, owner

    def since(self, at: datetime) -> dict[str, Mark]:
        """By subject, those made or renewed since then."""
        rows = self._tx.all("job_marks", job=self._job, owner=self._owner, since=micros(at))
        return {subject: Mark(moment(made), note) for subject, made, note in rows}

    def put(self, subject: str, at: datetime, note: str = "") -> None:
        self._tx.run(
            "put_job_mark", job=self._job, owner=self._owner, subject=subject, at=micros(at), note=note
        )

    def owners(self, subject: str) -> dict[str, datetime]:
        """When each user's mark on a subject was made."""
        rows = self._tx.all("owners_marked", job=self._job, subject=subject)
        return {owner: moment(at) for owner, at in rows}

    def drop(self, before: datetime) -> None:
        """Those of everybody that this job made before then go."""
        self._tx.run("drop_job_marks", job=self._job, before=micros(before))


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a file was read."""

    path: str
    mark: str  #: which file it was, and how it was asked to be read
    size: int  #: of a file that was read to its end, -1 before
    place: dict[str, Any]


class Imports:
    """What one user has imported, inside one transaction."""

    def __init__(self, transaction: Transaction, user: str) -> None:
        self._tx = transaction
        self._user = user

    def position(self, path: str) -> Position | None:
        """How far a file was read; None also where nobody can tell any more, and it is read anew."""
        found = self._tx.each(
            lambda row: Position(path=path, mark=row[0], size=row[1], place=json.loads(row[2])),
            "import_position",
            user=self._user,
            path=path,
        )
        return found[0] if found else None

    def keep(self, position: Position, at: datetime) -> None:
        self._tx.run(
            "put_import_position",
            user=self._user,
            path=position.path,
            mark=position.mark,
            size=position.size,
            place=canonical(position.place),
            at=micros(at),
        )

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the entries that came in before."""
        return {key for key in keys if self._tx.one("import_entry", user=self._user, key=key)}

    def add(self, keys: Iterable[str]) -> None:
        self._tx.many("add_import_entry", [{"user": self._user, "key": key} for key in keys])


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one user."""

    name: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None


class Sessions(Tables):
    """The sessions of one tenant inside one transaction."""

    def get(self, user: str, name: str) -> Session | None:
        row = self._tx.one("session_by_name", user=user, name=name)
        if row is None:
            return None
        started, last, ended = row
        return Session(
            name=name, started_at=moment(started), last_at=moment(last), ended_at=from_micros(ended)
        )

    def touch(self, user: str, name: str, now: datetime) -> None:
        """The session is in use; one that had ended begins anew."""
        self._tx.run("touch_session", user=user, name=name, now=micros(now))

    def end(self, user: str, name: str, now: datetime) -> None:
        self._tx.run("end_session", user=user, name=name, now=micros(now))

    def keep(self, shelf: int, now: datetime, until: datetime) -> None:
        """What is kept until the session's end lives on, unless the session was over already."""
        rows = self._tx.all("sealed_lapsing", shelf=shelf, now=micros(now))
        if rows:
            Memories(self._tx).set_ends({row[0]: micros(until) for row in rows}, rows)

    def lapsing(self, shelf: int) -> list[str]:
        """Ids of what goes when the session of this shelf ends."""
        return [row[0] for row in self._tx.all("session_lapsing", shelf=shelf)]

    def lapsed(self, shelf: int, now: datetime) -> list[str]:
        """Ids of active memories on a shelf whose time is up."""
        return [row[0] for row in self._tx.all("lapsed_on", shelf=shelf, now=micros(now))]


class Phases(Tables):
    """The phases of one tenant's shelves inside one transaction."""

    def start(self, shelf: int, phase: Phase) -> None:
        """From now on the shelf is in this phase."""
        values = {
            "shelf": shelf,
            "number": phase.number,
            "name": phase.name,
            "reason": phase.reason,
            "started_tick": phase.started_tick,
            "started_at": micros(phase.started_at),
        }
        ledger = self._tx.ledger
        for old in self._tx.all("sealed_shelf_of", number=shelf):
            ledger.take("shelf", [old])
            ledger.put("shelf", ledger.changed("shelf", old, {"phase": phase.number}))
            ledger.put("phase", ledger.row("phase", values), lane_of(old[1]))
        self._tx.run("add_phase", **values)
        self._tx.run("enter_phase", shelf=shelf, number=phase.number)

    def get(self, shelf: int, number: int) -> Phase | None:
        """One whose name or reason is damaged is still the phase that the shelf is in."""
        found = self._tx.each(_phase, "phase_by_number", shelf=shelf, number=number)
        if not found and self._tx.damage.has("phase", f"{shelf} {number}"):
            return Phase(number=number, name=None, reason="unknown", started_tick=0, started_at=moment(0))
        return found[0] if found else None

    def of(self, shelf: int) -> list[Phase]:
        """Those that are kept, oldest first."""
        return self._tx.each(_phase, "phases_of", shelf=shelf)

    def keep(self, shelf: int, newest: int, most: int) -> None:
        """Let go of the oldest, so that at most so many are kept."""
        gone = self._tx.all("drop_phases", shelf=shelf, upto=newest - most)
        for known in self._tx.all("sealed_shelf_of", number=shelf) if gone else ():
            self._tx.ledger.take("phase", gone, lane_of(known[1]))

    def standing(self, shelf: int, tick: int) -> list[MemoryThen]:
        """What was active on the shelf when its clock reached a tick."""
        rows = self._tx.all("standing_before", shelf=shelf, tick=tick)
        return [MemoryThen(one, contract_kind(Layer(layer)), identity) for one, layer, identity in rows]


def _phase(row: Row) -> Phase:
    number, name, reason, tick, at = row
    return Phase(number=number, name=name, reason=reason, started_tick=tick, started_at=moment(at))


Kept = tuple[str, datetime, dict[str, Any]]  #: id, when, everything else


class Answers:
    """The receipts of one person's answers inside one transaction."""

    def __init__(self, transaction: Transaction, owner: str) -> None:
        self._tx, self._owner = transaction, owner

    def get(self, answer_id: str) -> Kept | None:
        return self._tx.only(_kept, "answer_by_id", id=answer_id, owner=self._owner)

    def naming(self, memory_id: str, limit: int) -> list[Kept]:
        """Those that name a memory, the latest first."""
        return self._tx.each(_kept, "answers_naming", owner=self._owner, named=f'"{memory_id}"', limit=limit)


def keep_answers(transaction: Transaction, rows: Sequence[tuple[str, str, datetime, dict[str, Any]]]) -> None:
    """Store receipts: id, owner, when, everything else."""
    transaction.many(
        "add_answer",
        [
            {"id": one, "owner": owner, "at": micros(at), "data": canonical(data)}
            for one, owner, at, data in rows
        ],
    )


def drop_answers(transaction: Transaction, before: datetime) -> None:
    """Receipts from before then go, whoever's."""
    transaction.run("drop_answers", before=micros(before))


def any_answers(transaction: Transaction, before: datetime) -> bool:
    """Whether there are any from before then."""
    return transaction.one("any_answers", before=micros(before)) is not None


def _kept(row: Row) -> Kept:
    return row[0], moment(row[1]), json.loads(row[2])


_HOUR = timedelta(hours=1) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that was done (IS-14)."""

    at: datetime
    user: str
    thread: str
    node: str  #: hotpath, context, episodic, worker or writing
    op: str  #: classify, search, query, extract, create, update, merge, link, delete, restore; or a kind
    status: str = "ok"  #: ok, error or skipped; pass, repaired, held or rejected for writing
    memory_id: str | None = None
    category: str | None = None
    sim: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often a thing was done within a stretch of time."""

    since: datetime
    node: str
    op: str
    status: str
    count: int


class Operational(Tables):
    """The counts of one tenant inside one transaction."""

    def add(self, happenings: Sequence[Happening]) -> None:
        rows = [
            {
                "at": micros(one.at),
                "user": one.user,
                "thread": one.thread,
                "node": one.node,
                "op": one.op,
                "status": one.status,
                "memory_id": one.memory_id,
                "category": one.category,
                "sim": one.sim,
            }
            for one in happenings
        ]
        self._tx.many("add_operational", rows)

    def counts(self, user: str, since: datetime, width: timedelta) -> list[Count]:
        """What a user's callers did, by stretches of time, oldest first."""
        step = width // timedelta(microseconds=1)
        first = micros(since)
        whole = first + -first % _HOUR
        rows = self._tx.all("count_operational", user=user, since=first, whole=whole, width=step)
        return [
            Count(since=moment(at), node=node, op=op, status=status, count=count)
            for at, node, op, status, count in rows
        ]

    def asked(self, user: str, since: datetime) -> int:
        """In how many turns memory was asked on demand."""
        row = self._tx.one("count_asked", user=user, since=micros(since))
        return int(row[0]) if row else 0

    def forget(self, before: datetime) -> None:
        self._tx.run("forget_operational", before=micros(before))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One time that a job was due."""

    job: str
    slot_at: datetime
    until: datetime
    state: str  #: seen, running, done, failed, dead, settled
    attempts: int
    started_at: datetime
    ended_at: datetime | None = None
    next_at: datetime | None = None
    code: str = ""
    report: dict[str, Any]


class Runs(Tables):
    """The runs of one tenant's jobs inside one transaction."""

    def at(self, job: str, slot_at: datetime) -> Run | None:
        return self._tx.only(_run, "job_run_at", job=job, slot_at=micros(slot_at))

    def newest(self, now: datetime) -> dict[str, Run]:
        """The last time that each job was due."""
        return {run.job: run for run in self._tx.each(_run, "newest_job_runs", now=micros(now))}

    def covered_until(self, job: str) -> datetime | None:
        """Up to where successful runs have done their work."""
        row = self._tx.one("covered_until", job=job)
        return None if row is None else from_micros(row[0])

    def dead(self) -> list[Run]:
        """Those that were tried often enough."""
        return self._tx.each(_run, "dead_jobs")

    def put(self, run: Run) -> None:
        self._tx.run(
            "put_job_run",
            job=run.job,
            slot_at=micros(run.slot_at),
            until_at=micros(run.until),
            state=run.state,
            attempts=run.attempts,
            started_at=micros(run.started_at),
            ended_at=to_micros(run.ended_at),
            next_at=to_micros(run.next_at),
            code=run.code,
            report=canonical(run.report),
        )

    def succeeded(self, run: Run) -> None:
        """Keep a success; it makes up for the failures before it."""
        self.put(run)
        self._tx.run("settle_job_runs", job=run.job, slot_at=micros(run.slot_at))
        self._tx.run("drop_old_job_runs", job=run.job)


def _run(row: Row) -> Run:
    job, slot_at, until_at, state, attempts, started_at, ended_at, next_at, code, report = row
    return Run(
        job=job,
        slot_at=moment(slot_at),
        until=moment(until_at),
        state=state,
        attempts=attempts,
        started_at=moment(started_at),
        ended_at=from_micros(ended_at),
        next_at=from_micros(next_at),
        code=code,
        report=json.loads(report),
    )
