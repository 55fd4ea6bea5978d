"""What the command line needs from whoever starts it: ways to open memories and to start servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from lamina.doors.doctor import Check
    from lamina.engine import Engine
    from lamina.policy.rules import Policy
    from lamina.scoped import ScopedMemory


class OpenRequest(NamedTuple):
    """Which memory to open: a workspace, a store without files, or both; and the settings given as flags."""

    workspace: Path | None
    settings: Mapping[str, Any]
    at: datetime | None = None  #: the time it shall be, None for the machine's clock
    anew: bool = False  #: begin with an empty store where that of the workspace is gone
    #: Take over another workspace's entries, another key's store, or what the seal speaks against.
    adopt: bool | Literal["key", "seal"] = False


class Doors(NamedTuple):
    """What stands to the right of the doors, as functions."""

    version: str
    open_memory: Callable[[OpenRequest], Engine]
    read_policy: Callable[[str], Policy]
    examine: Callable[
        [OpenRequest, bool], Sequence[Check]
    ]  #: and mend what is derived, where that is asked for
    show_bar: Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
    serve_http: Callable[[Engine, Callable[[str], None], bool], None]
    serve_mcp: Callable[[ScopedMemory, Engine, bool, str], None]
    custody: Callable[[], Any]  #: the module that moves, backs up, puts back and rescues whole memories
