"""Tools built from the catalogue: arguments into a request, its answer into a shape, errors into words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from datetime import datetime
from functools import wraps
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import build_resolver_plans, find_resolved_parameters
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import AliasChoices, ConfigDict, Field, ValidationError, create_model

from lamina.doors.mcp.consent import CALLER, Asked, decided
from lamina.doors.mcp.identity import ToolCaller
from lamina.doors.mcp.shapes import schema_of, shown
from lamina.errors import Denied, InvalidInput, LaminaError, did_you_mean
from lamina.language.secrets.privacy import redacted
from lamina.layers.layers import Learned
from lamina.model import Layer, Outcome, Receipt
from lamina.operations.asking import members, request_of
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation, Parameter
from lamina.records import dataclass

#: What to do next in the words of this door, where the engine's hint speaks of the command line.
_HINTS = {
    "not_found": "memory_recall shows the ids and keys of what is known.",
    "space_unknown": "Name the session in `session`, or choose another space.",
}
_SHOWN_PROBLEMS = 5
_SESSION = "The conversation, as one word; only memories of a session need it."


@dataclass(frozen=True, slots=True)
class ToolAlias:
    """A tool that clients of the reference know: an operation by another name, with other defaults."""

    name: str
    operation: str
    names: Mapping[str, str]
    defaults: Mapping[str, Any] = field(default_factory=dict)


ALIASES = (
    ToolAlias(
        "oracle_search",
        "recall",
        {"query": "q", "layers": "layer", "k": "limit"},
        {"layers": (Layer.SEMANTIC,), "k": 10},
    ),
)


#: What is wrong with an argument, in plain words.
_WRONG = {"missing": "is missing"}


class _Closed(ArgModelBase):
    """Unknown arguments are errors: who sends `user` or `role` must not believe that it did something."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, populate_by_name=True)


@dataclass(frozen=True, slots=True)
class _Call:
    """One operation as a tool of one server; it runs on a worker thread, because the engine blocks."""

    operation: Operation
    caller: ToolCaller

    def __call__(self, *, session: str = "", answer: Any = None, **arguments: Any) -> CallToolResult:
        given = {name: value for name, value in arguments.items() if value is not None}
        memory = self.caller.mind(self.operation.right, session)
        found = self.operation.run(memory, request_of(self.operation, given))
        if isinstance(found, Receipt) and answer is not None:
            found = decided(memory, given.get("key", ""), found, answer)
        _check_learnt(self.operation, found)
        body = shown(self.operation, found)
        if self.operation.name == "update_user_model":  # what its clients know: the model, and what waits
            waiting = [one.ids[0] for one in found if one.decision is Outcome.HELD]
            body = {"model": memory.user_model(), "pending": waiting}
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body)


def _check_learnt(operation: Operation, found: Any) -> None:
    """What is learnt under a name of the reference is kept, or it is an error there."""
    if not operation.tool_name.startswith("oracle_"):
        return
    kept = found.receipt if isinstance(found, Learned) else found
    for one in kept if isinstance(kept, list) else [kept]:
        if isinstance(one, Receipt) and one.decision is Outcome.DENIED:
            raise Denied(" ".join(one.warnings) or "Policy does not allow this.", code=one.code)


