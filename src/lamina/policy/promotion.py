"""May a memory move to a wider space? One answer with a stable code."""

from __future__ import annotations

from lamina.model import Kind, Layer, Memory, Space, Trust
from lamina.policy.rules import Policy
from lamina.records import dataclass

ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class PromotionAnswer:
    """`allowed`, or why not."""

    code: str

    @property
    def allowed(self) -> bool:
        return self.code == ALLOWED


def may_promote(memory: Memory, target: Space, policy: Policy) -> PromotionAnswer:
    """Whether the policy has a path for this memory; recent turns and untrusted text have none."""
    path = policy.path(memory.space, target)
    if path is None or not path.types:
        return PromotionAnswer("promotion_disallowed")
    if target not in policy.read_order:
        return PromotionAnswer("space_disabled")
    if memory.provenance.trust is Trust.UNTRUSTED:
        return PromotionAnswer("promotion_untrusted")
    if memory.layer is Layer.WORKING or memory.kind not in path.types:
        return PromotionAnswer("promotion_event_type")
    least = path.decision_authority if memory.kind is Kind.DECISION else path.authority
    if policy.outranks(least, memory.authority):
        return PromotionAnswer("promotion_authority")
    return PromotionAnswer(ALLOWED)
