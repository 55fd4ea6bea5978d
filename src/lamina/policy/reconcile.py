"""A draft meets what is already known: it is new, the same, a successor, or it loses."""

from __future__ import annotations

from lamina.model import Authority, Kind, Memory, Trust
from lamina.policy.rules import Policy
from lamina.records import dataclass


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
    rule: str  #: authority, correction, recency or importance


@dataclass(frozen=True, slots=True)
class Lose:
    """What is known weighs more."""

    existing: Memory
    rule: str  #: the same


Outcome = New | Same | Supersede | Lose


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What counts of one side of a conflict."""

    authority: Authority
    trust: Trust
    correction: bool
    tick: int
    importance: int


def wins(one: Claim, other: Claim, policy: Policy) -> tuple[bool, str]:
    """Whether the first side wins, and by which rule of the contract: the first that tells them apart.

    Untrusted text never wins over trusted. A correction by a user or somebody higher stands above the order
    of authority. Of a person's own words the newest wins, correction or not. When nothing tells the two
    apart, the first side is the older one and stays.
    """
    if one.trust is not other.trust:
        return one.trust is Trust.TRUSTED, "authority"
    if one.authority is not other.authority:
        if _overrides(one, other, policy) or _overrides(other, one, policy):
            return one.correction, "correction"
        return policy.outranks(one.authority, other.authority), "authority"
    if one.correction is not other.correction:
        fix, fixed = (one, other) if one.correction else (other, one)
        # A person's correction settles what they said before it; what they say after it is their newest word.
        if one.authority is not Authority.USER_ASSERTED or fix.tick >= fixed.tick:
            return one.correction, "correction"
    if one.tick != other.tick:
        return one.tick > other.tick, "recency"
    return one.importance >= other.importance, "importance"


def _overrides(one: Claim, other: Claim, policy: Policy) -> bool:
    entitled = not policy.outranks(Authority.USER_ASSERTED, one.authority)
    return one.correction and not other.correction and entitled


def claim(memory: Memory) -> Claim:
    return Claim(
        authority=memory.authority,
        trust=memory.provenance.trust,
        correction=memory.kind is Kind.CORRECTION,
        tick=memory.tick,
        importance=memory.importance,
    )


def reconcile(new: Memory, existing: Memory | None, policy: Policy) -> Outcome:
    """What becomes of a memory to be, beside the one that holds its key or says its words."""
    if existing is None:
        return New()
    stands, rule = wins(claim(existing), claim(new), policy)
    if _says_the_same(new, existing):
        # The same words of somebody who weighs more take over; otherwise there is nothing to change. An agent
        # that repeats what a tool or a document said vouches for nothing.
        doubted = existing.provenance.trust is Trust.UNTRUSTED and new.authority is Authority.AI_INFERRED
        weightier = not stands and rule == "authority" and not doubted
        return Supersede(existing, rule) if weightier else Same(existing)
    return Lose(existing, rule) if stands else Supersede(existing, rule)


def _says_the_same(new: Memory, existing: Memory) -> bool:
    if new.key is None:
        return True  # found by its wording, so there is nothing else that could differ
    kinds = {new.kind, existing.kind} - {Kind.CORRECTION}  # a corrected value is said again as a fact
    same = (new.text, new.priority, new.ttl) == (existing.text, existing.priority, existing.ttl)
    return same and len(kinds) < 2
