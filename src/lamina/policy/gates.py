"""The gates every draft passes, as values: the first objection wins and has a stable code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache

from lamina.language.secrets.privacy import Allowed, find_secrets
from lamina.language.secrets.views import plain
from lamina.model import (
    Admit,
    Decision,
    Deny,
    Draft,
    Hold,
    Kind,
    Layer,
    Memory,
    Role,
    Space,
    Trust,
    contract_kind,
    topic_of,
)
from lamina.policy.consent import Fields
from lamina.policy.rules import Policy, WritePolicy
from lamina.records import dataclass
from lamina.text.normalise import folded


@dataclass(frozen=True, slots=True)
class Law:
    """What a draft is judged by: the policy, what is no secret to its user, the categories there are."""

    policy: Policy
    allowed: Allowed | None = None
    categories: frozenset[str] = frozenset()  #: empty where any will do
    fields: Fields = field(default_factory=Fields)


Gate = Callable[[Draft, Law], Deny | None]

#: What counts as stated on purpose, where only that is kept.
STATED = frozenset(
    {Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.CORRECTION, Kind.CONSTRAINT, Kind.INSTRUCTION}
)


def border(draft: Draft, law: Law) -> Deny | None:
    """A caller writes only to the spaces its role may write to, an agent only to categories in its reach."""
    if law.policy.may_write(draft.scope.role, draft.space):
        return _category(draft, law)
    return Deny(
        "write_space_disallowed",
        f"A caller with the role {draft.scope.role} may not write to the {draft.space} space.",
        "Choose the session, user or project space, or ask an administrator.",
    )


def _category(draft: Draft, law: Law) -> Deny | None:
    topic = topic_of(draft.category, draft.layer)
    if law.categories and topic not in law.categories:
        return Deny("category_unknown", "There is no such category.", "The categories file lists them.")
    return None if draft.scope.sees(topic, draft.space) else out_of_reach()


def out_of_reach() -> Deny:
    """The same words for everything outside an allowlist: they do not tell what is there."""
    return Deny(
        "category_disallowed",
        "The allowlist here does not have the category of this.",
        "Choose one that it has, or let somebody do it who has this one.",
    )


def reserved(draft: Draft) -> Deny | None:
    """What an administrator's keys say is set in POLICY.md or the system space, and nowhere else."""
    keeper = draft.space is Space.SYSTEM and draft.scope.role in (Role.SYSTEM, Role.ADMIN)
    if keeper or not is_reserved(draft.key):
        return None
    return Deny(
        "key_reserved",
        f"Keys that begin with {', '.join(f'`{name}.`' for name in RESERVED)} are an administrator's.",
        "Choose another key, or let an administrator set it in POLICY.md.",
    )


def trust(draft: Draft, _: Law) -> Deny | None:
    """What a tool or a document says can be kept as text, but it sets no key; some keys nobody may set."""
    if objection := reserved(draft):
        return objection
    if draft.scope.trust is Trust.TRUSTED or draft.key is None:
        return None
    return Deny(
        "trust_deny_key",
        f"Text from a {draft.scope.role} cannot set `{draft.key}`.",
        "Remember it without a key, or let the user say it.",
    )


def privacy(draft: Draft, law: Law) -> Deny | None:
    """Secrets are never stored; the objection names the rule, never the text."""
    said = f"{draft.key}: {draft.text}" if draft.key else draft.text  # a key may say what its value is
    parts = [said, draft.key, draft.reason, draft.reference, draft.category, *draft.tags]
    for part in parts:
        if part and (found := find_secrets(part, law.allowed)):
            marks = [law.allowed.fingerprint(part, one) for one in found] if law.allowed else []
            hint = "Leave the secret out and keep it in a password manager."
            if marks:
                hint += f" If it is not a secret: `lamina policy allow {' '.join(dict.fromkeys(marks))}`."
            rules = sorted({one.rule for one in found})
            evidence = {"rules": rules, "length": len(draft.text), "fingerprints": sorted(set(marks))}
            why = "This looks like a secret, and secrets are not kept."
            return Deny("privacy_deny_sensitive", why, hint, evidence)
    return _unwanted(draft, [part for part in parts if part], law.policy)


