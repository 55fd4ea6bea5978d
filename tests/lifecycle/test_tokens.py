"""A token is shown once, kept as a hash, recognised while it lives and refused from then on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from lamina import InvalidInput, NotFound, Role, Unauthenticated
from lamina.lifecycle.tokens import authenticate, create_token, list_tokens, revoke_token
from lamina.model import Right

if TYPE_CHECKING:
    from lamina.engine import Engine
    from tests.backends import Place


def test_a_token_is_recognised_with_everything_it_stands_for(engine: Engine) -> None:
    made, text = create_token(engine, "laptop", user="bob", agent="planner", rights=["write", "read"])

    token = authenticate(engine, text)

    assert token == made
    assert (token.user, token.agent, token.role, token.label) == ("bob", "planner", Role.AGENT, "laptop")
    assert token.rights == (Right.READ, Right.WRITE)


def test_without_details_a_token_is_the_owners(engine: Engine) -> None:
    made, _ = create_token(engine, "mine")

    assert (made.user, made.agent, made.role) == ("ana", None, Role.USER)
    assert made.rights == (Right.READ, Right.WRITE)


def test_the_secret_is_nowhere_but_in_the_callers_hands(place: Place) -> None:
    _, text = create_token(place.open(), "laptop")
    secret = text.split("_", 2)[2]
    tables = place.tables()
    place.close()

    assert not any(secret in row for rows in tables.values() for row in rows)
    assert secret.encode() not in b"\n".join(place.files().values())


def test_what_is_not_exactly_the_token_is_refused_in_the_same_words(engine: Engine) -> None:
    made, text = create_token(engine, "laptop")
    dead, revoked = create_token(engine, "old")
    revoke_token(engine, dead.id)
    wrong = (
        "",
        "lam",
        "lam_",
        f"lam_{made.id}",
        f"lam_{made.id}_",
        f"{text}x",
        text[:-1],
        text.upper(),
        text.replace("lam_", "LAM_"),
        f"lam_unknown_{text.split('_', 2)[2]}",
        revoked,
        f" {text}",
        f"lam_{made.id}_' OR 1=1 --",
        "lam_\u0e01_ก",
        text.replace("_", "\u200b_"),
        "lam_a\x00b_c",
        "lam_\ud800_c",
        "lam_a_\ud800",
    )

    said = set()
    for presented in wrong:
        with pytest.raises(Unauthenticated) as refused:
            authenticate(engine, presented)
        said.add(str(refused.value))

    assert len(said) == 1
    assert authenticate(engine, text) == made


def test_a_token_ends_at_its_time(engine: Engine, place: Place) -> None:
    until = place.clock.now() + timedelta(hours=1)
    _, text = create_token(engine, "short", expires_at=until)

    place.clock.advance(hours=1, microseconds=-1)
    assert authenticate(engine, text).expires_at == until
    place.clock.advance(microseconds=1)
    with pytest.raises(Unauthenticated):
        authenticate(engine, text)


def test_a_revoked_token_is_refused_at_once_by_every_open_engine(place: Place) -> None:
    one, other = place.open(), place.open()
    made, text = create_token(one, "laptop")
    assert authenticate(other, text) == made

    revoke_token(one, made.id)

    for engine in (one, other):
        with pytest.raises(Unauthenticated):
            authenticate(engine, text)
    with pytest.raises(NotFound):
        revoke_token(other, made.id)


def test_making_and_revoking_are_audited_without_the_secret(place: Place) -> None:
    engine = place.open()
    made, _ = create_token(engine, "laptop")
    revoke_token(engine, made.id)

    told = [(record.op, record.scope, record.actor) for record in place.audit()]

    assert told == [
        ("token_create", f"token:{made.id}", "admin:ana"),
        ("token_revoke", f"token:{made.id}", "admin:ana"),
    ]
    assert engine.verify_audit().intact


def test_a_token_of_one_tenant_opens_nothing_at_another(place: Place) -> None:
    _, text = create_token(place.open(tenant="acme"), "laptop")

    other = place.open(tenant="other")

    assert list_tokens(other) == []
    with pytest.raises(Unauthenticated):
        authenticate(other, text)


def test_a_token_that_makes_no_sense_is_not_made(engine: Engine, place: Place) -> None:
    now = place.clock.now()
    for label, details in (
        ("", {}),
        ("x", {"rights": ["own"]}),
        ("x", {"role": "king"}),
        ("x", {"user": "a b"}),
        ("x", {"expires_at": now}),
        ("x", {"expires_at": "tomorrow"}),
        ("x" * 101, {}),
    ):
        with pytest.raises(InvalidInput):
            create_token(engine, label, **details)  # type: ignore[arg-type]

    assert list_tokens(engine) == []
