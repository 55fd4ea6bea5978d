"""Who is asking, in whose name, by which token, and which shelves they may reach."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote

from lamina.errors import InvalidInput, NotFound
from lamina.late import regex
from lamina.records import dataclass


class Role(StrEnum):
    """What kind of party speaks; it comes from the channel and its token, never from text."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    DOCUMENT = "document"
    SYSTEM = "system"
    ADMIN = "admin"


class Authority(StrEnum):
    """How much a memory weighs against another, highest first."""

    SYSTEM_IMPOSED = "system_imposed"
    TOOL_VERIFIED = "tool_verified"
    USER_ASSERTED = "user_asserted"
    AI_INFERRED = "ai_inferred"

    @property
    def in_words(self) -> str:
        """What a memory of this weight is, for people."""
        return {
            Authority.SYSTEM_IMPOSED: "set by the system",
            Authority.TOOL_VERIFIED: "checked by a tool",
            Authority.USER_ASSERTED: "said by the person",
            Authority.AI_INFERRED: "found out by an agent",
        }[self]


class Trust(StrEnum):
    """Whether text may ever be taken for more than data."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Space(StrEnum):
    """How far a memory reaches; also the order in which shelves are read."""

    SESSION = "session"
    USER = "user"
    PROJECT = "project"
    SYSTEM = "system"


AUTHORITY_OF = {
    Role.USER: Authority.USER_ASSERTED,
    Role.AGENT: Authority.AI_INFERRED,
    Role.TOOL: Authority.TOOL_VERIFIED,
    Role.DOCUMENT: Authority.AI_INFERRED,
    Role.SYSTEM: Authority.SYSTEM_IMPOSED,
    Role.ADMIN: Authority.SYSTEM_IMPOSED,
}
UNTRUSTED_ROLES = frozenset({Role.TOOL, Role.DOCUMENT})

_NAME = regex(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\s]{1,128}")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")


def checked_name(what: str, name: str) -> str:
    """The name itself, or InvalidInput: no blanks, no invisible characters, at most 128 long."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"This {what} name cannot be used.",
            code="name_invalid",
            hint="Use 1 to 128 visible characters without spaces.",
        )
    return name


@lru_cache(maxsize=4096)
def quoted(name: str) -> str:
    """An injective, URL- and file-safe form of a name: other characters become ~XX per UTF-8 byte."""
    if all(c in _PLAIN for c in name) and name.strip("."):
        return name
    return "".join(
        c if c in _PLAIN and name.strip(".") else "".join(f"~{b:02X}" for b in c.encode()) for c in name
    )


def unquoted(name: str) -> str:
    """The name that `quoted` was given."""
    return unquote(name.replace("~", "%"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One caller: the tenant and user whose memory it is, and the party who speaks."""

    tenant: str = "default"
    user: str = "owner"
    agent: str | None = None
    session: str | None = None
    run: str | None = None
    project: str | None = None
    role: Role = Role.USER
    via: str = "python"  #: the door: python, cli, http, mcp, file, job
    speaks_for: bool = False  #: an agent whose turns are the person's own words, by the owner's leave
    reach: tuple[str, ...] | None = None  #: the categories of its agent's allowlist; None for all
    project_reach: tuple[str, ...] | None = None  #: the person's categories in the project; None for all

    def __post_init__(self) -> None:
        for what in ("tenant", "user", "agent", "session", "run", "project"):
            if (name := getattr(self, what)) is not None or what in ("tenant", "user"):
                checked_name(what, name)

    @property
    def authority(self) -> Authority:
        return AUTHORITY_OF[self.role]

    @property
    def trust(self) -> Trust:
        return Trust.UNTRUSTED if self.role in UNTRUSTED_ROLES else Trust.TRUSTED

    @property
    def actor(self) -> str:
        """Who to name in the audit: `user:ana`, `agent:planner`."""
        name = self.agent if self.role is not Role.USER and self.agent else self.user
        return f"{self.role}:{name}"

    @property
    def run_id(self) -> str:
        """The run whose audit file this caller's changes go to."""
        return self.run or self.session or "main"

    @property
    def thread(self) -> str:
        """The conversation whose revision counts this caller's changes."""
        return f"{quoted(self.user)},{quoted(self.session)}" if self.session else quoted(self.user)

    def sees(self, category: str, space: Space | None = None) -> bool:
        """Whether what belongs to a category exists for this caller, in a space or in any."""
        theirs = self.project_reach if space is Space.PROJECT else None
        return all(names is None or category in names for names in (self.reach, theirs))

    @property
    def is_limited(self) -> bool:
        """Whether there may be something on this caller's shelves that does not exist for it."""
        return self.reach is not None or self.project_reach is not None

    @property
    def reach_marks(self) -> tuple[str, str]:
        """What may be read everywhere and in the project, as queries are given it."""
        return _marked(self.reach), _marked(self.project_reach)

    def owner(self, space: Space) -> str | None:
        """The owner of this caller's shelf in a space; None where the caller has none."""
        match space:
            case Space.USER:
                return quoted(self.user)
            case Space.SESSION:
                return self.thread if self.session else None
            case Space.PROJECT:
                return quoted(self.project) if self.project else None
            case Space.SYSTEM:
                return "system"

    def shelf(self, space: Space) -> str | None:
        """The name of the caller's shelf in a space, such as `user:ana`."""
        owner = self.owner(space)
        return None if owner is None else f"{space}:{owner}"

    def shelves(self, spaces: tuple[Space, ...] = tuple(Space)) -> tuple[str, ...]:
        """Every shelf the caller may read, in reading order; nothing outside them exists for the caller."""
        return tuple(name for space in spaces if (name := self.shelf(space)) is not None)


def _marked(names: tuple[str, ...] | None) -> str:
    """Names between marks, which no name can hold; nothing where there is no limit."""
    return "" if names is None else "".join(["\x1f", *(f"{name}\x1f" for name in names)])


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
            hint = "Use that person's own token, or one that acts for them."
            raise NotFound("There is nobody of this name here.", code="user_other", hint=hint)
        return user

    def through(self, door: str) -> str:
        """The way in, for the audit: a service that speaks as its people do is told from them."""
        return f"{door}:{self.agent}" if self.acts_for and self.role is Role.USER else door
