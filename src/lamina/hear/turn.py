"""One turn of a conversation: what was said becomes recent turns, snippets, facts and promotions.

Everything of a turn happens in one transaction, and its events are told in the contract's order. Who speaks
is known from the channel: nothing in the text changes its authority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.language.events import event_type, importance
from lamina.language.facts import profile_fact
from lamina.language.hints import Hint, promotion_hint
from lamina.language.rulebook import Rulebook
from lamina.language.signal import low_signal
from lamina.language.understanding import ends_of
from lamina.model import (
    Admit,
    Decision,
    Draft,
    Heard,
    Hold,
    Kind,
    Layer,
    Outcome,
    Receipt,
    Role,
    Scope,
    Space,
    canonical,
)
from lamina.records import dataclass
from lamina.storage.ledger import lanes_of
from lamina.write.commit import commit_denial, commit_remember
from lamina.write.guesses import held, waiting_for
from lamina.write.origins import traced
from lamina.write.request import Request, Verb, deny_promotion
from lamina.write.store import Store
from lamina.write.unit_of_work import UnitOfWork

#: What can hold a fact about a person.
_FACTUAL = (Kind.FACT, Kind.CORRECTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn, understood: what to try in order, and where somebody asked it to be kept."""

    scope: Scope
    drafts: tuple[Draft, ...]
    hint: Hint | None


def understood(
    scope: Scope, text: str, reply: str | None, tools: Sequence[Mapping[str, Any]], rules: Rulebook
) -> Turn:
    """What a turn holds; pure, so that nothing is worked out while others wait for the store."""
    agent = replace(scope, role=Role.AGENT, agent=scope.agent or "assistant")
    drafts = [*_said(scope, text, bool(tools), rules)]
    if reply:
        drafts.insert(1, _turn(agent, reply, Kind.CONTEXT, rules))
    if tools:
        drafts.append(_execution(replace(agent, role=Role.TOOL), tools, rules))
    return Turn(scope=scope, drafts=tuple(drafts), hint=promotion_hint(ends_of(text), book=rules))


def answered(scope: Scope, reply: str, tools: Sequence[Mapping[str, Any]], rules: Rulebook) -> Turn:
    """The agent's part of a turn."""
    agent = replace(scope, role=Role.AGENT, agent=scope.agent or "assistant")
    drafts = [_turn(agent, reply, Kind.CONTEXT, rules)]
    if tools:
        drafts.append(_execution(replace(agent, role=Role.TOOL), tools, rules))
    return Turn(scope=agent, drafts=tuple(drafts), hint=None)


def _said(scope: Scope, text: str, tools: bool, rules: Rulebook) -> Iterator[Draft]:
    said = ends_of(text)
    kind = event_type(said, scope.role, tool_events=False, book=rules).kind
    yield _turn(scope, text, Kind.EXECUTION if tools else kind, rules)
    weight = importance(kind, scope.role, said, book=rules)
    yield Draft(
        scope=scope,
        text=text,
        space=Space.SESSION,
        kind=kind,
        importance=weight.value,
        importance_reason=weight.reasons,
        low_signal=low_signal(said, book=rules),
    )
    fact = profile_fact(said, book=rules) if kind in _FACTUAL else None
    if fact is not None:
        yield Draft(
            scope=scope,
            text=fact.value,
            space=Space.SESSION,
            layer=Layer.USER_MODEL,
            kind=kind,
            key=fact.key,
            importance=weight.value,
            importance_reason=weight.reasons,
            reason=f"pattern:{fact.key}",
            place=f"heard:{fact.key}",
        )


def _turn(scope: Scope, text: str, kind: Kind, rules: Rulebook) -> Draft:
    weight = importance(kind, scope.role, ends_of(text), book=rules)
    return Draft(
        scope=scope,
        text=text,
        space=Space.SESSION,
        layer=Layer.WORKING,
        kind=kind,
        importance=weight.value,
        importance_reason=weight.reasons,
        place="turn",
    )


def _execution(scope: Scope, tools: Sequence[Mapping[str, Any]], rules: Rulebook) -> Draft:
    text = canonical(list(tools))
    weight = importance(Kind.EXECUTION, scope.role, ends_of(text), book=rules)
    return Draft(
        scope=scope,
        text=text,
        space=Space.SESSION,
        kind=Kind.EXECUTION,
        importance=weight.value,
        importance_reason=weight.reasons,
    )


Tried = tuple[Draft, Receipt]


def commit_turn(unit: UnitOfWork, turn: Turn, decisions: Sequence[Decision]) -> list[Tried]:
    """Carry a turn out; what was tried, and what became of it."""
    tried: list[Tried] = []
    for draft, decision in zip(turn.drafts, decisions, strict=True):
        if tried and draft.scope == turn.scope:
            if tried[0][1].code.startswith("privacy_"):
                continue  # a text with a secret in it is refused once, and nothing else is made of it
            draft = replace(draft, source_turn_ids=tried[0][1].ids)
        if isinstance(decision, Admit):
            draft = traced(unit, draft)
            waits = waiting_for(unit, draft)
            tried.append((draft, waits or commit_remember(unit, draft, decision.passed)))
        elif isinstance(decision, Hold):
            tried.append((draft, held(unit, draft)))
        else:
            audited = decision.code.startswith("privacy_")
            tried.append((draft, commit_denial(unit, draft, decision, audited=audited)))
    return tried


def promotable(turn: Turn, tried: Sequence[Tried]) -> list[str]:
    """Ids of what the caller's own words left beyond the window."""
    return [
        receipt.ids[0]
        for draft, receipt in tried
        if draft.scope == turn.scope
        and draft.layer is not Layer.WORKING
        and receipt.decision in (Outcome.ADMITTED, Outcome.UNCHANGED)
    ]


def nothing_promoted(unit: UnitOfWork, turn: Turn, hint: Hint, first: Receipt) -> Receipt:
    """A phrase asked for a promotion and nothing could be promoted: that is said."""
    memory_id, shelf = first.ids[0] if first.ids else "", turn.scope.shelf(Space.SESSION) or ""
    return deny_promotion(unit, memory_id, shelf, Space.SESSION, hint.target, "promotion_no_item")


def keep_turn(store: Store, turn: Turn) -> Heard:
    """Carry out everything a turn came to: the turn in one transaction, then what it asks to be moved."""
    decisions = [store.judge(draft) for draft in turn.drafts]
    lanes = lanes_of(turn.scope.shelf(Space.USER), *(draft.scope.shelf(draft.space) for draft in turn.drafts))
    tried, unit = store.commit(turn.scope, lambda unit: commit_turn(unit, turn, decisions), lanes)
    moved = _moved(store, turn, tried)
    told = [event for _, event in unit.told] + [event for one in moved for event in one.events]
    receipts = [*(receipt for _, receipt in tried), *moved]
    said = next((one.acknowledgement for one in moved if one.code == "promoted"), "")
    return Heard(receipts=tuple(receipts), acknowledgement=said, events=tuple(told))


def _moved(store: Store, turn: Turn, tried: Sequence[Tried]) -> list[Receipt]:
    if (hint := turn.hint) is None:
        return []
    if not (ids := promotable(turn, tried)):
        denied, unit = store.commit(turn.scope, lambda unit: nothing_promoted(unit, turn, hint, tried[0][1]))
        return [replace(denied, events=tuple(event for _, event in unit.told))]
    asked = Request(
        verb=Verb.PROMOTE, scope=turn.scope, at=store.now(), target=hint.target, reason=hint.reason
    )
    return [store.carry_out(replace(asked, memory_id=one)) for one in ids]
