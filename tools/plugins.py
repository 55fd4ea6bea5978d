"""Makes the forms in which clients install a program: `python -m tools.plugins`.

A plugin for Claude Code and one for Codex, each with its marketplace file, and the `server.json` of MCP's
registry. What they say and call comes from the catalogue and from what `lamina install` writes; a test says
when they are no longer current.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from lamina.doors.harness.clients import CLIENTS, SERVER, Client, Launch
from lamina.doors.mcp.tools import offered

ROOT = Path(__file__).parents[1]
ABOUT = "Memory for AI agents that its owner can read, govern and prove."
AUTHOR = {"name": "The Lamina authors"}
LICENSE = "Apache-2.0"
KEYWORDS = ["memory", "mcp", "agents", "markdown", "sqlite"]
#: Whoever publishes in MCP's registry proves that the part before the stroke is theirs, and puts their own.
REGISTRY_NAME = f"local.{SERVER}/{SERVER}"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MARKETPLACE_SCHEMA = "https://json.schemastore.org/claude-code-marketplace.json"
#: A plugin is the same on every machine, so it calls what the path of the shell has.
LAUNCH = Launch(words=("lamina",))


def made() -> dict[Path, str]:
    """Every file that is made, and what is in it."""
    claude, codex = CLIENTS["claude-code"], CLIENTS["codex"]
    found: dict[str, Any] = {
        ".claude-plugin/marketplace.json": _claude_marketplace(),
        ".agents/plugins/marketplace.json": _codex_marketplace(),
        "server.json": _server(),
        f"{folder(claude)}/.claude-plugin/plugin.json": _about(),
        f"{folder(codex)}/.codex-plugin/plugin.json": _codex_manifest(),
    }
    texts = {ROOT / path: _json(one) for path, one in found.items()}
    skill = files("lamina.doors.harness").joinpath("data/SKILL.md").read_text("utf-8")
    for client in (claude, codex):
        texts[ROOT / folder(client) / ".mcp.json"] = _json({"mcpServers": {SERVER: client.server(LAUNCH)}})
        texts[ROOT / folder(client) / "hooks" / "hooks.json"] = _json(_hooks(client))
        texts[ROOT / folder(client) / "skills" / SERVER / "SKILL.md"] = skill
    return texts


def folder(client: Client) -> str:
    """Where a client's plugin stands in the tree."""
    return f"plugins/{client.name}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _about() -> dict[str, Any]:
    return {
        "name": SERVER,
        "version": version("lamina"),
        "description": ABOUT,
        "author": AUTHOR,
        "license": LICENSE,
        "keywords": KEYWORDS,
    }


def _hooks(client: Client) -> dict[str, Any]:
    """The moments at which the client calls us, as `lamina install` writes them."""
    return {"hooks": {event: [client.hook(LAUNCH, verb)] for event, verb in client.events.items()}}


def _claude_marketplace() -> dict[str, Any]:
    entry = {**_about(), "source": f"./{folder(CLIENTS['claude-code'])}", "category": "memory"}
    return {
        "$schema": MARKETPLACE_SCHEMA,
        "name": SERVER,
        "description": ABOUT,
        "owner": AUTHOR,
        "plugins": [entry],
    }


def _codex_marketplace() -> dict[str, Any]:
    entry = {
        "name": SERVER,
        "source": {"source": "local", "path": f"./{folder(CLIENTS['codex'])}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": SERVER, "interface": {"displayName": "Lamina"}, "plugins": [entry]}


def _codex_manifest() -> dict[str, Any]:
    names = ", ".join(sorted(one.tool_name for one in offered("core")))
    return {
        **_about(),
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "interface": {
            "displayName": "Lamina",
            "shortDescription": ABOUT,
            "longDescription": f"{ABOUT} It needs the program `lamina` on the path. Tools: {names}.",
            "developerName": AUTHOR["name"],
            "category": "Productivity",
            "capabilities": ["Interactive", "Read", "Write"],
            "defaultPrompt": ["What do you know about me?"],
        },
    }


def _server() -> dict[str, Any]:
    package = {
        "registryType": "pypi",
        "identifier": "lamina",
        "version": version("lamina"),
        "runtimeHint": "uvx",
        "runtimeArguments": [
            {"type": "named", "name": "--with", "value": f"lamina[mcp]=={version('lamina')}"}
        ],
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": [
            {
                "name": "LAMINA_WORKSPACE",
                "description": "The folder of the memory, made with `lamina init`.",
                "format": "filepath",
                "isRequired": True,
            }
        ],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": REGISTRY_NAME,
        "title": "Lamina",
        "description": ABOUT,
        "version": version("lamina"),
        "packages": [package],
    }


def main() -> None:
    for path, text in made().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
