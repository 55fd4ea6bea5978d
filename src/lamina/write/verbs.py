"""Every change that a caller can ask for: remember, revise, forget, restore, promote, pin, merge, guess.

Each makes a `Request`, which the store carries out, or asks the store for one act of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Unpack

from lamina.errors import InvalidInput, NotFound
from lamina.language.secrets.privacy import redacted
from lamina.late import late
from lamina.model import Deny, Draft, Memory, Outcome, Receipt, Space
from lamina.ranking.decay import faded
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import pending_on
from lamina.text.normalise import canonical_key, well_formed
from lamina.write.commit import commit_denial, commit_pin, commit_put_behind, readable
from lamina.write.details import Details, chosen, draft_of, whole_number
from lamina.write.guardrails import commit_allow, load_allowed
from lamina.write.request import Request, Verb
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

with late():
    from lamina.write import guesses
    from lamina.write import merge as merging

#: How many memories one transaction of `remember_many` stores; other writers wait for it.
BATCH = 250


def remember(caller: Caller, text: str, **details: Unpack[Details]) -> Receipt:
    """Remember one thing, exactly as it is said."""
    return caller.store.carry_out(_asked(caller, text, details))


def remember_many(caller: Caller, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
    """Remember many things in order, stored in batches, each whole or not at all; a receipt each.

    An item that is none, such as one without a text, is refused by its receipt, and the others are stored.
    """
    receipts: list[Receipt] = []
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        asked = [_item(caller, number, one) for number, one in enumerate(batch, len(receipts))]
        done = iter(caller.store.carry_out_all([one for one in asked if isinstance(one, Request)]))
        receipts += [next(done) if isinstance(one, Request) else one for one in asked]
    return receipts


def _item(caller: Caller, number: int, item: Mapping[str, Any]) -> Request | Receipt:
    """The request that an item is, or the receipt of one that is none."""
    try:
        details: Any = {name: value for name, value in item.items() if name != "text"}
        return _asked(caller, item["text"], details)
    except (InvalidInput, KeyError, AttributeError, TypeError) as error:
        if not isinstance(error, InvalidInput):
            error = InvalidInput('It is not of the form {"text": …}.', code="item_invalid")
        told = tuple(one for one in (f"Item {number}: {error.message}", error.hint) if one)
        return Receipt(decision=Outcome.DENIED, code=error.code, warnings=told)


def _asked(caller: Caller, text: str, details: Details) -> Request:
    """The request to remember a text, judged."""
    store = caller.store
    now, ruleset, limit = store.now(), store.ruleset, store.config.max_text_chars
    repeat = details.pop("idempotency_key", None)
    draft = draft_of(caller.scope, text, details, now, limit, ruleset.rules)
    return Request(
        verb=Verb.REMEMBER,
        scope=caller.scope,
        at=now,
        draft=draft,
        decision=store.judge(draft),
        idempotency_key=ruleset.sealer.fingerprint(
            None if repeat is None else well_formed(repeat, "idempotency key", 200)
        ),
    )


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
    return caller.store.act(caller.scope, lambda unit: merging.commit_merge(unit, ids, why))


def unmerge(caller: Caller, memory_id: str, *, reason: str = "") -> Receipt:
    """Undo a merge, or an update by a newer value: the ids of what is active again, as it was."""
    why = given(reason)
    caller.store.sync()
    return caller.store.act(caller.scope, lambda unit: merging.commit_unmerge(unit, memory_id, why))


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


def propose(
    caller: Caller, value: str, key: str, confidence: float, reason: str = "", *, importance: int = 0
) -> Receipt:
    """Put a guess about the person before them."""
    details: Details = {"key": key, "confidence": confidence, "reason": reason or None}  # type: ignore[typeddict-item]
    store = caller.store
    draft = draft_of(
        caller.scope, value, details, store.now(), store.config.max_text_chars, store.ruleset.rules
    )
    decision = store.judge(draft)
    guess = guesses.Guess(
        key=draft.key or "",
        value=draft.text,
        confidence=draft.confidence,
        reason=draft.reason or "proposed",
        importance=importance,
    )

    if isinstance(decision, Deny):
        return store.act(caller.scope, lambda unit: commit_denial(unit, draft, decision))
    return store.act(caller.scope, lambda unit: guesses.stage(unit, guess))


def pending(caller: Caller) -> list[Memory]:
    """The guesses that wait for the person's word, oldest first."""
    now, name = caller.store.now(), caller.scope.shelf(Space.USER) or ""
    return caller.store.database.read(lambda tx: pending_on(tx, name, now))


def reject(caller: Caller, key: str | None = None, *, channel: str = "") -> list[Receipt]:
    """Drop what was guessed; without a key, the newest guess. Only the person can."""
    memory, by = waiting(caller, key), channel or caller.scope.via
    caller.store.act(caller.scope, lambda unit: guesses.conclude(unit, memory, None, by))
    return [Receipt(decision=Outcome.ADMITTED, code="rejected", ids=(memory.id,))]


def waiting(caller: Caller, key: str | None) -> Memory:
    """The guess that a person means by its key, or the newest; NotFound where none waits."""
    guesses.check_person(caller.scope)
    wanted = None if key is None else canonical_key(key)
    found = [one for one in pending(caller) if wanted in (None, one.key)]
    if not found:
        raise NotFound("Nothing like that waits for a yes or no.", hint="`lamina pending` lists what does.")
    return found[-1]


def allow(caller: Caller, *fingerprints: str) -> None:
    """Say that what a refusal names by these fingerprints is not a secret; only the person can."""
    store, scope = caller.store, caller.scope

    def work(unit: UnitOfWork) -> None:
        for one in fingerprints:
            commit_allow(unit, scope, one)

    store.act(scope, work)
    store.database.read(lambda tx: load_allowed(tx, store.ruleset))


def may_use(caller: Caller, tool: str) -> bool:
    """Whether the administrator's policy lets an agent use a tool; a refusal is audited."""
    name = well_formed(tool, "tool", 200)
    if caller.store.guardrails.allows(name):
        return True
    told = redacted(name)
    caller.store.act(caller.scope, lambda unit: unit.record_act("policy_block", "policy", told))
    return False


def is_prohibited(caller: Caller, what: str) -> bool:
    """Whether the administrator's policy prohibits something by name, such as `secrets_exfiltration`."""
    return caller.store.guardrails.prohibits(well_formed(what, "name", 200))
