"""`dataclass` whose methods are written when somebody first asks for one.

The standard library writes and compiles six functions for each frozen class when it is imported: 0.6 ms a
class, and a command imports two hundred of which it makes few. Here the fields are collected at once, and
the standard library writes the rest when it is used.
"""

from __future__ import annotations

import dataclasses
from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """As `dataclasses.dataclass`."""
        if cls is None:
            return lambda found: dataclass(found, **options)
        if _can_wait(cls, options):
            return _waiting(cls, options)
        return dataclasses.dataclass(cls, **options)


#: What is written when it is asked for, and what the library is told for it to write that alone.
_LATER: dict[str, dict[str, bool]] = {
    "__init__": {"repr": False, "eq": False, "frozen": True},
    "__repr__": {"init": False, "eq": False},
    "__eq__": {"init": False, "repr": False},
    "__hash__": {"init": False, "repr": False, "eq": False, "unsafe_hash": True},
}
_OWN = {*_LATER, "__setattr__", "__delattr__", "__getstate__", "__setstate__"}


def _can_wait(cls: type, options: dict[str, Any]) -> bool:
    """Whether it is frozen, has no parents, and nothing of its own in the place of what is written."""
    known = options.get("frozen", False) and options.keys() <= {"frozen", "slots", "kw_only"}
    return known and cls.__bases__ == (object,) and _OWN.isdisjoint(cls.__dict__)


def _waiting(cls: type, options: dict[str, Any]) -> Any:
    slots, kw_only = options.get("slots", False), options.get("kw_only", False)
    cls.__doc__ = cls.__doc__ or cls.__name__  # the library would write the signature there
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made.__dataclass_params__ = _FROZEN
    made.__setattr__, made.__delattr__ = _set, _delete
    if slots:
        made.__getstate__, made.__setstate__ = _state, _set_state
    for name in _LATER:
        setattr(made, name, _Unwritten(made, name))
    return made


class _Unwritten:
    """A method of a class until it is asked for."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        written = _written(self.cls, self.name)
        setattr(self.cls, self.name, written)
        return written.__get__(instance, owner)


def _written(cls: type, name: str) -> Any:
    """The method that the library writes for a class of the same fields."""
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {one: getattr(cls, one) for one in ("__module__", "__qualname__", "__doc__")}
    body["__annotations__"] = {field.name: field.type for field in fields}
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    like = type(cls.__name__, (), {**body, **{field.name: copy(field) for field in fields}})
    return dataclasses.dataclass(**_LATER[name])(like).__dict__[name]


@dataclasses.dataclass(frozen=True)
class _Empty: ...


_FROZEN = _Empty.__dataclass_params__  # type: ignore[attr-defined]


def _is_fixed(instance: Any, name: str) -> bool:
    return "__dataclass_fields__" in type(instance).__dict__ or name in instance.__dataclass_fields__


def _set(self: Any, name: str, value: Any) -> None:
    if _is_fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if _is_fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
