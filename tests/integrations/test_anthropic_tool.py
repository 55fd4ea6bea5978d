"""Claude's memory tool on Lamina answers as the one that its own SDK brings, and its files are memories."""

from __future__ import annotations

import asyncio
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import lamina
from tests.effort import times


@cache
def claude() -> SimpleNamespace:
    """The SDK's tools and ours, when a test wants them: every worker imports this file, and the SDK takes
    longer than all of us."""
    local = pytest.importorskip("anthropic.tools.memory", reason="pip install 'lamina[anthropic]'")
    ours = import_module("lamina.integrations.anthropic")
    return SimpleNamespace(
        ToolError=import_module("anthropic.lib.tools").ToolError,
        LocalTool=local.BetaLocalFilesystemMemoryTool,
        MemoryTool=ours.MemoryTool,
        AsyncMemoryTool=ours.AsyncMemoryTool,
    )


def said(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except claude().ToolError as error:
        return f"ERROR {error}"


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with lamina.open(tmp_path / "w", owner="ana") as opened:
        yield opened


@pytest.fixture
def tool(engine: lamina.Engine) -> Any:
    return claude().MemoryTool(engine.scope(agent="claude"))


def view(path: str, **more: Any) -> dict[str, Any]:
    return {"command": "view", "path": path, **more}


def create(path: str, text: str) -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


NAMES = st.sampled_from(
    ["/memories/a.md", "/memories/b.md", "/memories/d/a.md", "/memories/d/e/c.md", "/memories/d"]
)
TEXTS = st.sampled_from(
    ["", "\n", "one\ntwo\nthree\n", "one", "ชา\nกาแฟ", "茶\r\n咖啡\n", "x" * 1536, '{"file_text": 1}']
)
WORDS = st.sampled_from(["one", "two", "o", "ชา", "茶", "", "nothing"])
COMMANDS = st.one_of(
    st.builds(create, NAMES, TEXTS),
    st.builds(view, NAMES | st.just("/memories")),
    st.builds(
        lambda path, a, b: view(path, view_range=[a, b]), NAMES, st.integers(-1, 4), st.integers(-1, 4)
    ),
    st.builds(
        lambda p, o, n: {"command": "str_replace", "path": p, "old_str": o, "new_str": n}, NAMES, WORDS, WORDS
    ),
    st.builds(
        lambda p, n, t: {"command": "insert", "path": p, "insert_line": n, "insert_text": t},
        NAMES,
        st.integers(-1, 5),
        TEXTS,
    ),
)
LATER = st.one_of(
    st.builds(lambda path: {"command": "delete", "path": path}, NAMES | st.just("/memories")),
    st.builds(lambda a, b: {"command": "rename", "old_path": a, "new_path": b}, NAMES, NAMES),
)


def comparable(answer: str) -> str:
    """Without the size of a folder, which is a file system's own."""
    return re.sub(r"^\S+\t(/memories(?:/d)?|/memories\S*/)$", r"\1", answer, flags=re.M)


@settings(max_examples=times(25, 60))
@given(commands=st.lists(COMMANDS, max_size=12), last=st.lists(LATER, max_size=1))
def test_it_answers_what_the_sdks_own_tool_answers(
    commands: list[dict[str, Any]], last: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("both")
    theirs = claude().LocalTool(str(folder / "theirs"))
    with lamina.open(folder / "ours", owner="ana", embedder="none") as engine:
        ours = claude().MemoryTool(engine.scope(agent="claude"))
        known: set[str] = set()
        for command in [*commands, *last]:
            path = str(command.get("path", ""))
            if command["command"] == "create" and (path == "/memories/d" or path in known):
                known.add(path)  # a folder and a file of one name: file systems differ in what they say
            if path == "/memories/d" and command["command"] in ("create", "str_replace", "insert"):
                continue
            if command["command"] == "rename" and "/memories/d" in (command["old_path"], command["new_path"]):
                continue
            assert comparable(said(ours, command)) == comparable(said(theirs, command)), command


def test_a_folder_is_shown_two_levels_deep_with_sizes(tool: Any) -> None:
    for path, text in (
        ("a.md", "x" * 18),
        ("d/b.md", "y" * 4096),
        ("d/e/f.md", "z" * 1536),
        (".hidden", "h"),
    ):
        tool.call(create(f"/memories/{path}", text))
    head = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    shown = ["5.5K\t/memories", "18B\t/memories/a.md", "5.5K\t/memories/d/", "4K\t/memories/d/b.md"]
    assert tool.call(view("/memories")) == "\n".join([head, *shown, "1.5K\t/memories/d/e/"])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/memoriesX/a", "Path must start with /memories, got: /memoriesX/a"),
        ("/etc/passwd", "Path must start with /memories, got: /etc/passwd"),
        ("/memories/../x", "Path /memories/../x would escape /memories directory"),
        ("/memories/%2e%2e/x", "Path /memories/%2e%2e/x would escape /memories directory"),
        ("/memories/a\\b", "Path /memories/a\\b cannot be used."),
        ("/memories/a\x00b", "Path /memories/a\x00b cannot be used."),
        ("/memories/a%2fb", "Path /memories/a%2fb cannot be used."),
    ],
)
def test_a_path_that_leaves_the_folder_is_refused(path: str, told: str, tool: Any) -> None:
    assert said(tool, create(path, "x")) == f"ERROR {told}"


