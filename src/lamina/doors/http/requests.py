"""What a client may say: the models of bodies and queries, made from the requests of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic.fields import FieldInfo

from lamina.operations.operation import Operation, Parameter
from lamina.text.ttl import parse_time

#: Fields beside those of an operation, each with its type and what is said about it.
Fields = Mapping[str, tuple[Any, FieldInfo]]


def _moment(value: Any) -> datetime:
    at = parse_time(value) if isinstance(value, str) else None
    if at is None:
        raise ValueError("Write a date or time like 2030-12-31T08:00:00Z.")
    return at


Moment = Annotated[datetime, BeforeValidator(_moment)]


class ClosedFields(BaseModel):
    """Fields we do not know are refused: identity and authority come from the token alone."""

    model_config = ConfigDict(extra="forbid")

    def given(self) -> dict[str, Any]:
        """What was said, by the names of the operation."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Body(ClosedFields):
    """Checked strictly, so that "3" is no number. A field that is null is as good as left out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _said_only(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        optional = {one.alias or name for name, one in cls.model_fields.items() if not one.is_required()}
        return {name: value for name, value in given.items() if value is not None or name not in optional}


def model_of(
    operation: Operation,
    parameters: Iterable[Parameter],
    base: type[ClosedFields],
    more: Fields | None = None,
) -> type[ClosedFields]:
    """The model of some parameters of an operation."""
    fields: dict[str, Any] = {one.name: (typed(one), told(one)) for one in parameters}
    made: type[ClosedFields] = create_model(
        operation.request.__name__,
        __base__=base,
        __doc__=operation.request.__doc__,
        __module__=operation.request.__module__,
        **{**fields, **(more or {})},
    )
    return made


def told(parameter: Parameter) -> FieldInfo:
    """What a model says about a field: its default, its meaning, its name here."""
    about = parameter.about
    more: dict[str, Any] = {} if about.example is None else {"examples": [about.example]}
    if parameter.wire != parameter.name:
        more["alias"] = parameter.wire
    if not parameter.required:
        more["default"] = (
            list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        )
    found: FieldInfo = Field(description=about.help, **more)
    return found


def typed(parameter: Parameter) -> Any:
    """The type of a field as JSON knows it, with its bounds."""
    return _bounded(parameter.type, parameter)


def _bounded(kind: Any, parameter: Parameter) -> Any:
    if get_origin(kind) is Union or isinstance(kind, _UNION):
        return Union[tuple(_bounded(one, parameter) for one in get_args(kind))]  # noqa: UP007 made at run time
    about = parameter.about
    if kind in (int, float) and (about.low is not None or about.high is not None):
        return Annotated[_jsonable(kind), Field(ge=_whole(kind, about.low), le=_whole(kind, about.high))]
    if (kind is str or get_origin(kind) is tuple) and (about.longest or about.fewest):
        return Annotated[_jsonable(kind), Field(min_length=about.fewest, max_length=about.longest)]
    return _jsonable(kind)


def _whole(kind: Any, bound: float | None) -> float | None:
    return bound if bound is None or kind is float else int(bound)


_UNION = type(int | None)


def _jsonable(kind: Any) -> Any:
    """Lists for tuples, times by our own rules, names of enumerations as texts."""
    if get_origin(kind) is tuple:
        return list[_jsonable(get_args(kind)[0])]  # type: ignore[misc]  # made at run time
    if kind is datetime:
        return Moment
    if kind is float:
        return Annotated[float, Field(allow_inf_nan=False)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Annotated[kind, Field(strict=False)]
    return kind
