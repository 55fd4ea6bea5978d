"""What changed for a caller since it last looked: its own shelves, its own categories, once; in at most three
lines (IS-1)."""

from __future__ import annotations

import base64
import hmac
import struct
from binascii import Error as NotBase64
from collections.abc import Sequence
from functools import cache

from lamina.audit.chain import Sealer
from lamina.errors import InvalidInput
from lamina.late import read_rules
from lamina.model import Changed, Delta, Memory, Scope, Space, State, Trust
from lamina.read.snapshot import Snapshot, look
from lamina.storage.database import Transaction
from lamina.storage.logs import Deltas, ShelfChange
from lamina.storage.memories import Memories
from lamina.text.normalise import Language, language_of
from lamina.write.store import Caller

MOST = 3
_LONGEST = 160
_SIGN = {
    "created": "+",
    "updated": "↑",
    "merged": "↔",
    "deleted": "-",
    "soft_deleted": "~",
    "restored": "↺",
}


@cache
def _words() -> dict[str, dict[str, str]]:
    return read_rules("lamina.read", "delta.toml")


def shown(changes: Sequence[Changed]) -> tuple[Changed, ...]:
    """The changes worth a line: what matters most, then what is newest."""
    order = sorted(changes, key=lambda one: (-one.importance, -one.at.timestamp(), one.memory_id))
    return tuple(order[:MOST])


def header(changes: Sequence[Changed], since: int, language: Language | None = None) -> str:
    """The lines for a prompt, in the language of what they say unless told; empty without a change."""
    if not changes:
        return ""
    words = _words()[language or language_of(" ".join(one.text for one in changes))]
    lines = [f"- {_SIGN[one.event]}{words[one.event]}: {_said(one, words)}" for one in changes]
    return "\n".join([words["since"].format(since=since), *lines])


def _said(one: Changed, words: dict[str, str]) -> str:
    line = " ".join(one.text.split()) or one.memory_id
    cut = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    if one.combined > 1:
        return words["combined"].format(count=one.combined) + cut
    weight = f" (imp={one.importance})" if one.event == "created" else ""
    return f"[{one.category}] {cut}{weight}" if one.category else cut


#: How far back a delta looks on one shelf; what is older than so many changes is in none.
WINDOW = 1000
#: A place: where each shelf stood, the thread's revision, and how much of that the caller may know.
_FORM = struct.Struct(">6Q")
_PLACES = len(Space) + 2
_GONE = ("deleted", "soft_deleted")


def changes(caller: Caller, since: str = "") -> Delta:
    """What changed in the caller's memory since a cursor, and the cursor to ask with next time.

    Without a cursor, everything since the beginning. A caller never hears of what it may not read.
    """
    return look(caller, lambda snapshot: delta_in(snapshot, since))


def cursor_now(caller: Caller) -> str:
    """The cursor of this moment, for whoever only wants to hear of what comes; nothing else is read."""

    def work(snapshot: Snapshot) -> str:
        names = _names(snapshot.scope)
        until = _place(Deltas(snapshot.transaction), names, snapshot.scope, (0,) * _PLACES)
        return _closed(until, names, snapshot.caller.store.ruleset.sealer)

    return look(caller, work)


def delta_in(snapshot: Snapshot, since: str) -> Delta:
    """The same within a reading that has begun."""
    return delta_of(snapshot.transaction, snapshot.scope, snapshot.caller.store.ruleset.sealer, since)


def delta_of(transaction: Transaction, scope: Scope, sealer: Sealer, cursor: str) -> Delta:
    """Everything since a cursor, or since the beginning without one, and the cursor to ask with next time."""
    names = _names(scope)
    since = _opened(cursor, names, sealer) if cursor else (0,) * _PLACES
    deltas, found = Deltas(transaction), list[ShelfChange]()
    until = _place(deltas, names, scope, since)
    for name, after, last in zip(names, since, until, strict=False):
        if last > after:
            found += deltas.after(name, after, WINDOW)
    known = Memories(transaction).load(sorted({one.memory_id for one in found}))
    # What cannot be read has changed in a way that nobody can tell, and is not gone.
    found = [one for one in found if not transaction.damage.has("memory", one.memory_id)]
    changes = [one for one in _summed_up(found, known) if one is not None]
    lines = shown(changes)
    return Delta(
        cursor=_closed(until, names, sealer),
        revision=until[-1],
        changes=lines,
        more=len(changes) - len(lines),
        text=header(lines, since[-1]),
    )


