"""deepagents against the real package: its files are memories, gates obeyed, people apart."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina

pytestmark = pytest.mark.filterwarnings("default")  # what a framework warns of is its own affair
pytest.importorskip("deepagents", reason="pip install 'lamina[deepagents]', in an environment of its own")

SECRET = "-".join(["hunter2", "Blue"])


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[lamina.Engine]:
    with lamina.open(tmp_path / "w", owner="ana") as opened:
        yield opened


def backend(engine: lamina.Engine, user: str = "ana") -> Any:
    from lamina.integrations.deepagents import LaminaBackend  # noqa: PLC0415 not everybody has it

    return LaminaBackend(engine.scope(user=user, agent="helper"))


def test_files_are_written_read_found_and_gone(engine: lamina.Engine) -> None:
    files = backend(engine)
    texts = {
        "/notes/deploy.md": "Deploy on Thursday\nnever on Friday\n",
        "/ชา.md": "ฉันชอบชาเขียว",
        "/茶.md": "我喜歡喝茶",
    }
    for path, text in texts.items():
        assert files.write(path, text).path == path
        assert files.write(path, text).error is None  # a retry
        assert files.read(path).file_data["content"] == text
    assert [one["path"] for one in files.ls("/").entries] == ["/notes/", "/ชา.md", "/茶.md"]
    assert [one["path"] for one in files.ls("/notes").entries] == ["/notes/deploy.md"]
    assert {one["path"] for one in files.glob("*.md").matches} == texts.keys()
    assert [(one["path"], one["line"]) for one in files.grep("Friday").matches] == [("/notes/deploy.md", 2)]
    assert files.read("/notes/deploy.md", offset=1, limit=1).file_data["content"] == "never on Friday\n"
    assert files.edit("/notes/deploy.md", "Thursday", "Monday").occurrences == 1
    assert "not found" in files.edit("/notes/deploy.md", "Sunday", "x").error
    assert files.download_files(["/notes/deploy.md", "/notes", "/no", "/../x"]) == [
        files.download_files(["/notes/deploy.md"])[0],
        *(
            type(files.download_files(["/no"])[0])(path=path, error=error)
            for path, error in (
                ("/notes", "is_directory"),
                ("/no", "file_not_found"),
                ("/../x", "invalid_path"),
            )
        ),
    ]
    assert files.delete("/notes").error is None
    assert "not found" in files.delete("/notes").error
    assert "not found" in files.read("/notes/deploy.md").error
    assert engine.verify_audit().findings == ()


def test_a_write_that_is_refused_is_an_error_and_no_file(engine: lamina.Engine) -> None:
    files = backend(engine)
    done = files.write("/wifi.md", f"The wifi password is {SECRET}")
    assert done.path is None
    assert SECRET not in done.error
    assert files.ls("/").entries == []
    (loaded, binary) = files.upload_files([("/a.md", b"tea"), ("/b.png", b"\x89PNG\xff")])
    assert loaded.error is None
    assert "UTF-8" in binary.error
    for bad in ("/../x", "~/x", "C:/x", "/", "/a.md/b.md"):
        assert files.write(bad, "x").error, bad
    assert [one["path"] for one in files.ls("/").entries] == ["/a.md"]


def test_what_the_person_forgot_is_not_written_again(engine: lamina.Engine) -> None:
    files, words = backend(engine), "My sister Maria lives in Hanoi"
    files.write("/people.md", words)
    (one,) = engine.scope().list(spaces=["user"]).items
    engine.scope().forget(one.id)
    assert files.read("/people.md").error
    assert files.write("/people.md", words).error
    assert files.write("/people.md", "My brother lives in Lisbon").error is None


def test_people_are_kept_apart_by_the_runtime_of_a_graph(engine: lamina.Engine) -> None:
    from deepagents import create_deep_agent  # noqa: PLC0415 not everybody has it
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: PLC0415
    from langchain_core.messages import AIMessage  # noqa: PLC0415

    from lamina.integrations.deepagents import LaminaBackend  # noqa: PLC0415

    class Writer(GenericFakeChatModel):
        """Says what it is told to, whatever tools it has."""

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    def run(user: str, *calls: dict[str, Any]) -> str:
        said = [
            AIMessage(content="", tool_calls=[{**call, "id": f"c{number}"}])
            for number, call in enumerate(calls)
        ]
        model = Writer(messages=iter([*said, AIMessage(content="Done.")]))
        own = LaminaBackend(lambda runtime: engine.scope(user=runtime.context["user"], agent="helper"))
        agent = create_deep_agent(model=model, backend=own, context_schema=dict)
        told = agent.invoke({"messages": [("user", "Go")]}, context={"user": user})
        return "\n".join(str(one.content) for one in told["messages"] if one.type == "tool")

    wrote = run("ana", {"name": "write_file", "args": {"file_path": "/tea.md", "content": "Ana drinks tea"}})
    assert "/tea.md" in wrote
    assert "Ana drinks tea" in run("ana", {"name": "read_file", "args": {"file_path": "/tea.md"}})
    assert "not found" in run("bob", {"name": "read_file", "args": {"file_path": "/tea.md"}})
    held = run(
        "ana", {"name": "write_file", "args": {"file_path": "/p.md", "content": f"password is {SECRET}"}}
    )
    assert "Error" in held


def test_two_edits_at_once_lose_nothing(engine: lamina.Engine) -> None:
    files = backend(engine)
    files.write("/list.md", "one\ntwo\n")

    async def both() -> None:
        await asyncio.gather(files.aedit("/list.md", "one", "1"), files.aedit("/list.md", "two", "2"))

    asyncio.run(both())
    assert files.read("/list.md").file_data["content"] == "1\n2\n"


def test_claudes_memory_tool_has_the_same_files(engine: lamina.Engine) -> None:
    anthropic = pytest.importorskip("anthropic")
    from lamina.integrations.anthropic import MemoryTool  # noqa: PLC0415 not everybody has it

    assert anthropic.__version__
    assert importlib.metadata.version("deepagents")
    backend(engine).write("/plan.md", "Ship on Monday")
    told = MemoryTool(engine.scope(user="ana", agent="claude")).call(
        {"command": "view", "path": "/memories/plan.md"}
    )
    assert "Ship on Monday" in str(told)
