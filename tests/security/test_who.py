"""Who asks is said plainly or left out: a slip never opens somebody else's memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.engine import Engine
from lamina.errors import InvalidInput
from lamina.lifecycle.erase import erase
from lamina.lifecycle.tokens import create_token, list_tokens
from lamina.model import Scope
from tests.backends import Place


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("usr", "user"),
        ("User", "user"),
        ("user_id", "user"),
        ("username", "user"),
        ("agnet", "agent"),
        ("sesion", "session"),
        ("proj", "project"),
        ("roles", "role"),
    ],
)
def test_a_field_that_there_is_not_is_refused_with_the_nearest_that_there_is(
    engine: Engine, slip: str, meant: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.scope(**{slip: "bob"})  # type: ignore[arg-type]
    assert caught.value.code == "who_unknown"
    assert repr(slip) in caught.value.message
    assert f"`{meant}`" in caught.value.message


def test_a_field_near_to_none_is_told_which_there_are(engine: Engine) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.scope(zzz="bob")  # type: ignore[call-arg]
    assert "user, agent, session, run, project, role, via" in caught.value.hint


@pytest.mark.parametrize("field", ["user", "agent", "session", "run", "project", "role", "via"])
def test_an_empty_field_is_refused(engine: Engine, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.scope(**{field: ""})  # type: ignore[arg-type]
    assert caught.value.code == "name_invalid"
    assert field in caught.value.message


@pytest.mark.parametrize("nobody", [None, "", " ", "\u200b"])
def test_a_user_who_is_nobody_is_refused_and_one_left_out_is_the_owner(engine: Engine, nobody: Any) -> None:
    engine.scope().remember("The owner likes tea")
    with pytest.raises(InvalidInput) as caught:
        engine.scope(user=nobody)
    assert caught.value.code == "name_invalid"
    with pytest.raises(InvalidInput):
        Scope(user=nobody)
    assert engine.scope().scope.user == "ana"
    assert engine.scope(agent=None, session=None, run=None).recall("tea").hits


def test_a_token_is_made_for_nobody_by_a_slip(place: Place) -> None:
    engine = place.open()
    for slip in ({"usr": "bob"}, {"user": None}, {"user": ""}, {"agent": ""}, {"role": ""}):
        with pytest.raises(InvalidInput):
            create_token(engine, "laptop", **slip)  # type: ignore[arg-type]
    assert list_tokens(engine) == []


def test_nobody_cannot_be_erased(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        for nobody in ("", None):
            with pytest.raises(InvalidInput):
                erase(engine.scope(role="admin"), nobody)  # type: ignore[arg-type]
