"""One question, one snapshot: an answer is never put together from two moments of the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory

ASKED: dict[str, Callable[[ScopedMemory], Any]] = {
    "context": lambda memory: memory.context("plan a dinner", changes_since=""),
    "recall": lambda memory: memory.recall("which milk?", changes_since=""),
    "search": lambda memory: memory.search("which milk?"),
    "list": lambda memory: memory.list(),
    "query": lambda memory: memory.query("which milk?"),
    "resolve": lambda memory: memory.resolve(),
    "changes": lambda memory: memory.changes(),
    "explain": lambda memory: memory.explain(memory.store.milk),  # type: ignore[attr-defined]
    "why_not": lambda memory: memory.why_not("which milk?", memory.store.milk),  # type: ignore[attr-defined]
}


class Counting:
    """A database that says how often it was read."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self.reads = 0

    def read(self, work: Callable[[Any], Any], **how: Any) -> Any:
        self.reads += 1
        return self._whole.read(work, **how)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


@pytest.mark.parametrize("session", [None, "s1"])
@pytest.mark.parametrize("verb", ASKED)
def test_a_verb_reads_once(engine: Engine, verb: str, session: str | None) -> None:
    """Files are taken in before; from then on everything is read in one transaction."""
    ana = engine.scope(session=session)
    engine.milk = ana.remember("Ana is lactose intolerant, so oat milk").ids[0]  # type: ignore[attr-defined]
    ana.hear("Remember that my tone is friendly")
    ana.layers.procedures.learn("plan a dinner", ["ask who comes", "buy milk"])
    ana.layers.episodes.record("We planned a dinner", topics=["dinner"])
    ana.propose("vegan", "user.diet", 0.6)
    counted = Counting(engine.database)
    engine.database = counted
    ASKED[verb](engine.scope(session=session))
    assert counted.reads == 1


def test_a_context_has_every_part_from_its_one_snapshot(ana: ScopedMemory) -> None:
    ana.layers.user_model.update({"name": "Ana"})
    ana.layers.procedures.learn("plan a dinner", ["ask who comes", "buy milk"])
    ana.layers.episodes.record("We planned a dinner", topics=["dinner"])
    ana.remember("Dinner is at seven")
    ana.propose("vegan", "user.diet", 0.6)
    made = ana.context("plan a dinner", changes_since="")
    names = {"user_model", "procedural_memory", "recent_episodes", "knowledge", "pending", "changes"}
    assert names <= made.parts.keys()
