"""Who is asking, and the memory that they may use: from the token, narrowed by two headers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast

from fastapi import Depends, Header, Request

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput
from lamina.model.token import Right, Token
from lamina.scoped import ScopedMemory


def engine_of(request: Request) -> Engine:
    return cast(Engine, request.app.state.engine)


def may(right: Right) -> Callable[..., Coroutine[Any, Any, ScopedMemory]]:
    """The caller's memory, if the token has the right; who the caller is comes from the token alone."""

    async def caller(
        request: Request,
        x_lamina_session: Annotated[str | None, Header(description="The conversation.")] = None,
        x_lamina_run: Annotated[str | None, Header(description="The run, for the audit.")] = None,
    ) -> ScopedMemory:
        token: Token = request.state.token
        if right not in token.rights:
            raise Denied(
                f"This token does not have the right to {right}.",
                code="right_missing",
                hint=f"Ask the owner for a token with the right `{right}`.",
            )
        try:
            return engine_of(request).scope(
                user=token.user,
                agent=token.agent,
                role=token.role,
                speaks_for=Right.SPEAKS_FOR in token.rights,
                session=_name(x_lamina_session, "X-Lamina-Session"),
                run=_name(x_lamina_run, "X-Lamina-Run"),
                via="http",
            )
        except InvalidInput as error:  # said again without the name, which may be anything
            raise InvalidInput(
                "X-Lamina-Session or X-Lamina-Run cannot be used as a name.",
                code=error.code,
                hint="Use 1 to 128 visible characters without spaces, in UTF-8.",
            ) from None

    return caller


def _name(header: str | None, called: str) -> str | None:
    """The text of a header, which is UTF-8 for us and Latin-1 for the framework."""
    if header is None:
        return None
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise InvalidInput(f"{called} is not UTF-8.", code="name_invalid") from None


Reader = Annotated[ScopedMemory, Depends(may(Right.READ))]
