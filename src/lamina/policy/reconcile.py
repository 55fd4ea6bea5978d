"""A draft meets what is already known: it is new, the same, a successor, or it loses."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.model import Draft, Memory
from lamina.policy.rules import Policy


@dataclass(frozen=True, slots=True)
class New:
    """Nothing like it is known."""

    rule: str = "new"


@dataclass(frozen=True, slots=True)
class Same:
    """It is known already, in these words or under this key with this value."""

    existing: Memory
    rule: str = "same"


@dataclass(frozen=True, slots=True)
class Supersede:
    """It takes the place of what is known."""

    existing: Memory
    rule: str  #: authority or recency


@dataclass(frozen=True, slots=True)
class Lose:
    """What is known weighs more."""

    existing: Memory
    rule: str = "authority"


Outcome = New | Same | Supersede | Lose


def reconcile(draft: Draft, existing: Memory | None, policy: Policy) -> Outcome:
    """Higher authority wins; between equals the later word does."""
    if existing is None:
        return New()
    if _says_the_same(draft, existing):
        return Same(existing)
    if policy.outranks(existing.authority, draft.scope.authority):
        return Lose(existing)
    higher = policy.outranks(draft.scope.authority, existing.authority)
    return Supersede(existing, "authority" if higher else "recency")


def _says_the_same(draft: Draft, existing: Memory) -> bool:
    if draft.key is None:
        return True  # found by its wording, so there is nothing else that could differ
    return (draft.text, draft.kind, draft.priority, draft.ttl) == (
        existing.text,
        existing.kind,
        existing.priority,
        existing.ttl,
    )
