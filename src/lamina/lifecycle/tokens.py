"""Bearer tokens: made, listed, revoked and recognised. The secret is shown once and kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict, Unpack

from lamina.clock import random_token
from lamina.errors import InvalidInput, NotFound, Unauthenticated
from lamina.language.secrets.privacy import check_name
from lamina.model import ANYBODYS, EVERYBODY, Right, Role, Scope, Token, checked_name, quoted, unquoted
from lamina.storage.small_tables import Tokens
from lamina.text.normalise import well_formed
from lamina.write.details import check_who, chosen
from lamina.write.store import Store
from lamina.write.unit_of_work import UnitOfWork

PREFIX = "lam"
MOST_PEOPLE = 1000  #: whom one token acts for; `*` is everybody
_TOLD = 500  #: characters of what the audit says about a new token


class TokenDetails(TypedDict, total=False):
    """What a new token may say beside its label; by default it is the owner's, to read and write."""

    user: str
    agent: str
    role: str
    rights: Iterable[str]
    speaks_for: bool
    expires_at: datetime
    acts_for: Iterable[str]  #: people whose memories a service may use; `*` alone is everybody


def create_token(store: Store, label: str, **details: Unpack[TokenDetails]) -> tuple[Token, str]:
    """A new token and, this once, the text to present."""
    check_who(details, TokenDetails.__annotations__)
    given = {name: value for name, value in details.items() if value is not None}
    agent, acts_for = given.get("agent"), _people(given.get("acts_for"), given.get("agent"))
    own = given.get("user", None if acts_for else store.config.owner)
    rights = {*(given.get("rights") or (Right.READ, Right.WRITE))}  # type: ignore[misc]  # texts, checked below
    rights |= {Right.SPEAKS_FOR} if given.get("speaks_for") else set()
    token_id, secret = _identifier(), _secret()
    token = Token(
        id=token_id,
        hash=_hash(secret),
        label=check_name(well_formed(label, "label", 100), numbers=False),
        user=None if own is None else check_name(checked_name("user", str(own))),
        agent=None if agent is None else check_name(checked_name("agent", str(agent))),
        role=chosen(Role, given.get("role", Role.AGENT if agent else Role.USER), "role"),
        rights=tuple(sorted({chosen(Right, right, "right") for right in rights})),
        created_at=store.now(),
        expires_at=_future(given.get("expires_at"), store.now()),
        acts_for=acts_for,
    )

    def work(unit: UnitOfWork) -> None:
        Tokens(unit.transaction).add(token)
        told = [token.role, *(["speaks_for"] if Right.SPEAKS_FOR in token.rights else [])]
        told += [f"acts_for {', '.join(acts_for)}"] if acts_for else []
        unit.record_act("token_create", f"token:{token_id}", ", ".join(told)[:_TOLD])

    store.act(_keeper(store), work)
    tenant = store.config.tenant
    return token, f"{PREFIX}_{token_id}_{secret}" + ("" if tenant == ANYBODYS else f".{quoted(tenant)}")


def list_tokens(store: Store) -> list[Token]:
    return store.database.read(lambda tx: Tokens(tx).all())


def revoke_token(store: Store, token_id: str) -> None:
    """From now on the token is refused; NotFound when it is not there or was revoked before."""

    def work(unit: UnitOfWork) -> bool:
        done = Tokens(unit.transaction).revoke(token_id, unit.now)
        if done:
            unit.record_act("token_revoke", f"token:{token_id}", "revoked")
        return done

    if not store.act(_keeper(store), work):
        raise NotFound(f"There is no live token {token_id!r:.60}.", hint="`lamina token list` shows them.")


def authenticate(store: Store, presented: str) -> Token:
    """The token behind a presented text; Unauthenticated says nothing about why it is not accepted."""
    parts = presented.split("_", 2)
    if len(parts) != 3 or parts[0] != PREFIX or not (presented.isascii() and presented.isprintable()):
        raise Unauthenticated(
            "This token is not accepted.", hint="Whoever runs the server makes one: lamina token create."
        )
    token = live_token(store, parts[1])
    expected = token.hash if token is not None else _hash("")
    matches = hmac.compare_digest(_hash(parts[2].partition(".")[0]), expected)
    if not matches or token is None:
        raise Unauthenticated(
            "This token is not accepted.", hint="Whoever runs the server makes one: lamina token create."
        )
    return token


def tenant_named(presented: str, own: str) -> str:
    """The tenant in whose store a presented text is to be looked up; `own` where it names none."""
    _, dot, named = presented.partition(".")
    try:
        tenant = checked_name("tenant", unquoted(named)) if dot else own
    except InvalidInput:
        tenant = "."
    if dot and quoted(tenant) != named:  # one text for one tenant
        raise Unauthenticated(
            "This token is not accepted.", hint="Whoever runs the server makes one: lamina token create."
        )
    return tenant


def live_token(store: Store, token_id: str) -> Token | None:
    """The token of an id while it is neither revoked nor over; None otherwise."""
    token = store.database.read(lambda tx: Tokens(tx).get(token_id))
    if token is None or token.revoked_at is not None:
        return None
    return None if token.expires_at is not None and token.expires_at <= store.now() else token


def _people(given: object, agent: object) -> tuple[str, ...]:
    """Whom a service acts for, in the order of names; it says which program it is, for the audit names it."""
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not names and given not in (None, ()):
        raise InvalidInput(
            "`acts_for` is a list of names.", code="acts_for_invalid", hint="Give each by itself."
        )
    people = tuple(sorted({check_name(checked_name("user", name)) for name in names}))
    if people and not agent:
        raise InvalidInput(
            "A token that acts for others says which program it is.",
            code="acts_for_invalid",
            hint="Name the agent, too.",
        )
    if EVERYBODY in people and len(people) > 1:
        raise InvalidInput(
            f"`{EVERYBODY}` is everybody, beside which nobody is named.", code="acts_for_invalid"
        )
    if len(people) > MOST_PEOPLE:
        raise InvalidInput(
            f"A token names at most {MOST_PEOPLE} people.",
            code="acts_for_invalid",
            hint=f"Use several, or `{EVERYBODY}` for everybody.",
        )
    return people


def _keeper(store: Store) -> Scope:
    """Tokens are made by whoever holds the workspace, not through any token."""
    return Scope(tenant=store.config.tenant, user=store.config.owner, role=Role.ADMIN, via="admin")


def _identifier() -> str:
    return random_token(9).replace("_", "A").replace("-", "B")


def _secret() -> str:
    return random_token(32)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _future(at: object, now: datetime) -> datetime | None:
    if at is None:
        return None
    if not isinstance(at, datetime) or at.tzinfo is None or at <= now:
        raise InvalidInput("A token must expire at a time to come.", code="time_invalid")
    return at
