"""The decisions of a workspace as its person asks for them: all, one, and one that another overrules."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from lamina.errors import Denied, NotFound
from lamina.jobs.decided import EVERYWHERE, Kept, kept_decisions, supersede
from lamina.jobs.desk import Desk
from lamina.jobs.schedule import zone_of
from lamina.model import Role
from lamina.records import dataclass
from lamina.text.decision_entries import Decision, DecisionFile, Status, in_force
from lamina.text.entries import Severity
from lamina.write.store import Caller, Store


class Standing(StrEnum):
    """Which decisions are asked for: by their status, or those in force that a later one may have changed."""

    ACTIVE = Status.ACTIVE.value
    SUPERSEDED = Status.SUPERSEDED.value
    ARCHIVED = Status.ARCHIVED.value
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in a file that makes a section no decision, or none that counts."""

    path: str
    line: int
    message: str
    hint: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class DecisionList:
    """One decision for each id, oldest first, each with its file; and what could not be read."""

    decisions: tuple[Kept, ...]
    problems: tuple[Flaw, ...]


def list_decisions(store: Store, status: str | None = None) -> DecisionList:
    """Every decision with the status that all files together give it, or those of one status.

    `doubtful` are those in force that a later one may have changed: the ones to look at.
    """
    files = _desk(store)
    kept = kept_decisions(files)
    places = _places(kept)
    told = [Kept(places[one.id], one) for one in in_force(each.decision for each in kept)]
    flaws = [
        Flaw(name, flaw.line, flaw.message, flaw.hint, flaw.severity)
        for pattern in EVERYWHERE
        for name in files.names(pattern)
        for flaw in DecisionFile.parse(files.read(name) or b"").problems
    ]
    return DecisionList(
        tuple(each for each in told if status in (None, each.decision.status, standing(each.decision))),
        tuple(flaws),
    )


def standing(decision: Decision) -> Standing:
    """Where a decision is in its life, or that it is to be looked at."""
    is_doubtful = decision.status is Status.ACTIVE and decision.doubted_by
    return Standing.DOUBTFUL if is_doubtful else Standing(decision.status.value)


def find_decision(store: Store, name: str) -> Kept:
    """The decision of an id, or of the one id that has this part; raises NotFound."""
    found = [each for each in list_decisions(store).decisions if name in each.decision.id]
    exact = [each for each in found if each.decision.id == name] or found
    if len(exact) != 1 or not name:
        told = "Several decisions have this in their id" if exact else "There is no such decision here"
        raise NotFound(f"{told}: {name:.120}.", hint="`lamina decisions list` shows them.")
    return exact[0]


def overrule(caller: Caller, name: str, by: str, because: str) -> Decision:
    """Marks a decision as superseded by another, in both of their sections; only a person may.

    Raises Denied (`person_only`), NotFound, and Conflict (`decision_state`) for one that is not active.
    """
    if caller.scope.role is not Role.USER:
        raise Denied(
            "Only the person says which decision overrules another.",
            code="person_only",
            hint="Ask them; what they decide in a conversation is found by micro-sync.",
        )
    store = owned(caller)
    old, new = (find_decision(store, one).decision.id for one in (name, by))
    now = store.now().astimezone(zone_of(store.config.timezone))
    return supersede(_desk(store), old, new, because, now)


def owned(caller: Caller) -> Store:
    """The store whose files have the decisions; they are the owner's alone, as every document is."""
    if not caller.is_owner:
        raise NotFound("There are no documents here.")
    return caller.store


def _desk(store: Store) -> Desk:
    return Desk(store.root, lambda: None, dry_run=False, wait_s=store.config.lock_timeout_s)


def _places(kept: Iterable[Kept]) -> dict[str, str]:
    """The file of the version in force of each id."""
    best: dict[str, Kept] = {}
    for each in kept:
        there = best.get(each.decision.id)
        if there is None or each.decision.rank > there.decision.rank:
            best[each.decision.id] = each
    return {name: each.path for name, each in best.items()}
