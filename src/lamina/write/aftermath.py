"""What follows a commit or an answer: the audit's files, those of what was learnt, whoever listens, and
counts, which a write carries into the store and a read never does."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from lamina.audit.chain import Anchor, Sealer
from lamina.errors import Conflict, LaminaError
from lamina.late import late
from lamina.model import HistoryOp, Layer, Memory, Scope, State, quoted
from lamina.ranking.decay import EPISODE_RENEWED
from lamina.records import dataclass
from lamina.storage.database import Database, Transaction
from lamina.storage.ledger import LaneOrder, lane_of
from lamina.storage.memories import Memories
from lamina.storage.shelf_contents import LayerRows
from lamina.storage.small_tables import FileOperation, Happening, Operational, Operations, keep_answers
from lamina.workspace.files import read_file, remove_file, replace_file, stamp
from lamina.write.audit_files import Mirror
from lamina.write.unit_of_work import LEARNING, LEARNINGS, UnitOfWork

with late():
    import logging

    from lamina.text import learning_page
    from lamina.write import settled_files

#: So many things wait before a write takes them along.
ENOUGH = 64
#: Of so many memories at most it is known that they were found.
_MOST = 100_000
#: So many receipts wait at most, and for so long it is known what was shown.
_MOST_ANSWERS, _AGAIN = 10_000, timedelta(hours=1)
_OP = {
    HistoryOp.ADD: "create",
    HistoryOp.UPDATE: "update",
    HistoryOp.DELETE: "delete",
    HistoryOp.TTL: "delete",
    HistoryOp.MERGE: "merge",
    HistoryOp.LINK: "link",
    HistoryOp.RESTORE: "restore",
}


@dataclass(slots=True)
class Tally:
    """Shared by every view of an engine and by all its threads."""

    written: bool = False  #: whether this process has changed anything, so that its counts may be stored
    _waiting: list[Happening] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def full(self) -> bool:
        return len(self._waiting) >= ENOUGH

    def note(self, scope: Scope, at: datetime, node: str, op: str, **more: str | float | None) -> None:
        """One thing that was done."""
        told: dict[str, Any] = {"user": quoted(scope.user), "thread": scope.thread, **more}
        with self._mutex:
            self._waiting.append(Happening(at=at, node=node, op=op, **told))
            del self._waiting[:-_MOST]  # of a process that never writes

    def follow(self, unit: UnitOfWork) -> None:
        """After a commit: what became of each memory."""
        self.written = self.written or bool(unit.done)
        for op, memory in unit.done:
            node = "worker" if unit.scope.via == "job" else _node(memory)
            sim = unit.closeness.get(memory.id)
            told = {"memory_id": memory.id, "category": memory.topic, "sim": sim}
            self.note(unit.scope, unit.clock, node, _OP[op], **told)

    def store(self, database: Database) -> None:
        """Put what waits into the store, in the order of people, so that two who do it pass each other."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        waiting.sort(key=lambda one: one.user)
        database.write(lambda tx: Operational(tx).add(waiting), lanes=())


def _node(memory: Memory) -> str:
    return "episodic" if memory.layer is Layer.EPISODIC else "hotpath"


