"""What a store is put together from, and who asks of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from lamina.audit.chain import Anchor
from lamina.clock import Runtime
from lamina.config import Config
from lamina.documents.index import Library
from lamina.encoders.port import Embedder
from lamina.model import Role, Scope
from lamina.records import dataclass
from lamina.storage.database import Database
from lamina.write.details import check_who, chosen
from lamina.write.ruleset import Ruleset

#: Root, owner, store, settings and encoder into the index of a workspace's documents.
OpenLibrary = Callable[[Path, Scope, Database, Config, Embedder | None], Library]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a store is put together from."""

    database: Database
    ruleset: Ruleset
    config: Config
    runtime: Runtime
    anchor: Anchor
    home: Path  #: the configuration folder, where POLICY.md lies
    root: Path | None  #: the workspace, None for a store without files
    embedder: Embedder | None = None  #: what finds by meaning; without it words alone do
    library: OpenLibrary | None = None  #: how the workspace's documents are opened; None, and there are none
    open_writer: Callable[[], Any] = lambda: None  #: the language model that jobs may ask, if any
    adopt: bool = False  #: take the files over from another workspace on the same store
    adopt_key: bool = False  #: go on with this key where another sealed the store
    reseal: bool = False  #: take everything as it is found and seal it anew


class Who(TypedDict, total=False):
    """Who is asking, in whose name; what is left out is the workspace's owner, speaking for themselves."""

    user: str  #: never None: whose memory it is must be said, or left out
    agent: str | None
    session: str | None
    run: str | None
    project: str | None
    role: str | None
    via: str
    speaks_for: bool  #: an agent carries the person's own turns; in the owner's own process it does


def scope_from(config: Config, who: Who) -> Scope:
    """Who asks, as their memories know them; InvalidInput for a field that is unknown, or given and empty."""
    check_who(who, Who.__annotations__)
    agent = who.get("agent")
    via = who.get("via") or "python"
    role = who.get("role") or (Role.AGENT if agent else Role.USER)
    return Scope(
        tenant=config.tenant,
        user=who.get("user", config.owner),
        agent=agent,
        session=who.get("session"),
        run=who.get("run"),
        project=who.get("project") or config.project,
        role=chosen(Role, role, "role"),
        via=via,
        speaks_for=who.get("speaks_for", via == "python" and bool(agent)),
    )
