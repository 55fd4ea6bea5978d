"""What a person has said is no secret: kept as keyed fingerprints, each user's own."""

from __future__ import annotations

import json
import re

from lamina.engine.ledger import Book, Ledger
from lamina.errors import Denied, InvalidInput
from lamina.model import Role, Scope, canonical, quoted
from lamina.storage.book import Properties
from lamina.storage.database import Transaction

_PREFIX = "allowed:"
_FINGERPRINT = re.compile(r"[0-9a-f]{24}")


def load_allowed(transaction: Transaction, book: Book) -> bool:
    """Bring the book up to date with the store; whether anything was new."""
    found = Properties(transaction).below(_PREFIX)
    kept = {user: frozenset(json.loads(marks)) for user, marks in found.items()}
    if kept == book.allowed:
        return False
    book.allowed.clear()
    book.allowed.update(kept)
    return True


def commit_allow(ledger: Ledger, scope: Scope, fingerprint: str) -> None:
    """Let a value pass from now on, for this user; only the person can say so."""
    if scope.role not in (Role.USER, Role.ADMIN):
        raise Denied(
            "Only the person can say that something is no secret.",
            code="allow_disallowed",
            hint="Let the user allow it on the command line.",
        )
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise InvalidInput(
            "This is no fingerprint.", code="fingerprint_invalid", hint="Copy it from the refusal."
        )
    name = f"{_PREFIX}{quoted(scope.user)}"
    properties = Properties(ledger.transaction)
    marks = {*json.loads(properties.get(name) or "[]"), fingerprint}
    properties.set(name, canonical(sorted(marks)))
    ledger.record_act("allow", f"user:{quoted(scope.user)}", fingerprint)