@dataclass(slots=True)
class Answered:
    """Receipts of answers that wait to be stored, and what agents were shown lately.

    A process that is killed loses the receipts that are in here.
    """

    _waiting: list[tuple[str, str, datetime, dict[str, Any]]] = field(default_factory=list)
    _shown: dict[tuple[str, str], datetime] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def add(self, answer_id: str, owner: str, at: datetime, data: dict[str, Any]) -> None:
        """One receipt; of very many that nobody stores the oldest go."""
        with self._mutex:
            self._waiting.append((answer_id, owner, at, data))
            del self._waiting[:-_MOST_ANSWERS]

    @property
    def full(self) -> bool:
        return len(self._waiting) >= ENOUGH

    def store(self, database: Database) -> None:
        """Put what waits into the store."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        if waiting:
            database.write(lambda tx: keep_answers(tx, waiting), lanes=())

    def unseen(self, owner: str, memory_id: str, now: datetime) -> bool:
        """Whether it is not known that somebody was shown this in the last hour; from now on it is."""
        what = (owner, memory_id)
        with self._mutex:
            last = self._shown.get(what)
            if last is not None and now - last < _AGAIN:
                return False
            if len(self._shown) >= _MOST:
                self._shown.clear()
            self._shown[what] = now
            return True


@dataclass(slots=True)
class Reads:
    """Which memories were found since the counts were last written, how often and when last.

    A reading adds to this and to nothing else; `Store.apply_reads` writes it: a server every few seconds, and
    everybody at the close of the store. Never with a write: then one person's order would depend on how much
    others read. A process that is killed loses what is in here.
    """

    _seen: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def note(self, ids: Sequence[str], at: datetime) -> None:
        with self._mutex:
            for one in ids:
                if one in self._seen or len(self._seen) < _MOST:
                    self._seen[one] = (self._seen.get(one, (0, at))[0] + 1, at)

    def store(self, database: Database) -> int:
        """Put what waits into the store, chain by chain; how many memories it was."""
        with self._mutex:
            seen, self._seen = self._seen, {}
        chains: dict[int, dict[str, tuple[int, datetime]]] = defaultdict(dict)
        for one, found in seen.items():
            chains[LaneOrder(database.chains).chain(lane_of(one))][one] = found
        for some in chains.values():
            work = partial(_noted, some)
            database.write(work, lanes=sorted(set(map(lane_of, some))))
        return len(seen)


def _noted(seen: Mapping[str, tuple[int, datetime]], transaction: Transaction) -> None:
    LayerRows(transaction).note(seen, EPISODE_RENEWED)


Event = dict[str, Any]


class Aftermath:
    """Shared by every view of a store and by all its threads."""

    def __init__(self, root: Path | None, database: Database, sealer: Sealer, anchor: Anchor) -> None:
        self._root = root
        self._database: Database = database
        self.mirror = Mirror(root, database, sealer, anchor)
        self.learnings = None if root is None else Learnings(root, database)
        self.tally, self.reads, self.answers = Tally(), Reads(), Answered()
        self.listeners: list[Callable[[Event], None]] = []
        self.later: list[UnitOfWork] | None = None  #: what is not committed yet and shall be followed then

    def follow(self, units: Sequence[UnitOfWork]) -> list[str]:
        """Bring the files up to date with what was committed, count it, and tell it.

        Returns the files of jobs out of which something that was forgotten was taken.
        """
        if self.later is not None:
            self.later += units
            return []
        self.mirror.follow(units)
        if self.learnings is not None and any(unit.filed for unit in units):
            self.learnings.follow()
        for unit in units:
            self.tally.follow(unit)
        if self.listeners:
            self.publish([event for unit in units for _, event in unit.told])
        gone = [one for unit in units for one in unit.forgotten_turns]
        return settled_files.take_out(self._root, gone) if self._root is not None and gone else []

    def publish(self, events: Sequence[Event]) -> None:
        """Tell whoever listens; a listener that raises is not called again."""
        for listener in tuple(self.listeners):
            try:
                for event in events:
                    listener(event)
            except Exception:  # noqa: BLE001 a listener's fault is not the memory's
                self.leave(listener)

    def leave(self, listener: Callable[[Event], None]) -> None:
        self.listeners[:] = [one for one in self.listeners if one is not listener]

    def close(self) -> None:
        """What waits to be counted is counted now."""
        if self._database.read_only:
            return
        try:
            self.reads.store(self._database)
            self.answers.store(self._database)
        except LaminaError as error:  # an answer is worth more than its count
            logging.getLogger("lamina.engine").warning("What was found could not be counted: %s", error.code)
        if self.tally.written:
            with suppress(LaminaError):  # they are counts; what was acknowledged is stored already
                self.tally.store(self._database)
        self.mirror.settle()


def free_name(root: Path, title: str, day: str) -> str:
    """A name that no file has: -2, -3 … where the title was learnt before on the same day."""
    stem, number = f"{LEARNINGS}{day}_{learning_page.slug_of(title)}", 1
    while stamp(root, name := f"{stem}.md" if number == 1 else f"{stem}-{number}.md") is not None:
        number += 1
    return name


class Learnings:
    """Keeps the files in step with the memories, also after a crash: what is still to do is in the outbox."""

    def __init__(self, root: Path, database: Database) -> None:
        self._root = root
        self._database = database

    def follow(self) -> None:
        """Do what the outbox says. The store has the truth, so what fails here is tried again later."""
        with suppress(LaminaError, OSError):
            for operation in self._database.read(lambda tx: Operations(tx).of(LEARNING)):
                self._bring_in_line(operation)
                self._end(operation.id)

    def _end(self, number: int) -> None:
        self._database.write(lambda tx: Operations(tx).end(number))

    def _bring_in_line(self, operation: FileOperation) -> None:
        memory = self._database.read(lambda tx: Memories(tx).get(operation.payload["id"]))
        before = read_file(self._root, operation.target)
        if before is not None and not learning_page.untouched(before.decode("utf-8", "replace")):
            return  # a person's words stay; `take_in` makes them the memory's
        if memory is None or memory.state is not State.ACTIVE or memory.file != operation.target:
            if before is not None:
                remove_file(self._root, operation.target, before)
        elif (data := learning_page.rendered(memory)) != before:
            with suppress(Conflict):
                replace_file(self._root, operation.target, data, before)
