"""The clients that agents live in: which files each has, and what an installation puts into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from lamina.records import dataclass

SERVER = "lamina"  #: what the MCP server is called in a client's list
#: Our names for the moments at which clients call a hook.
VERBS = ("session-start", "prompt", "stop", "pre-compact", "session-end")
#: How long a client waits for each, in seconds; what writes down is given more.
_WAITS = {"session-start": 15, "prompt": 5, "stop": 60, "pre-compact": 60, "session-end": 30}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHome:
    """Where a client is installed: the person's home, the project, and what the shell says."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    scope: str = "user"

    def folder(self, name: str, variable: str = "") -> Path:
        """A client's folder in this scope; for a user the shell may name another."""
        if self.scope == "project":
            return self.project / name
        named = self.environment.get(variable) if variable else None
        return Path(named).expanduser() if named else self.home / name


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How this program is started: the words of a command line."""

    words: tuple[str, ...]
    workspace: str = ""  #: empty: the one that the project is in

    def command(self, *rest: str) -> list[str]:
        where = ["-w", self.workspace] if self.workspace else []
        return [*self.words, *where, *rest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client."""

    name: str
    title: str
    servers: Callable[[ClientHome], Path]  #: the file that lists MCP servers
    servers_at: tuple[str, ...]
    hooks: Callable[[ClientHome], Path] | None  #: the file that lists hooks; None: it has none
    events: Mapping[str, str]  #: our verbs by its names
    grouped: bool = True  #: hooks stand in groups with a matcher, as Claude Code has them
    skill: Callable[[ClientHome], Path]
    scopes: tuple[str, ...] = ("user", "project")
    beside: Mapping[str, Any] = field(default_factory=dict)  #: what else an entry of its list of servers has

    def server(self, launch: Launch) -> dict[str, Any]:
        """The entry that starts our MCP server for this client."""
        program, *rest = launch.command("--agent", self.name, "mcp")
        return {**self.beside, "command": program, "args": rest}

    def hook(self, launch: Launch, verb: str) -> dict[str, Any]:
        """The entry that calls us at a moment."""
        command = " ".join(map(_quoted, launch.command("hook", verb, "--harness", self.name)))
        if not self.grouped:
            return {"command": command}  # versions differ in what a timeout is counted in
        entry: dict[str, Any] = {"type": "command", "command": command, "timeout": _WAITS[verb]}
        if self.name == "claude-code" and verb == "stop":
            entry["async"] = True  # what is written down keeps nobody waiting
        return {"hooks": [entry]}


def _quoted(word: str) -> str:
    safe = word.replace("/", "").replace("-", "").replace(".", "").replace("_", "").isalnum()
    return word if safe and word.isascii() else "'" + word.replace("'", "'\\''") + "'"


def _claude_servers(place: ClientHome) -> Path:
    if place.scope == "project":
        return place.project / ".mcp.json"
    named = place.environment.get("CLAUDE_CONFIG_DIR")
    return (Path(named).expanduser() if named else place.home) / ".claude.json"


def _claude(place: ClientHome) -> Path:
    return place.folder(".claude", "CLAUDE_CONFIG_DIR")


def _codex(place: ClientHome) -> Path:
    return place.folder(".codex", "CODEX_HOME")


_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}

CLIENTS: Mapping[str, Client] = {
    one.name: one
    for one in (
        Client(
            name="claude-code",
            title="Claude Code",
            servers=_claude_servers,
            servers_at=("mcpServers", SERVER),
            # A launcher's path is of one machine, so a project's hooks go where they are not shared.
            hooks=lambda place: (
                _claude(place) / ("settings.local.json" if place.scope == "project" else "settings.json")
            ),
            events=_EVENTS,
            skill=lambda place: _claude(place) / "skills" / SERVER / "SKILL.md",
            beside={"type": "stdio"},
        ),
        Client(
            name="codex",
            title="Codex",
            servers=lambda place: _codex(place) / "config.toml",
            servers_at=("mcp_servers", SERVER),
            hooks=lambda place: _codex(place) / "hooks.json",
            events=_EVENTS,
            skill=lambda place: place.folder(".agents") / "skills" / SERVER / "SKILL.md",
        ),
        Client(
            name="cursor",
            title="Cursor",
            servers=lambda place: place.folder(".cursor") / "mcp.json",
            servers_at=("mcpServers", SERVER),
            hooks=lambda place: place.folder(".cursor") / "hooks.json",
            events={
                "sessionStart": "session-start",
                "beforeSubmitPrompt": "prompt",
                "stop": "stop",
                "preCompact": "pre-compact",
                "sessionEnd": "session-end",
            },
            grouped=False,
            skill=lambda place: place.folder(".cursor") / "skills" / SERVER / "SKILL.md",
        ),
        Client(
            name="openclaw",
            title="OpenClaw",
            servers=lambda place: place.folder(".openclaw", "OPENCLAW_STATE_DIR") / "openclaw.json",
            servers_at=("mcp", "servers", SERVER),
            hooks=None,
            events={},
            skill=lambda place: (
                place.folder(".openclaw", "OPENCLAW_STATE_DIR") / "skills" / SERVER / "SKILL.md"
            ),
            scopes=("user",),
        ),
        Client(
            name="hermes",
            title="Hermes",
            servers=lambda place: place.folder(".hermes", "HERMES_HOME") / "config.yaml",
            servers_at=("mcp_servers", SERVER),
            hooks=None,
            events={},
            skill=lambda place: place.folder(".hermes", "HERMES_HOME") / "skills" / SERVER / "SKILL.md",
            scopes=("user",),
        ),
    )
}
