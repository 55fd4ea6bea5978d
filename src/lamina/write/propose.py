"""Guesses put before their person by a caller, listed, and dropped on the person's word."""

from __future__ import annotations

from lamina.errors import NotFound
from lamina.model import Deny, Memory, Outcome, Receipt, Space
from lamina.storage.shelf_contents import pending_on
from lamina.text.entries import canonical_key
from lamina.write.caller import Caller
from lamina.write.commit import commit_denial
from lamina.write.details import Details, draft_of
from lamina.write.guesses import Guess, check_person, conclude, stage


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
    guess = Guess(
        key=draft.key or "",
        value=draft.text,
        confidence=draft.confidence,
        reason=draft.reason or "proposed",
        importance=importance,
    )

    if isinstance(decision, Deny):
        return store.act(caller.scope, lambda unit: commit_denial(unit, draft, decision))
    return store.act(caller.scope, lambda unit: stage(unit, guess))


def pending(caller: Caller) -> list[Memory]:
    """The guesses that wait for the person's word, oldest first."""
    now, name = caller.store.now(), caller.scope.shelf(Space.USER) or ""
    return caller.store.database.read(lambda tx: pending_on(tx, name, now))


def reject(caller: Caller, key: str | None = None, *, channel: str = "") -> list[Receipt]:
    """Drop what was guessed; without a key, the newest guess. Only the person can."""
    memory, by = waiting(caller, key), channel or caller.scope.via
    caller.store.act(caller.scope, lambda unit: conclude(unit, memory, None, by))
    return [Receipt(decision=Outcome.ADMITTED, code="rejected", ids=(memory.id,))]


def waiting(caller: Caller, key: str | None) -> Memory:
    """The guess that a person means by its key, or the newest; NotFound where none waits."""
    check_person(caller.scope)
    wanted = None if key is None else canonical_key(key)
    found = [one for one in pending(caller) if wanted in (None, one.key)]
    if not found:
        raise NotFound("Nothing like that waits for a yes or no.", hint="`lamina pending` lists what does.")
    return found[-1]
