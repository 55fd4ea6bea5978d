"""What happened: kept for a while, longer where it is found again, and in one line for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from lamina.language.recap import recap
from lamina.layers.writing import drafted, kept
from lamina.model import Kind, Layer, Receipt
from lamina.ranking.decay import EPISODE_LIFE
from lamina.read.shelves import episodes_about
from lamina.read.snapshot import look
from lamina.records import dataclass
from lamina.text.accounts import Episode, Result, episode_text
from lamina.text.normalise import well_formed
from lamina.write.details import chosen, whole_number
from lamina.write.store import Caller

MOST_TOPICS = 20


class Happened(TypedDict, total=False):
    """What else is known of an episode."""

    topics: Sequence[str]
    outcome: str
    group: str | None
    duration_ms: int | None
    derived_from: Sequence[str]


@dataclass(frozen=True, slots=True)
class Episodes:
    """What happened with the caller's user; nobody else's episodes are within reach."""

    caller: Caller

    def record(self, summary: str, **happened: Unpack[Happened]) -> Receipt:
        """Keep what happened for 90 days; topics, decisions and outcome not given are drawn from it."""
        said = well_formed(summary, "summary", self.caller.store.config.max_text_chars).strip()
        drawn = recap(said, book=self.caller.store.ruleset.rules)
        given = happened.get("topics") or drawn.topics
        topics = [well_formed(one, "topic", 100) for one in given][:MOST_TOPICS]
        outcome = chosen(Result, happened.get("outcome") or drawn.outcome or Result.UNKNOWN, "outcome")
        duration, group = happened.get("duration_ms"), happened.get("group")
        meta = {
            "topics": topics,
            "outcome": outcome.value,
            "decisions": list(drawn.decisions),
            "group": None if group is None else well_formed(group, "group", 128),
            "duration_ms": None if duration is None else whole_number(duration, "duration_ms", 0, 2**53),
        }
        life = f"{EPISODE_LIFE.days}d"
        details = {"kind": Kind.EPISODE, "layer": Layer.EPISODIC, "ttl": life, "tags": topics}
        details["derived_from"] = happened.get("derived_from") or ()
        draft = drafted(self.caller, episode_text(said, topics), details, place="episode", meta=meta)
        return kept(self.caller, draft)

    def find(self, topic: str = "", limit: int = 5) -> list[Episode]:
        """Those about a topic, best first; without one, the most recent."""
        whole_number(limit, "limit", 1, 1000)
        return look(self.caller, lambda snapshot: episodes_about(snapshot, topic, limit))
