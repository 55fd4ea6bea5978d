"""Every operation has every field at every door; what a door lacks, the catalogue says why."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast, get_args

import pytest

from lamina.doors.cli.commands import EXTRA, commands
from lamina.doors.client.remote import RemoteMemory
from lamina.doors.client.transport import Transport
from lamina.doors.http.app import document
from lamina.doors.mcp.tools import tools_for
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation, parameters_of
from lamina.scoped import ScopedMemory
from tests.hints import hints_of

#: What a door offers: the names of an operation's fields by the operation's name.
Offers = Mapping[str, set[str]]

#: Fields that a door has beside an operation's own, each with its reason.
OWN = {
    (Door.HTTP, "changes", "wait"): "A request can wait for a change; others ask again.",
    (Door.HTTP, "relations", "format"): "A picture for Graphviz; the command line has a command for it.",
    (Door.CLI, "explain", "question"): "`why-not` for people who look for it at `explain`.",
    (Door.PYTHON, "confirm", "channel"): "Only who showed the form knows by what way the person answered.",
    (Door.PYTHON, "reject", "channel"): "Only who showed the form knows by what way the person answered.",
    (Door.PYTHON, "learn", "valid_from"): "Only an import knows since when something holds.",
    (Door.PYTHON, "learn", "valid_until"): "Only an import knows until when something held.",
    (Door.PYTHON, "bring_in", "progress"): "A function to be called; nothing else can carry one.",
}
#: What a command calls a field that is also something else there: an event's number, a code.
AT_CLI = {"subject": "memory_id"}


@cache
def http_offers() -> Offers:
    """As the OpenAPI document has it: parameters of the path and the query, headers, and the body."""
    spec = document()
    by_route = {(one.route.method, one.route.path): one for one in OPERATIONS.values() if one.route}
    found: dict[str, set[str]] = {}
    for path, methods in spec["paths"].items():
        for method, described in methods.items():
            if (operation := by_route.get((method.upper(), path))) is None:
                continue
            names = {one["name"] for one in described.get("parameters", ())}
            names -= {"x-lamina-user", "x-lamina-session", "x-lamina-run", "x-lamina-revision", "if-match"}
            names |= _in_body(spec, described)
            ours = {(one.about.header or one.wire): one.name for one in operation.parameters}
            found[operation.name] = {ours.get(name, name) for name in names}
    return found


def _in_body(spec: dict[str, Any], described: dict[str, Any]) -> set[str]:
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    choices = [*body.get("anyOf", ()), body]
    named = [one["$ref"].rpartition("/")[2] for one in choices if "$ref" in one]
    return {name for one in named for name in spec["components"]["schemas"][one].get("properties", ())}


def client_offers() -> Offers:
    """What the remote memory has as verbs; they take what HTTP takes, for they are sent there."""
    verbs = dir(RemoteMemory(Transport("http://127.0.0.1:1", "lam_a_b"), {}))
    return {name: http_offers()[name] for name, one in OPERATIONS.items() if one.python_name in verbs}


def mcp_offers() -> Offers:
    """What the tools of the whole set publish; `session` is the connection's, and an alias no operation."""
    found: dict[str, set[str]] = {}
    by_tool = {one.tool_name: one for one in OPERATIONS.values() if one.tool is not None}
    for tool in tools_for(cast(Any, None), "all"):
        if (operation := by_tool.get(tool.name)) is not None and operation.tool is not None:
            ours = {published: name for name, published in operation.tool.names.items()}
            published = tool.parameters.get("properties", {}).keys() - {"session"}
            found[operation.name] = {ours.get(name, name) for name in published}
    return found


def cli_offers() -> Offers:
    """What each command takes, without what only chooses how its answer is shown."""
    known = commands()
    found: dict[str, set[str]] = {}
    for one in OPERATIONS.values():
        if one.command in known:
            taken = {each.name for each in known[one.command].parameters}
            own = {each.name for each in parameters_of(EXTRA[one.name])} if one.name in EXTRA else set()
            found[one.name] = {AT_CLI.get(name, name) for name in taken - own}
    return found


def python_offers() -> Offers:
    """What the verbs of an open memory take, by the names of the operation's fields."""
    found: dict[str, set[str]] = {}
    for name, one in OPERATIONS.items():
        verb = getattr(ScopedMemory, one.python_name, None)
        if verb is not None:
            ours = {other: each.name for each in one.parameters for other in each.about.also}
            found[name] = {ours.get(said, said) for said in _said(verb)}
    return found


def _said(verb: Callable[..., Any]) -> set[str]:
    """The names of a verb's arguments, also of those that a typed dictionary lists."""
    names = set()
    for name, one in list(inspect.signature(verb).parameters.items())[1:]:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            (details,) = get_args(hints_of(verb)[name])
            names |= details.__annotations__.keys()
        else:
            names.add(name)
    return names


#: Each door, and what says what it offers. A door joins by a line.
DOORS: dict[str, tuple[Door, Callable[[], Offers]]] = {
    "http": (Door.HTTP, http_offers),
    "client": (Door.HTTP, client_offers),
    "mcp": (Door.MCP, mcp_offers),
    "cli": (Door.CLI, cli_offers),
    "python": (Door.PYTHON, python_offers),
}


def drift(operations: Mapping[str, Operation], door: Door, offers: Offers) -> list[str]:
    """Where a door is not what the catalogue says: too little, too much, or an exception for nothing."""
    found = []
    for name, one in operations.items():
        if door in one.but:
            found += [f"{name} is there, and the catalogue says why not"] if name in offers else []
        elif name not in offers:
            found.append(f"{name} is missing without a reason")
        else:
            wanted = {each.name for each in one.at(door)}
            known = {field for where, operation, field in OWN if (where, operation) == (door, name)}
            found += [f"{name} lacks {field}" for field in sorted(wanted - offers[name])]
            found += [f"{name} has {field}" for field in sorted(offers[name] - wanted - known)]
    return found


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_every_operation_with_every_field(door: str) -> None:
    where, offers = DOORS[door]
    assert drift(OPERATIONS, where, offers()) == []


def test_an_exception_has_its_reason() -> None:
    excuses = [why for one in OPERATIONS.values() for why in one.but.values()]
    fields = [field for one in OPERATIONS.values() for field in one.parameters]
    excuses += [why for field in fields for why in field.about.but.values()]
    assert [why for why in [*excuses, *OWN.values()] if len(why.split()) < 4] == []


def test_what_has_no_route_says_why() -> None:
    assert [name for name, one in OPERATIONS.items() if one.route is None and Door.HTTP not in one.but] == []


def test_drift_is_found() -> None:
    offers, without = dict(http_offers()), dict(OPERATIONS)
    offers["recall"] = offers["recall"] - {"as_of"}
    offers["revise"] = offers["revise"] | {"user"}
    del offers["pin"]
    without["get"] = replace(OPERATIONS["get"], but={Door.HTTP: "It is only an example of an excuse."})
    assert drift(without, Door.HTTP, offers) == [
        "recall lacks as_of",
        "revise has user",
        "get is there, and the catalogue says why not",
        "pin is missing without a reason",
    ]
