"""One turn of a conversation: what was said becomes recent turns, snippets, facts and promotions.

Everything of a turn happens in one transaction, and its events are told in the contract's order. Who speaks
is known from the channel: nothing in the text changes its authority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lamina.engine.commit import commit_denial, commit_remember
from lamina.engine.ledger import Book, Ledger
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
)
from lamina.policy.gates import decide
from lamina.understand.events import event_type, importance
from lamina.understand.facts import profile_fact
from lamina.understand.hints import Hint, promotion_hint
from lamina.understand.rulebook import Rulebook
from lamina.understand.signal import low_signal

#: The session of a caller who names none.
DEFAULT_SESSION = "main"

#: What can hold a fact about a person.
_FACTUAL = (Kind.FACT, Kind.CORRECTION)


@dataclass(frozen=True, slots=True)
class Try:
    """Something a turn may leave behind, and what the gates say of it."""

    draft: Draft
    decision: Decision

    @property
    def secret(self) -> bool:
        return not isinstance(self.decision, Admit) and self.decision.code.startswith("privacy_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn, understood: what to try in order, and where somebody asked it to be kept."""

    scope: Scope
    tries: tuple[Try, ...]
    hint: Hint | None


def understood(
    scope: Scope, text: str, reply: str | None, tools: Sequence[Mapping[str, Any]], book: Book
) -> Turn:
    """What a turn holds; pure, so that nothing is worked out while others wait for the store."""
    policy, rules = book.policy, book.rules
    agent = replace(scope, role=Role.AGENT, agent=scope.agent or "assistant")
    drafts = [*_said(scope, text, bool(tools), rules)]
    if reply:
        drafts.insert(1, _turn(agent, reply, Kind.CONTEXT, rules))
    if tools:
        drafts.append(_execution(replace(agent, role=Role.TOOL), tools, rules))
    tries = [Try(draft, decide(draft, policy)) for draft in drafts]
    # A text with a secret in it is refused once, as the turn it is; nothing else is made of it.
    if tries[0].secret:
        tries = [one for one in tries if one.draft.scope != scope or one is tries[0]]
    return Turn(scope=scope, tries=tuple(tries), hint=promotion_hint(text, book=rules))


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


def commit_turn(ledger: Ledger, turn: Turn) -> list[Receipt]:
    """Carry a turn out; a receipt for each thing that was tried, then for the promotion if one was asked."""
    receipts: list[Receipt] = []
    for one in turn.tries:
        draft, decision = one.draft, one.decision
        if draft.layer is not Layer.WORKING and draft.scope == turn.scope and receipts[0].ids:
            draft = replace(draft, source_turn_ids=receipts[0].ids)
        if isinstance(decision, Admit):
            receipts.append(commit_remember(ledger, draft, decision.passed))
        else:
            receipts.append(commit_denial(ledger, draft, decision, audited=one.secret))
    if turn.hint is not None:
        receipts += _promoted(ledger, turn, turn.hint, receipts)
    return receipts


def _promoted(ledger: Ledger, turn: Turn, hint: Hint, receipts: Sequence[Receipt]) -> list[Receipt]:
    """Promote what the turn left beyond the window; with nothing to promote, that is said."""
    left = [
        receipt.ids[0]
        for one, receipt in zip(turn.tries, receipts, strict=True)
        if one.draft.layer is not Layer.WORKING
        and one.draft.scope == turn.scope
        and receipt.decision in (Outcome.ADMITTED, Outcome.UNCHANGED)
    ]
    if left:
        return [commit_promote(ledger, one, hint.target, hint.reason) for one in left]
    shelf = turn.scope.shelf(Space.SESSION) or ""
    subject = (receipts[0].ids[0] if receipts[0].ids else "", shelf)
    return [deny_promotion(ledger, subject, (Space.SESSION, hint.target), "promotion_no_item")]
