"""Every operation there is: importing this module declares them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lamina.operations import documents, layers, memories, person, sessions, team, upkeep
from lamina.operations.operation import CATALOGUE, Operation

#: The modules that declare operations, in the order in which doors, help and pages show them.
FAMILIES = (memories, person, documents, team, sessions, layers, upkeep)
_PLACE = {module.__name__: place for place, module in enumerate(FAMILIES)}
_ordered = sorted(CATALOGUE.items(), key=lambda pair: _PLACE[pair[1].run.__module__])
CATALOGUE.clear()
CATALOGUE.update(_ordered)
#: Every operation by its name, family by family, in the order of declaration; what is declared later joins.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(CATALOGUE)
