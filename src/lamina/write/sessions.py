"""The stretches of a life: sessions begin and end, phases follow each other, what is past its time goes."""

from __future__ import annotations

from dataclasses import replace

from lamina.audit import events
from lamina.errors import Denied, NotFound
from lamina.language.secrets.privacy import check_name, find_secrets
from lamina.model import Draft, Phase, Space, checked_name
from lamina.policy.phases import PhaseDiff, compared
from lamina.storage.database import Transaction
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import lapsed_on, lapsing_on
from lamina.storage.small_tables import Phases, Session, Sessions
from lamina.text.normalise import well_formed
from lamina.write.details import whole_number
from lamina.write.noes import kept_out
from lamina.write.request import Request, Verb
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork


def compact(caller: Caller, space: str = "session") -> int:
    """Put aside what is past its time in one of the caller's spaces, lines in files too, and take out lines
    that only repeat another; how many."""
    store, name = caller.store, caller.shelf(space)
    store.sync()
    now, scope = store.now(), caller.in_session
    ids = store.database.read(lambda tx: lapsed_on(tx, name, now))
    for one in ids:
        store.carry_out(Request(verb=Verb.EXPIRE, scope=scope, at=now, memory_id=one))
    return len(ids) + store.tidy(name)


def start_session(caller: Caller, name: str) -> Session:
    """Begin or go on with a session of the workspace's owner; SESSION.md is about it from now on."""
    store = caller.store
    scope = replace(caller.scope, session=check_name(checked_name("session", name)))
    store.act(scope, lambda unit: Sessions(unit.transaction).touch(scope.user, name, unit.now))
    if scope.user == store.config.owner:
        store.enter_session(name)
    begun = store.database.read(lambda tx: Sessions(tx).get(scope.user, name))
    if begun is None:
        raise NotFound(f"The session {name!r:.80} did not begin.")
    return begun


def end_session(caller: Caller) -> int:
    """The session is over: what it keeps until its end goes; how many."""
    store, scope, now = caller.store, caller.in_session, caller.store.now()
    name = scope.shelf(Space.SESSION) or ""
    ids = store.database.read(lambda tx: lapsing_on(tx, name))
    for one in ids:
        request = Request(verb=Verb.EXPIRE, scope=scope, at=now, memory_id=one, reason="session_end")
        store.carry_out(request)
    compact(caller, "session")

    def work(unit: UnitOfWork) -> None:
        Sessions(unit.transaction).end(scope.user, scope.session or "", unit.now)
        unit.record_act("session_end", name, f"{len(ids)} entries")

    store.act(scope, work)
    return len(ids)


def session(caller: Caller) -> Session | None:
    """When the caller's session began, was last used and ended; None before its first use."""
    scope = caller.in_session
    return caller.store.database.read(lambda tx: Sessions(tx).get(scope.user, scope.session or ""))


def start_phase(caller: Caller, space: str = "session", *, name: str = "", reason: str = "manual") -> Phase:
    """Begin the next phase of one of the caller's spaces; a recall then looks at the new one only."""
    shelf = caller.shelf(space)
    title = well_formed(name, "name", 128) if name else None
    why = well_formed(reason, "reason", 1000)
    phase = caller.store.act(caller.in_session, lambda unit: begin(unit, shelf, title, why))
    if isinstance(phase, Denied):
        raise phase
    return phase


def phases(caller: Caller, space: str = "session") -> tuple[Phase, ...]:
    """The phases of one of the caller's spaces that are kept, oldest first."""
    shelf = caller.shelf(space)
    return tuple(caller.store.database.read(lambda tx: listed(tx, shelf)))


def phase_diff(caller: Caller, before: int, after: int, space: str = "session") -> PhaseDiff:
    """What changed between the ends of two phases; the newest ends now."""
    shelf = caller.shelf(space)
    first, second = (whole_number(before, "before", 1, 2**31), whole_number(after, "after", 1, 2**31))
    return caller.store.act(caller.in_session, lambda unit: difference(unit, shelf, first, second))


_BEYOND = 2**62


def begin(unit: UnitOfWork, shelf: str, name: str | None, reason: str) -> Phase | Denied:
    """Begin the next phase of a shelf; a refusal is traced, and returned so that its trace is kept."""
    refused = None
    if not unit.ruleset.policy.phase.enabled:
        hint = "Set `phase.enabled` in it."
        refused = Denied("The policy has no phases.", code="phase_disabled", hint=hint)
    elif find_secrets(f"{name}\n{reason}", unit.ruleset.law(unit.scope).allowed):
        refused = Denied("This looks like a secret.", code="privacy_deny_sensitive", hint="Leave it out.")
    elif (objection := kept_out(unit, Draft(scope=unit.scope, text=f"{name or ''}\n{reason}"))) is not None:
        refused = Denied(objection.why, code=objection.code, hint=objection.hint)
    if refused is not None:
        space = Space(shelf.partition(":")[0])
        told = events.border_check(unit.scope, "phase_start", space, None, refused.code, unit.snapshot)
        unit.trace(shelf, told)
        return refused
    number, current = unit.text_index.open_shelf(shelf)
    return unit.start_phase(shelf, number, current + 1, name, reason).phase


def listed(transaction: Transaction, shelf: str) -> list[Phase]:
    """The phases of a shelf that are kept, oldest first."""
    known = TextIndex(transaction).shelf(shelf)
    return [] if known is None else Phases(transaction).of(known[0])


def difference(unit: UnitOfWork, shelf: str, first: int, second: int) -> PhaseDiff:
    """What stood on a shelf at the end of one phase and at the end of another; traced."""
    if not unit.ruleset.policy.phase.diff_enabled:
        raise Denied(
            "The policy does not compare phases.",
            code="phase_diff_disabled",
            hint="Set `phase.diff_enabled` in the policy.",
        )
    phases = listed(unit.transaction, shelf)
    ends = [_end(phases, number) for number in (first, second)]
    known = TextIndex(unit.transaction).shelf(shelf) or (0, 0)
    before, after = (Phases(unit.seen).standing(known[0], end) for end in ends)
    diff = compared(before, after)
    unit.trace(shelf, events.phase_diff(unit.scope, shelf, f"phase-{first}", f"phase-{second}", diff))
    return diff


def _end(phases: list[Phase], number: int) -> int:
    """The tick at which a phase was over: when the next began, or not yet."""
    if all(phase.number != number for phase in phases):
        kept = ", ".join(phase.id for phase in phases) or "none yet"
        raise NotFound(f"There is no phase-{number} here.", code="phase_unknown", hint=f"Kept: {kept}.")
    later = [phase.started_tick for phase in phases if phase.number > number]
    return min(later, default=_BEYOND)
