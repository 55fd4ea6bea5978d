"""What the command line needs from the rest of Lamina, as values it is handed.

Commands are parsed and explained without the engine, so that `lamina --help` answers at once. Whoever starts
the program fills these in with functions that load what they need when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from lamina.config import Loaded
    from lamina.doors.doctor import Check
    from lamina.engine import Engine
    from lamina.imports.bring_in import Report
    from lamina.jobs.clockwork import Clockwork
    from lamina.jobs.decided import Kept
    from lamina.jobs.decision_list import DecisionList
    from lamina.jobs.job import JobReport
    from lamina.jobs.run import JobLine
    from lamina.layers.relations import Graph, Relations
    from lamina.layers.writing import Rate
    from lamina.lifecycle.consent import Proposal
    from lamina.lifecycle.erase import EraseReceipt
    from lamina.lifecycle.export import Exported
    from lamina.lifecycle.purge import PurgeReceipt
    from lamina.model.token import Token
    from lamina.policy.rules import Policy
    from lamina.scoped import ScopedMemory
    from lamina.storage.operational import Count
    from lamina.text.decision_entries import Decision


class Opening(NamedTuple):
    """Which memory to open: a workspace, a store without files, or both; and the settings given as flags."""

    workspace: Path | None
    settings: Mapping[str, Any]
    at: datetime | None = None  #: the time it shall be, None for the machine's clock
    adopt: bool | Literal["key"] = False  #: take over another workspace's entries, or another key's store


class Doors(NamedTuple):
    """Everything behind the command line."""

    version: str
    find_workspace: Callable[[Path, Path | None, Mapping[str, str]], Path]
    create_workspace: Callable[[Path, str], list[str]]
    load_config: Callable[..., Loaded]
    knobs: Callable[[], list[tuple[str, Any, str, bool]]]
    parse_time: Callable[[str], datetime | None]
    parse_ttl: Callable[[str, datetime], tuple[str, datetime | None]]
    open_memory: Callable[[Opening], Engine]
    read_policy: Callable[[str], Policy]
    examine: Callable[[Opening], Sequence[Check]]
    create_token: Callable[..., tuple[Token, str]]
    list_tokens: Callable[[Engine], list[Token]]
    revoke_token: Callable[[Engine, str], None]
    list_jobs: Callable[[Engine, datetime], Sequence[JobLine]]
    job_time: Callable[[Engine, str], float]
    run_job: Callable[..., JobReport]
    clockwork: Callable[[Engine, Callable[[str], None]], Clockwork]
    list_decisions: Callable[[Engine, str | None], DecisionList]
    find_decision: Callable[[Engine, str], Kept]
    overrule_decision: Callable[[ScopedMemory, str, str, str], Decision]
    import_files: Callable[..., Report]
    proposals: Callable[..., list[Proposal]]
    writing_rates: Callable[[Sequence[Count]], list[Rate]]
    relations: Callable[[ScopedMemory], Relations]
    export_graph: Callable[[Graph, str], str]
    purge: Callable[..., tuple[PurgeReceipt, ...]]
    verify_purge: Callable[[ScopedMemory, str], PurgeReceipt]
    export: Callable[[ScopedMemory, Path], Exported]
    erase: Callable[[ScopedMemory, str], EraseReceipt]
    show_bar: Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
    serve_http: Callable[[Engine, Callable[[str], None]], None]
    serve_mcp: Callable[[ScopedMemory, Engine, bool, str], None]
