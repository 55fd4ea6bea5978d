"""What happened: kept for a while, longer where it is found again, and in one line for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from lamina.engine.details import chosen, draft_of, whole_number
from lamina.engine.request import Request, Verb
from lamina.model import Kind, Layer, Memory, Receipt, Space
from lamina.storage.layers import LayerRows
from lamina.storage.lexicon import Lexicon
from lamina_search.decay import EPISODE_LIFE
from lamina_text.accounts import Episode, Result, episode_of, episode_text
from lamina_text.normal import well_formed

if TYPE_CHECKING:
    from lamina.engine.mind import Mind

MOST_TOPICS = 20


class Happened(TypedDict, total=False):
    """What else is known of an episode."""

    topics: Sequence[str]
    outcome: str
    group: str | None
    duration_ms: int | None


@dataclass(frozen=True, slots=True)
class Episodes:
    """What happened with the caller's user; nobody else's episodes are within reach."""

    mind: Mind

    def record(self, summary: str, **happened: Unpack[Happened]) -> Receipt:
        """Keep what happened for 90 days."""
        engine, scope, now = self.mind.engine, self.mind.scope, self.mind.engine.now()
        topics = [well_formed(one, "topic", 100) for one in happened.get("topics") or ()][:MOST_TOPICS]
        outcome = chosen(Result, happened.get("outcome") or Result.UNKNOWN, "outcome")
        duration, group = happened.get("duration_ms"), happened.get("group")
        meta = {
            "topics": topics, "outcome": outcome.value,
            "group": None if group is None else well_formed(group, "group", 128),
            "duration_ms": None if duration is None else whole_number(duration, "duration_ms", 0, 2**53),
        }  # fmt: skip
        details: Any = {"kind": Kind.EPISODE, "layer": Layer.EPISODIC, "ttl": f"{EPISODE_LIFE.days}d"}
        text = episode_text(well_formed(summary, "summary", engine.config.max_text_chars).strip(), topics)
        draft = draft_of(scope, text, details, now, engine.config.max_text_chars + 3000, engine.book.rules)
        draft = replace(draft, place="episode", meta=meta, tags=tuple(topics))
        judged = engine.judge(draft)
        request = Request(verb=Verb.REMEMBER, scope=scope, at=now, draft=draft, decision=judged)
        return engine.carry_out(request)

    def find(self, topic: str = "", limit: int = 5) -> list[Episode]:
        """Those about a topic, best first; without one, the most recent."""
        whole_number(limit, "limit", 1, 1000)
        if topic.strip():
            hits = self.mind.recall(topic, k=limit, layers=[Layer.EPISODIC], spaces=[Space.USER])
            found = self.mind.loaded([hit.id for hit in hits])
        else:
            found = self._newest(limit)
        return [episode_of(one, self.mind.scope.user) for one in found]

    def _newest(self, limit: int) -> list[Memory]:
        engine, now, name = self.mind.engine, self.mind.engine.now(), self.mind.scope.shelf(Space.USER) or ""

        def work(transaction: Any) -> list[Memory]:
            known = Lexicon(transaction).shelf(name)
            rows = LayerRows(transaction)
            return rows.newest(Layer.EPISODIC, known[0], now, limit) if known else []

        found = engine.database.read(work)
        engine.reads.note([one.id for one in found], now)
        return found
