"""One turn of a conversation: what was said becomes recent turns, snippets, facts and promotions.

Everything of a turn happens in one transaction, and its events are told in the contract's order. Who speaks
is known from the channel: nothing in the text changes its authority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lamina.engine.commit import commit_denial, commit_remember
from lamina.engine.ledger import Ledger
from lamina.engine.promote import commit_promote, deny_promotion
from lamina.model import (
    Admit,
    Decision,
    Draft,
    Kind,
    Layer,
    Outcome,
    Receipt,
    Role,
    Scope,
    Space,
    canonical,
    contract_kind,
)
from lamina.understand.events import event_type, importance
from lamina.understand.facts import profile_fact
from lamina.understand.hints import Hint, promotion_hint
from lamina.understand.rulebook import Rulebook
from lamina.understand.signal import low_signal

#: The session of a caller who names none.
DEFAULT_SESSION = "main"

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
    return Turn(scope=scope, drafts=tuple(drafts), hint=promotion_hint(text, book=rules))


def _said(scope: Scope, text: str, tools: bool, rules: Rulebook) -> Iterator[Draft]:
    kind = event_type(text, scope.role, tool_events=False, book=rules).kind
    yield _turn(scope, text, Kind.EXECUTION if tools else kind, rules)
    weight = importance(kind, scope.role, text, book=rules)
    yield Draft(
        scope=scope,
        text=text,
        space=Space.SESSION,
        kind=kind,
        importance=weight.value,
        importance_reason=weight.reasons,
        low_signal=low_signal(text, book=rules),
    )
    fact = profile_fact(text, book=rules) if kind in _FACTUAL else None
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
        )


def _turn(scope: Scope, text: str, kind: Kind, rules: Rulebook) -> Draft:
    weight = importance(kind, scope.role, text, book=rules)
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
    weight = importance(Kind.EXECUTION, scope.role, text, book=rules)
    return Draft(
        scope=scope,
        text=text,
        space=Space.SESSION,
        kind=Kind.EXECUTION,
        importance=weight.value,
        importance_reason=weight.reasons,
    )


def commit_turn(ledger: Ledger, turn: Turn, decisions: Sequence[Decision]) -> list[Receipt]:
    """Carry a turn out; a receipt for each thing that was tried, then for the promotion if one was asked."""
    receipts: list[Receipt] = []
    for draft, decision in zip(turn.drafts, decisions, strict=True):
        if receipts and draft.scope == turn.scope:
            if receipts[0].code.startswith("privacy_"):
                continue  # a text with a secret in it is refused once, and nothing else is made of it
            draft = replace(draft, source_turn_ids=receipts[0].ids)
        if isinstance(decision, Admit):
            receipts.append(commit_remember(ledger, draft, decision.passed))
        else:
            audited = decision.code.startswith("privacy_")
            receipts.append(commit_denial(ledger, draft, decision, audited=audited))
    return receipts + _promoted(ledger, turn, receipts)


def _promoted(ledger: Ledger, turn: Turn, receipts: Sequence[Receipt]) -> list[Receipt]:
    """Promote what the turn left beyond the window; with nothing to promote, that is said."""
    hint = turn.hint
    if hint is None:
        return []
    mine = f"{turn.scope.shelf(Space.SESSION)}:{contract_kind(Layer.WORKING)}:"
    kept = [one.ids[0] for one in receipts if one.decision in (Outcome.ADMITTED, Outcome.UNCHANGED)]
    left = [one for one in kept if not one.startswith(mine) and not _by_tool(ledger, one)]
    if left:
        return [commit_promote(ledger, one, hint.target, hint.reason) for one in left]
    subject = (receipts[0].ids[0] if receipts[0].ids else "", turn.scope.shelf(Space.SESSION) or "")
    return [deny_promotion(ledger, subject, (Space.SESSION, hint.target), "promotion_no_item")]


def _by_tool(ledger: Ledger, memory_id: str) -> bool:
    memory = ledger.memories.get(memory_id)
    return memory is None or memory.provenance.role is Role.TOOL
