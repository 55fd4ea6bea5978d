"""A call of a verb, by position and by name as the open memory takes it, as what its operation is asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter as Argument
from typing import Any, get_origin

from lamina.errors import InvalidInput
from lamina.operations.asking import members, request_of
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Operation, Parameter
from lamina.scoped import ScopedMemory
from lamina.write.details import check_details


def operation_named(name: str) -> Operation:
    """The operation that Python calls so; AttributeError, as for any other name that is not there."""
    for one in OPERATIONS.values():
        if one.python_name == name:
            return one
    raise AttributeError(f"There is no verb {name!r}.")


def bound(operation: Operation, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, by the names of the operation's fields; what is None was not said.

    TypeError where a function would raise it, and InvalidInput where the open memory's verb does.
    """
    order, spread = _order(operation)
    if len(args) > len(order) and not spread:
        raise TypeError(
            f"{operation.python_name}() takes {len(order)} positional arguments but {len(args)} were given"
        )
    values: dict[str, Any] = dict(zip(order, args, strict=False))
    if spread and args:
        values = {order[0]: tuple(args)}
    for name in named.keys() & values.keys():
        raise TypeError(f"{operation.python_name}() got multiple values for argument {name!r}")
    fields = _fields(operation)
    found: dict[str, Any] = {}
    for name, value in {**values, **named}.items():
        if name not in fields:
            if _takes_details(operation):
                check_details([name], fields.keys() - set(order))
            raise TypeError(f"{operation.python_name}() got an unexpected keyword argument {name!r}")
        found[fields[name].name] = _listed(fields[name], value)
    missing = [one.name for one in operation.parameters if one.required and one.name not in found]
    if missing:
        raise TypeError(f"{operation.python_name}() missing required argument {missing[0]!r}")
    return {name: value for name, value in found.items() if value is not None}


def _listed(parameter: Parameter, value: Any) -> Any:
    """A text is no list of texts, though it can be looped over."""
    if isinstance(value, str) and any(get_origin(one) is tuple for one in members(parameter.type)):
        raise InvalidInput(f"{parameter.name} must be a list of texts.", code=parameter.fault)
    return value


def verb_of(memory: ScopedMemory, name: str) -> Callable[..., Any]:
    """A verb of an open memory's own, or else the operation of that name, carried out on it."""
    own = None if name.startswith("_") else getattr(memory, name, None)
    if callable(own):
        return own  # type: ignore[no-any-return]
    operation = operation_named(name)

    def verb(*args: Any, **named: Any) -> Any:
        return operation.run(memory, request_of(operation, bound(operation, args, named)))

    verb.__doc__ = operation.words
    return verb


def _fields(operation: Operation) -> dict[str, Parameter]:
    """The fields of an operation by every name that they have in Python."""
    found = {name: one for one in operation.parameters for name in one.about.also}
    return found | {one.name: one for one in operation.parameters}


def _verb(operation: Operation) -> Callable[..., Any] | None:
    found: Callable[..., Any] | None = getattr(ScopedMemory, operation.python_name, None)
    return found if inspect.isfunction(found) else None


@cache
def _arguments(verb: Callable[..., Any]) -> tuple[Argument, ...]:
    return tuple(inspect.signature(verb).parameters.values())[1:]


def _takes_details(operation: Operation) -> bool:
    verb = _verb(operation)
    return verb is not None and any(one.kind is Argument.VAR_KEYWORD for one in _arguments(verb))


def _order(operation: Operation) -> tuple[list[str], bool]:
    """What can be said without a name, in order; and whether the last of it takes any number of values."""
    verb = _verb(operation)
    if verb is None:
        return [one.name for one in operation.parameters if one.about.position], False
    plain = [one.name for one in _arguments(verb) if one.kind is Argument.POSITIONAL_OR_KEYWORD]
    spread = [one.name for one in _arguments(verb) if one.kind is Argument.VAR_POSITIONAL]
    return [*plain, *spread], bool(spread)
