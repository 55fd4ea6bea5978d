"""What a system under test has to offer: eight methods. `systems/plain.py` is an example."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Party(StrEnum):
    """Who speaks. A system that cannot tell two of them apart gives the same view for both."""

    PERSON = "person"  #: whose memory it is
    AGENT = "agent"  #: an agent that works for the person
    TOOL = "tool"  #: a tool or a web page that the agent was shown
    STRANGER = "stranger"  #: another person with a memory of their own


class System(Protocol):
    """A memory, as one party sees it. Every method may raise: that counts as a refusal."""

    name: str

    def speaking_as(self, party: Party) -> System:
        """The same memory, as another party sees it."""

    def add(self, text: str) -> None:
        """Ask for a text to be remembered."""

    def search(self, query: str) -> list[str]:
        """The texts that are found for a question, best first."""

    def context(self, task: str) -> str:
        """What would stand in an agent's prompt for a task; `search` joined, where there is no such thing."""

    def forget(self, text: str) -> None:
        """The person wants this forgotten."""

    def purge(self, text: str) -> None:
        """The person wants every trace of this gone; like `forget` where there is no difference."""

    def jobs(self) -> None:
        """Run whatever the system does in the background, once."""

    def export(self) -> str:
        """Everything that the system would hand out about the person, as text."""
