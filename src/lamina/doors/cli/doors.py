"""What the command line needs from whoever starts it: ways to open memories and to start servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lamina.doors.doctor import Check
from lamina.engine import Engine
from lamina.policy.rules import Policy
from lamina.scoped import ScopedMemory


class Opening(NamedTuple):
    """Which memory to open: a workspace, a store without files, or both; and the settings given as flags."""

    workspace: Path | None
    settings: Mapping[str, Any]
    at: datetime | None = None  #: the time it shall be, None for the machine's clock
    adopt: bool | Literal["key"] = False  #: take over another workspace's entries, or another key's store


class Doors(NamedTuple):
    """What stands to the right of the doors, as functions."""

    version: str
    open_memory: Callable[[Opening], Engine]
    read_policy: Callable[[str], Policy]
    examine: Callable[[Opening], Sequence[Check]]
    show_bar: Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
    serve_http: Callable[[Engine, Callable[[str], None], bool], None]
    serve_mcp: Callable[[ScopedMemory, Engine, bool, str], None]
