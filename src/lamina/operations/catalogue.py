"""Every operation there is: importing this module declares them all."""

from __future__ import annotations

from lamina.operations import documents, layers, memories, sessions, team, upkeep
from lamina.operations.operation import OPERATIONS, Door, Field, Operation, Parameter, Tool

__all__ = [
    "FAMILIES",
    "OPERATIONS",
    "Door",
    "Field",
    "Operation",
    "Parameter",
    "Tool",
]

#: The modules that declare operations, in the order in which pages and help show them.
FAMILIES = (memories, team, sessions, layers, documents, upkeep)
