"""What clients install is current, has the fields that they document, and calls what is there.

The published schemas are not ours to keep here. Where `LAMINA_TEST_SCHEMAS` names a folder with them
(SchemaStore's `claude-code-plugin-manifest.json`, `claude-code-marketplace.json`, `claude-code-settings.json`
and `codex-plugin-manifest.json`, the MCP registry's `server.schema.json`), the files are held against them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lamina.doors.harness.clients import CLIENTS, VERBS
from tools.plugins import ROOT, folder, made

SCHEMAS = Path(os.environ.get("LAMINA_TEST_SCHEMAS", "/nowhere"))
CLAUDE, CODEX = (folder(CLIENTS[name]) for name in ("claude-code", "codex"))
VERSION = re.compile(r"\d+\.\d+\.\d+")


def read(path: str) -> Any:
    return json.loads((ROOT / path).read_text("utf-8"))


@pytest.mark.parametrize("path", made(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_it_is_what_the_declarations_make_of_it(path: Path) -> None:
    assert path.read_text("utf-8") == made()[path], "run `python -m tools.plugins`"


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (f"{CLAUDE}/.claude-plugin/plugin.json", "claude-code-plugin-manifest.json"),
        (".claude-plugin/marketplace.json", "claude-code-marketplace.json"),
        (f"{CODEX}/.codex-plugin/plugin.json", "codex-plugin-manifest.json"),
        (
            f"{CLAUDE}/hooks/hooks.json",
            "claude-code-settings.json",
        ),  # the same shape as in a person's settings
        ("server.json", "server.schema.json"),
    ],
)
def test_it_keeps_to_the_published_schema(path: str, schema: str) -> None:
    if not (SCHEMAS / schema).is_file():
        pytest.skip(f"put {schema} into a folder, and name it in LAMINA_TEST_SCHEMAS")
    jsonschema.validate(read(path), json.loads((SCHEMAS / schema).read_text("utf-8")))


def test_claude_codes_marketplace_leads_to_its_plugin() -> None:
    market = read(".claude-plugin/marketplace.json")
    assert {"name", "owner", "plugins"} <= market.keys()
    (entry,) = market["plugins"]
    assert entry["source"].startswith("./")
    about = read(f"{entry['source']}/.claude-plugin/plugin.json")
    assert (about["name"], about["version"]) == (entry["name"], entry["version"])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", about["name"])
    assert VERSION.fullmatch(about["version"])


def test_codex_marketplace_leads_to_its_plugin() -> None:
    market = read(".agents/plugins/marketplace.json")
    (entry,) = market["plugins"]
    assert entry["source"]["source"] == "local"
    assert entry["source"]["path"] != "./"  # Codex finds none that is the marketplace's own folder
    assert entry["policy"]["installation"] in ("AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE")
    assert entry["policy"]["authentication"] in ("ON_INSTALL", "ON_USE")
    root = ROOT / entry["source"]["path"]
    about = read(f"{entry['source']['path']}/.codex-plugin/plugin.json")
    assert about["name"] == entry["name"]
    for named in (about["skills"], about["mcpServers"]):
        assert named.startswith("./")
        assert (root / named).exists()
    wanted = (
        "displayName",
        "shortDescription",
        "longDescription",
        "developerName",
        "category",
        "capabilities",
    )
    assert all(about["interface"][one] for one in wanted)
    assert len(about["interface"]["defaultPrompt"]) <= 3


def test_the_registrys_manifest_has_what_it_asks_for() -> None:
    about = read("server.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", about["name"])
    assert 1 <= len(about["description"]) <= 100
    assert 1 <= len(about["title"]) <= 100
    (package,) = about["packages"]
    assert {"registryType", "identifier", "transport"} <= package.keys()
    assert package["version"] == about["version"]
    assert VERSION.fullmatch(about["version"])
    for one in (*package["runtimeArguments"], *package["packageArguments"]):
        assert one["type"] in ("named", "positional")
        assert "value" in one
        assert ("name" in one) is (one["type"] == "named")
    for one in package["environmentVariables"]:
        assert one["format"] in ("string", "number", "boolean", "filepath")


@pytest.mark.parametrize(("name", "root"), [("claude-code", CLAUDE), ("codex", CODEX)])
def test_every_moment_calls_our_hook_and_the_page_has_its_head(name: str, root: str) -> None:
    called = set()
    for groups in read(f"{root}/hooks/hooks.json")["hooks"].values():
        for one in (hook for group in groups for hook in group["hooks"]):
            assert one["type"] == "command"
            assert one["timeout"] > 0
            words = shlex.split(one["command"])
            assert (words[:2], words[3:]) == (["lamina", "hook"], ["--harness", name])
            called.add(words[2])
    assert called == set(VERBS)
    page = (ROOT / root / "skills" / "lamina" / "SKILL.md").read_text("utf-8")
    assert re.match(r"---\nname: lamina\ndescription: .{20,1024}\n---\n", page)


@pytest.mark.parametrize("root", [CLAUDE, CODEX])
def test_its_server_answers_and_its_hooks_end_well(root: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "HOME": str(tmp_path), "LAMINA_WORKSPACE": str(tmp_path / "w")}

    def run(words: list[str], said: str) -> str:
        done = subprocess.run(
            words, input=said, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(["lamina", "init", str(tmp_path / "w"), "--owner", "ana"], "")
    (entry,) = read(f"{root}/.mcp.json")["mcpServers"].values()
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    answer = run([entry["command"], *entry["args"]], json.dumps(hello) + "\n")
    assert json.loads(answer.splitlines()[0])["result"]["serverInfo"]["name"]
    (group,) = read(f"{root}/hooks/hooks.json")["hooks"]["SessionStart"]
    started = {
        "session_id": "s1",
        "cwd": str(tmp_path),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    run(shlex.split(group["hooks"][0]["command"]), json.dumps(started))
