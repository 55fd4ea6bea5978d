"""`dataclass` whose methods are written when somebody first asks for one.

The standard library writes and compiles six functions for each frozen class when it is imported: 0.6 ms a
class, and a command imports two hundred of which it makes few. Here the fields are collected at once, and
the rest is written when it is used: `__init__` here, because the library would write five functions beside
it, and what is seldom asked for by the library.
"""

from __future__ import annotations

import dataclasses
import sys
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


#: What the library is told for it to write one method alone.
_ALONE: dict[str, dict[str, bool]] = {
    "__repr__": {"init": False, "eq": False},
    "__eq__": {"init": False, "repr": False},
    "__hash__": {"init": False, "repr": False, "eq": False, "unsafe_hash": True},
}
_OWN = {"__init__", *_ALONE, "__setattr__", "__delattr__", "__getstate__", "__setstate__"}


def _can_wait(cls: type, options: dict[str, Any]) -> bool:
    """Whether it has no parents, and nothing of its own in the place of what is written."""
    known = options.keys() <= {"frozen", "slots", "kw_only"}
    return known and cls.__bases__ == (object,) and _OWN.isdisjoint(cls.__dict__)


def _waiting(cls: type, options: dict[str, Any]) -> Any:
    slots, kw_only = options.get("slots", False), options.get("kw_only", False)
    cls.__doc__ = cls.__doc__ or cls.__name__  # the library would write the signature there
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    for name in ("__init__", *_ALONE):
        setattr(made, name, _Unwritten(made, name))
    if not options.get("frozen", False):
        made.__hash__ = None
        made.__dataclass_params__ = _Changing.__dataclass_params__  # type: ignore[attr-defined]
        return made
    made.__dataclass_params__ = _Fixed.__dataclass_params__  # type: ignore[attr-defined]
    made.__setattr__, made.__delattr__ = _set, _delete
    if slots:
        made.__getstate__, made.__setstate__ = _state, _set_state
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
    """A method for the fields of a class."""
    if name == "__init__":
        return _written_init(cls)
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {one: getattr(cls, one) for one in ("__module__", "__qualname__", "__doc__")}
    body["__annotations__"] = {field.name: field.type for field in fields}
    like = type(cls.__name__, (), {**body, **{field.name: copy(field) for field in fields}})
    return dataclasses.dataclass(**_ALONE[name])(like).__dict__[name]


def _written_init(cls: Any) -> Any:
    """`__init__` as the library would write it."""
    frozen, given = cls.__dataclass_params__.frozen, [one for one in dataclasses.fields(cls) if one.init]
    known: dict[str, Any] = {"_set_": object.__setattr__, "_none_": _NONE}
    parts: dict[bool, list[str]] = {False: ["self"], True: []}
    lines = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], known[f"_{name}_"] = field.default_factory, _NONE
            value = f"_make_{name}() if {name} is _none_ else {name}" if field.init else f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            known[f"_{name}_"] = field.default
            value = name if field.init else f"_{name}_"
        elif not field.init:
            continue
        if field.init:
            default = f"=_{name}_" if f"_{name}_" in known else ""
            parts[bool(field.kw_only)].append(name + default)
        lines.append(f"_set_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    words = ", ".join(parts[False] + (["*", *parts[True]] if parts[True] else []))
    body = "\n  ".join(lines or ["pass"])
    source = f"def write({', '.join(known)}):\n def __init__({words}):\n  {body}\n return __init__"
    # In its module's names, as the library does it: whoever reads the annotations looks them up there.
    written: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), written)  # noqa: S102 names of fields
    made = written["write"](**known)
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {**{one.name: one.type for one in given}, "return": None}
    return made


_NONE = object()  #: in the place of what was not given


@dataclasses.dataclass(frozen=True)
class _Fixed: ...


@dataclasses.dataclass
class _Changing: ...


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
