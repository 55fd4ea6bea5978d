"""What every transaction of a store is governed by: the policy, the rules of language, seals, thresholds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import timedelta
from functools import cached_property
from typing import Any

from lamina.audit.chain import Sealer
from lamina.encoders.port import Embedder
from lamina.language.rulebook import Rulebook
from lamina.language.secrets.privacy import Allowed
from lamina.model import Memory, Scope, canonical, quoted
from lamina.policy.categories import Categories
from lamina.policy.consent import Fields, load_fields
from lamina.policy.gates import Law
from lamina.policy.rules import Policy
from lamina.records import dataclass
from lamina.similarity.merge_bands import Merging
from lamina.storage.refusals import KnownMarks

#: The unit of work, shelf, what is new on it by slot, and its vectors where it has any.
Linker = Callable[[Any, int, Mapping[int, Memory], Mapping[int, Any]], None]


@dataclass(frozen=True)
class Ruleset:
    """What every transaction of an engine shares."""

    sealer: Sealer
    policy: Policy
    rules: Rulebook
    session_timeout: timedelta = timedelta(minutes=30)
    patience: timedelta = timedelta(days=7)  #: how long a guess waits for its person
    allowed: dict[str, frozenset[str]] = field(default_factory=dict)  #: user to fingerprints of no secrets
    categories: Categories = field(default_factory=Categories)
    linker: Linker | None = None  #: links what is new to what it is close to; None links nothing
    fields: Fields = field(default_factory=load_fields)  #: what needs a person's consent
    merging: Merging = field(default_factory=Merging)
    encoder: Embedder | None = None  #: the table: compares what is written, at once
    noes: KnownMarks = field(default_factory=KnownMarks)  #: what this process knows of people's noes

    def law(self, scope: Scope) -> Law:
        """What this caller's drafts are judged by."""
        marks = self.allowed.get(quoted(scope.user), frozenset())
        allowed, known = Allowed(self._allowing_key, marks), frozenset(self.categories.known)
        return Law(self.policy, allowed, known, self.fields)

    @cached_property
    def _allowing_key(self) -> bytes:
        return self.sealer.subkey("allowed")

    @cached_property
    def no_key(self) -> bytes:
        """What the marks of a person's noes are made with."""
        return self.sealer.subkey("no")

    @cached_property
    def snapshot(self) -> dict[str, Any]:
        """The policy as events carry it."""
        return self.policy.snapshot()

    @cached_property
    def policy_name(self) -> str:
        """The property under which the store keeps the snapshot; stored events name it instead of it."""
        return f"policy:{hashlib.sha256(canonical(self.snapshot).encode()).hexdigest()[:16]}"
