"""Bearer tokens: the only source of identity on a network surface."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.model.scope import Role


class Right(StrEnum):
    """What a token may do."""

    READ = "read"
    WRITE = "write"
    CONSENT = "consent"
    SPEAKS_FOR = "speaks_for"  #: what its agent reports as a turn are the person's own words
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is kept: its secret only as a hash."""

    id: str
    hash: str
    label: str
    user: str
    agent: str | None
    role: Role
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
