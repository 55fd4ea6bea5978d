"""Lamina, embedded, with a store of its own for each case."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace

import lamina
from lamina.errors import LaminaError
from lamina.scoped import ScopedMemory
from lamina_govern.system import Party

_WHO = {
    Party.PERSON: {"user": "ana"},
    Party.AGENT: {"user": "ana", "agent": "planner"},
    Party.TOOL: {"user": "ana", "agent": "web", "role": "tool"},
    Party.STRANGER: {"user": "bob"},
}


@dataclass(frozen=True)
class Lamina:
    """One engine, as one party sees it."""

    engine: lamina.Engine
    folder: tempfile.TemporaryDirectory[str]
    party: Party = Party.PERSON
    name: str = "Lamina"

    @property
    def _memory(self) -> ScopedMemory:
        return self.engine.scope(**_WHO[self.party], session="s1")  # type: ignore[arg-type]

    def speaking_as(self, party: Party) -> Lamina:
        return replace(self, party=party)

    def add(self, text: str) -> None:
        self._memory.remember(text)

    def search(self, query: str) -> list[str]:
        return [hit.text for hit in self._memory.recall(query)]

    def context(self, task: str) -> str:
        return self._memory.context(task).text

    def forget(self, text: str) -> None:
        for hit in self._memory.recall(text):
            if hit.text == text:
                self._memory.forget(hit.id)

    def purge(self, text: str) -> None:
        for hit in self._memory.recall(text):
            if hit.text == text:
                self._memory.purge(hit.id, now=True)

    def jobs(self) -> None:
        for job in self._memory.jobs():
            try:
                self.engine.scope(user="ana", role="admin").run_job(job.job)
            except LaminaError:
                continue

    def export(self) -> str:
        return "".join(self._memory.export_lines())


def fresh() -> Lamina:
    folder = tempfile.TemporaryDirectory()
    os.environ.setdefault("LAMINA_HOME", tempfile.mkdtemp())
    return Lamina(lamina.open(f"{folder.name}/w", owner="ana"), folder)
