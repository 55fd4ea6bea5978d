"""Phases: begin one, list them, and say what changed between two."""

from __future__ import annotations

from lamina.engine.ledger import Ledger
from lamina.errors import Denied, NotFound
from lamina.model import Phase, Space
from lamina.storage.database import Transaction
from lamina.storage.lexicon import Lexicon
from lamina.storage.phases import Phases
from lamina.trace import events
from lamina_language.secrets.privacy import find_secrets
from lamina_policy.phases import PhaseDiff, compared

_BEYOND = 2**62


def begin(ledger: Ledger, shelf: str, name: str | None, reason: str) -> Phase | Denied:
    """Begin the next phase of a shelf; a refusal is traced, and returned so that its trace is kept."""
    refused = None
    if not ledger.book.policy.phase.enabled:
        hint = "Set `phase.enabled` in it."
        refused = Denied("The policy in force has no phases.", code="phase_disabled", hint=hint)
    elif find_secrets(f"{name}\n{reason}", ledger.book.law(ledger.scope).allowed):
        refused = Denied("This looks like a secret.", code="privacy_deny_sensitive", hint="Leave it out.")
    if refused is not None:
        spaces = (Space(shelf.partition(":")[0]), None)
        ledger.trace(
            shelf, events.border_check(ledger.scope, "phase_start", spaces, refused.code, ledger.snapshot)
        )
        return refused
    number, current = ledger.lexicon.open_shelf(shelf)
    return ledger.start_phase(shelf, number, (current + 1, name, reason)).phase


def listed(transaction: Transaction, shelf: str) -> list[Phase]:
    """The phases of a shelf that are kept, oldest first."""
    known = Lexicon(transaction).shelf(shelf)
    return [] if known is None else Phases(transaction).of(known[0])


def difference(ledger: Ledger, shelf: str, numbers: tuple[int, int]) -> PhaseDiff:
    """What stood on a shelf at the end of one phase and at the end of another; traced."""
    if not ledger.book.policy.phase.diff_enabled:
        raise Denied(
            "The policy in force does not compare phases.",
            code="phase_diff_disabled",
            hint="Set `phase.diff_enabled` in the policy.",
        )
    phases = listed(ledger.transaction, shelf)
    ends = [_end(phases, number) for number in numbers]
    known = Lexicon(ledger.transaction).shelf(shelf) or (0, 0)
    before, after = (Phases(ledger.seen).standing(known[0], end) for end in ends)
    diff = compared(before, after)
    names = (f"phase-{numbers[0]}", f"phase-{numbers[1]}")
    ledger.trace(shelf, events.phase_diff(ledger.scope, shelf, names, diff))
    return diff


def _end(phases: list[Phase], number: int) -> int:
    """The tick at which a phase was over: when the next began, or not yet."""
    if all(phase.number != number for phase in phases):
        kept = ", ".join(phase.id for phase in phases) or "none yet"
        raise NotFound(f"There is no phase-{number} here.", code="phase_unknown", hint=f"Kept: {kept}.")
    later = [phase.started_tick for phase in phases if phase.number > number]
    return min(later, default=_BEYOND)
