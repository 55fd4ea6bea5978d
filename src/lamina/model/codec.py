"""Values as plain JSON, and back: one form for every surface, every trace and every hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints


def iso(at: datetime) -> str:
    """UTC, ISO-8601, with `Z`; microseconds only where there are any."""
    text = (at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat()
    return text.replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return iso(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(v) for v in items]
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """The value of a type that `plain` made this of; ValueError or TypeError where it made it of none.

    Names that a dataclass does not know are left out, so that an answer may grow.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        return from_plain(inner[0], value)
    if origin in (Union, UnionType):
        return _one_of(inner, value)
    if origin in _SEQUENCES:
        return _sequence(origin, inner, value)
    if origin in (dict, Mapping):
        named = _checked(dict, value).items()
        return {from_plain(inner[0], name): from_plain(inner[1], one) for name, one in named}
    if isinstance(kind, type) and is_dataclass(kind):
        hints, given = _hints(kind), _checked(dict, value)
        known = [one.name for one in fields(kind) if one.init and one.name in given]
        return kind(**{name: from_plain(hints[name], given[name]) for name in known})
    return _scalar(kind, value)


_SEQUENCES = (tuple, list, set, frozenset)


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """By the first of several types that takes it; a value of a type's own comes before any other."""
    for kind in sorted(kinds, key=lambda one: one is not type(value)):
        try:
            return from_plain(kind, value)
        except (ValueError, TypeError):
            continue
    raise ValueError(f"It is none of {kinds}.")


def _sequence(origin: Any, inner: tuple[Any, ...], value: Any) -> Any:
    items = _checked(list, value)
    if origin is not tuple or inner[1:] == (...,):
        return origin(from_plain(inner[0], one) for one in items)
    return tuple(from_plain(kind, one) for kind, one in zip(inner, items, strict=True))


def _scalar(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is datetime:
        return datetime.fromisoformat(_checked(str, value))
    if kind is float and type(value) is int:
        return float(value)
    return _checked(NoneType if kind is None else kind, value)


def _checked(kind: Any, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} is not of the type {getattr(kind, '__name__', kind)}")
    return value


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no blanks, nothing escaped that need not be."""
    return "".join(_encode(value, 0))


def _shallow(value: Any) -> Any:
    """One level of a value that JSON does not know; the encoder comes back for what is inside."""
    if type(value) is datetime:
        return iso(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if (made := plain(value)) is value:
        raise TypeError(f"{type(value).__name__} is nothing that JSON has a form for")
    return made


#: Begun once: `json.dumps` makes one of these for each value, which takes longer than most values do.
_encode = c_make_encoder(None, _shallow, encode_basestring, None, ":", ",", True, False, True)
