"""basic-memory as its MCP server: a project for each person, each statement a note of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from lamina_govern.system import Party

_CASES, _NOTES, _LOOP = count(1), count(1), asyncio.new_event_loop()


@cache
def _home() -> str:
    return tempfile.mkdtemp()


@cache
def _server() -> Client[StdioTransport]:
    env = {**os.environ, "HOME": _home(), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
    program = str(Path(sys.executable).with_name("basic-memory"))
    client = Client(StdioTransport(program, ["mcp"], env=env))
    _LOOP.run_until_complete(client.__aenter__())
    return client


def _call(tool: str, **arguments: Any) -> Any:
    found = _LOOP.run_until_complete(_server().call_tool(tool, arguments))
    return found.structured_content


@dataclass(frozen=True)
class BasicMemory:
    """The project of whoever speaks; it tells nobody apart but by the project."""

    case: int
    notes: dict[tuple[str, str], str]  #: the note of a person's text
    owner: str = "ana"
    name: str = "basic-memory"

    @property
    def _project(self) -> str:
        return f"{self.owner}{self.case}"

    def speaking_as(self, party: Party) -> BasicMemory:
        return replace(self, owner="bob" if party is Party.STRANGER else "ana")

    def add(self, text: str) -> None:
        title = f"note {next(_NOTES)}"
        _call("write_note", title=title, content=text, directory="notes", project=self._project)
        self.notes[self._project, text] = title

    def search(self, query: str) -> list[str]:
        found = _call("search_notes", query=query, project=self._project, page_size=100)
        return [str(one["content"]) for one in found.get("result", found)["results"]]

    def context(self, task: str) -> str:
        return "\n".join(self.search(task))

    def forget(self, text: str) -> None:
        _call("delete_note", identifier=self.notes[self._project, text], project=self._project)

    purge = forget

    def jobs(self) -> None:
        """There are none that have to be waited for."""

    def export(self) -> str:
        return "\n".join(self.search("note"))


def fresh() -> BasicMemory:
    made = BasicMemory(next(_CASES), {})
    for owner in ("ana", "bob"):
        name = f"{owner}{made.case}"
        _call("create_memory_project", project_name=name, project_path=f"{_home()}/{name}")
    return made
