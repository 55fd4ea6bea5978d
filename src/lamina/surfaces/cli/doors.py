"""What the command line needs from the rest of Lamina, as values it is handed.

Commands are parsed and explained without the engine, so that `lamina --help` answers at once. Whoever starts
the program fills these in with functions that load what they need when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.config import Loaded
    from lamina.engine.doctor import Check
    from lamina.engine.engine import Engine
    from lamina.engine.mind import Mind
    from lamina.model.token import Token


@dataclass(frozen=True, kw_only=True, eq=False)
class Opening:
    """Which memory to open: a workspace, a store without files, or both; and the settings given as flags."""

    workspace: Path | None
    settings: Mapping[str, Any]
    at: datetime | None = None  #: the time it shall be, None for the machine's clock


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Doors:
    """Everything behind the command line."""

    version: str
    find_workspace: Callable[[Path, Path | None, Mapping[str, str]], Path]
    create_workspace: Callable[[Path, str], list[str]]
    load_config: Callable[[Path | None, Mapping[str, Any]], Loaded]
    knobs: Callable[[], list[tuple[str, Any, str, bool]]]
    parse_time: Callable[[str], datetime | None]
    parse_ttl: Callable[[str, datetime], tuple[str, datetime | None]]
    open_memory: Callable[[Opening], Engine]
    examine: Callable[[Opening], Sequence[Check]]
    create_token: Callable[..., tuple[Token, str]]
    list_tokens: Callable[[Engine], list[Token]]
    revoke_token: Callable[[Engine, str], None]
    serve_http: Callable[[Engine, Callable[[str], None]], None]
    serve_mcp: Callable[[Mind, Engine, bool, str], None]
