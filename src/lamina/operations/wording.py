"""What an error advises, in the words of the door that it is met at: a route, a tool, or a command."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation

_COMMAND = re.compile(r"`lamina ([^`]+)`")


def worded_for(door: Door, text: str, operations: Mapping[str, Operation] = OPERATIONS) -> str:
    """A hint with every command that it names said in the words of a door, where the door has it.

    `lamina recall` is `POST /v1/recall` over HTTP and `memory_recall` for a model.
    """
    return _COMMAND.sub(lambda named: _said(door, named, operations), text)


def _said(door: Door, named: re.Match[str], operations: Mapping[str, Operation]) -> str:
    words = named[1].split()
    commands = {one.command: one for one in operations.values() if one.command is not None}
    for count in range(len(words), 0, -1):
        wanted = " ".join(words[:count])
        family = [name for name in commands if name.startswith(f"{wanted} ")]
        if meant := commands.get(wanted) or next(map(commands.__getitem__, family), None):
            called = name_at(door, meant)
            return f"`{called}`" if called else named[0]
    return named[0]


def name_at(door: Door, operation: Operation) -> str:
    """What an operation is called at a door; nothing where the door does not have it."""
    if door in operation.but:
        return ""
    if door is Door.HTTP:
        return "" if operation.route is None else f"{operation.route.method} {operation.route.path}"
    if door is Door.MCP:
        return operation.tool_name
    return "" if operation.command is None else f"lamina {operation.command}"
