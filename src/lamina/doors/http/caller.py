"""Who is asking, and the memory that they may use: from the token, narrowed by three headers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast

from fastapi import Depends, Header, Request

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput
from lamina.model import Right, Token
from lamina.scoped import ScopedMemory

USER_FIELD = "userId"
_ANYBODY = "default"
_REVISION = "What an answer of any server told: a replica that has less is not asked."


def _named(description: str) -> Any:
    """A header with a name; other letters than these are sent as the bytes of their UTF-8."""
    return Header(description=description, json_schema_extra={"pattern": "^[!-~]{1,128}$"})


def engine_of(request: Request) -> Engine:
    """The memory of the token's tenant; where no token is needed, that of the server itself."""
    return cast(Engine, getattr(request.state, "engine", request.app.state.engine))


def may(right: Right, *, by_field: bool = False) -> Callable[..., Coroutine[Any, Any, ScopedMemory]]:
    """The caller's memory, if the token has the right; who the caller is comes from the token alone.

    For whom a service's token acts, a header says, and where there is one the documents' own field `userId`.
    """

    async def caller(
        request: Request,
        x_lamina_session: Annotated[str | None, _named("The conversation.")] = None,
        x_lamina_run: Annotated[str | None, _named("The run, for the audit.")] = None,
        x_lamina_user: Annotated[str | None, _named("For whom a service's token acts.")] = None,
        x_lamina_revision: Annotated[str | None, Header(description=_REVISION)] = None,
    ) -> ScopedMemory:
        user = _name(x_lamina_user, "X-Lamina-User")
        if by_field and (named := await _field(request)) is not None:
            if user not in (None, named):
                hint = "Leave one of them out."
                raise InvalidInput(
                    f"X-Lamina-User and `{USER_FIELD}` name two people.", code="user_twice", hint=hint
                )
            user = named
        if x_lamina_revision:
            request.state.engine = engine_of(request).not_older_than(x_lamina_revision)
        return memory_for(
            request,
            right,
            user=user,
            session=_name(x_lamina_session, "X-Lamina-Session"),
            run=_name(x_lamina_run, "X-Lamina-Run"),
        )

    return caller


async def _field(request: Request) -> str | None:
    """Whom a request names as the documents' clients do; `default` is whoever the token is of."""
    named: Any = request.query_params.get(USER_FIELD)
    if named is None and request.method == "POST":
        said = await request.json()  # read and checked already
        named = said.get(USER_FIELD) if isinstance(said, dict) else None
    if named is None or named == _ANYBODY:
        return None
    if not isinstance(named, str) or not named:
        hint = "Give a name, or leave the field out."
        raise InvalidInput(f"`{USER_FIELD}` is not a name.", code="name_invalid", hint=hint)
    return named


def memory_for(
    request: Request,
    right: Right,
    *,
    user: str | None = None,
    session: str | None = None,
    run: str | None = None,
    agent: str | None = None,
) -> ScopedMemory:
    """A memory that the request's token opens; NotFound for people whom it does not act for."""
    token: Token = request.state.token
    if right not in token.rights:
        raise Denied(
            f"This token does not have the right to {right}.",
            code="right_missing",
            hint=f"Ask the owner for a token with the right `{right}`.",
        )
    try:
        return engine_of(request).scope(
            user=token.person(user),
            agent=agent or token.agent,
            role=token.role,
            speaks_for=Right.SPEAKS_FOR in token.rights,
            session=session,
            run=run,
            via=token.through("http"),
        )
    except InvalidInput as error:  # said again without the name, which may be anything
        if error.code != "name_invalid":
            raise
        raise InvalidInput(
            "A person, a session or a run cannot be named so.",
            code=error.code,
            hint="Use 1 to 128 visible characters without spaces, in UTF-8.",
        ) from None


def _name(header: str | None, called: str) -> str | None:
    """The text of a header, which is UTF-8 for us and Latin-1 for the framework."""
    if header is None:
        return None
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise InvalidInput(f"{called} is not UTF-8.", code="name_invalid") from None


Reader = Annotated[ScopedMemory, Depends(may(Right.READ))]
Administrator = Annotated[ScopedMemory, Depends(may(Right.ADMIN))]
