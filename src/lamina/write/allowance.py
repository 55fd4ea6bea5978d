"""What a person has said is no secret: kept as keyed fingerprints, each user's own."""

from __future__ import annotations

import re

from lamina.errors import Denied, InvalidInput
from lamina.model import Role, Scope, canonical, quoted
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Properties, parsed
from lamina.write.ruleset import Ruleset
from lamina.write.unit_of_work import UnitOfWork

_PREFIX = "allowed:"
_FINGERPRINT = re.compile(r"[0-9a-f]{24}")


def load_allowed(transaction: Transaction, ruleset: Ruleset) -> bool:
    """Bring the ruleset up to date with the store; whether anything was new."""
    found = Properties(transaction).below(_PREFIX)
    kept = {user: frozenset(parsed(marks) or ()) for user, marks in found.items()}
    if kept == ruleset.allowed:
        return False
    ruleset.allowed.clear()
    ruleset.allowed.update(kept)
    return True


def commit_allow(unit: UnitOfWork, scope: Scope, fingerprint: str) -> None:
    """Let a value pass from now on, for this user; only the person can say so."""
    if scope.role not in (Role.USER, Role.ADMIN):
        raise Denied(
            "Only the person can say that something is not a secret.",
            code="allow_disallowed",
            hint="Let the user allow it on the command line.",
        )
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise InvalidInput(
            "This is not a fingerprint.", code="fingerprint_invalid", hint="Copy it from the refusal."
        )
    name = f"{_PREFIX}{quoted(scope.user)}"
    properties = Properties(unit.transaction)
    marks = {*(properties.value(name) or ()), fingerprint}
    properties.set(name, canonical(sorted(marks)))
    unit.record_act("allow", f"user:{quoted(scope.user)}", fingerprint)
