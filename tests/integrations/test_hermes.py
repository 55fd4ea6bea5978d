"""Hermes's own loader and manager on our provider: heard once, people apart, what waits is said to wait."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina

pytestmark = pytest.mark.filterwarnings("default")  # what a framework warns of is its own affair
pytest.importorskip("agent.memory_provider", reason="pip install hermes-agent, in an environment of its own")

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "memory" / "lamina"
SECRET = "-".join(["hunter2", "Blue"])
SAID = [
    ("Remember that our deploy day is Thursday", "our deploy day is Thursday"),
    ("จำไว้ว่าฉันแพ้กุ้ง", "ฉันแพ้กุ้ง"),
    ("记住：我的预算是五千元", "我的预算是五千元"),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of Hermes with our plugin in it, where a person would put it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tools"]:
        monkeypatch.delitem(sys.modules, name)  # Hermes has `tools` of its own
    monkeypatch.setattr(sys, "path", [one for one in sys.path if Path(one or ".").resolve() != ROOT])
    shutil.copytree(PLUGIN, tmp_path / "hermes" / "plugins" / "lamina")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    return tmp_path / "hermes"


@pytest.fixture
def session(home: Path) -> Iterator[Any]:
    """What starts a session of Hermes with the provider that its loader finds."""
    from agent.memory_manager import MemoryManager  # noqa: PLC0415 not everybody has it

    from plugins.memory import load_memory_provider  # noqa: PLC0415

    made: list[Any] = []

    def start(name: str, **kwargs: Any) -> Any:
        manager = MemoryManager()
        provider = load_memory_provider("lamina")
        assert provider is not None
        assert provider.is_available()
        manager.add_provider(provider)
        manager.initialize_all(name, **{"platform": "cli", **kwargs})
        made.append(manager)
        return manager

    yield start
    for manager in made:
        manager.shutdown_all()


def kept(home: Path, **who: Any) -> list[str]:
    with lamina.open(home / "lamina") as engine:
        return [one.text for one in engine.scope(**who).list(spaces=["user"], limit=100).items]


def called(manager: Any, tool: str, **args: Any) -> Any:
    return json.loads(manager.handle_tool_call(f"lamina_{tool}", args))


def test_hermes_finds_the_plugin_and_its_description(home: Path) -> None:
    from plugins.memory import discover_memory_providers  # noqa: PLC0415 not everybody has it

    found = {name: (told, there) for name, told, there in discover_memory_providers()}
    assert found["lamina"][1]
    assert "govern" in found["lamina"][0]


@pytest.mark.parametrize(("words", "lasting"), SAID)
def test_what_is_said_in_a_turn_is_known_in_the_next_session(
    words: str, lasting: str, home: Path, session: Any
) -> None:
    first = session("s1")
    messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}]
    for _ in range(2):  # a turn may be handed over again
        first.sync_all(words, "Noted.", session_id="s1", messages=messages)
    assert first.flush_pending(timeout=20)
    assert kept(home) == [lasting]
    second = session("s2")
    assert lasting in second.prefetch_all(words, session_id="s2")
    assert "lamina_recall" in second.build_system_prompt()


def test_the_tools_obey_the_gates_and_say_what_waits(home: Path, session: Any) -> None:
    manager = session("s1")
    assert manager.get_all_tool_names() == {"lamina_recall", "lamina_remember", "lamina_forget"}
    assert {one["name"] for one in manager.get_all_tool_schemas()} == manager.get_all_tool_names()
    done = called(manager, "remember", text="The build takes ten minutes")
    assert done["status"] == "kept"
    found = called(manager, "recall", query="How long does the build take?")["memories"]
    assert found[0]["text"] == "The build takes ten minutes"
    refused = called(manager, "remember", text=f"The wifi password is {SECRET}")
    assert refused["status"] == "refused"
    assert SECRET not in json.dumps(refused)
    assert called(manager, "forget", id=done["ids"][0])["status"] == "forgotten"
    assert called(manager, "forget", id="user:bob:semantic:1")["code"] == "not_found"
    assert called(manager, "remember", text="")["error"]
    assert "The build takes ten minutes" not in kept(home)


def test_people_of_a_gateway_are_kept_apart(home: Path, session: Any) -> None:
    ana = session("s1", platform="telegram", user_id="17")
    ana.sync_all("Remember that I live in Osaka", "Noted.", session_id="s1")
    assert ana.flush_pending(timeout=20)
    assert "Osaka" in ana.prefetch_all("Where do I live?")
    for other in (
        session("s2", platform="telegram", user_id="18"),
        session("s3", platform="discord", user_id="17"),
        session("s4"),
    ):
        assert "Osaka" not in other.prefetch_all("Where do I live?")
        assert called(other, "recall", query="Where do I live?")["memories"] == []


@pytest.mark.parametrize(
    "kwargs", [{"agent_context": "subagent"}, {"agent_context": "cron"}, {"platform": "cron"}]
)
def test_where_no_person_speaks_nothing_is_written(kwargs: Any, home: Path, session: Any) -> None:
    manager = session("s1", **kwargs)
    manager.sync_all("Remember that I live in Osaka", "Noted.", session_id="s1")
    assert manager.flush_pending(timeout=20)
    assert called(manager, "remember", text="The build takes ten minutes")["status"] == "refused"
    assert kept(home) == []


def test_what_the_person_forgets_in_a_turn_stays_forgotten(home: Path, session: Any) -> None:
    manager = session("s1")
    for words in (
        "Remember that my sister Maria lives in Hanoi",
        "Forget that my sister Maria lives in Hanoi",
    ):
        manager.sync_all(words, "Done.", session_id="s1", messages=[{"role": "user", "content": words}])
    assert manager.flush_pending(timeout=20)
    assert kept(home) == []
    assert called(manager, "remember", text="Her sister Maria lives in Hanoi")["status"] == "refused"
    waits = called(manager, "remember", text="The sister Maria has a flat in Hanoi")
    assert waits["status"] == "waits"
    assert "waits for the person" in waits["why"]
    assert kept(home) == []


def test_the_settings_are_kept_in_a_file_of_ours(home: Path, tmp_path: Path, session: Any) -> None:
    from plugins.memory import load_memory_provider  # noqa: PLC0415 not everybody has it

    provider: Any = load_memory_provider("lamina")
    assert [one["key"] for one in provider.get_config_schema()] == ["workspace"]
    assert provider.backup_paths() == []
    provider.save_config({"workspace": str(tmp_path / "elsewhere")}, str(home))
    assert provider.backup_paths() == [str(tmp_path / "elsewhere")]
    manager = session("s1")
    assert called(manager, "remember", text="The build takes ten minutes")["status"] == "kept"
    manager.on_session_switch("s2", parent_session_id="s1", reset=True)
    assert called(manager, "recall", query="build")["memories"]
    assert (tmp_path / "elsewhere").is_dir()
