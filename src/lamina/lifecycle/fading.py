"""What use and time do to memories: hits counted off the response path, episodes past their time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lamina.audit import events
from lamina.errors import LaminaError
from lamina.layers.learning_files import take_in
from lamina.model import HistoryOp, Memory, Role, Scope, State
from lamina.ranking.decay import EPISODE_RENEWED
from lamina.storage.layers import LayerRows
from lamina.storage.memories import from_row, micros, moment
from lamina.storage.small_tables import Properties
from lamina.text.accounts import episode_of
from lamina.write.commit import put_aside, reword
from lamina.write.unit_of_work import LEARNINGS, UnitOfWork

if TYPE_CHECKING:
    from lamina.engine import Engine

_log = logging.getLogger("lamina.engine")
#: How often episodes are looked after: when a store is opened, and the scheduler's interval too.
EVERY = timedelta(hours=6)
_LOOKED_AFTER = "episodes_expired"
_LINE = 160  #: characters of what stays of an episode
_AT_ONCE = 200
_MOST = 100_000


@dataclass(slots=True)
class Reads:
    """Which memories were found since the counts were last written, how often and when last.

    A reading adds to this and to nothing else; `apply_reads` writes it, at the close of the store, after
    indexing and before what nobody uses is put aside. A process that is killed loses what is in here.
    """

    _seen: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def note(self, ids: Sequence[str], at: datetime) -> None:
        with self._mutex:
            for one in ids:
                if one in self._seen or len(self._seen) < _MOST:
                    self._seen[one] = (self._seen.get(one, (0, at))[0] + 1, at)

    def taken(self) -> dict[str, tuple[int, datetime]]:
        with self._mutex:
            seen, self._seen = self._seen, {}
        return seen


def apply_reads(engine: Engine) -> int:
    """Write what was found since the last time; how many memories it was."""
    seen = engine.reads.taken()
    if seen:
        engine.database.write(lambda tx: LayerRows(tx).note(seen, EPISODE_RENEWED))
    return len(seen)


def close_reads(engine: Engine) -> None:
    """At the end of a process: counts that cannot be written are let go, because an answer is worth more."""
    try:
        apply_reads(engine)
    except LaminaError as error:
        _log.warning("What was found could not be counted: %s", error.code)


def expire_episodes(engine: Engine) -> int:
    """Reduce every episode past its time to one line, which stays for good; how many.

    Its full text leaves the row and every index; what was sealed of it in the history stays provable there.
    """

    def work(unit: UnitOfWork) -> int:
        over = LayerRows(unit.transaction).over(unit.clock, _AT_ONCE)
        for old in over:
            _archive(unit, old)
        return len(over)

    total = _in_batches(engine, work)
    if total:
        _log.info("episodes: %d archived as one line", total)
    return total


def soften(engine: Engine, check: Callable[[], None] = lambda: None) -> int:
    """Put aside what matters little and nobody has found, changed or pinned for long (IS-7); how many.

    It can be restored until `purge_at`, and every caller hears of it once. What lives in a file of the person
    stays: they put it there. `check` is called before each batch.
    """
    config = engine.config

    def work(unit: UnitOfWork) -> int:
        check()
        unused = unit.transaction.each(
            from_row,
            "unused_memories",
            before=micros(unit.clock - timedelta(days=config.soften_days)),
            below=config.soften_below,
            learnt=f"{LEARNINGS}%",
            limit=_AT_ONCE,
        )
        for old in unused:
            purge_at = unit.clock + timedelta(days=config.purge_days)
            gone = put_aside(unit, replace(old, purge_at=purge_at), State.SOFT_DELETED)
            unit.record(HistoryOp.TTL, gone, old.text, {"code": "unused"})
            unit.trace(gone.shelf, events.deleted(unit.scope, gone, "unused", unit.snapshot))
        return len(unused)

    return _in_batches(engine, work)


def keeper(engine: Engine) -> Scope:
    """Who does what nobody asked for."""
    return Scope(tenant=engine.config.tenant, user=engine.config.owner, role=Role.SYSTEM, via="job")


def _in_batches(engine: Engine, work: Callable[[UnitOfWork], int]) -> int:
    """Work on so many at a time, so that other writers get their turn, until there is nothing more."""
    apply_reads(engine)
    total = count = _AT_ONCE
    while count == _AT_ONCE:
        count = engine.act(keeper(engine), work)
        total += count
    return total - _AT_ONCE


def _archive(unit: UnitOfWork, old: Memory) -> None:
    episode = episode_of(old, old.owner)
    line = " ".join(episode.summary.split())
    line = line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
    text = f"{old.created_at:%Y-%m-%d} ({episode.outcome}): {line}"
    meta = {**old.meta, "archived": True, "topics": []}
    new = replace(old, text=text, meta=meta, ttl="none", expires_at=None)
    reword(unit, old, new, unit.memories.place(old.id)[2], {"code": "archived", "reason": "episode_expired"})


def after_indexing(engine: Engine) -> None:
    """What follows whenever documents were indexed: edited learnings are taken in, episodes reduced."""
    if engine.library is not None:
        edited, engine.library.edited = engine.library.edited, set()
        take_in(engine, sorted(edited))
    expire_episodes(engine)


def catch_up(engine: Engine) -> None:
    """When a store is opened: nothing, unless episodes were last looked after six hours ago."""
    last, now = engine.database.read(lambda tx: Properties(tx).number(_LOOKED_AFTER)), engine.now()
    if not last or abs(now - moment(last)) >= EVERY:  # a clock set back does not put it off
        expire_episodes(engine)
        engine.database.write(lambda tx: Properties(tx).set(_LOOKED_AFTER, str(micros(now))))
