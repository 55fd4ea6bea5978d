"""Every operation there is: importing this module declares them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lamina.operations import documents, layers, memories, sessions, team, upkeep
from lamina.operations.operation import CATALOGUE, Operation

#: The modules that declare operations, in the order in which doors, help and pages show them.
FAMILIES = (memories, documents, team, sessions, layers, upkeep)
_PLACE = {module.__name__: place for place, module in enumerate(FAMILIES)}
#: Every operation by its name, family by family, in the order of declaration.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {one.name: one for one in sorted(CATALOGUE.values(), key=lambda one: _PLACE[one.run.__module__])}
)