class CatalogueTool(Tool):
    """A tool that takes no argument it does not know, and whose failures are words for the model."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """As the SDK's, but a refused argument is not repeated and the engine's errors are expected ones."""
        CALLER.set(self.fn.caller)  # type: ignore[attr-defined]  # every tool's function is a `_Call`
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            match error.__cause__:
                case LaminaError() as expected:
                    raise ToolError(redacted(_told(expected))) from None
                case ValidationError() as wrong if wrong.title == self.fn_metadata.arg_model.__name__:
                    raise ToolError(_named(wrong, self.parameters["properties"])) from None
                case _:
                    raise


def offered(choice: str) -> list[Operation]:
    """The operations of a set in the order in which they are offered: `core`, `all`, or `readonly`."""
    with_tool = [one for one in OPERATIONS.values() if one.tool is not None]
    every = sorted(with_tool, key=lambda one: not (one.tool and one.tool.core))
    wanted = {
        "core": [one for one in every if one.tool and one.tool.core],
        "all": [*every, *map(_aliased, ALIASES)],
        "readonly": [one for one in every if one.tool and one.tool.core and not one.changes],
    }
    if choice not in wanted:
        raise InvalidInput(
            f"{choice!r:.40} is not a set of tools.",
            code="tools_invalid",
            hint=f"Choose one of: {', '.join(wanted)}.",
        )
    return wanted[choice]


def tools_for(caller: ToolCaller, choice: str) -> list[Tool]:
    """The tools of a set, acting for the caller."""
    return [_made(_Call(one, caller)) for one in offered(choice)]


def _aliased(alias: ToolAlias) -> Operation:
    known = OPERATIONS[alias.operation]
    about = known.tool
    assert about is not None  # noqa: S101 an alias is of a tool
    run = known.run

    @wraps(run)
    def with_defaults(memory: Any, request: Any) -> Any:
        absent = {name: one for name, one in alias.defaults.items() if getattr(request, name) is None}
        return run(memory, replace(request, **absent))

    renamed = replace(about, name=alias.name, names=alias.names, core=False, advice="")
    return replace(known, run=with_defaults, tool=renamed)


def arguments_of(operation: Operation) -> dict[str, Parameter]:
    """What a tool takes, by the names that it publishes."""
    names = {} if operation.tool is None else operation.tool.names
    return {names.get(one.name, one.name): one for one in operation.at(Door.MCP)}


def _model(operation: Operation) -> type[ArgModelBase]:
    made: dict[str, Any] = {}
    for published, one in arguments_of(operation).items():
        others = {one.name, one.wire, *one.about.also} - {published}
        about = Field(
            ... if one.required else one.default,
            description=one.about.help,
            validation_alias=AliasChoices(published, *sorted(others)),
        )
        made[one.name] = (_type(one), about)
    made["session"] = (str, Field("", description=_SESSION))
    return create_model(f"{operation.tool_name}Arguments", __base__=_Closed, **made)


def _type(parameter: Parameter) -> Any:
    """Times come as texts, so that what is none is refused in words."""
    if datetime not in members(parameter.type):
        return parameter.type
    return str if parameter.required else str | None


def _made(call: _Call) -> Tool:
    operation, about = call.operation, call.operation.tool
    assert about is not None  # noqa: S101 only operations with a tool are offered
    arguments = _model(operation)
    resolved = find_resolved_parameters(_asking) if operation.name == "remember" else {}
    return CatalogueTool(
        fn=call,
        name=operation.tool_name,
        title=about.title,
        description="\n\n".join(filter(None, [operation.words, about.advice])),
        parameters=_short(arguments.model_json_schema(by_alias=True)),
        fn_metadata=FuncMetadata(arg_model=arguments, output_schema=schema_of(operation)),
        is_async=False,
        context_kwarg=None,
        resolved_params=dict(resolved),
        resolver_plans=build_resolver_plans(resolved, set(arguments.model_fields)),
        annotations=ToolAnnotations(
            title=about.title,
            read_only_hint=not operation.changes,
            destructive_hint=about.destroys,
            idempotent_hint=about.repeatable,
            open_world_hint=False,
        ),
    )


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without what a model need not read: titles, nulls, and names for what is used once."""
    named = schema.pop("$defs", {})

    def shorter(value: Any) -> Any:
        if isinstance(value, list):
            return [shorter(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            value = {**named[value["$ref"].rpartition("/")[2]], "description": value.get("description")}
        if "anyOf" in value:
            real = [one for one in value["anyOf"] if one != {"type": "null"}]
            value = {**value, **shorter(real[0])} if len(real) == 1 else value
        left_out = {"title", "anyOf"} if "type" in value or "enum" in value else {"title"}
        return {
            name: shorter(one)
            for name, one in value.items()
            if one is not None and not (name in left_out and isinstance(one, str | list))
        }

    made = shorter(schema)
    for about, property_schema in zip(
        schema.get("properties", {}).values(), made.get("properties", {}).values(), strict=True
    ):
        property_schema["description"] = about["description"]
    found: dict[str, Any] = made
    return found


def _asking(*, answer: Asked) -> None:
    """The parameter by which the person is asked, as the SDK looks for it."""


def _told(error: LaminaError) -> str:
    hint = _HINTS.get(error.code, error.hint)
    return f"{error.message} {hint}".strip() + f" [{error.code}]"


def _shown(part: int | str) -> str:
    """The name of an argument; one that is none of ours may be anything."""
    return str(part) if re.fullmatch(r"[a-z_]{1,32}|[0-9]{1,3}", str(part)) else "?"


def _named(wrong: ValidationError, takes: Collection[str]) -> str:
    """Which arguments are wrong and how; not what was in them, which may be the very thing to keep out."""
    problems = wrong.errors(include_url=False, include_context=False, include_input=False)
    said = [_problem(one["type"], one["msg"], one["loc"], takes) for one in problems[:_SHOWN_PROBLEMS]]
    known = f"It takes: {', '.join(takes)}."
    return " ".join(["The arguments cannot be used.", *said, known, "[arguments_invalid]"])


def _problem(kind: str, message: str, place: tuple[int | str, ...], takes: Collection[str]) -> str:
    name = ".".join(_shown(part) for part in place)
    if kind == "extra_forbidden":
        return f"`{name}`: there is no such argument. {did_you_mean(str(place[-1]), takes)}".rstrip()
    return f"`{name}`: {_WRONG.get(kind, message)}."
