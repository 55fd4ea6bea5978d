"""What use and time do to memories: what nobody uses is put aside, episodes past their time reduced."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from lamina.audit import events
from lamina.errors import NotFound
from lamina.model import HistoryOp, Memory, Role, Scope, Space, State, unquoted
from lamina.storage.database import Transaction
from lamina.storage.ledger import lanes_of
from lamina.storage.memories import micros
from lamina.storage.shelf_contents import LayerRows
from lamina.storage.small_tables import LOOKED_AFTER, Properties
from lamina.text.accounts import episode_of
from lamina.text.learning_page import body_of, shown_in, untouched
from lamina.workspace.files import read_file
from lamina.write.commit import put_aside, reword
from lamina.write.store import Store, caller_of
from lamina.write.unit_of_work import LEARNINGS, UnitOfWork
from lamina.write.verbs import revise

_log = logging.getLogger("lamina.engine")
#: How often episodes are looked after: when a store is opened, and the scheduler's interval too.
_LINE = 160  #: characters of what stays of an episode
_AT_ONCE = 200  #: that are looked for in one go
PIECE = 2  #: of one person's that are one transaction


def expire_episodes(store: Store) -> int:
    """Reduce every episode past its time to one line, which stays for good; how many.

    Its full text leaves the row and every index; what was sealed of it in the history stays provable there.
    """

    def found(transaction: Transaction, now: datetime) -> list[Memory]:
        return LayerRows(transaction).over(now, _AT_ONCE)

    store.apply_reads()
    total = in_pieces(store, found, _archive)
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

    def let_go(unit: UnitOfWork, old: Memory) -> None:
        purge_at = unit.clock + timedelta(days=config.purge_days)
        gone = put_aside(unit, replace(old, purge_at=purge_at), State.SOFT_DELETED)
        unit.record(HistoryOp.TTL, gone, old.text, {"code": "unused"})
        unit.trace(gone.shelf, events.deleted(unit.scope, gone, "unused", unit.snapshot))

    store.apply_reads()
    return in_pieces(store, found, let_go, check)


def in_pieces(
    store: Store,
    found: Callable[[Transaction, datetime], list[Memory]],
    end: Callable[[UnitOfWork, Memory], None],
    check: Callable[[], None] = lambda: None,
) -> int:
    """Do something to everything that is found, person by person; how many.

    A few are one transaction, which only that person waits for. What changed since it was found stays.
    """
    total = 0
    while True:
        check()
        memories = {one.id: one for one in store.database.read(lambda tx: found(tx, store.now()))}
        done = 0
        people: dict[str, list[str]] = defaultdict(list)
        for one in memories:
            people[whose(store, one).user].append(one)

        def work(unit: UnitOfWork, ids: Sequence[str]) -> int:
            now = unit.memories.load(ids)
            still = [memories[one] for one in ids if now.get(one) == memories[one]]  # noqa: B023 run at once
            for memory in still:
                end(unit, memory)
            return len(still)

        for _, ids in sorted(people.items()):
            for start in range(0, len(ids), PIECE):
                some = ids[start : start + PIECE]
                done += store.act(whose(store, some[0]), partial(work, ids=some), lanes_of(*some))
        total += done
        if len(memories) < _AT_ONCE or not done:
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
    """Look after episodes, and note when."""
    expire_episodes(store)
    store.database.write(lambda tx: Properties(tx).set(LOOKED_AFTER, str(micros(store.now()))))
