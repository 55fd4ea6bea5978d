"""A change somebody asked for, as a value: it can be carried out now, or replayed after a crash."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from lamina.errors import Conflict
from lamina.late import late
from lamina.model import (
    Admit,
    Decision,
    Deny,
    Draft,
    Hold,
    Kind,
    Layer,
    Outcome,
    Receipt,
    Role,
    Scope,
    Space,
    canonical,
    plain,
    quoted,
)
from lamina.records import dataclass
from lamina.storage.ledger import lanes_of
from lamina.storage.small_tables import Responses
from lamina.write.commit import (
    commit_denial,
    commit_expire,
    commit_revise,
    place_of,
)
from lamina.write.unit_of_work import UnitOfWork

with late():
    from lamina.write import forgetting, guesses, merge, origins, promote


class Verb(StrEnum):
    """The changes there are."""

    REMEMBER = "remember"
    REVISE = "revise"
    FORGET = "forget"
    RESTORE = "restore"
    PROMOTE = "promote"
    EXPIRE = "expire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One change, with everything needed to carry it out later exactly as it would be now."""

    verb: Verb
    scope: Scope
    at: datetime
    draft: Draft | None = None
    decision: Decision | None = None  #: what the gates said of the draft
    memory_id: str = ""
    target: Space | None = None  #: where a promotion goes
    expect: int | None = None
    undo_days: int = 0
    reason: str | None = None
    idempotency_key: str | None = None

    @property
    def fingerprint(self) -> str:
        """What the caller asked for, without the time at which it was asked."""
        asked = {**plain(self), "at": None, "decision": None}
        return hashlib.sha256(canonical(asked).encode()).hexdigest()

    @property
    def lanes(self) -> list[str]:
        """Whose lanes this changes: the caller's own, and those of what it is about."""
        about = [self.scope.shelf(Space.USER), self.memory_id]
        if self.draft is not None:
            about += [self.draft.scope.shelf(Space.USER), self.draft.scope.shelf(self.draft.space)]
        if self.target is not None:
            about.append(self.scope.shelf(self.target))
        return lanes_of(*about)

    def to_plain(self) -> dict[str, Any]:
        value: dict[str, Any] = plain(self)
        return value

    @staticmethod
    def from_plain(value: dict[str, Any]) -> Request:
        """The request as it was written down; only admitted ones ever are."""
        draft, decision = value["draft"], value["decision"]
        return Request(
            **{
                **value,
                "verb": Verb(value["verb"]),
                "scope": _scope(value["scope"]),
                "at": datetime.fromisoformat(value["at"]),
                "target": None if value["target"] is None else Space(value["target"]),
                "draft": None if draft is None else _draft(draft),
                "decision": None if decision is None else Admit(tuple(decision["passed"]), decision["code"]),
            }
        )


def _scope(value: dict[str, Any]) -> Scope:
    reach = value.get("reach")
    return Scope(**{**value, "role": Role(value["role"]), "reach": None if reach is None else tuple(reach)})


def _draft(value: dict[str, Any]) -> Draft:
    return Draft(
        **{
            **value,
            "scope": _scope(value["scope"]),
            "space": Space(value["space"]),
            "layer": Layer(value["layer"]),
            "kind": Kind(value["kind"]),
            "tags": tuple(value["tags"]),
            "importance_reason": tuple(value["importance_reason"]),
            "source_turn_ids": tuple(value["source_turn_ids"]),
            "origins": tuple(value.get("origins", ())),
            "said_at": datetime.fromisoformat(said) if (said := value.get("said_at")) else None,
        }
    )


def perform(unit: UnitOfWork, request: Request) -> Receipt:
    """Carry out a request inside a transaction; a repeated one is answered as it was the first time."""
    if (draft := request.draft) is not None:
        unit.transaction.told(identity=place_of(draft), key=request.idempotency_key)
    if request.idempotency_key is None:
        return _performed(unit, request)
    # An agent's name is its user's choice: two users may each have a `planner`.
    responses, caller = Responses(unit.transaction), f"{quoted(request.scope.user)}/{request.scope.actor}"
    if known := responses.get(caller, request.idempotency_key):
        if known[0] != request.fingerprint:
            raise Conflict(
                "This idempotency key was used for another request.",
                code="idempotency_mismatch",
                hint="Use a new key for a new request.",
            )
        return _receipt(known[1])
    receipt = _performed(unit, request)
    kept = plain(replace(receipt, events=()))
    responses.add(caller, request.idempotency_key, request.fingerprint, kept, request.at)
    return receipt


def forget_old_responses(unit: UnitOfWork, hours: int) -> None:
    Responses(unit.transaction).forget(unit.clock - timedelta(hours=hours))


def _receipt(value: dict[str, Any]) -> Receipt:
    return Receipt(
        decision=Outcome(value["decision"]),
        code=value["code"],
        ids=tuple(value["ids"]),
        acknowledgement=value["acknowledgement"],
        warnings=tuple(value["warnings"]),
        revision=value["revision"],
    )


def _performed(unit: UnitOfWork, request: Request) -> Receipt:
    match request:
        case Request(draft=Draft() as draft, decision=Deny() as objection):
            return commit_denial(unit, draft, objection)
        case Request(draft=Draft() as draft, decision=Hold()):
            return guesses.held(unit, draft)
        case Request(verb=Verb.REMEMBER, draft=Draft() as draft, decision=Admit(passed)):
            draft = origins.traced(unit, draft)
            return guesses.waiting_for(unit, draft) or merge.remember_merging(unit, draft, passed)
        case Request(verb=Verb.REVISE, draft=Draft() as draft, decision=Admit(passed)):
            memory_id, expect = request.memory_id, request.expect
            if draft.takes_back:
                return forgetting.commit_taking_back(
                    unit, memory_id, draft, passed, expect, request.undo_days
                )
            return commit_revise(unit, memory_id, draft, passed, expect)
        case Request(verb=Verb.FORGET):
            return forgetting.commit_forget(unit, request.memory_id, request.undo_days, request.reason)
        case Request(verb=Verb.RESTORE):
            return forgetting.commit_restore(unit, request.memory_id, request.reason)
        case Request(verb=Verb.EXPIRE):
            return commit_expire(unit, request.memory_id, request.reason or "ttl_expired")
        case Request(verb=Verb.PROMOTE, target=Space() as target):
            return promote.commit_promote(unit, request.memory_id, target, request.reason or "api:promote")
        case _:
            raise AssertionError(f"{request.verb} needs a draft and a decision")
