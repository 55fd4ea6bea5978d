"""The values in force: policy over profile over session over project over what was only heard.

What a person wished for the session in so many words stands over their profile, as long as it lasts; and so
does what they wished for a time beside a lasting value, which holds again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lamina.errors import InvalidInput
from lamina.model import Effective, Memory, Scope, Space, Value
from lamina.policy.gates import is_reserved
from lamina.read.snapshot import Snapshot, look
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.text.normalise import canonical_key
from lamina.write.guardrails import load_guardrails
from lamina.write.store import Caller

#: The priority of an entry of a session that a person asked for; a line with less fills gaps of the profile.
SESSION_WISH = 90
#: How the key of a profile's entry begins that stands over another for a time.
FOR_NOW = "for_now."
#: Strongest first; what the documents call each.
_SCOPES = {Space.USER: "profile", Space.SESSION: "session", Space.PROJECT: "project"}


def resolve(caller: Caller, keys: Iterable[str] = ()) -> dict[str, Effective]:
    """The values in force for these keys, or for all there are, with what each hides."""
    if isinstance(keys, str):
        raise InvalidInput("The keys must be a list of texts.", code="key_invalid")
    wanted = [canonical_key(key) for key in keys]
    return look(caller, lambda snapshot: values_in_force(snapshot, wanted))


def values_in_force(snapshot: Snapshot, keys: Sequence[str] = ()) -> dict[str, Effective]:
    """The same within a reading that has begun."""
    transaction, sealer = snapshot.transaction, snapshot.caller.store.ruleset.sealer
    policy = load_guardrails(transaction, sealer).values
    return resolved(transaction, snapshot.in_session, keys, policy, snapshot.now)


def resolved(
    transaction: Transaction, scope: Scope, keys: Sequence[str], policy: Mapping[str, Value], now: datetime
) -> dict[str, Effective]:
    """The value in force for each key that has one, in key order; without keys, for all there are."""
    said: dict[str, list[Value]] = {key: [value] for key, value in policy.items()}
    lent: set[str | None] = set()
    for space, called in _SCOPES.items():
        name = scope.shelf(space)
        known = TextIndex(transaction).shelf(name) if name else None
        for memory in Memories(transaction).keyed(known[0], now) if known else ():
            if not is_reserved(memory.key):  # only the policy says what these are
                key = (memory.key or "").removeprefix(FOR_NOW)
                lent |= {memory.id} if key != memory.key else set()
                said.setdefault(key, []).append(_value(memory, called))
    session = scope.shelf(Space.SESSION)
    known = TextIndex(transaction).shelf(session) if session else None
    for memory in Memories(transaction).heard(known[0]) if known else ():
        said.setdefault(memory.key or "", []).append(_value(memory, "heard"))
    wanted = [key for key in sorted(said) if not keys or key in keys]
    return {key: _effective(key, said[key], lent) for key in wanted}


def _effective(key: str, values: list[Value], lent: set[str | None]) -> Effective:
    values = sorted(values, key=lambda one: _standing(one, for_now=one.memory_id in lent))
    return Effective(key=key, value=values[0].value, provenance=values[0], shadows=tuple(values[1:]))


def _standing(value: Value, *, for_now: bool) -> int:
    """Where a value stands: a wish for the session, or for a time, stands over the profile, which is the
    person's own too."""
    wished = value.scope == "session" and value.priority >= SESSION_WISH
    order = ("policy", "session wish", "for now", *_SCOPES.values(), "heard")
    return order.index("session wish" if wished else "for now" if for_now else value.scope)


def _value(memory: Memory, called: str) -> Value:
    return Value(
        value=memory.text,
        scope=called,
        memory_id=memory.id,
        authority=memory.authority,
        priority=memory.priority,
        updated_at=memory.updated_at,
    )