def test_a_file_is_a_memory_that_its_person_finds_and_forgets(engine: lamina.Engine, tool: Any) -> None:
    tool.call(create("/memories/drinks.md", "Ana drinks green tea\n"))
    (hit, *_) = engine.scope().recall("What does Ana drink?").hits
    assert hit.text == "Ana drinks green tea\n"
    tool.call(
        {"command": "insert", "path": "/memories/drinks.md", "insert_line": 1, "insert_text": "and water"}
    )
    tea = [one for one in engine.scope().recall("What does Ana drink?").hits if "tea" in one.text]
    assert [(one.id, one.text) for one in tea] == [(hit.id, "Ana drinks green tea\nand water\n")]
    engine.scope().forget(hit.id)
    assert "does not exist" in said(tool, view("/memories/drinks.md"))


def test_a_secret_is_refused_and_nothing_is_stored(engine: lamina.Engine, tool: Any) -> None:
    secret = "-".join(["hunter2", "Blue"])
    told = said(tool, create("/memories/wifi.md", f"The wifi password is {secret}"))
    assert told.startswith("ERROR ")
    assert "does not exist" in said(tool, view("/memories/wifi.md"))
    tool.call(create("/memories/wifi.md", "The wifi is slow"))
    change = {"command": "str_replace", "path": "/memories/wifi.md", "old_str": "slow"}
    assert said(tool, {**change, "new_str": f"password: {secret}"}).startswith("ERROR ")
    assert "slow" in said(tool, view("/memories/wifi.md"))


def test_one_persons_files_are_not_anothers(engine: lamina.Engine) -> None:
    claude().MemoryTool(engine.scope(user="ana", agent="claude")).call(create("/memories/a.md", "Ana's"))
    other = claude().MemoryTool(engine.scope(user="bob", agent="claude"))
    assert "does not exist" in said(other, view("/memories/a.md"))
    other.call(create("/memories/a.md", "Bob's"))
    assert (
        other.call({"command": "delete", "path": "/memories/a.md"}) == "Successfully deleted /memories/a.md"
    )
    assert "Ana's" in said(
        claude().MemoryTool(engine.scope(user="ana", agent="claude")), view("/memories/a.md")
    )


def test_it_can_be_awaited_and_cleared(engine: lamina.Engine) -> None:
    tool = claude().AsyncMemoryTool(engine.scope(agent="claude"))
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    told = asyncio.run(tool.call(create("/memories/a.md", "x")))
    assert told == "File created successfully at: /memories/a.md"
    assert claude().MemoryTool(engine.scope(agent="claude")).clear_all_memory() == "All memory cleared"
    with pytest.raises(claude().ToolError, match="does not exist"):
        asyncio.run(tool.call(view("/memories/a.md")))
