"""The gates every draft passes, as values: the first objection wins and has a stable code."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lamina.model import Admit, Decision, Deny, Draft, Trust
from lamina.policy.privacy import find_secrets
from lamina.policy.rules import Policy

Gate = Callable[[Draft, Policy], Deny | None]


def border(draft: Draft, policy: Policy) -> Deny | None:
    """A caller writes only to the spaces its role may write to."""
    if policy.may_write(draft.scope.role, draft.space):
        return None
    return Deny(
        "write_space_disallowed",
        f"A caller with the role {draft.scope.role} may not write to the {draft.space} space.",
        "Choose the session, user or project space, or ask an administrator.",
    )


def trust(draft: Draft, _: Policy) -> Deny | None:
    """What a tool or a document says can be kept as text, but it sets no key."""
    if draft.scope.trust is Trust.TRUSTED or draft.key is None:
        return None
    return Deny(
        "trust_deny_key",
        f"Text from a {draft.scope.role} cannot set `{draft.key}`.",
        "Remember it without a key, or let the user say it.",
    )


def privacy(draft: Draft, _: Policy) -> Deny | None:
    """Secrets are never stored; the objection names the rule, never the text."""
    for part in (draft.text, draft.key, draft.reason, draft.reference, draft.category, *draft.tags):
        if part and (found := find_secrets(part)):
            rules = sorted({finding.rule for finding in found})
            return Deny(
                "privacy_deny_sensitive",
                "This looks like a secret, and secrets are not kept.",
                "Leave the secret out and keep it in a password manager.",
                {"rules": rules, "length": len(draft.text)},
            )
    return None


GATES: tuple[Gate, ...] = (border, trust, privacy)  #: from cheap to costly


def decide(draft: Draft, policy: Policy, gates: Iterable[Gate] = GATES) -> Decision:
    """First objection wins; without one, the draft is admitted with the gates it passed."""
    passed = []
    for gate in gates:
        if (objection := gate(draft, policy)) is not None:
            return objection
        passed.append(gate.__name__)
    return Admit(tuple(passed))
