"""The job `consolidate`: each night what says one thing twice becomes one memory, user by user."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from lamina.errors import LaminaError
from lamina.jobs.job import Task
from lamina.jobs.writer import Asking
from lamina.lifecycle.consolidate import JOB, REMEMBERED, Ask, Consolidated, consolidate
from lamina.model import quoted
from lamina.storage.small_tables import Marks
from lamina.write.store import Caller, Store, callers_of

PROMPT = "same-fact-1"
_VERDICT: dict[str, Any] = {
    "type": "object",
    "required": ["number", "verdict"],
    "properties": {
        "number": {"type": "integer"},
        "verdict": {"type": "string", "enum": ["same", "different"]},
    },
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["pairs"],
    "properties": {"pairs": {"type": "array", "maxItems": 20, "items": _VERDICT}},
}
_MAX_TOKENS = 300
_MARGIN_S = 60.0  #: nobody's turn begins with less time left
_TURNS = "consolidate-turns"
_COUNTS = tuple(one.name for one in fields(Consolidated) if one.name != "refused")


def consolidation(task: Task) -> None:
    """Everybody's turn, first whoever waits longest; counts are in the report.

    Whoever is not reached in the time there is comes first in the next run.
    """
    task.store.apply_reads()
    now, ask = task.now, _asker(task)
    day = now.astimezone(task.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    task.store.database.write(lambda tx: Marks(tx, JOB).drop(now - REMEMBERED))
    task.figures.update(dict.fromkeys(_COUNTS, 0))
    refused: Counter[str] = Counter()
    waiting = _in_turn(task.store)
    while waiting and task.deadline.left_s() > _MARGIN_S:
        caller = waiting.pop(0)
        told = consolidate(caller, day, ask, task.check)
        for name in _COUNTS:
            task.figures[name] += getattr(told, name)
        refused += told.refused
        owner = quoted(caller.scope.user)
        task.store.database.write(lambda tx: Marks(tx, _TURNS, owner).put(JOB, now))  # noqa: B023 run at once
        if told.merged:
            counts = f"{told.merged} merged, duplicates {told.duplicates_before} → {told.duplicates_after}"
            task.changes.append(f"{owner}: {counts}")
    task.notes += [f"{count} merges were refused ({code})." for code, count in sorted(refused.items())]
    task.notes += [f"{len(waiting)} users wait for the next run: the time was up."] if waiting else []
    _say_what_is_left(task)


def _in_turn(store: Store) -> list[Caller]:
    last = store.database.read(lambda tx: Marks(tx, _TURNS).owners(JOB))
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(callers_of(store), key=lambda caller: last.get(quoted(caller.scope.user), never))


def _say_what_is_left(task: Task) -> None:
    if over := task.figures["duplicates_after"]:
        why = "a day has its limit for each user, and what somebody took apart stays so"
        task.notes.append(f"{over} duplicates are left: {why}.")
    if differing := task.figures["differing"]:
        task.notes.append(f"{differing} pairs have different values and were left as they are.")
    if left := task.figures["left"]:
        why = "no language model is set (`writer`)" if task.writer is None else "the model was not asked"
        task.notes.append(f"{left} pairs may say the same; {why}, so they were left.")


def _asker(task: Task) -> Ask | None:
    """The Writer as the port of the work; after its first failure it is not asked again in this run."""
    writer, failed = task.writer, False
    if writer is None:
        return None

    def ask(pairs: Sequence[tuple[str, str]]) -> Sequence[bool | None] | None:
        nonlocal failed
        if failed:
            return None
        shown = [{"number": n, "one": one, "other": other} for n, (one, other) in enumerate(pairs)]
        asking = Asking(
            prompt=PROMPT,
            material=json.dumps(shown, ensure_ascii=False),
            schema=_SCHEMA,
            max_tokens=_MAX_TOKENS,
            timeout_s=min(60.0, task.deadline.left_s()),
        )
        try:
            answers = writer.write(asking).value["pairs"]
        except LaminaError as error:
            task.notes.append(f"The language model failed ({error.code}).")
            failed = True
            return None
        said = {each["number"]: each["verdict"] == "same" for each in answers}
        return [said.get(n) for n in range(len(pairs))]

    return ask
