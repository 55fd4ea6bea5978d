"""A memory provider for Hermes: what is known before a turn, what was said in it, and tools for the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.memory_provider import MemoryProvider
from hermes_constants import get_hermes_home

from lamina.durable import put_file
from lamina.engine import Engine
from lamina.errors import LaminaError
from lamina.integrations.heard import hear_once
from lamina.integrations.items import refused
from lamina.model import Outcome
from lamina.scoped import ScopedMemory

_SETTINGS = "lamina.json"
_HITS = 8
_HELP = (
    "Lamina keeps this person's memory, which they govern. What is known about a turn stands in the memory "
    "context; search for more with lamina_recall. What the person says that lasts is kept by itself: use "
    "lamina_remember for what you found out. A result `waits` is not kept until the person agrees."
)


def _tool(name: str, told: str, **fields: str) -> dict[str, Any]:
    given = {one: {"type": "string", "description": what} for one, what in fields.items()}
    parameters = {"type": "object", "properties": given, "required": list(given)}
    return {"name": f"lamina_{name}", "description": told, "parameters": parameters}


TOOLS = [
    _tool("recall", "Search the person's memory.", query="What you want to know, in plain words."),
    _tool("remember", "Keep one fact that you found out and that will matter later.", text="The fact."),
    _tool("forget", "Forget a memory; the person can restore it.", id="The memory's id, from lamina_recall."),
]


class LaminaProvider(MemoryProvider):
    """The memory of whoever a session is with: the workspace's owner, or a user of a gateway, each their own.

    Nothing is written for sessions in which no person speaks: scheduled ones and those of sub-agents.
    """

    def __init__(self, opens: Callable[..., Engine]) -> None:
        self._opens = opens  #: `lamina.open`, which stands above this module
        self._engine: Engine | None = None
        self._who: dict[str, str] = {}
        self._session, self._turns, self._writes = "", 0, True

    @property
    def name(self) -> str:
        """What `memory.provider` is set to."""
        return "lamina"

    def is_available(self) -> bool:
        """Always: it needs no network, no key and no model."""
        return True

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Where the memory is."""
        return [
            {
                "key": "workspace",
                "description": "The folder of the memory, or the URL of a store",
                "default": str(Path(get_hermes_home()) / "lamina"),
            }
        ]

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        """Keep the settings in a file of ours in Hermes's home."""
        told = json.dumps(dict(values), ensure_ascii=False, indent=1) + "\n"
        put_file(Path(hermes_home) / _SETTINGS, told.encode("utf-8"))

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the memory for a session. Raises a LaminaError where it cannot be opened."""
        self.shutdown()
        self._engine = self._opens(_place(Path(str(kwargs.get("hermes_home") or get_hermes_home()))))
        self._session, self._turns = session_id, 0
        platform, user = str(kwargs.get("platform") or "cli"), kwargs.get("user_id")
        self._writes = kwargs.get("agent_context") in (None, "", "primary") and platform != "cron"
        self._who = {"agent": str(kwargs.get("agent_identity") or "hermes")}
        self._who |= {"user": f"{platform}.{user}"} if user else {}

    def system_prompt_block(self) -> str:
        """How the model uses this memory."""
        return _HELP if self._engine else ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is known about a question, fenced as data, with ids."""
        memory = self._memory(session_id)
        return memory.context(query).text if memory and query.strip() else ""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Hear a turn: the person's words with their weight, the answer as the agent's; once each."""
        self._turns += 1
        memory = self._memory(session_id)
        if memory is None or not self._writes:
            return
        said = sum(one.get("role") == "user" for one in messages) if messages else self._turns
        for person, text in ((True, user_content), (False, assistant_content)):
            key = f"hermes:{memory.scope.session}:{said}:{person}:{text}"
            hear_once(memory, key, person, text or "")

    def on_session_switch(self, new_session_id: str, **_: Any) -> None:
        """Go on in another session."""
        self._session, self._turns = new_session_id, 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools of the model."""
        return [dict(one) for one in TOOLS]

    def handle_tool_call(self, tool_name: str, args: Mapping[str, Any], **_: Any) -> str:
        """Carry out a tool; the answer, or what went wrong, as JSON."""
        try:
            return json.dumps(self._carried_out(tool_name, args), ensure_ascii=False)
        except LaminaError as error:
            return json.dumps({"error": str(error), "code": error.code}, ensure_ascii=False)

    def backup_paths(self) -> list[str]:
        """The folder of the memory, where it is not in Hermes's home, which is copied as a whole."""
        home = Path(get_hermes_home())
        place = _place(home)
        return [str(place)] if isinstance(place, Path) and not place.is_relative_to(home) else []

    def shutdown(self) -> None:
        """Close the memory."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def _memory(self, session: str = "") -> ScopedMemory | None:
        who: Any = {**self._who, "session": session or self._session or None}
        return self._engine.scope(**who) if self._engine else None

    def _carried_out(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        memory, name = self._memory(), tool.removeprefix("lamina_")
        given = str(args.get({"recall": "query", "remember": "text"}.get(name, "id")) or "")
        if memory is None or name not in ("recall", "remember", "forget"):
            return {"error": f"There is no tool {tool}." if memory else "The memory is not open."}
        if name == "recall":
            hits = memory.recall(given, k=_HITS).hits
            return {"memories": [{"id": hit.id, "text": hit.text, "trust": str(hit.trust)} for hit in hits]}
        if not self._writes:
            return {"status": "refused", "why": "Nobody speaks in this session: nothing is written in it."}
        receipt = memory.remember(given) if name == "remember" else memory.forget(given)
        if receipt.decision in (Outcome.DENIED, Outcome.HELD):
            status = "waits" if receipt.decision is Outcome.HELD else "refused"
            return {"status": status, "code": receipt.code, "why": str(refused(receipt))}
        return {"status": "kept" if name == "remember" else "forgotten", "ids": list(receipt.ids)}


def _place(home: Path) -> Path | str:
    """The folder of the memory, or the URL of its store, by our settings in Hermes's home."""
    try:
        told = json.loads((home / _SETTINGS).read_text("utf-8"))
    except (OSError, ValueError):
        told = None
    where = str((told.get("workspace") if isinstance(told, dict) else None) or home / "lamina")
    return where if "://" in where else Path(where).expanduser()
