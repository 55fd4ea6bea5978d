"""What happened: kept for a while, longer where it is found again, and in one line for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

from lamina.layers.drafting import drafted, kept, newest
from lamina.model import Kind, Layer, Receipt, Space
from lamina.ranking.decay import EPISODE_LIFE
from lamina.ranking.tiers import is_likely
from lamina.text.accounts import Episode, Result, episode_of, episode_text
from lamina.text.normalise import well_formed
from lamina.write.details import chosen, whole_number

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory

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

    mind: ScopedMemory

    def record(self, summary: str, **happened: Unpack[Happened]) -> Receipt:
        """Keep what happened for 90 days."""
        topics = [well_formed(one, "topic", 100) for one in happened.get("topics") or ()][:MOST_TOPICS]
        outcome = chosen(Result, happened.get("outcome") or Result.UNKNOWN, "outcome")
        duration, group = happened.get("duration_ms"), happened.get("group")
        meta = {
            "topics": topics,
            "outcome": outcome.value,
            "group": None if group is None else well_formed(group, "group", 128),
            "duration_ms": None if duration is None else whole_number(duration, "duration_ms", 0, 2**53),
        }
        life = f"{EPISODE_LIFE.days}d"
        details = {"kind": Kind.EPISODE, "layer": Layer.EPISODIC, "ttl": life, "tags": topics}
        said = well_formed(summary, "summary", self.mind.engine.config.max_text_chars).strip()
        draft = drafted(self.mind, episode_text(said, topics), details, place="episode", meta=meta)
        return kept(self.mind, draft)

    def find(self, topic: str = "", limit: int = 5) -> list[Episode]:
        """Those about a topic, best first; without one, the most recent."""
        whole_number(limit, "limit", 1, 1000)
        if topic.strip():
            hits = self.mind.recall(topic, k=limit, layers=[Layer.EPISODIC], spaces=[Space.USER])
            found = self.mind.loaded([hit.id for hit in hits if is_likely(hit.scores)])
        else:
            found = newest(self.mind, Layer.EPISODIC, limit, (Space.USER,))
            self.mind.engine.reads.note([one.id for one in found], self.mind.engine.now())
        return [episode_of(one, self.mind.scope.user) for one in found]
