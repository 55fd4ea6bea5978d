"""Who may change what is known of a person: what needs their consent, and how it must be given.

A guess or an agent's proposal is proposed first, and then approved, denied or expired.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any

from lamina.errors import ConfigError
from lamina.language.secrets.views import one_spelling
from lamina.late import read_rules, regex
from lamina.model import Memory, Role, Scope, State
from lamina.records import dataclass

#: So many turns, each another, make a benign field hold by itself.
ENOUGH_SIGNALS = 2
#: From here on an insight needs no second one.
SURE_IMPORTANCE, SURE_CONFIDENCE = 3, 0.8


class Care(StrEnum):
    """How a field is treated: the person consents, or turns agree, or (for any other) the person confirms."""

    SENSITIVE = "sensitive"
    BENIGN = "benign"
    ORDINARY = "ordinary"


class Channel(StrEnum):
    """By what way somebody decided; every other way is the door's own name, such as cli or http."""

    CHAT = "chat"  #: words in a conversation
    ELICITATION = "elicitation"  #: a form that an MCP client showed
    SIGNALS = "signals"  #: nobody: turns or an insight agreed


class ProposalStanding(StrEnum):
    """What became of a proposal."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    REPLACED = "replaced"  #: another value was proposed for the same key


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields by care, each with its keys, and how people name those that are sensitive."""

    keys: Mapping[str, tuple[Care, tuple[str, ...]]] = field(default_factory=dict)
    names: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def name_of(self, key: str | None) -> str:
        """The field that a key belongs to; the key itself where it belongs to none."""
        for name, (_, patterns) in self.keys.items():
            if any(_covers(one, key or "") for one in patterns):
                return name
        return key or ""

    def care(self, key: str | None) -> Care:
        return self.keys.get(self.name_of(key), (Care.ORDINARY, ()))[0]

    def said(self, text: str) -> str:
        """The field that words are about and nothing else, such as `my name`; empty for none."""
        plain = text.strip().lower()
        return next((name for name, shape in self.names.items() if shape.match(plain)), "")

    def asks(self, scope: Scope, key: str | None) -> bool:
        """Whether what this caller wants under a key waits for the person; a line of a file is theirs."""
        return scope.role is Role.AGENT and key is not None and scope.via != "file"

    def suffices(self, key: str | None, signals: Sequence[str], importance: int, confidence: float) -> bool:
        """Whether a guess holds without anybody's word."""
        sure = importance >= SURE_IMPORTANCE and confidence >= SURE_CONFIDENCE
        return self.care(key) is Care.BENIGN and (len(signals) >= ENOUGH_SIGNALS or sure)

    def may_agree(self, key: str | None, channel: str, *, named: bool) -> bool:
        """Whether a person's yes by this channel is consent: a bare one in a chat is too weak at times."""
        return self.care(key) is not Care.SENSITIVE or channel != Channel.CHAT or named


@lru_cache(maxsize=64)
@lru_cache(maxsize=64)  # asked for more than once of what is being written
def same_value(text: str) -> str:
    """One text for all spellings of a value: case, width, script, look-alike letters, blanks and stops.

    Signs that tell values apart stay: `C++` and `C#`, `-5` and `1.5`.
    """
    seen = "".join(one_spelling(text).split())
    return _STOP.sub("", seen.strip(_QUOTES).rstrip(_STOPS)) or seen


_QUOTES = "\"'`‘’“”«»「」『』《》〈〉"
_STOPS = f"{_QUOTES}.,;:!?。、·・~()[]{{}}"
_STOP = regex(rf"(?<=[^0-9])[{re.escape(_STOPS)}_-]+(?![0-9])")


def _covers(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


def standing_of(memory: Memory, now: datetime) -> ProposalStanding:
    """What became of a guess by the time given."""
    if memory.state is State.PENDING:
        over = memory.expires_at is not None and memory.expires_at <= now
        return ProposalStanding.EXPIRED if over else ProposalStanding.PROPOSED
    if memory.state is State.SUPERSEDED:
        return ProposalStanding.APPROVED if memory.superseded_by else ProposalStanding.REPLACED
    return ProposalStanding.DENIED if memory.state is State.SOFT_DELETED else ProposalStanding.EXPIRED


@cache
def _packaged() -> dict[str, Any]:
    return read_rules("lamina.policy", "consent.toml")


def load_fields(text: str = "", name: str = "consent fields") -> Fields:
    """The fields there are, with what a TOML file says of them; ConfigError names what is wrong with it."""
    try:
        given: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(name, f"it cannot be read: {error}") from None
    if given.keys() - {"sensitive", "benign", "named"}:
        raise _wrong(name, "it has the tables `sensitive`, `benign` and `named`, and nothing else")
    keys: dict[str, tuple[Care, tuple[str, ...]]] = {}
    shapes: dict[str, re.Pattern[str]] = {}
    for source in (_packaged(), given):
        for care in (Care.SENSITIVE, Care.BENIGN):
            for one, listed in source.get(care, {}).items():
                if not isinstance(listed, list) or not all(isinstance(key, str) for key in listed):
                    raise _wrong(name, f"`{care}.{one}` is a list of keys")
                keys[one] = (care, tuple(listed))
        for one, shape in source.get("named", {}).items():
            try:
                shapes[one] = re.compile(rf"(?:{shape})\W*\Z", re.I)
            except (re.error, TypeError):
                raise _wrong(name, f"`named.{one}` is not a regular expression") from None
    return Fields(keys, shapes)


def _wrong(name: str, what: str) -> ConfigError:
    hint = "docs/guides/consent.md shows such a file."
    return ConfigError(f"{name}: {what}.", code="consent_invalid", hint=hint)
