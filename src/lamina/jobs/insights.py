"""The job `insights`: at most once a day, a model is asked what can be made out about each person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from lamina.errors import LaminaError
from lamina.jobs.job import Task
from lamina.jobs.turns import turns_between
from lamina.jobs.writer import Asking
from lamina.layers.insights import MOST_INSIGHTS, keep, material_of
from lamina.model import quoted
from lamina.storage.small_tables import Marks
from lamina.write.store import Caller, callers_of

PROMPT = "insights-1"
_REST = timedelta(hours=24)
_RECENT = timedelta(days=3)  #: how far back the first look at a person goes
_MAX_TOKENS = 220
_ITEM: dict[str, Any] = {
    "type": "object",
    "required": ["summary"],
    "properties": {
        "summary": {"type": "string", "maxLength": 600},
        "tags": {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 40}},
        "importance": {"type": "integer"},
    },
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["insights"],
    "properties": {"insights": {"type": "array", "maxItems": MOST_INSIGHTS, "items": _ITEM}},
}


def insights(task: Task) -> None:
    """Ask about everybody of whom something is new, unless they were asked about within a day.

    Without a language model there is nothing to do, and the report says so.
    """
    if task.writer is None:
        task.notes.append("This needs a language model, and none is set (`writer`): nothing was made out.")
        return
    asked = 0
    for caller in callers_of(task.store):
        task.check()
        since = _last_asked(task, caller)
        if since is not None and task.now - since < _REST:
            continue
        since = since or task.now - _RECENT
        said = (turn.text for turn in turns_between(caller, since, task.now))
        material = material_of(caller, said, since)
        if not material:
            continue
        try:
            proposed = _proposed(task, material)
        except LaminaError as error:
            task.notes.append(f"The language model failed ({error.code}); the rest waits for the next run.")
            break
        asked += 1
        _kept(task, caller, proposed)
    task.figures["people_asked_about"] = asked


def _proposed(task: Task, material: str) -> Sequence[Mapping[str, Any]]:
    asking = Asking(
        prompt=PROMPT,
        material=material,
        schema=_SCHEMA,
        max_tokens=_MAX_TOKENS,
        timeout_s=min(60.0, task.deadline.left_s()),
    )
    assert task.writer is not None  # noqa: S101 asked before
    found: list[Mapping[str, Any]] = task.writer.write(asking).value["insights"]
    return found


def _kept(task: Task, caller: Caller, proposed: Sequence[Mapping[str, Any]]) -> None:
    owner = quoted(caller.scope.user)
    # Marked first: a run that is cut off asks no second time within the day.
    task.store.database.write(lambda tx: Marks(tx, "insights", owner).put("asked", task.now))
    made = keep(caller, proposed, PROMPT)
    if made.ids:
        task.changes.append(f"{owner}: {len(made.ids)} insights")
    if made.refused:
        task.notes.append(f"{owner}: {len(made.refused)} not kept ({', '.join(sorted(set(made.refused)))})")
    task.figures["insights"] = task.figures.get("insights", 0) + len(made.ids)


def _last_asked(task: Task, caller: Caller) -> datetime | None:
    known = task.store.database.read(
        lambda tx: Marks(tx, "insights", quoted(caller.scope.user)).since(task.now - timedelta(days=3650))
    )
    return known["asked"].at if "asked" in known else None
