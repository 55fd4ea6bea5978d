"""LangGraph's InMemoryStore, as its documentation uses it: a namespace for each person."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import uuid4

from langgraph.store.memory import InMemoryStore

from lamina_govern.system import Party


@dataclass(frozen=True)
class Graph:
    """A store and the namespace of whoever speaks; without an index a search gives all items."""

    name: str = "LangGraph InMemoryStore"
    owner: str = "ana"
    store: InMemoryStore = field(default_factory=InMemoryStore)

    def speaking_as(self, party: Party) -> Graph:
        return replace(self, owner="bob" if party is Party.STRANGER else "ana")

    def add(self, text: str) -> None:
        self.store.put((self.owner, "memories"), str(uuid4()), {"text": text})

    def search(self, query: str) -> list[str]:
        found = self.store.search((self.owner, "memories"), query=query, limit=1000)
        return [str(item.value["text"]) for item in found]

    def context(self, task: str) -> str:
        return "\n".join(self.search(task))

    def forget(self, text: str) -> None:
        for item in self.store.search((self.owner, "memories"), limit=1000):
            if item.value["text"] == text:
                self.store.delete(item.namespace, item.key)

    purge = forget

    def jobs(self) -> None:
        """There are none."""

    def export(self) -> str:
        return "\n".join(self.search(""))


def fresh() -> Graph:
    return Graph()
