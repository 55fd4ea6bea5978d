"""Values from a door into a request: times read, bounds kept, lists made tuples; the same at every door."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from lamina.errors import InvalidInput, did_you_mean
from lamina.operations.operation import Operation, Parameter
from lamina.write.details import named_time


def request_of(operation: Operation, values: Mapping[str, Any]) -> Any:
    """The request that these values ask for, by the names Python has; InvalidInput says what is wrong."""
    known = {one.name: one for one in operation.parameters}
    for name in values:
        if name not in known:
            raise unknown_field(name, known)
    missing = [one.name for one in operation.parameters if one.required and one.name not in values]
    if missing:
        raise InvalidInput(f"`{missing[0]}` is missing.", code="field_missing")
    return operation.request(**{name: fitted(known[name], value) for name, value in values.items()})


def unknown_field(name: str, known: Mapping[str, Any]) -> InvalidInput:
    """What to say of a field that an operation does not know: the nearest one that it does."""
    hint = did_you_mean(name, known) or f"It knows {', '.join(known) or 'none'}."
    return InvalidInput(f"`{name:.40}` is unknown here.", code="field_unknown", hint=hint)


def fitted(parameter: Parameter, value: Any) -> Any:
    """A value as its field holds it, within its bounds."""
    if isinstance(value, str) and datetime in members(parameter.type):
        return named_time(value, parameter.name)
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(parameter, value)
    if isinstance(value, str | tuple):
        _check_length(parameter, value)
    return value


def members(kind: Any) -> tuple[Any, ...]:
    """The members of a union without None, or the type itself."""
    if get_origin(kind) in (Union, UnionType):
        return tuple(one for one in get_args(kind) if one is not NoneType)
    return (kind,)


def _check_number(parameter: Parameter, value: float) -> None:
    low, high = parameter.about.low, parameter.about.high
    if (low is not None and value < low) or (high is not None and value > high):
        sort = "whole number" if int in members(parameter.type) else "number"
        within = f"from {low:g} to {high:.0f}" if high is not None else f"of {low:g} or more"
        raise InvalidInput(f"{parameter.name} must be a {sort} {within}.", code=parameter.fault)


def _check_length(parameter: Parameter, value: str | tuple[Any, ...]) -> None:
    about, what = parameter.about, "characters" if isinstance(value, str) else "items"
    if about.longest is not None and len(value) > about.longest:
        raise _unfit(parameter, f"has at most {about.longest} {what}.")
    if about.fewest is not None and len(value) < about.fewest:
        raise _unfit(parameter, f"has at least {about.fewest} {what}.")


def _unfit(parameter: Parameter, why: str) -> InvalidInput:
    return InvalidInput(f"{parameter.name} {why}", code=parameter.fault)
