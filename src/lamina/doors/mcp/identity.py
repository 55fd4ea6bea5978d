"""Who calls a tool: whoever started the process, or the bearer of a token. Never an argument of the call."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import Protocol

import anyio.to_thread
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken

from lamina.engine import Engine
from lamina.errors import Denied, Unauthenticated
from lamina.model import Right, Token
from lamina.records import dataclass
from lamina.scoped import ScopedMemory

DOOR = "mcp"
#: For whom the request being answered says that a service's token acts: its header, which no model writes.
NAMED: ContextVar[str | None] = ContextVar("lamina_user", default=None)


class ToolCaller(Protocol):
    """Knows on whose behalf the call being answered was made."""

    @property
    def engine(self) -> Engine: ...

    def mind(self, right: Right, session: str) -> ScopedMemory:
        """The caller's memory, in a session if one is named; Denied when the caller lacks the right."""
        ...


@dataclass(frozen=True, slots=True)
class Starter:
    """The caller over stdio: whom the process was started for, with every right they have anyway."""

    engine: Engine
    given: ScopedMemory

    def mind(self, right: Right, session: str) -> ScopedMemory:  # noqa: ARG002 the door of the machine's own user
        scope = self.given.scope
        carries = scope.speaks_for and scope.via == DOOR  # by the owner's word when it was started
        within = replace(scope, session=session or scope.session, via=DOOR, speaks_for=carries)
        return ScopedMemory(self.engine, within)


@dataclass(frozen=True, slots=True)
class Bearer:
    """The caller over HTTP: user, agent, role and rights are those of the token on this very request."""

    engine: Engine

    def mind(self, right: Right, session: str) -> ScopedMemory:
        token = get_access_token()
        known = (token.claims or {}).get("token") if token is not None else None
        if not isinstance(known, Token):
            raise Unauthenticated
        if right not in known.rights:
            raise Denied(
                f"This token does not have the right to {right}.",
                code="right_missing",
                hint="Ask whoever made the token for one that has it.",
            )
        engine: Engine = (token.claims or {})["engine"] if token is not None else self.engine
        return engine.scope(
            user=known.person(NAMED.get()),
            agent=known.agent,
            role=known.role,
            session=session or None,
            via=known.through(DOOR),
            speaks_for=Right.SPEAKS_FOR in known.rights,
        )


@dataclass(frozen=True, slots=True)
class Verifier:
    """Lamina's tokens behind the SDK's bearer check; asked on every request, so revoking works at once."""

    engine: Engine

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            engine, known = await anyio.to_thread.run_sync(self.engine.recognise, token)
        except Unauthenticated:
            return None
        return AccessToken(
            token=known.id,  # not the secret: nothing behind this point needs it
            client_id=known.id,
            subject=known.user,
            scopes=[right.value for right in known.rights],
            claims={"token": known, "engine": engine},
        )
