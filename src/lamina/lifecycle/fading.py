"""What use and time do to memories: what nobody uses is put aside, episodes past their time reduced."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.audit import events
from lamina.errors import NotFound
from lamina.model import HistoryOp, Memory, Role, Scope, Space, State
from lamina.model.scope import unquoted
from lamina.storage.database import Transaction
from lamina.storage.memories import micros, moment
from lamina.storage.shelf_contents import LayerRows
from lamina.storage.small_tables import Properties
from lamina.text.accounts import episode_of
from lamina.text.learning_page import body_of, shown_in, untouched
from lamina.workspace.files import read_file
from lamina.write.caller import caller_of
from lamina.write.change import revise
from lamina.write.commit import put_aside, reword
from lamina.write.store import Store
from lamina.write.unit_of_work import LEARNINGS, UnitOfWork

_log = logging.getLogger("lamina.engine")
#: How often episodes are looked after: when a store is opened, and the scheduler's interval too.
EVERY = timedelta(hours=6)
_LOOKED_AFTER = "episodes_expired"
_LINE = 160  #: characters of what stays of an episode
_AT_ONCE = 200


def expire_episodes(store: Store) -> int:
    """Reduce every episode past its time to one line, which stays for good; how many.

    Its full text leaves the row and every index; what was sealed of it in the history stays provable there.
    """

    def work(unit: UnitOfWork) -> int:
        over = LayerRows(unit.transaction).over(unit.clock, _AT_ONCE)
        for old in over:
            _archive(unit, old)
        return len(over)

    total = _in_batches(store, work)
    if total:
        _log.info("episodes: %d archived as one line", total)
    return total


def soften(store: Store, check: Callable[[], None] = lambda: None) -> int:
    """Put aside what matters little and nobody has found, changed or pinned for long (IS-7); how many.

    It can be restored until `purge_at`, and every caller hears of it once. What lives in a file of the person
    stays: they put it there. `check` is called before each batch.
    """
    config = store.config

    def found(transaction: Transaction, now: datetime) -> list[Memory]:
        before = now - timedelta(days=config.soften_days)
        return LayerRows(transaction).unused(before, config.soften_below, LEARNINGS, _AT_ONCE)

    def work(unit: UnitOfWork) -> int:
        unused = [one for one in found(unit.transaction, unit.clock) if whose(store, one.id) == unit.scope]
        for old in unused:
            purge_at = unit.clock + timedelta(days=config.purge_days)
            gone = put_aside(unit, replace(old, purge_at=purge_at), State.SOFT_DELETED)
            unit.record(HistoryOp.TTL, gone, old.text, {"code": "unused"})
            unit.trace(gone.shelf, events.deleted(unit.scope, gone, "unused", unit.snapshot))
        return len(unused)

    store.apply_reads()
    total = 0
    while True:
        check()
        unused = store.database.read(lambda tx: found(tx, store.now()))
        people = {(one := whose(store, memory.id)).user: one for memory in unused}
        done = sum(store.act(people[user], work) for user in sorted(people))
        total += done
        if len(unused) < _AT_ONCE or not done:
            return total


def keeper(store: Store) -> Scope:
    """Who does what nobody asked for."""
    return Scope(tenant=store.config.tenant, user=store.config.owner, role=Role.SYSTEM, via="job")


def whose(store: Store, memory_id: str) -> Scope:
    """The same for one memory: what is done to a person's memory is booked on that person (S-5)."""
    space, owner, *_ = memory_id.split(":")
    known = keeper(store)
    if space not in (Space.USER, Space.SESSION):
        return known
    return replace(known, user=unquoted(owner.partition(",")[0]))


def _in_batches(store: Store, work: Callable[[UnitOfWork], int]) -> int:
    """Work on so many at a time, so that other writers get their turn, until there is nothing more."""
    store.apply_reads()
    total = count = _AT_ONCE
    while count == _AT_ONCE:
        count = store.act(keeper(store), work)
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


def take_in(store: Store, names: Iterable[str]) -> int:
    """Make the memories say what a person wrote into these files; how many changed."""
    count = 0
    for name in names:
        data = read_file(store.root, name) if store.root else None
        text = (data or b"").decode("utf-8", "replace")
        body, known = body_of(text), shown_in(text)
        if not body or not known or untouched(text):
            continue
        with suppress(NotFound):
            receipt = revise(caller_of(store, via="file"), known, body, reason="edited in its file")
            count += receipt.code == "allowed"
    return count


def after_indexing(store: Store) -> None:
    """What follows whenever documents were indexed: edited learnings are taken in, episodes reduced."""
    if store.library is not None:
        edited, store.library.edited = store.library.edited, set()
        take_in(store, sorted(edited))
    expire_episodes(store)


def catch_up(store: Store) -> None:
    """When a store is opened: nothing, unless episodes were last looked after six hours ago."""
    last, now = store.database.read(lambda tx: Properties(tx).number(_LOOKED_AFTER)), store.now()
    if not last or abs(now - moment(last)) >= EVERY:  # a clock set back does not put it off
        expire_episodes(store)
        store.database.write(lambda tx: Properties(tx).set(_LOOKED_AFTER, str(micros(now))))
