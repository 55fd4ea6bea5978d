"""Home: what is known about the person, what waits for them, what changed, and whether all is well."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from starlette.responses import Response

from lamina.language.acknowledge import acknowledge, refusal
from lamina.model import Heard, Outcome, Right, State
from lamina.read.stats import Stats
from lamina.studio.visit import StudioPage, Visit

#: What counts as writing; everything else that is counted reads.
WRITES = frozenset({"create", "update", "merge", "delete", "restore", "link", "extract"})
_DAYS, _NEWEST = 28, 6


def home(visit: Visit) -> StudioPage:
    """The first screen."""
    stats: Stats = visit.ask_once("stats", by="day", days=_DAYS)
    newest = visit.ask("list", limit=_NEWEST, count=False)
    status = visit.ask_once("status") if visit.may(Right.ADMIN) else None
    data: dict[str, Any] = {
        "profile": visit.ask_once("me"),
        "newest": newest.items,
        "total": _in_state(stats, State.ACTIVE),
        "forgotten": _in_state(stats, State.SOFT_DELETED),
        "by_day": by_day(stats),
        "status": status,
    }
    return StudioPage(template="home.html", title="home", data=data, more={"days": _DAYS})


def say(visit: Visit) -> Response:
    """One turn of the person's own, and what became of it."""
    heard: Heard = visit.ask("hear", text=visit.field("text"))
    refused = [one.code for one in heard.receipts if one.decision is Outcome.DENIED]
    if heard.acknowledgement:
        visit.tell(heard.acknowledgement)
    elif refused in ([], ["write_policy_context"]):
        visit.tell(acknowledge("passing", visit.words.language))
    else:
        visit.tell(acknowledge(refusal(refused[0]), visit.words.language), sort="problem")
    return visit.back_to("/")


def _in_state(stats: Stats, state: State) -> int:
    return sum(states.get(state, 0) for states in stats.memories.values())


def by_day(stats: Stats) -> dict[str, dict[str, int]]:
    """Day to how much was written and read."""
    found: dict[str, dict[str, int]] = {}
    for count in stats.counts:
        day = found.setdefault(_day(count.since), {"written": 0, "read": 0})
        day["written" if count.op in WRITES else "read"] += count.count
    return found


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
