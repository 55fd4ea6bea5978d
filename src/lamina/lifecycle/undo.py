"""Undoing all that a session, an agent or a source wrote: previewed, and each of it as a person's forgetting.

What was written goes out of every answer and can be restored; what it had taken the place of comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from lamina.errors import InvalidInput, LaminaError, NotFound
from lamina.lifecycle.purge import check_owner, purge
from lamina.model import Memory, Outcome, Role, State, checked_name, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.shelf_contents import written_by
from lamina.text.normalise import well_formed
from lamina.write.commit import again, revive, standing
from lamina.write.guesses import close
from lamina.write.noes import kept_out
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork
from lamina.write.verbs import forget

_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undoing came to, or would come to."""

    by: str  #: session, agent or source
    name: str
    dry_run: bool
    memories: tuple[str, ...]  #: what goes
    restored: tuple[str, ...]  #: what comes back because something had taken its place
    pending: tuple[str, ...]  #: guesses that wait no longer
    for_good: bool = False
    refused: dict[str, int] | None = None  #: by code, what could not be undone


@dataclass(frozen=True, slots=True)
class _Written:
    """Who or what wrote something."""

    by: str
    name: str

    def fits(self, memory: Memory) -> bool:
        said = memory.provenance
        match self.by:
            case "session":
                return said.session_id == self.name
            case "agent":
                return said.agent == self.name and said.role is Role.AGENT
            case _:
                named = (said.session_path, said.reference, memory.meta.get("source"), *said.origins)
                tool = said.role in (Role.TOOL, Role.DOCUMENT) and said.agent == self.name
                return tool or self.name in named


def undo(
    caller: Caller,
    *,
    session: str | None = None,
    agent: str | None = None,
    source: str | None = None,
    dry_run: bool = False,
    for_good: bool = False,
) -> Undone:
    """Forget everything of the caller's user that a session, an agent or a source wrote; one of the three.

    A source is a file or an id that something came from, or a tool's name. With `for_good` it is purged. A
    dry run says what would go and changes nothing. Only a person or an administrator may.
    """
    check_owner(caller)
    written = _asked(session, agent, source)
    store = caller.store
    store.sync()
    found = list(_found(caller, written))
    active = [one for one in found if one.state is State.ACTIVE]
    waiting = [one for one in found if one.state is State.PENDING]
    under = store.database.read(lambda tx: _taken_over(tx, active))
    told = Undone(
        by=written.by,
        name=written.name,
        dry_run=dry_run,
        memories=tuple(one.id for one in active),
        restored=tuple(one.id for one in under),
        pending=tuple(one.id for one in waiting),
        for_good=for_good,
    )
    return told if dry_run else _done(caller, told, waiting, under)


def _asked(session: str | None, agent: str | None, source: str | None) -> _Written:
    given = [(by, name) for by, name in (("session", session), ("agent", agent), ("source", source)) if name]
    if len(given) != 1:
        hint = "Name a session, an agent or a source."
        raise InvalidInput("It is not clear what to undo.", code="undo_unclear", hint=hint)
    by, name = given[0]
    return _Written(by, well_formed(name, by, 4000) if by == "source" else checked_name(by, name))


def _found(caller: Caller, written: _Written) -> Iterator[Memory]:
    """What was written, on every shelf of the person and what they said in the project."""
    store, owner, after = caller.store, quoted(caller.scope.user), ""
    while True:
        last = after
        page = store.database.read(lambda tx: written_by(tx, owner, written.name, last, _PAGE))  # noqa: B023
        yield from (one for one in page if written.fits(one))
        if len(page) < _PAGE:
            return
        after = page[-1].id


def _taken_over(transaction: Transaction, active: list[Memory]) -> list[Memory]:
    """What stood before something that goes now, unless that goes, too."""
    going = {one.id: one for one in active}
    known = Memories(transaction).load(sorted({one.supersedes for one in active if one.supersedes}))
    return [
        one
        for one in known.values()
        if one.state is State.SUPERSEDED and one.superseded_by in going and one.id not in going
    ]


def _done(caller: Caller, told: Undone, waiting: list[Memory], under: list[Memory]) -> Undone:
    refused: Counter[str] = Counter()
    reason, gone = f"undo {told.by}", list[str]()
    for one in told.memories:
        try:
            receipt = forget(caller, one, reason=reason)
        except NotFound:  # it went with another
            gone.append(one)
            continue
        except LaminaError as error:
            refused[error.code] += 1
            continue
        if receipt.decision is Outcome.DENIED:
            refused[receipt.code] += 1
        else:
            gone += receipt.ids
    store = caller.store

    def work(unit: UnitOfWork) -> tuple[list[str], list[str]]:
        for one in waiting:
            close(unit, one, State.EXPIRED, {"code": "undone"}, "expire_pending")
        return [one.id for one in waiting], [one.id for one in under if _back(unit, one)]

    closed, back = store.act(caller.scope, work)
    if told.for_good:
        for one in dict.fromkeys(gone):
            with suppress(NotFound):
                purge(caller, one, now=True)
    return Undone(
        by=told.by,
        name=told.name,
        dry_run=False,
        memories=tuple(dict.fromkeys(gone)),
        restored=tuple(back),
        pending=tuple(closed),
        for_good=told.for_good,
        refused=dict(sorted(refused.items())),
    )


def _back(unit: UnitOfWork, memory: Memory) -> bool:
    """Let something stand again where its place is free, it lives in no file, and nobody said no to it."""
    shelf, _, identity = unit.memories.place(memory.id)
    said = again(unit, memory)
    free = memory.file is None and standing(unit, shelf, identity) is None and not kept_out(unit, said)
    if free:
        revive(unit, memory, {"code": "restored", "reason": "undo"})
    return free