def _names(scope: Scope) -> tuple[str, ...]:
    return tuple(scope.shelf(space) or "" for space in Space)


def _place(deltas: Deltas, names: Sequence[str], scope: Scope, since: Sequence[int]) -> list[int]:
    """Where everything stands now.

    How many changes there were would tell a caller with an allowlist how many it does not see: its revision
    counts those that it may know of, from the place where it last looked.
    """
    *_, seen, told = since
    last = deltas.revision(scope.thread)
    told = told + deltas.known(scope.thread, seen) if scope.is_limited else last
    return [*(deltas.last(name) if name else 0 for name in names), last, told]


def _summed_up(found: Sequence[ShelfChange], known: dict[str, Memory]) -> list[Changed | None]:
    steps: dict[str, list[ShelfChange]] = {}
    for one in found:
        steps.setdefault(one.memory_id, []).append(one)
    return [_one(memory_id, taken, known) for memory_id, taken in sorted(steps.items())]


def _one(memory_id: str, steps: Sequence[ShelfChange], known: dict[str, Memory]) -> Changed | None:
    """What became of one memory; what took another's place is an update, what came and went is nothing."""
    memory, first, last = known.get(memory_id), steps[0].event, steps[-1].event
    if (first == "created" and last in _GONE) or (memory and memory.superseded_by in known):
        return None
    event = first if first == "created" and last == "updated" else last
    if memory is None:
        at = steps[-1].at
        return Changed(event="deleted", memory_id=memory_id, category="", text="", importance=0, at=at)
    if event == "created" and memory.supersedes is not None:
        event = "updated"
    # What was put aside is in no prompt, and what a tool said in none that nobody asked to see it in.
    told = memory.state is State.ACTIVE and memory.provenance.trust is Trust.TRUSTED
    words = f"{memory.key}: {memory.text}" if memory.key else memory.text
    gone = {one.id for one in known.values() if one.superseded_by == memory_id} if event == "merged" else ()
    return Changed(
        event=event,
        memory_id=memory_id,
        category=memory.topic,
        text=words if told else "",
        importance=memory.importance,
        at=steps[-1].at,
        combined=len(gone) + (memory.supersedes not in gone) if told and gone else 0,
    )


def _closed(numbers: Sequence[int], names: Sequence[str], sealer: Sealer) -> str:
    """A cursor: where each shelf stood, readable by nobody else and good for these shelves only."""
    key, plain = sealer.subkey("cursor"), _FORM.pack(*numbers)
    proof = hmac.digest(key, "\0".join(names).encode() + plain, "sha256")[:16]
    return base64.urlsafe_b64encode(proof + _masked(plain, key, proof)).decode()


def _opened(cursor: str, names: Sequence[str], sealer: Sealer) -> tuple[int, ...]:
    key = sealer.subkey("cursor")
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        numbers: tuple[int, ...] = _FORM.unpack(_masked(raw[16:], key, raw[:16]))
    except (ValueError, NotBase64, struct.error):
        numbers = ()
    if not numbers or not hmac.compare_digest(_closed(numbers, names, sealer), cursor):
        raise InvalidInput(
            "This cursor is not one of this conversation's.",
            code="cursor_invalid",
            hint="Use the cursor of the last answer in the same session, or none.",
        )
    return numbers


def _masked(data: bytes, key: bytes, proof: bytes) -> bytes:
    mask = hmac.digest(key, b"mask" + proof, "sha512")[: _FORM.size]
    return bytes(one ^ other for one, other in zip(data, mask, strict=True))
