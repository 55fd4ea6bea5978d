"""Every operation there is: importing this module declares them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lamina.late import load
from lamina.operations.families import FAMILIES
from lamina.operations.operation import CATALOGUE, Operation

for _family in FAMILIES.values():
    load(_family)  # which declares its operations
_PLACE = {module.__name__: place for place, module in enumerate(FAMILIES.values())}
_ordered = sorted(CATALOGUE.items(), key=lambda pair: _PLACE[pair[1].run.__module__])
CATALOGUE.clear()
CATALOGUE.update(_ordered)
#: Every operation by its name, family by family, in the order of declaration; what is declared later joins.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(CATALOGUE)
