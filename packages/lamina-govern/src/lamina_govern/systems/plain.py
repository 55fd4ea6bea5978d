"""A list that forgets: the least a memory can be, and how short an adapter is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lamina_govern.system import Party


@dataclass(frozen=True)
class Plain:
    """Texts in a list for each person; whoever speaks is believed."""

    name: str = "a plain list"
    owner: str = "ana"
    texts: dict[str, list[str]] = field(default_factory=dict)

    def speaking_as(self, party: Party) -> Plain:
        return replace(self, owner="bob" if party is Party.STRANGER else "ana")

    def add(self, text: str) -> None:
        self.texts.setdefault(self.owner, []).append(text)

    def search(self, query: str) -> list[str]:
        wanted = {query[at : at + 2].casefold() for at in range(len(query) - 1)}
        known = self.texts.get(self.owner, [])
        return [text for text in known if any(pair in text.casefold() for pair in wanted)]

    def context(self, task: str) -> str:
        return "\n".join(self.search(task))

    def forget(self, text: str) -> None:
        self.texts.get(self.owner, []).remove(text)

    purge = forget

    def jobs(self) -> None:
        """There are none."""

    def export(self) -> str:
        return "\n".join(self.texts.get(self.owner, []))


def fresh() -> Plain:
    return Plain()
