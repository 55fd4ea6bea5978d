"""The nouns: frozen values without behaviour beyond their own consistency."""

from lamina.model.memory import Kind, Layer, Memory, Provenance, State, contract_kind, topic_of
from lamina.model.phase import Phase
from lamina.model.plain import canonical, iso, plain
from lamina.model.read import (
    Changed,
    Context,
    Delta,
    Effective,
    Filters,
    Hit,
    Query,
    Recollection,
    Related,
    Source,
    Value,
)
from lamina.model.scope import Authority, Role, Scope, Space, Trust, checked_name, quoted, unquoted
from lamina.model.write import (
    Admit,
    Decision,
    Deny,
    Draft,
    Explanation,
    Heard,
    HistoryEntry,
    HistoryOp,
    Hold,
    Outcome,
    Receipt,
    Verdict,
)

__all__ = [
    "Admit", "Authority", "Changed", "Context", "Decision", "Delta", "Deny", "Draft", "Effective",
    "Explanation", "Filters", "Heard", "HistoryEntry", "HistoryOp", "Hit", "Hold", "Kind", "Layer",
    "Memory", "Outcome", "Phase", "Provenance", "Query", "Receipt", "Recollection", "Related", "Role",
    "Scope", "Source", "Space", "State", "Trust", "Value", "Verdict", "canonical", "checked_name",
    "contract_kind", "iso", "plain", "quoted", "topic_of", "unquoted",
]
