"""Phases: begin one, list them, and say what changed between two."""

from __future__ import annotations

from lamina.audit import events
from lamina.errors import Denied, NotFound
from lamina.language.secrets.privacy import find_secrets
from lamina.model import Draft, Phase, Space
from lamina.policy.phases import PhaseDiff, compared
from lamina.storage.database import Transaction
from lamina.storage.phases import Phases
from lamina.storage.text_index import TextIndex
from lamina.write.noes import kept_out
from lamina.write.unit_of_work import UnitOfWork

_BEYOND = 2**62


def begin(unit: UnitOfWork, shelf: str, name: str | None, reason: str) -> Phase | Denied:
    """Begin the next phase of a shelf; a refusal is traced, and returned so that its trace is kept."""
    refused = None
    if not unit.ruleset.policy.phase.enabled:
        hint = "Set `phase.enabled` in it."
        refused = Denied("The policy in force has no phases.", code="phase_disabled", hint=hint)
    elif find_secrets(f"{name}\n{reason}", unit.ruleset.law(unit.scope).allowed):
        refused = Denied("This looks like a secret.", code="privacy_deny_sensitive", hint="Leave it out.")
    elif (objection := kept_out(unit, Draft(scope=unit.scope, text=f"{name or ''}\n{reason}"))) is not None:
        refused = Denied(objection.why, code=objection.code, hint=objection.hint)
    if refused is not None:
        spaces = (Space(shelf.partition(":")[0]), None)
        unit.trace(shelf, events.border_check(unit.scope, "phase_start", spaces, refused.code, unit.snapshot))
        return refused
    number, current = unit.text_index.open_shelf(shelf)
    return unit.start_phase(shelf, number, (current + 1, name, reason)).phase


def listed(transaction: Transaction, shelf: str) -> list[Phase]:
    """The phases of a shelf that are kept, oldest first."""
    known = TextIndex(transaction).shelf(shelf)
    return [] if known is None else Phases(transaction).of(known[0])


def difference(unit: UnitOfWork, shelf: str, numbers: tuple[int, int]) -> PhaseDiff:
    """What stood on a shelf at the end of one phase and at the end of another; traced."""
    if not unit.ruleset.policy.phase.diff_enabled:
        raise Denied(
            "The policy in force does not compare phases.",
            code="phase_diff_disabled",
            hint="Set `phase.diff_enabled` in the policy.",
        )
    phases = listed(unit.transaction, shelf)
    ends = [_end(phases, number) for number in numbers]
    known = TextIndex(unit.transaction).shelf(shelf) or (0, 0)
    before, after = (Phases(unit.seen).standing(known[0], end) for end in ends)
    diff = compared(before, after)
    names = (f"phase-{numbers[0]}", f"phase-{numbers[1]}")
    unit.trace(shelf, events.phase_diff(unit.scope, shelf, names, diff))
    return diff


def _end(phases: list[Phase], number: int) -> int:
    """The tick at which a phase was over: when the next began, or not yet."""
    if all(phase.number != number for phase in phases):
        kept = ", ".join(phase.id for phase in phases) or "none yet"
        raise NotFound(f"There is no phase-{number} here.", code="phase_unknown", hint=f"Kept: {kept}.")
    later = [phase.started_tick for phase in phases if phase.number > number]
    return min(later, default=_BEYOND)
