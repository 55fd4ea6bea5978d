"""Lamina: memory for AI agents that its owner can read, govern and prove."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lamina.errors import (
    ConfigError,
    Conflict,
    Damaged,
    Denied,
    InvalidInput,
    LaminaError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from lamina.model import (
    Explanation,
    Hit,
    Kind,
    Layer,
    Memory,
    Outcome,
    Receipt,
    Recollection,
    Role,
    Scope,
    Space,
    State,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lamina.doors.client.awaited import AsyncMemory
    from lamina.doors.client.remote import Remote
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory

__version__ = "0.3.0"

__all__ = [
    "ConfigError",
    "Conflict",
    "Damaged",
    "Denied",
    "Engine",
    "Explanation",
    "Hit",
    "InvalidInput",
    "Kind",
    "LaminaError",
    "Layer",
    "Memory",
    "NotFound",
    "Outcome",
    "Receipt",
    "Recollection",
    "Role",
    "Scope",
    "ScopedMemory",
    "Space",
    "State",
    "Unauthenticated",
    "Unavailable",
    "aconnect",
    "aopen",
    "connect",
    "open",
]


def open(target: str | Path, **settings: Any) -> Engine:
    """Open a memory: a workspace folder, or a store URL.

    `lamina.open("notes")` makes `notes` a workspace if it is not one yet; `lamina.open("postgresql://…",
    tenant="acme")` is a store without files. Takes what `lamina.opening.open_memory` takes. The engine is
    loaded here and not on import, so that a program that only catches our errors stays light.
    """
    engine: Engine = import_module("lamina.opening").open_memory(target, **settings)
    return engine


def connect(url: str, token: str, *, timeout_s: float = 60.0) -> Remote:
    """A server's memory: `lamina.connect("http://127.0.0.1:8765", token).scope(session="s1").recall("tea")`.

    The verbs, answers and errors are those of an open memory; the token says whose it is and who speaks.
    """
    remote: Remote = import_module("lamina.doors.client.remote").Remote(url, token, timeout_s=timeout_s)
    return remote


def aopen(target: str | Path, **settings: Any) -> AsyncMemory:
    """`open` for a program that awaits: `async with lamina.aopen("notes") as memory: …`."""
    return _awaited(lambda: open(target, **settings))


def aconnect(url: str, token: str, *, timeout_s: float = 60.0) -> AsyncMemory:
    """`connect` for a program that awaits."""
    return _awaited(lambda: connect(url, token, timeout_s=timeout_s))


def _awaited(opener: Callable[[], Engine | Remote]) -> AsyncMemory:
    memory: AsyncMemory = import_module("lamina.doors.client.awaited").AsyncMemory(opener)
    return memory


#: Where the names are that are loaded when somebody asks for them.
_LATE = {"Engine": "lamina.engine", "ScopedMemory": "lamina.scoped"}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
