"""A class whose methods are written late behaves as one of the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from dataclasses import field
from typing import Any

import pytest

from lamina.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A point with a name."""

    x: int
    y: int = 2
    names: tuple[str, ...] = field(default=(), compare=False)
    tags: list[str] = field(default_factory=list, repr=False, hash=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is below zero")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    x: int
    y: int = 2
    names: tuple[str, ...] = field(default=(), compare=False)
    tags: list[str] = field(default_factory=list, repr=False, hash=False)


@dataclass(frozen=True)
class Parent:
    x: int

    def doubled(self) -> int:
        return 2 * self.x


@dataclass(frozen=True)
class Child(Parent):
    y: int = 1


class Plain(Parent):
    def __init__(self, x: int) -> None:
        super().__init__(x + 1)
        self.more = "more"


@dataclass(slots=True)
class Loose:
    x: int = 0
    tags: list[str] = field(default_factory=list)
    later: int = field(init=False)
    fixed: int = field(default=7, init=False, compare=False)
    made: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.later = self.x + 1


def test_nothing_is_written_before_it_is_used() -> None:
    @dataclass(frozen=True, slots=True)
    class One:
        x: int

    unwritten = {name for name, value in vars(One).items() if type(value).__name__ == "_Unwritten"}
    assert unwritten == {"__init__", "__repr__", "__eq__", "__hash__"}
    made = One(3)
    assert type(vars(One)["__init__"]).__name__ == "function"
    assert type(vars(One)["__hash__"]).__name__ == "_Unwritten"
    assert (made, hash(made)) == (One(3), hash((3,)))


def test_it_is_made_compared_hashed_and_shown_as_the_librarys() -> None:
    late, early = Late(x=1, names=("a",), tags=["t"]), Early(x=1, names=("a",), tags=["t"])
    assert repr(late) == repr(early).replace("Early", "Late")
    assert hash(late) == hash(early)
    assert late == Late(x=1, tags=["t"])
    assert late != Late(x=2, tags=["t"])
    assert late != early
    assert dataclasses.asdict(late) == dataclasses.asdict(early)
    assert [one.name for one in dataclasses.fields(Late)] == [one.name for one in dataclasses.fields(Early)]
    assert dataclasses.replace(late, y=5) == Late(x=1, y=5, tags=["t"])
    assert Late(x=1).tags is not Late(x=1).tags
    assert Late.__match_args__ == Early.__match_args__
    assert not hasattr(late, "__dict__")


@pytest.mark.parametrize("given", [{}, {"x": 1, "z": 2}])
def test_wrong_arguments_are_refused_in_the_same_words(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as late:
        Late(**given)
    with pytest.raises(TypeError) as early:
        Early(**given)
    assert str(late.value).replace("Late", "Early") == str(early.value)
    with pytest.raises(ValueError, match="below zero"):
        Late(x=-1)


def test_it_does_not_change() -> None:
    late = Late(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        late.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del late.x
    with pytest.raises(dataclasses.FrozenInstanceError):
        late.other = 2  # type: ignore[attr-defined]


def test_it_is_copied_and_pickled() -> None:
    late = Late(x=1, names=("a",), tags=["t"])
    for other in (copy.copy(late), copy.deepcopy(late), pickle.loads(pickle.dumps(late))):
        assert (other, other.names) == (late, late.names)


def test_a_class_may_inherit_from_it() -> None:
    assert (Child(1), Child(1).doubled()) == (Child(1, 1), 2)
    assert repr(Child(1)) == "Child(x=1, y=1)"
    plain = Plain(1)
    assert (plain.x, plain.more) == (2, "more")
    with pytest.raises(dataclasses.FrozenInstanceError):
        plain.x = 3  # type: ignore[misc]


def test_what_may_change_changes_and_has_no_hash() -> None:
    loose = Loose(3)
    loose.x = 4
    assert (loose.later, loose.fixed, loose.made, loose.tags) == (4, 7, [], [])
    assert loose.tags is not Loose().tags
    loose.later = 5
    assert loose == Loose(4)
    assert loose != Loose(4, ["t"])
    assert repr(loose) == "Loose(x=4, tags=[], later=5, fixed=7, made=[])"
    with pytest.raises(TypeError, match="unexpected keyword argument 'later'"):
        Loose(later=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unhashable"):
        hash(loose)


def test_whoever_reads_the_annotations_finds_their_names() -> None:
    for cls in (Late, Early):
        signature = inspect.signature(cls, eval_str=True)
        assert signature.parameters["names"].annotation == tuple[str, ...]
        assert typing.get_type_hints(cls.__init__)["x"] is int
