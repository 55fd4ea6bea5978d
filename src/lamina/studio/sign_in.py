"""Who has signed in with a browser: one-time codes, sessions behind a cookie, and when each ends."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from lamina.clock import random_token
from lamina.engine import Engine
from lamina.errors import Denied, Unauthenticated
from lamina.lifecycle.tokens import live_token
from lamina.model import Right, Role, Token
from lamina.records import dataclass

COOKIE = "lamina_studio"
#: A session nobody uses ends after so long, and every one after the longer time.
IDLE, LONGEST = timedelta(hours=12), timedelta(days=7)
#: A link that is printed and never followed is worth nothing after so long.
CODE_LASTS = timedelta(hours=1)
_MOST = 200  #: sessions and codes; beyond, the oldest ends
_NOTICES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What the next page tells of what was just done, and how it is undone."""

    text: str
    sort: str = "done"  #: done or problem
    undo: str = ""  #: the path that takes it back
    fields: Sequence[tuple[str, str]] = ()  #: what that form sends


@dataclass(slots=True, kw_only=True)
class BrowserSession:
    """One browser that has signed in."""

    user: str
    rights: tuple[Right, ...]
    csrf: str
    began_at: datetime
    used_at: datetime
    tenant: str  #: whose store it looks into
    token_id: str = ""  #: the token that it was opened with; empty for a one-time link
    notices: list[Notice] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)  #: what took long to say, by what was asked
    staged: dict[str, Any] = field(default_factory=dict)  #: what was brought and waits for a second click

    def tell(self, notice: Notice) -> None:
        self.notices = [*self.notices, notice][-_NOTICES:]

    def told(self) -> list[Notice]:
        """What there is to tell, once."""
        found, self.notices = self.notices, []
        return found


class SignIns:
    """Codes and sessions of one server, in its memory alone: a restart signs everybody out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._codes: OrderedDict[str, datetime] = OrderedDict()
        self._sessions: OrderedDict[str, BrowserSession] = OrderedDict()
        self._mutex = threading.Lock()

    def new_code(self) -> str:
        """A code that lets the workspace's owner in, once."""
        code = random_token(24)
        with self._mutex:
            self._codes[_hash(code)] = self._engine.now() + CODE_LASTS
            _trim(self._codes)
        return code

    def with_code(self, code: str) -> str:
        """The cookie for a code that was not used yet; Unauthenticated otherwise."""
        with self._mutex:
            until = self._codes.pop(_hash(code), None)
        if until is None or until <= self._engine.now():
            raise Unauthenticated("This link was used already, or is too old.", code="link_used")
        return self._begin(self._engine, self._engine.config.owner, tuple(Right), "")

    def with_token(self, presented: str) -> str:
        """The cookie for a person's own token; an agent's cannot sign in, whatever rights it has."""
        engine, token = self._engine.recognise(presented)
        if not is_persons(token) or token.user is None:
            raise Denied(
                "This token is an agent's, and only a person can sign in.",
                code="person_only",
                hint="Use a token of your own; its list shows the agent beside each.",
            )
        return self._begin(engine, token.user, token.rights, token.id)

    def find(self, cookie: str) -> BrowserSession | None:
        """The session behind a cookie, if it has not ended; its token is looked up anew each time."""
        now = self._engine.now()
        with self._mutex:
            found = self._sessions.get(_hash(cookie))
            if found is None:
                return None
            if now - found.used_at > IDLE or now - found.began_at > LONGEST:
                del self._sessions[_hash(cookie)]
                return None
            found.used_at = now
        if found.token_id:
            token = live_token(self._engine.of(found.tenant), found.token_id)
            if token is None or not is_persons(token):
                self.end(cookie)
                return None
        return found

    def end(self, cookie: str) -> None:
        with self._mutex:
            self._sessions.pop(_hash(cookie), None)

    def _begin(self, engine: Engine, user: str, rights: tuple[Right, ...], token_id: str) -> str:
        cookie, now = random_token(32), self._engine.now()
        session = BrowserSession(
            user=user,
            rights=rights,
            csrf=random_token(24),
            began_at=now,
            used_at=now,
            tenant=engine.config.tenant,
            token_id=token_id,
        )
        with self._mutex:
            self._sessions[_hash(cookie)] = session
            _trim(self._sessions)
        return cookie


def is_persons(token: Token) -> bool:
    """Whether a token speaks for a person, and for nobody in their name."""
    return token.role is Role.USER and token.agent is None


def same_secret(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _trim(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > _MOST:
        kept.popitem(last=False)