def _unwanted(draft: Draft, parts: list[str], policy: Policy) -> Deny | None:
    """What this policy in particular keeps out."""
    rules = policy.privacy
    if rules.deny_patterns:
        view = "\n".join(map(folded, parts))
        if any(folded(pattern) in view for pattern in rules.deny_patterns):
            return Deny(
                "privacy_deny_pattern",
                "The policy keeps this sort of thing out.",
                "`lamina policy show` lists what it refuses.",
                {"length": len(draft.text)},
            )
    key = draft.key
    if key and draft.layer is Layer.USER_MODEL:
        if any(_covers(pattern, key) for pattern in rules.allow_profile_keys):
            return None
        return Deny(
            "privacy_deny_profile_key",
            "The policy does not keep this key about a person.",
            f"Allowed: {', '.join(rules.allow_profile_keys)}.",
        )
    return None


def _covers(pattern: str, key: str) -> bool:
    """`*` covers every key, `response.*` those below response, anything else itself."""
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


def write_policy(draft: Draft, law: Law) -> Deny | None:
    """How eagerly things are kept beyond the window of recent turns."""
    if draft.layer is Layer.WORKING:
        return None
    hint = "`lamina policy show` says what is kept."
    match law.policy.write_policy:
        case WritePolicy.NONE:
            return Deny("write_policy_none", "The policy keeps nothing beyond recent turns.", hint)
        case WritePolicy.MINIMAL if draft.kind not in STATED:
            return Deny("write_policy_minimal", f"The policy keeps no {draft.kind}.", hint)
        case WritePolicy.NORMAL if draft.kind is Kind.CONTEXT and draft.layer is Layer.SEMANTIC:
            return Deny("write_policy_context", "Passing talk is not kept beyond recent turns.", hint)
        case _:
            return None


def event_types(draft: Draft, law: Law) -> Deny | None:
    """The policy's own lists of what may and may not be kept."""
    policy = law.policy
    allowed = not policy.allow_event_types or draft.kind in policy.allow_event_types
    if allowed and draft.kind not in policy.deny_event_types:
        return None
    return Deny(
        "policy_deny_event_type",
        f"The policy does not keep memories of the kind {draft.kind}.",
        "`lamina policy show` lists the kinds it keeps.",
    )


def promotion(draft: Draft, law: Law) -> Deny | None:
    """Which kinds of statement may become which kind of memory."""
    kind = contract_kind(draft.layer)
    if law.policy.promotable(kind, draft.kind):
        return None
    return Deny(
        "policy_deny_promotion",
        f"The policy does not keep a {draft.kind} as {kind}.",
        "`lamina policy show` lists what may become what.",
    )


def low_signal(draft: Draft, _: Law) -> Deny | None:
    """Greetings and thanks are not worth keeping, unless somebody asks for it."""
    if draft.low_signal and draft.layer is not Layer.WORKING:
        return Deny("policy_low_signal", "There is nothing in this to keep.")
    return None


#: In the contract's order.
GATES: tuple[Gate, ...] = (border, trust, privacy, write_policy, event_types, promotion, low_signal)

#: The objections that a border check reports.
BORDER_CODES = frozenset({"write_space_disallowed", "category_unknown", "category_disallowed"})


def decide(draft: Draft, law: Law) -> Decision:
    """First objection wins; without one, the draft is admitted, or held for a person's consent."""
    for gate in GATES:
        if (objection := gate(draft, law)) is not None:
            return objection
    passed = tuple(gate.__name__ for gate in GATES)
    return Hold(passed) if law.fields.asks(draft.scope, draft.key) else Admit(passed)


def policy_tags(policy: Policy) -> list[str]:
    """What let an admitted memory in, in the contract's words."""
    return [
        "allowed_by:privacy",
        f"allowed_by:write_policy:{policy.write_policy}",
        "allowed_by:policy_event_types",
        "allowed_by:promotion_rule",
    ]


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


#: The first part of such a key; `policy` alone, without anything below it, is a key like any other.
RESERVED = ("policy", "system", "identity", "security", "agent", "tool")

#: Digits that are drawn like a dot and are letters of a key otherwise.
_DOTS = str.maketrans("\u0660\u06f0\ua4f8", "...")
_DRAWN_ALIKE = str.maketrans("01i", "oll")


@lru_cache(maxsize=4096)  # the same few keys are asked of at every reading
def is_reserved(key: str | None) -> bool:
    """Whether a canonical key is below a reserved name, in letters that are it or only look like it."""
    first, dot, _ = (key or "").translate(_DOTS).lstrip("_.-").partition(".")
    return bool(dot) and _drawn(first) in _NAMES


def _drawn(name: str) -> str:
    """What a name looks like, one text for all letters and pairs of them that are drawn alike."""
    seen = plain(name.replace("_", "").replace("-", "")).text.casefold()
    return seen.replace("rn", "m").translate(_DRAWN_ALIKE)


_NAMES = frozenset(map(_drawn, RESERVED))
