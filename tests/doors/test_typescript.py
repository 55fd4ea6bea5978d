"""The TypeScript client: current, run by Node against a real server, and checked by the compiler where it is.

Packages of npm are looked for in the folder that `LAMINA_TEST_NODE` names (`npm install typescript ai mem0ai`
in it); what needs one that is not there is skipped and says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.doors.http.app import document
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right
from tests.operations.serving import serving
from tools.typescript import PACKAGE, camel, made, operations

PROGRAMS = Path(__file__).parents[1] / "data" / "node"
NODE = shutil.which("node")
MODULES = Path(os.environ.get("LAMINA_TEST_NODE", "/nowhere")) / "node_modules"
with_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")


def needs(package: str) -> Path:
    """The folder of an npm package; skipped where there is none."""
    if not (MODULES / package).is_dir():
        pytest.skip(f"npm install {package}, and name its folder in LAMINA_TEST_NODE")
    return MODULES / package


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana") as opened:
        yield opened


class World:
    """A server, and Node beside it."""

    def __init__(self, engine: Engine, url: str, folder: Path) -> None:
        self.engine, self.url, self.folder = engine, url, folder
        modules = folder / "node_modules"
        modules.mkdir(parents=True)
        (modules / "lamina-client").symlink_to(PACKAGE)
        for one in sorted(MODULES.glob("*")) if MODULES.is_dir() else ():
            (modules / one.name).symlink_to(one)

    def token(self, **details: Any) -> str:
        return create_token(self.engine, "node", **details)[1]

    def run(self, program: str, token: str, **more: str) -> str:
        (self.folder / "program.mjs").write_text(program, "utf-8")
        given = {
            **os.environ,
            "LAMINA_URL": self.url,
            "LAMINA_TOKEN": token,
            "MEM0_TELEMETRY": "false",
            **more,
        }
        done = subprocess.run(
            [str(NODE), "program.mjs"],
            cwd=self.folder,
            env=given,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answers(self, program: str, token: str, **more: str) -> Any:
        return json.loads(self.run(program, token, **more))


@pytest.fixture
def world(engine: Engine, tmp_path: Path) -> Iterator[World]:
    with serving(engine) as url:
        yield World(engine, url, tmp_path / "node")


def programs() -> list[str]:
    return re.findall(r"^```js\n(.*?)^```", (PACKAGE / "README.md").read_text("utf-8"), re.M | re.S)


def test_what_is_made_from_the_document_is_current() -> None:
    for path, text in made().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run `python -m tools.typescript`"


def test_every_answer_of_the_api_has_a_type() -> None:
    api = document()
    for name, method, path, one in operations(api):
        for status, answer in one["responses"].items():
            if status.startswith("2") and status != "204":
                for content in answer["content"].values():
                    schema = content["schema"]
                    bare = schema.get("type") == "object" and "properties" not in schema
                    assert schema, (name, method, path, status)
                    assert not bare, (name, method, path, status)


def test_the_package_has_no_dependencies_and_the_version_of_the_server() -> None:
    about = json.loads((PACKAGE / "package.json").read_text("utf-8"))
    assert not {one for one in about if one.endswith("ependencies")}
    assert about["version"] == document()["info"]["version"]
    for one in PACKAGE.glob("*.js"):
        assert not re.findall(r'from "(?!\./)', one.read_text("utf-8")), one.name


@with_node
def test_the_program_of_the_page_runs(world: World) -> None:
    said = world.run(programs()[0], world.token(rights=("read", "write"))).splitlines()
    assert re.fullmatch(r"Ana drinks green tea (?:0\.[0-9]+|1)", said[0])
    assert said[1].startswith("not_found - ")


WALK = (PROGRAMS / "walk.mjs").read_text("utf-8")


@with_node
@pytest.mark.parametrize(
    ("who", "text"),
    [
        ("bob", "Bob keeps bees"),
        ("ภูมิ", "ภูมิเลี้ยงผึ้งไว้ที่บ้าน"),
        ("小林", "小林家裡養了很多蜜蜂"),
        ("小李", "小李家里养了很多蜜蜂"),
    ],
)
def test_a_service_walks_through_the_verbs_in_node(world: World, who: str, text: str) -> None:
    token = world.token(agent="app", acts_for=(who,), rights=("read", "write"))
    told = world.answers(WALK, token, WHO=who, TEXT=text)

    def refusal(code: str, status: int, **more: Any) -> dict[str, Any]:
        usual = {"hint": True, "receipt": None, "fields": [], "retryable": False}
        return {"code": code, "status": status, **usual, **more}

    assert told == {
        "same": True,
        "text": text,
        "found": True,
        "listed": 1,
        "stale": refusal("revision_mismatch", 412),
        "revised": "admitted",
        "steps": 2,
        "held": "held",
        "denied": told["denied"],
        "wrong": refusal("invalid_input", 422, fields=["body.k"], hint=told["wrong"]["hint"]),
        "missing": refusal("field_missing", 0, hint=False),
        "unknown": refusal("field_unknown", 0, hint=False),
        "odd": told["odd"],
        "right": refusal("right_missing", 403),
        "other": refusal("user_other", 404, hint=told["other"]["hint"]),
        "nobody": refusal("server_unreachable", 0, retryable=True),
        "late": refusal("server_unreachable", 0, retryable=True),
        "badUrl": refusal("url_invalid", 0),
        "badToken": refusal("token_invalid", 0),
        "forgot": "admitted",
        "export": "string",
        "dot": told["dot"],
        "health": "ok",
    }
    assert (told["denied"]["status"], told["denied"]["receipt"]) == (403, told["denied"]["code"])
    assert told["odd"]["status"] in (404, 422)
    assert "graph" in told["dot"]


NAMES = (
    'import { Lamina } from "lamina-client"; console.log(JSON.stringify(Reflect.ownKeys(Lamina.prototype)));'
)


@with_node
def test_every_operation_of_the_document_is_a_method(world: World) -> None:
    wanted = {
        camel(one["operationId"]) for methods in document()["paths"].values() for one in methods.values()
    }
    assert {*world.answers(NAMES, "t")} == wanted | {"constructor", "scope", "request"}


@with_node
def test_the_compiler_agrees_with_the_types_and_finds_mistakes(world: World) -> None:
    compiler = needs("typescript") / "bin" / "tsc"
    process = "declare const process: { env: Record<string, string> };\n"
    good = "const who: string | null = (await memory.status()).caller.user;\nexport { who };\n"
    bad = 'const many: string = (await memory.recall({ quest: "x" })).hits;\nexport { many };\n'
    options = [
        "--strict",
        "--noEmit",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--lib",
        "es2023,dom",
        "--types",
    ]

    def checked(program: str) -> str:
        (world.folder / "program.mts").write_text(process + program, "utf-8")
        command = [str(NODE), str(compiler), *options, "--types", "", "program.mts"]
        done = subprocess.run(command, cwd=world.folder, capture_output=True, text=True, timeout=180)
        return done.stdout

    assert checked(programs()[0] + good) == ""
    said = checked(programs()[0] + bad)
    assert "'quest' does not exist in type 'RecallRequest'" in said
    assert "Type 'Hit[]' is not assignable to type 'string'" in said


AI = (PROGRAMS / "ai.mjs").read_text("utf-8")


@with_node
def test_the_ai_sdk_calls_the_tools(world: World) -> None:
    needs("ai")
    world.engine.scope().remember("Ana drinks green tea")
    token = world.token(rights=(Right.READ, Right.WRITE))
    told = world.answers(AI, token)
    assert (told["text"], told["hit"]) == ("tea", "Ana drinks green tea")
    assert len(told["offered"]) >= 10
    assert "memory_recall" in world.run(programs()[1], token)


@with_node
@pytest.mark.parametrize(
    ("own", "who", "text", "question"),
    [
        (None, "bob", "Bob drinks green tea", "What does Bob drink?"),
        ("ภูมิ", "ภูมิ", "ภูมิชอบดื่มชาเขียว", "ภูมิชอบดื่มอะไร"),
        ("小林", "小林", "小林喜歡喝綠茶", "小林喜歡喝什麼"),
    ],
)
def test_mem0s_own_client_works_unmodified(
    world: World, own: str | None, who: str, text: str, question: str
) -> None:
    assert json.loads((needs("mem0ai") / "package.json").read_text("utf-8"))["version"] >= "3.3"
    mine = {"user": own} if own else {}
    token = world.token(agent="app", role="user", acts_for=(who, "cleo"), **mine)
    given = {
        "HOST": f"{world.url}/compat/mem0",
        "WHO": who,
        "OTHER": "cleo",
        "TEXT": text,
        "QUESTION": question,
    }
    told = world.answers((PROGRAMS / "mem0.mjs").read_text("utf-8"), token, **given)
    assert told == {
        "added": [["ADD", text]],
        "found": [True, who, "number", "string"],
        "all": [1, None, 1],
        "got": text,
        "updated": f"{text} 2",
        "history": [["ADD", text], ["UPDATE", f"{text} 2"]],
        "users": sorted([who, "cleo"]),
        "batched": f"{text} 3",
        "heard": True,
        "apart": True,
        "missing": ["MemoryNotFoundError", True],
        "foreign": ["MemoryNotFoundError", True],
        "key": told["key"],
        "left": 0,
        "gone": 0,
        "deleted": ["Entity deleted successfully.", 0],
        "old": 0,
        "one": "Memory deleted successfully!",
    }
    assert told["key"][0] == "AuthenticationError"
