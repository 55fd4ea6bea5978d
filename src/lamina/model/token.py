"""Bearer tokens: the only source of identity on a network surface."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from lamina.errors import InvalidInput, NotFound
from lamina.model.scope import Role
from lamina.records import dataclass

EVERYBODY = "*"
ANYBODYS = "default"  #: the tenant of a store that nobody named one for; its tokens name none either


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
    user: str | None  #: whose memory it opens where a request names nobody; None, and it must name somebody
    agent: str | None
    role: Role
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    acts_for: tuple[str, ...] = ()  #: further people whom a service may act for; `*` is everybody

    def person(self, named: str | None) -> str:
        """Whose memory a request is about; NotFound for everybody whom this token does not act for."""
        user = self.user if named is None else named
        if user is None:
            raise InvalidInput(
                "This token acts for several people, and the request names none of them.",
                code="user_missing",
                hint="Name the person in the header X-Lamina-User.",
            )
        if user != self.user and EVERYBODY not in self.acts_for and user not in self.acts_for:
            raise NotFound("There is nobody of this name here.", code="user_other")
        return user

    def through(self, door: str) -> str:
        """The way in, for the audit: a service that speaks as its people do is told from them."""
        return f"{door}:{self.agent}" if self.acts_for and self.role is Role.USER else door
