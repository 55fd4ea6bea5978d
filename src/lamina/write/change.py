"""Changing what is known: other words, out and back, to a wider space, pinned, several made one."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.errors import InvalidInput, NotFound
from lamina.model import Draft, Memory, Receipt, Space
from lamina.ranking.decay import faded
from lamina.storage.memories import Memories
from lamina.storage.text_index import TextIndex
from lamina.text.entries import canonical_key
from lamina.text.normalise import well_formed
from lamina.write.caller import Caller
from lamina.write.commit import commit_pin, commit_put_behind, readable
from lamina.write.details import chosen, whole_number
from lamina.write.merge import commit_merge, commit_unmerge
from lamina.write.request import Request, Verb
from lamina.write.unit_of_work import UnitOfWork


def get(caller: Caller, memory_id: str) -> Memory:
    """One memory of the caller's own, of a person's in whatever state it is; NotFound otherwise."""
    well_formed(memory_id, "memory id", 4000)
    store = caller.store
    store.sync()
    scope, now = caller.scope_of(memory_id), store.now()
    found = store.database.read(
        lambda tx: readable(UnitOfWork(tx, store.ruleset, scope, now), memory_id, *caller.states)
    )
    return faded(found, now)


def revise(
    caller: Caller,
    memory_id: str,
    text: str,
    *,
    expect: int | None = None,
    reason: str = "",
    takes_back: bool = False,
) -> Receipt:
    """Say a memory in new words; when it is no longer at the revision `expect`, that is a Conflict.

    `takes_back`: a person says that the old ones never were so, and does not want to hear them again.
    """
    store = caller.store
    store.sync()
    if expect is not None:
        whole_number(expect, "expect", 1, 2**53)
    old, scope = get(caller, memory_id), caller.scope_of(memory_id)
    draft = Draft(
        scope=scope,
        text=well_formed(text, "text", store.config.max_text_chars),
        space=old.space,
        layer=old.layer,
        kind=old.kind,
        key=old.key,
        category=old.category,
        reason=given(reason),
        takes_back=takes_back,
    )
    return store.carry_out(
        Request(
            verb=Verb.REVISE,
            scope=scope,
            at=store.now(),
            draft=draft,
            decision=store.judge(draft),
            memory_id=old.id,
            expect=expect,
            undo_days=store.config.undo_days,
        )
    )


def put_behind(caller: Caller, ids: Sequence[str], newer: str) -> None:
    """Let what says something that no longer holds step behind the memory that says what does; it stays."""
    if ids:
        caller.store.act(caller.in_session, lambda unit: commit_put_behind(unit, ids, newer))


def forget(caller: Caller, id_or_key: str, *, reason: str = "") -> Receipt:
    """Take a memory out of every answer; `restore` brings it back within the undo window."""
    store = caller.store
    store.sync()
    memory_id = id_of(caller, id_or_key)
    return store.carry_out(
        Request(
            verb=Verb.FORGET,
            scope=caller.scope_of(memory_id),
            memory_id=memory_id,
            at=store.now(),
            undo_days=store.config.undo_days,
            reason=given(reason),
        )
    )


def restore(caller: Caller, memory_id: str, *, reason: str = "") -> Receipt:
    """Bring a forgotten memory back as it was."""
    well_formed(memory_id, "memory id", 4000)
    store = caller.store
    store.sync()
    return store.carry_out(
        Request(
            verb=Verb.RESTORE,
            scope=caller.scope_of(memory_id),
            at=store.now(),
            memory_id=memory_id,
            reason=given(reason),
        )
    )


def promote(caller: Caller, memory_id: str, to: str, *, reason: str = "") -> Receipt:
    """Move a memory to a wider space: from the session to the user or the project, and so on."""
    well_formed(memory_id, "memory id", 4000)
    store = caller.store
    store.sync()
    return store.carry_out(
        Request(
            verb=Verb.PROMOTE,
            scope=caller.scope_of(memory_id),
            at=store.now(),
            memory_id=memory_id,
            target=chosen(Space, to, "space"),
            reason=given(reason),
        )
    )


def pin(caller: Caller, memory_id: str, pinned: bool, reason: str = "") -> Receipt:
    """Keep a memory through every clean-up, or let it age again like any other."""
    well_formed(memory_id, "memory id", 4000)
    why = given(reason)
    caller.store.sync()
    return caller.store.act(caller.scope_of(memory_id), lambda unit: commit_pin(unit, memory_id, pinned, why))


def merge(caller: Caller, ids: Sequence[str], *, reason: str = "") -> Receipt:
    """Make one memory of several that say the same: code `merged`, and the id of the one that stays."""
    why = given(reason)
    caller.store.sync()
    return caller.store.act(caller.scope, lambda unit: commit_merge(unit, ids, why))


def unmerge(caller: Caller, memory_id: str, *, reason: str = "") -> Receipt:
    """Undo a merge, or an update by a newer value: the ids of what is active again, as it was."""
    why = given(reason)
    caller.store.sync()
    return caller.store.act(caller.scope, lambda unit: commit_unmerge(unit, memory_id, why))


def given(reason: str) -> str | None:
    """A reason as it is kept; None where nobody gave one."""
    return well_formed(reason, "reason", 1000) if reason else None


def id_of(caller: Caller, id_or_key: str) -> str:
    """The id of an active memory named by its id or its key, the nearest shelf first."""
    well_formed(id_or_key, "id or key", 4000)
    if id_or_key.partition(":")[0] in set(Space):
        return id_or_key
    try:
        key = canonical_key(id_or_key)
    except InvalidInput:
        raise NotFound(f"There is no memory {id_or_key!r:.80} here.") from None
    shelves = caller.in_session.shelves()

    def work(memories: Memories, text_index: TextIndex) -> Memory | None:
        known = [shelf for name in shelves if (shelf := text_index.shelf(name)) is not None]
        return next((m for n, _ in known if (m := memories.active(n, f"key:{key}"))), None)

    found = caller.store.database.read(lambda tx: work(Memories(tx), TextIndex(tx)))
    if found is None:
        raise NotFound(
            f"There is no memory with the key {key!r:.80} here.",
            hint='`lamina recall` shows ids and keys; `lamina hear "forget …"` takes words.',
        )
    return found.id
