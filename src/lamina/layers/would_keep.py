"""Whether a sentence would be kept, gate by gate; nothing is stored, and a refusal is not recorded."""

from __future__ import annotations

from lamina.layers.writing import drafted
from lamina.model import Deny, Draft, Hold, Outcome
from lamina.policy.gates import GATES
from lamina.records import dataclass
from lamina.write.store import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """What one gate says."""

    gate: str
    passed: bool | None  #: None where an earlier gate has objected and this one is not asked
    code: str = ""
    why: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldKeep:
    """What would become of a sentence."""

    decision: Outcome  #: admitted, held or denied
    code: str
    why: str
    kind: str
    layer: str
    importance: int
    gates: tuple[GateAnswer, ...]


def would_keep(caller: Caller, text: str, key: str | None = None, kind: str | None = None) -> WouldKeep:
    """What the gates say of a sentence of the caller's, each in its turn; nothing is written anywhere."""
    details = {name: value for name, value in (("key", key), ("kind", kind)) if value}
    draft = drafted(caller, text, details)
    decision = caller.store.judge(draft)
    outcome = Outcome.HELD if isinstance(decision, Hold) else Outcome.ADMITTED
    why = "It waits for the person's yes or no." if isinstance(decision, Hold) else ""
    if isinstance(decision, Deny):
        outcome, why = Outcome.DENIED, decision.why
    return WouldKeep(
        decision=outcome,
        code=decision.code,
        why=why,
        kind=draft.kind.value,
        layer=draft.layer.value,
        importance=draft.importance,
        gates=_asked(caller, draft),
    )


def _asked(caller: Caller, draft: Draft) -> tuple[GateAnswer, ...]:
    """The gates in their order; those behind the first objection are not asked."""
    law, found, objected = caller.store.ruleset.law(draft.scope), list[GateAnswer](), False
    for gate in GATES:
        objection = None if objected else gate(draft, law)
        if objection is not None:
            found.append(
                GateAnswer(
                    gate=gate.__name__,
                    passed=False,
                    code=objection.code,
                    why=objection.why,
                    hint=objection.hint,
                )
            )
        else:
            found.append(GateAnswer(gate=gate.__name__, passed=None if objected else True))
        objected = objected or objection is not None
    return tuple(found)
