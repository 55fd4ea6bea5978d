"""The narrow waist of storage: named SQL run in a transaction that belongs to one tenant."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from lamina.errors import InvalidInput, Unavailable
from lamina.late import files, kept_of
from lamina.records import dataclass
from lamina.storage.ledger import Ledger, Sealing
from lamina.storage.rows import Damage, DamagedRow

T = TypeVar("T")
DIALECTS = ("sqlite", "postgres")
Row = tuple[Any, ...]


class Transaction(Protocol):
    """Runs named queries; `tenant` is bound to every one of them."""

    tenant: str
    reach: str  #: the categories that may be read, each between two marks; empty for all
    project_reach: str  #: the same for what is a project's

    @property
    def ledger(self) -> Ledger:
        """What keeps the seal in step with the rows that are changed."""
        ...

    def narrowed(self, reach: str, project_reach: str) -> Transaction:
        """The same transaction for somebody who may read these categories only."""
        ...

    damage: Damage  #: what was met of rows that cannot be read
    kept: dict[str, Any]  #: what this process keeps of the store; checked against it before it is used
    once: dict[Any, Any] | None  #: what was worked out on this snapshot already; None where it may change
    noted: dict[Any, Any]  #: what one piece of work knows of what it changes, such as how far a counter is
    settled: bool  #: whether what may be kept of what it sees is committed; not once it changes any

    def all(self, name: str, /, **values: Any) -> list[Row]:
        """Every row of a query; one that cannot be read is noted and left out."""
        ...

    def one(self, name: str, /, **values: Any) -> Row | None:
        """The first row of a query, or None; Damaged where it cannot be read."""
        ...

    def each(self, make: Callable[[Row], T], name: str, /, **values: Any) -> list[T]:
        """What `make` makes of every row; one of which it cannot is noted and left out."""
        ...

    def only(self, make: Callable[[Row], T], name: str, /, **values: Any) -> T | None:
        """What `make` makes of the first row, or None; Damaged where it cannot be read."""
        ...

    def same(self, name: tuple[Any, ...], work: Callable[[], T]) -> T:
        """What some work comes to, done once on a snapshot; each time where the transaction may change it."""
        ...

    def told(self, **values: Any) -> None:
        """Values by the names that queries have for them: what is usually asked with them may be at once."""
        ...

    def ahead(self, name: str, /, **values: Any) -> None:
        """This will be asked for soon, so the question may travel with others."""
        ...

    def part(self) -> AbstractContextManager[None]:
        """Everything in here happens, or none of it; a failure leaves the rest of the transaction intact."""
        ...

    def run(self, name: str, /, **values: Any) -> None:
        """A statement without rows."""
        ...

    def later(self, name: str, /, **values: Any) -> Callable[[], list[Row]]:
        """A statement that changes something at once; what it returns waits for its rows, where one does."""
        ...

    def many(self, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same statement for each of the rows."""
        ...

    def every(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        """The rows of a query that was made for a table as a whole; Damaged where one cannot be read."""
        ...

    def put(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """A statement that was made for a table as a whole, for each of the rows as they are."""
        ...


class Tables:
    """A family of tables inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction


class Database(Protocol):
    """One tenant's store."""

    url: str
    tenant: str
    damage: Damage  #: what this process has met of rows that cannot be read
    sealing: Sealing | None  #: the key that the story is sealed with; without one nothing is

    @property
    def revision(self) -> str:
        """How far the store was after what this process wrote last; "" where no server follows it."""
        ...

    read_only: bool  #: whether it follows another server and cannot be changed
    may_be_away: bool  #: whether it is a server, which can be out of reach
    most_chains: int  #: how many chains a store gets here
    chains: int  #: how many chains the audit has beside the store's own; 0 where all of it is in that one

    def read(
        self,
        work: Callable[[Transaction], T],
        *,
        brief: bool = False,
        elsewhere: str | None = None,
    ) -> T:
        """Run the work on one consistent snapshot; it cannot write.

        Brief work, a few look-ups, may make writers wait for it if it is faster for that. With `elsewhere`
        a server that follows may be asked, if it has everything that this process wrote, and what another
        one had written when its `revision` was this text.
        """
        ...

    def ask(self, name: str, /, **values: Any) -> list[Row]:
        """Every row of one query, on a snapshot of its own."""
        ...

    def write(self, work: Callable[[Transaction], T], *, lanes: Sequence[str] | None = None) -> T:
        """Run the work all or not at all; when this returns, the result survives a power cut.

        The work may be run together with that of other threads in one transaction, so it touches
        nothing but the transaction it is given. Nobody else writes meanwhile; who says which lanes it will
        change waits only for those who change them too. Where it turns out to change others it is run
        again, alone on the whole store. Without any lane it waits for nobody but those who are alone on all.
        """
        ...

    def put(self, common: Mapping[str, Any], rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Rows by queries that insert one, all or not at all; when this returns, they survive a power cut.

        `common` are the values that all have. It waits for nobody but those who are alone on the store, and
        no row is there twice. A server that follows is not asked for these: `ask` reads them.
        """
        ...

    def size_bytes(self) -> int:
        """How much room the store takes."""
        ...

    def check(self) -> list[str]:
        """What the database itself finds wrong with its own structures; empty when all is well."""
        ...

    def damaged(self) -> list[DamagedRow]:
        """Every row that cannot be read, in the order of tables and keys; looks at all of them."""
        ...

    def scour(self, words: Sequence[str] = ()) -> int | None:
        """See to it that what was deleted is not in the store's own files either.

        Returns how many of the words are still in there; None where we cannot look.
        """
        ...

    def alone(self, name: str) -> AbstractContextManager[Callable[[], bool]]:
        """One process at a time, on one machine or many, is inside for this tenant and name.

        It is over with the block or with the process. Gives a way to ask whether it still holds. Raises
        Unavailable (`job_running`) at once when another is inside.
        """
        ...

    def close(self) -> None: ...


class ReachedDatabase:
    """A store as a caller with an allowlist reads it: no query sees what is outside its categories.

    Writing sees everything, because two memories may not hold one key; the verbs refuse what is outside.
    """

    def __init__(self, whole: Database, categories: str, marked: str) -> None:
        self.url = whole.url
        self.damage = whole.damage
        self.tenant = whole.tenant
        self.sealing = whole.sealing
        self.read_only = whole.read_only
        self.chains, self.most_chains = whole.chains, whole.most_chains
        self.may_be_away = whole.may_be_away
        self.write = whole.write
        self.put = whole.put
        self.size_bytes = whole.size_bytes
        self.check = whole.check
        self.damaged = whole.damaged
        self.alone = whole.alone
        self.scour = whole.scour
        self.close = whole.close
        self._whole = whole
        self._marks = (categories, marked)

    @property
    def revision(self) -> str:
        return self._whole.revision

    def read(
        self,
        work: Callable[[Transaction], T],
        *,
        brief: bool = False,
        elsewhere: str | None = None,
    ) -> T:
        marks = self._marks
        return self._whole.read(lambda tx: work(tx.narrowed(*marks)), brief=brief, elsewhere=elsewhere)

    def ask(self, name: str, /, **values: Any) -> list[Row]:
        return self.read(lambda tx: tx.all(name, **values), brief=True)


class OpenTransaction(ReachedDatabase):
    """A store inside a transaction that is open: what is read and written is part of it, or fails alone."""

    def __init__(self, whole: Database, transaction: Transaction) -> None:
        super().__init__(whole, "", "")
        self._tx = transaction
        self.write = self._write
        self.put = partial(put_rows, transaction)

    def read(
        self,
        work: Callable[[Transaction], T],
        *,
        brief: bool = False,  # noqa: ARG002 no matter here
        elsewhere: str | None = None,  # noqa: ARG002 what was written is here alone
    ) -> T:
        return work(self._tx)

    def _write(self, work: Callable[[Transaction], T], *, lanes: Sequence[str] | None = None) -> T:  # noqa: ARG002
        ledger = self._tx.ledger
        ledger.flush()
        try:
            with self._tx.part():
                result = work(self._tx)
                ledger.flush()
        except BaseException:
            ledger.begin()
            self._tx.noted.clear()
            raise
        return result


def place_of(revision: str) -> int:
    """A revision as a number, which grows; 0 for none."""
    if not revision:
        return 0
    if (found := re.fullmatch(r"([0-9A-F]{1,8})/([0-9A-F]{1,8})", revision)) is None:
        raise InvalidInput(
            "This revision is none of this store.",
            code="revision_invalid",
            hint="Give back what an answer told as its revision, or leave it out.",
        )
    return (int(found[1], 16) << 32) + int(found[2], 16)


def put_rows(
    tx: Transaction, common: Mapping[str, Any], rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Run a query for each of the rows."""
    for name, row in rows:
        tx.run(name, **common, **row)


def kind_of(work: Callable[..., Any]) -> str:
    """What a piece of work is called, whoever it is done for."""
    return str(getattr(getattr(work, "func", work), "__qualname__", ""))


def job_running(name: str) -> Unavailable:
    """Somebody else is at it."""
    return Unavailable(
        f"{name} is running elsewhere.", code="job_running", hint="Let it finish.", retryable=True
    )


@cache
def load_queries(dialect: str) -> Mapping[str, str]:
    """Every named query of a dialect, fragments expanded; parameters still written `:name`.

    What is spelled the same everywhere is in `portable.sql` and in a file per topic beside it.
    """
    others = {f"{one}.sql" for one in DIALECTS} - {f"{dialect}.sql"}
    found = [
        file
        for file in sorted((files("lamina.storage") / "sql").glob("*.sql"))
        if file.name not in others and not file.name.endswith("_protect.sql")
    ]
    made: dict[str, str] = kept_of("queries", found, lambda: _queries_in(found))
    return MappingProxyType(made)


def _queries_in(files_of_sql: Sequence[Path]) -> dict[str, str]:
    fragments: dict[str, str] = {}
    queries: dict[str, str] = {}
    for file in files_of_sql:
        parts = re.split(r"^-- (name|fragment): (\w+)$", file.read_text("utf-8"), flags=re.M)
        for what, name, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            sql = re.sub(r"^--.*\n?", "", body, flags=re.M).strip().rstrip(";")
            (queries if what == "name" else fragments)[name] = sql
    return {name: _expanded(sql, fragments) for name, sql in queries.items()}


def _expanded(sql: str, fragments: Mapping[str, str]) -> str:
    """A query with its fragments in place; a fragment may have fragments."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: _expanded(fragments[found[1]], fragments), sql)


@dataclass(slots=True, eq=False)
class _Job:
    work: Callable[[Transaction], Any]
    value: Any = None
    error: BaseException | None = None
    done: bool = False


@dataclass(slots=True)
class GroupCommit:
    """Many threads, one transaction: whoever finds the writer free commits for all who wait.

    A lone writer pays for one commit and waits for nobody; under load the price of making a commit
    durable is shared by everyone who queued while the last one was being made.
    """

    open_batch: Callable[[], AbstractContextManager[Transaction]]
    _queue: list[_Job] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _writer: threading.Lock = field(default_factory=threading.Lock)

    def run(self, work: Callable[[Transaction], T]) -> T:
        job = _Job(work)
        with self._mutex:
            self._queue.append(job)
        with self._writer:
            if not job.done:
                with self._mutex:
                    jobs, self._queue = self._queue, []
                self._commit(jobs)
        if job.error is not None:
            raise job.error
        value: T = job.value
        return value

    @contextmanager
    def standstill(self) -> Iterator[bool]:
        """Whether no commit is under way; if so, none begins before the caller is out of here."""
        free = self._writer.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                self._writer.release()

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            with self.open_batch() as transaction:
                for job in jobs:
                    try:
                        with transaction.part() if len(jobs) > 1 else nullcontext():
                            transaction.told(about=kind_of(job.work))
                            transaction.ledger.begin()
                            transaction.noted.clear()  # of work before it, which may have been undone
                            job.value = job.work(transaction)
                            transaction.ledger.flush()  # the seal over what it changed
                    except Exception as error:  # handed to the thread whose work it was
                        if len(jobs) == 1:
                            raise
                        job.error = error
        except BaseException as error:  # an interrupt must not leave the other threads waiting
            for job in jobs:
                job.error = job.error or (error if isinstance(error, Exception) else _interrupted())
            if not isinstance(error, Exception):
                raise
        finally:
            for job in jobs:
                job.done = True


def _interrupted() -> Unavailable:
    return Unavailable(
        "The write was interrupted; nothing of it was stored.", code="interrupted", retryable=True
    )
