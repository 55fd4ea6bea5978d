"""`dataclass` whose methods are written when somebody first asks for one.

The standard library writes and compiles six functions for each frozen class when it is imported: 0.6 ms a
class, and a command imports two hundred of which it makes few. Here the fields are collected and the
methods written when one is used: `__init__` here, because the library would write five functions beside it,
and what is seldom asked for by the library.
"""

from __future__ import annotations

import dataclasses
import sys
from copy import copy
from typing import TYPE_CHECKING, Any

from lamina.late import kept

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
_NAMING = ("__module__", "__qualname__", "__doc__", "__annotations__")
_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")  #: annotations of what is no plain field
_OWN = {"__init__", *_ALONE, "__setattr__", "__delattr__", "__getstate__", "__setstate__"}


def _can_wait(cls: type, options: dict[str, Any]) -> bool:
    """Whether it has no parents, nothing of its own in the place of what is written, and fields alone."""
    known = options.keys() <= {"frozen", "slots", "kw_only"}
    said = str(cls.__annotations__)
    return (
        known
        and not any(map(said.__contains__, _SPECIAL))
        and cls.__bases__ == (object,)
        and _OWN.isdisjoint(cls.__dict__)
    )


def _waiting(cls: type, options: dict[str, Any]) -> Any:
    slots, kw_only = options.get("slots", False), options.get("kw_only", False)
    cls.__doc__ = cls.__doc__ or cls.__name__  # the library would write the signature there
    body = dict(cls.__dict__)
    names = tuple(cls.__annotations__)
    given = {name: body.pop(name) for name in names if name in body}
    made: Any = cls
    if slots:
        body.pop("__dict__", None)
        body.pop("__weakref__", None)
        made = type(cls.__name__, (), {**body, "__slots__": names, "__qualname__": cls.__qualname__})
    else:
        _set_defaults(made, given)
    for name in ("__init__", *_ALONE):
        setattr(made, name, _Unwritten(made, name, given, kw_only))
    for name in ("__dataclass_fields__", "__match_args__"):
        setattr(made, name, _Uncollected(made, name, given, kw_only))
    if not options.get("frozen", False):
        made.__hash__ = None
        made.__dataclass_params__ = _Changing.__dataclass_params__  # type: ignore[attr-defined]
        return made
    made.__dataclass_params__ = _Fixed.__dataclass_params__  # type: ignore[attr-defined]
    made.__setattr__, made.__delattr__ = _set, _delete
    if slots:
        made.__getstate__, made.__setstate__ = _state, _set_state
    return made


def _set_defaults(cls: type, given: dict[str, Any]) -> None:
    """What an instance has that was given nothing, in the place of what says how a field is."""
    for name, value in given.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)


class _Unwritten:
    """A method of a class until it is asked for."""

    __slots__ = ("cls", "given", "kw_only", "name")

    def __init__(self, cls: Any, name: str, given: dict[str, Any], kw_only: bool) -> None:
        self.cls, self.name, self.given, self.kw_only = cls, name, given, kw_only

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if self.name == "__init__":
            written = _written_init(self.cls, self.given, self.kw_only)
        else:
            written = _written(self.cls, self.name)
        setattr(self.cls, self.name, written)
        return written.__get__(instance, owner)


class _Uncollected(_Unwritten):
    """The fields of a class until somebody asks for them."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        cls: Any = self.cls
        body = {name: getattr(cls, name) for name in _NAMING}
        like: Any = type(cls.__name__, (), {**body, **self.given})
        dataclasses.dataclass(like, init=False, repr=False, eq=False, kw_only=self.kw_only)
        for name in ("__dataclass_fields__", "__match_args__"):
            setattr(cls, name, getattr(like, name))
        return getattr(like, self.name)


def _written(cls: type, name: str) -> Any:
    """A method for the fields of a class."""
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {one: getattr(cls, one) for one in ("__module__", "__qualname__", "__doc__")}
    body["__annotations__"] = {field.name: field.type for field in fields}
    like = type(cls.__name__, (), {**body, **{field.name: copy(field) for field in fields}})
    return dataclasses.dataclass(**_ALONE[name])(like).__dict__[name]


def _written_init(cls: Any, given: dict[str, Any], kw_only: bool) -> Any:
    """`__init__` as the library would write it."""
    frozen, taken = cls.__dataclass_params__.frozen, dict[str, Any]()
    known: dict[str, Any] = {"_set_": object.__setattr__, "_none_": _NONE}
    twin = frozen and "__slots__" in cls.__dict__
    if twin:
        known["_fixed_"], known["_open_"] = cls, type(cls.__name__, (), {"__slots__": cls.__slots__})
    parts: dict[bool, list[str]] = {False: ["self"], True: []}
    lines = []
    for name, said in cls.__annotations__.items():
        value = name
        field: Any = given.get(name, dataclasses.MISSING)
        if not isinstance(field, dataclasses.Field):
            field = dataclasses.field(default=field)
        if field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], known[f"_{name}_"] = field.default_factory, _NONE
            value = f"_make_{name}() if {name} is _none_ else {name}" if field.init else f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            known[f"_{name}_"] = field.default
            value = name if field.init else f"_{name}_"
        elif not field.init:
            continue
        if field.init:
            taken[name], default = said, f"=_{name}_" if f"_{name}_" in known else ""
            alone = kw_only if field.kw_only is dataclasses.MISSING else field.kw_only
            parts[bool(alone)].append(name + default)
        lines.append(f"_set_(self, {name!r}, {value})" if frozen and not twin else f"self.{name} = {value}")
    if twin:  # the interpreter sets the slots of what is not fixed ten times as fast
        lines = ['_set_(self, "__class__", _open_)', *lines, "self.__class__ = _fixed_"]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    words = ", ".join(parts[False] + (["*", *parts[True]] if parts[True] else []))
    body = "\n  ".join(lines or ["pass"])
    source = f"def write({', '.join(known)}):\n def __init__({words}):\n  {body}\n return __init__"
    # In its module's names, as the library does it: whoever reads the annotations looks them up there.
    written: dict[str, Any] = {}
    code = kept(source, lambda: compile(source, "<fields>", "exec"))
    exec(code, vars(sys.modules[cls.__module__]), written)  # noqa: S102 names of fields
    made = written["write"](**known)
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {**taken, "return": None}
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
