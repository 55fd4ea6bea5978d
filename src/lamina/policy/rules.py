"""The policy in force: who may write what where, how long it stays, and whose word weighs more."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from lamina.language.secrets.privacy import redacted
from lamina.model import Authority, Kind, Role, Space, plain
from lamina.records import dataclass
from lamina.text.normalise import folded


class WritePolicy(StrEnum):
    """How eagerly things are kept beyond the window of recent turns."""

    NONE = "none"
    MINIMAL = "minimal"
    NORMAL = "normal"
    AGGRESSIVE = "aggressive"


class RetentionMode(StrEnum):
    """When a memory is forgotten by itself."""

    NEVER = "never"
    TTL = "ttl"
    DECAY = "decay"


@dataclass(frozen=True, slots=True)
class Retention:
    """`ttl`: gone when that many ticks have passed. `decay`: gone when it is older than that many ticks."""

    mode: RetentionMode = RetentionMode.NEVER
    ticks: int = 0

    def expires_tick(self, created: int) -> int | None:
        """The first tick at which the memory is no longer there; None for never."""
        match self.mode:
            case RetentionMode.NEVER:
                return None
            case RetentionMode.TTL:
                return created + self.ticks
            case RetentionMode.DECAY:
                return created + self.ticks + 1

    def __str__(self) -> str:
        return self.mode.value if self.mode is RetentionMode.NEVER else f"{self.mode} {self.ticks}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionPath:
    """One way from a space to a wider one: which event types may go, and from which authority on."""

    source: Space
    target: Space
    types: frozenset[Kind]
    authority: Authority
    decision_authority: Authority  #: the authority that is enough for a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRules:
    """How a space's life is divided."""

    enabled: bool = True
    allow_cross_phase_recall: bool = False
    max_phases: int = 0  #: how many are kept for comparing, 0 for all
    diff_enabled: bool = True

    @property
    def mode(self) -> str:
        return "current_plus_history" if self.allow_cross_phase_recall else "current_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyRules:
    """What is refused whatever else the policy says."""

    deny_patterns: tuple[str, ...] = ()  #: plain phrases, found in any spelling that folds to the same
    allow_profile_keys: tuple[str, ...] = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the gates decide by; traces carry a snapshot of it."""

    name: str = "normal"
    write_policy: WritePolicy = WritePolicy.NORMAL
    allow_event_types: frozenset[Kind] = frozenset()
    deny_event_types: frozenset[Kind] = frozenset()
    authority_order: tuple[Authority, ...] = tuple(Authority)
    short_term_turns: int = 20  #: how many items the window of recent turns holds
    retention_spaces: frozenset[Space] = frozenset({Space.SESSION})
    retention: Mapping[str, Mapping[str, Retention]] = field(default_factory=dict)
    promotion: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    read_order: tuple[Space, ...] = tuple(Space)
    write_spaces: frozenset[Space] = frozenset({Space.SESSION, Space.USER, Space.PROJECT})
    paths: tuple[PromotionPath, ...] = ()
    phase: PhaseRules = field(default_factory=PhaseRules)
    privacy: PrivacyRules = field(default_factory=PrivacyRules)
    trusted_tools: frozenset[str] = frozenset()  #: tools whose word an administrator vouches for

    def outranks(self, one: Authority, other: Authority) -> bool:
        """Whether the first authority is strictly higher."""
        return self.authority_order.index(one) < self.authority_order.index(other)

    def may_write(self, role: Role, space: Space) -> bool:
        """The system space is for the system and its administrators; the rest as the policy says."""
        if space is Space.SYSTEM:
            return role in (Role.SYSTEM, Role.ADMIN)
        return space in self.write_spaces

    def retention_of(self, space: Space, kind: str, event_type: Kind) -> Retention:
        """How long a memory of this contract kind and event type stays in this space."""
        if space not in self.retention_spaces:
            return Retention()
        rules = self.retention.get(kind, {})
        return rules.get(event_type.value) or rules.get("*") or Retention()

    def promotable(self, kind: str, event_type: Kind) -> bool:
        """Whether an event type may be kept as this contract kind at all."""
        allowed = self.promotion.get(kind)
        return allowed is None or event_type in allowed

    def path(self, source: Space, target: Space) -> PromotionPath | None:
        return next((p for p in self.paths if p.source is source and p.target is target), None)

    def snapshot(self) -> dict[str, Any]:
        """The policy as traces carry it: plain, complete, the same for the same policy."""
        return {
            "name": self.name.replace("\\", "/").rpartition("/")[2],  # the same on every machine
            "write_policy": self.write_policy.value,
            "allow_event_types": plain(self.allow_event_types),
            "deny_event_types": plain(self.deny_event_types),
            "authority_order": plain(self.authority_order),
            "short_term_turns": self.short_term_turns,
            "retention": {
                kind: {name: str(rule) for name, rule in sorted(rules.items())}
                for kind, rules in sorted(self.retention.items())
            },
            "promotion": {kind: plain(types) for kind, types in sorted(self.promotion.items())},
            "spaces": {
                "read_order": plain(self.read_order),
                "write_spaces": [space.value for space in Space if space in self.write_spaces],
                "retention": [space.value for space in Space if space in self.retention_spaces],
                "promotion": [plain(path) for path in self.paths],
            },
            "phase": {**plain(self.phase), "mode": self.phase.mode},
            "privacy": {
                # What is kept out may be a secret itself: it is told apart, and not told.
                "deny_patterns": sorted(map(_told_apart, self.privacy.deny_patterns)),
                "allow_profile_keys": [redacted(key) for key in self.privacy.allow_profile_keys],
            },
            "trust": {"tools": sorted(map(redacted, self.trusted_tools))},
        }


def _told_apart(pattern: str) -> str:
    return hashlib.sha256(folded(pattern).encode()).hexdigest()[:16]
