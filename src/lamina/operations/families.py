"""The modules that declare operations; each is loaded when one of its operations is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from lamina.late import late

with late():
    from lamina.operations import documents, layers, memories, person, sessions, team, upkeep

#: By name, in the order in which doors, help and pages show them.
FAMILIES: Mapping[str, ModuleType] = {
    "memories": memories,
    "person": person,
    "documents": documents,
    "team": team,
    "sessions": sessions,
    "layers": layers,
    "upkeep": upkeep,
}
