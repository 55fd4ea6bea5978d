"""`from_plain` is the inverse of `plain`, for the answer of every operation, through JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.model import Kind, Memory, Receipt, from_plain, plain
from lamina.operations.catalogue import OPERATIONS
from tests.effort import times

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT, lambda one: st.lists(one, max_size=2), max_leaves=3
)
SIMPLE = {
    str: TEXT,
    int: st.integers(-(2**60), 2**60),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: st.datetimes(timezones=st.just(UTC)),
    NoneType: st.none(),
    Any: JSON,
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as `plain` may meet them."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if origin in (Union, UnionType):
        return st.one_of([values_of(one) for one in inner])
    if origin is tuple and inner[1:] != (...,):
        return st.tuples(*map(values_of, inner))
    if origin in (tuple, list):
        return st.lists(values_of(inner[0]), max_size=2).map(origin)
    if origin in (dict, Mapping):
        return st.dictionaries(values_of(inner[0]), values_of(inner[1]), max_size=2)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    assert is_dataclass(kind), kind
    hints = get_type_hints(kind)
    return st.builds(kind, **{one.name: values_of(hints[one.name]) for one in fields(kind) if one.init})


ANSWERS = {name: one.answer for name, one in OPERATIONS.items() if one.route is not None}


@pytest.mark.parametrize("name", ANSWERS)
@settings(max_examples=times(8, 40))
@given(data=st.data())
def test_an_answer_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    answer = data.draw(values_of(ANSWERS[name]))
    back = from_plain(ANSWERS[name], json.loads(json.dumps(plain(answer))))
    assert back == answer
    assert type(back) is type(answer)


def test_what_is_not_of_the_type_is_refused() -> None:
    for kind, wrong in (
        (int, "1"),
        (int, True),
        (str, 1),
        (Kind, "nonsense"),
        (datetime, "soon"),
        (tuple[int, ...], "12"),
        (tuple[int, str], [1]),
        (dict[str, int], [1]),
        (Memory, {}),
        (int | None, "x"),
    ):
        with pytest.raises((ValueError, TypeError)):
            from_plain(kind, wrong)


def test_names_that_are_new_are_left_out() -> None:
    grown = {"decision": "held", "code": "x", "colour": "red"}
    assert from_plain(Receipt, grown) == Receipt(decision="held", code="x")  # type: ignore[arg-type]
