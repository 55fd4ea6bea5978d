"""What an operation is: declared once, and every door is built from the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from lamina.errors import LaminaError
from lamina.model import Right
from lamina.records import dataclass
from lamina.scoped import ScopedMemory

R = TypeVar("R")
A = TypeVar("A")


class Door(StrEnum):
    """Where an operation can be asked for."""

    CLI = "cli"
    HTTP = "http"
    MCP = "mcp"
    PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """How a model meets an operation."""

    title: str
    name: str = ""  #: `memory_` and the operation's name where none is given
    core: bool = False  #: among the few tools offered by default
    advice: str = ""  #: what only a model needs to be told, after the operation's own words
    destroys: bool = False
    repeatable: bool = True  #: a second call with the same arguments changes nothing more
    names: Mapping[str, str] = field(default_factory=dict)  #: fields that its clients know by another name
    items: str = "items"  #: what a list of answers is called


@dataclass(frozen=True, slots=True)
class Field:
    """What a field of a request means, and its name where a door has a custom of its own."""

    help: str
    low: float | None = None
    high: float | None = None
    longest: int | None = None  #: characters of a text, items of a list
    fewest: int | None = None  #: items of a list
    example: str | None = None
    option: str = ""  #: on the command line, such as `-k` or `--budget`; else its name with dashes
    position: bool = False  #: on the command line without a name
    metavar: str = ""
    listed: bool = False  #: on the command line several in one word, with commas
    piped: bool = False  #: on the command line, `-` or nothing reads standard input
    wire: str = ""  #: over HTTP, where it has another name: `id`, `from`, `return`; a model may use it, too
    header: str = ""  #: the HTTP header that carries it
    form: str = ""  #: a pattern; in a path, what does not match is as unknown as what is not there
    code: str = ""  #: of the error for a value that it cannot have; its name and `_invalid` otherwise
    also: tuple[str, ...] = ()  #: names that a model may use instead
    but: Mapping[str, str] = field(default_factory=dict)  #: doors that do not have it, each with its reason


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a request as a door sees it: its type without what is said about it, and its default."""

    name: str
    type: Any
    about: Field
    default: Any = MISSING

    @property
    def wire(self) -> str:
        return self.about.wire or self.name

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def fault(self) -> str:
        """The code of the error for a value that it cannot have, at every door."""
        return self.about.code or f"{self.name}_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How HTTP carries an operation: `POST /v1/memories`, and what its answer means there."""

    method: str
    path: str
    status: int = 200
    etag: bool = False  #: the answer's revision is its ETag
    if_match: bool = False  #: `If-Match` is honoured
    codes: tuple[int, ...] = ()  #: further statuses that are documented
    under: str | None = None  #: the name that the answer stands under; a list's is `items`, and "" is none
    shows: tuple[str, ...] = ()  #: properties of the answer that are told beside its fields
    camel: bool = False  #: the answer's names are `startLine`, not `start_line`


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that can be asked of a memory."""

    name: str
    run: Callable[[ScopedMemory, Any], Any]
    right: Right
    route: Route | None
    command: str | None  #: the words after `lamina`
    tool: Tool | None
    family: str
    changes: bool  #: whether anything may be different afterwards
    verb: str = ""  #: what Python calls it, where that is another name
    asks: str = ""  #: on the command line, the question before it acts; `{name}` is a field
    but: Mapping[str, str] = field(default_factory=dict)  #: doors without it, each with its reason

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.run, include_extras=True)

    @property
    def request(self) -> type[Any]:
        """The class of its requests."""
        found: type[Any] = self._hints["request"]
        return found

    @property
    def answer(self) -> Any:
        """The type of its answer."""
        return self._hints["return"]

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def words(self) -> str:
        return inspect.getdoc(self.run) or ""

    @property
    def python_name(self) -> str:
        """The verb of a scoped memory, open or remote."""
        return self.verb or self.name

    @property
    def tool_name(self) -> str:
        return "" if self.tool is None else self.tool.name or f"memory_{self.name}"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it takes, in the order of its declaration."""
        return parameters_of(self.request)

    def at(self, door: Door) -> tuple[Parameter, ...]:
        """What it takes at a door."""
        return tuple(one for one in self.parameters if door not in one.about.but)


def parameters_of(request: type[Any]) -> tuple[Parameter, ...]:
    """The fields of a request class."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(_parameter(one, hints[one.name]) for one in fields(request))


def _parameter(one: Any, hint: Any) -> Parameter:
    about = Field("")
    if get_origin(hint) is Annotated:
        hint, *said = get_args(hint)
        about = next((each for each in said if isinstance(each, Field)), about)
    return Parameter(one.name, hint, about, one.default)


#: Every operation that was declared, by its name; `catalogue.OPERATIONS` is the table to read.
CATALOGUE: dict[str, Operation] = {}

Run = TypeVar("Run", bound=Callable[..., Any])


def operation(
    route: str | Route | None,
    right: Right,
    *,
    command: str | None = "",
    tool: Tool | None = None,
    **more: Any,
) -> Callable[[Run], Run]:
    """Puts a function `(memory, request) -> answer` into the catalogue under its own name.

    `command` is its name with blanks unless another is given; None, and the command line has none. `more`
    is `changes` (True unless the right is to read), `asks`, `but`, `family`, and `name` where the function
    cannot have the operation's own.
    """

    def declared(function: Run) -> Run:
        name = more.pop("name", function.__name__)
        if name in CATALOGUE:
            raise LaminaError(f"The operation {name!r} is declared twice.", code="operation_twice")
        CATALOGUE[name] = Operation(
            name=name,
            run=function,
            right=right,
            route=routed(route) if isinstance(route, str) else route,
            command=name.replace("_", "-") if command == "" else command,
            tool=tool,
            family=more.pop("family", function.__module__.rpartition(".")[2]),
            changes=more.pop("changes", right is not Right.READ),
            **more,
        )
        return function

    return declared


def routed(text: str, **more: Any) -> Route:
    """`POST /v1/memories` as a route."""
    method, _, path = text.partition(" ")
    return Route(method=method, path=path, **more)


def given(request: Any, *but: str) -> dict[str, Any]:
    """The fields of a request that say something, without some."""
    named = {one.name: getattr(request, one.name) for one in fields(request) if one.name not in but}
    return {name: value for name, value in named.items() if value is not None}
