"""What a client may rely on about each tool, and the arguments that tools share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import Field

from lamina.errors import InvalidInput
from lamina.text.ttl import parse_time

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """What a client may rely on about a tool."""

    title: str
    core: bool
    reads: bool
    destroys: bool
    repeatable: bool  #: a second call with the same arguments changes nothing more


#: Every tool, in the order in which it is offered.
TRAITS: dict[str, Trait] = {}


def tool(
    title: str, *, core: bool = False, reads: bool = False, destroys: bool = False, repeatable: bool = True
) -> Callable[[F], F]:
    """Marks a method as a tool."""

    def noted(function: F) -> F:
        TRAITS[function.__name__] = Trait(
            title=title, core=core, reads=reads, destroys=destroys, repeatable=repeatable
        )
        return function

    return noted


Session = Annotated[
    str,
    Field(description="The conversation, as one word; only memories of a session need it."),
]
MemoryId = Annotated[str, Field(description="The id of a memory, such as user:ana:semantic:12.")]
Reason = Annotated[str, Field(description="Why, for the history.")]


def moment(text: str, what: str) -> datetime | None:
    """The time an argument names, None where it names none."""
    if not text:
        return None
    if (at := parse_time(text)) is None:
        raise InvalidInput(
            f"`{what}` is no date or time.",
            code="time_invalid",
            hint="Write it like 2026-11-03 or 2026-11-03T08:00:00+07:00.",
        )
    return at
