"""OpenClaw's own loader and gateway on our plugin. Without an `openclaw` on the path, its manifest alone."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

import lamina

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "openclaw"
LAMINA = Path(sys.executable).parent / "lamina"
TOOLS = ["memory_get", "memory_search", "memory_store"]
OPENCLAW = shutil.which("openclaw")
SECRET = "-".join(["hunter2", "Blue"])

real = pytest.mark.skipif(
    OPENCLAW is None, reason="npm install openclaw, with Node 24, and put it on the path"
)


def read(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text("utf-8"))


def test_the_manifest_declares_every_tool_and_what_may_be_set() -> None:
    manifest, package = read("openclaw.plugin.json"), read("package.json")
    code = (PLUGIN / "index.js").read_text("utf-8")
    assert sorted(re.findall(r'^    name: "(\w+)"', code, re.M)) == TOOLS == manifest["contracts"]["tools"]
    assert (manifest["id"], manifest["kind"], manifest["version"]) == ("lamina", "memory", package["version"])
    jsonschema.Draft202012Validator.check_schema(manifest["configSchema"])
    assert set(re.findall(r"config\.(\w+)", code)) == manifest["configSchema"]["properties"].keys()
    assert [PLUGIN / one for one in package["openclaw"]["extensions"]] == [PLUGIN / "index.js"]
    page = (ROOT / "docs" / "guides" / "openclaw.md").read_text("utf-8")
    (shown,) = re.findall(r"^```json\n(.*?)^```", page, re.M | re.S)
    own = json.loads(shown)["plugins"]
    assert own["slots"] == {"memory": manifest["id"]}
    jsonschema.validate(own["entries"]["lamina"]["config"], manifest["configSchema"])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of OpenClaw as the page shows it, on a memory of ours."""
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        engine.scope().remember("Ana lives in Lisbon")
    plugins = {
        "load": {"paths": [str(PLUGIN)]},
        "slots": {"memory": "lamina"},
        "entries": {
            "lamina": {
                "enabled": True,
                "config": {
                    "workspace": str(tmp_path / "memory"),
                    "command": str(LAMINA),
                    "timeoutMs": 100_000,
                },
            }
        },
    }
    gateway = {"mode": "local", "bind": "loopback", "auth": {"mode": "token", "token": "of-this-test-only"}}
    (tmp_path / "claw").mkdir()
    config = tmp_path / "claw" / "openclaw.json"
    config.write_text(json.dumps({"gateway": gateway, "plugins": plugins}), "utf-8")
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "claw"))
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(config))
    return tmp_path


@pytest.fixture
def invoke(home: Path) -> Iterator[Any]:
    """What calls a tool through a gateway that runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = [str(OPENCLAW), "gateway", "run", "--port", str(port)]
    with (
        subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as gateway,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client,
    ):
        told: list[str] = []
        for line in gateway.stdout or ():
            told.append(line)
            if "http server listening" in line:
                break

        def call(tool: str, **args: Any) -> Any:
            answer = client.post(
                "/tools/invoke",
                json={"tool": tool, "args": args},
                headers={"Authorization": "Bearer of-this-test-only"},
            )
            assert answer.status_code == 200, (answer.text, told)
            return answer.json()["result"]["details"]

        try:
            yield call
        finally:
            gateway.terminate()
            gateway.communicate(timeout=60)


@real
def test_openclaw_loads_it_into_the_memory_slot(home: Path) -> None:
    run = [str(OPENCLAW), "plugins", "inspect", "lamina", "--runtime", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    plugin = json.loads(done.stdout)["plugin"]
    assert (plugin["status"], plugin["activationReason"]) == ("loaded", "selected memory slot")
    assert sorted(plugin["toolNames"]) == TOOLS


@real
@pytest.mark.slow
def test_its_tools_answer_through_the_gateway(invoke: Any, home: Path) -> None:
    told = invoke("memory_search", query="Where does Ana live?")
    assert "results" in told, told
    (found,) = told["results"]
    assert (found["snippet"], found["trust"]) == ("Ana lives in Lisbon", "trusted")
    assert invoke("memory_get", path=found["path"])["text"] == "Ana lives in Lisbon"
    assert invoke("memory_get", path="user:bob:semantic:1")["status"] == "not_found"
    for text in ("The build takes ten minutes", "ลูกค้าชอบชาเขียว", "客戶在台北"):
        assert invoke("memory_store", text=text)["status"] == "kept"
        assert invoke("memory_search", query=text, maxResults=1)["results"][0]["snippet"] == text
    refused = invoke("memory_store", text=f"The wifi password is {SECRET}")
    assert refused["status"] == "refused"
    assert SECRET not in json.dumps(refused)
    with lamina.open(home / "memory") as engine:
        said = engine.scope().remember("My sister Maria lives in Hanoi")
        engine.scope().forget(said.ids[0])
    assert invoke("memory_store", text="The sister Maria has a flat in Hanoi")["status"] == "waits"


#: The plugin on a host that has what it asks of OpenClaw: who writes is what the host says.
HOST = """
import plugin from "./plugin/index.js";
const tools = {};
plugin.register({
  pluginConfig: { workspace: process.argv[2], command: process.argv[3] },
  registerMemoryCapability() {},
  registerTool(factory, { names: [name] }) { tools[name] = factory; },
});
for (const [name, context, given, id] of JSON.parse(process.argv[4])) {
  const told = await tools[name](context).execute(id, given);
  console.log(JSON.stringify(told.details));
}
"""


@real
def test_people_are_kept_apart_and_a_call_that_comes_again_is_carried_out_once(home: Path) -> None:
    package = Path(str(OPENCLAW)).resolve()
    package = next(one for one in package.parents if (one / "package.json").exists())
    (home / "node_modules").mkdir()
    (home / "node_modules" / "openclaw").symlink_to(package)
    shutil.copytree(PLUGIN, home / "plugin")
    (home / "host.mjs").write_text(HOST, "utf-8")
    bob = {"requesterSenderId": "17", "messageChannel": "telegram"}
    asked: list[Any] = [
        ["memory_search", bob, {"query": "Where does Ana live?"}, "c1"],
        ["memory_get", bob, {"path": "user:ana:semantic:1"}, "c2"],
        ["memory_store", bob, {"text": "Bob drinks tea"}, "c3"],
        ["memory_store", bob, {"text": "Bob drinks tea"}, "c3"],
        ["memory_search", {**bob, "senderIsOwner": True}, {"query": "Who drinks tea?"}, "c4"],
        ["memory_search", {}, {"query": "Where does Ana live?"}, "c5"],
    ]
    node = ["node", str(home / "host.mjs"), str(home / "memory"), str(LAMINA), json.dumps(asked)]
    done = subprocess.run(node, capture_output=True, text=True, timeout=120, cwd=home)
    assert done.returncode == 0, done.stderr
    search, got, kept, again, owner, local = [json.loads(line) for line in done.stdout.splitlines()]
    assert (search["results"], got["status"]) == ([], "not_found")
    assert kept["status"] == "kept"
    assert kept == again
    assert owner["results"] == [] or "tea" not in owner["results"][0]["snippet"]
    assert local["results"][0]["snippet"] == "Ana lives in Lisbon"
    with lamina.open(home / "memory") as engine:
        mine = engine.scope(user="telegram.17").list(spaces=["user"]).items
        assert [one.text for one in mine] == ["Bob drinks tea"]
