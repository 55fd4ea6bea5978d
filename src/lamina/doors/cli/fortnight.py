"""The two weeks before the tour, in a demo workspace: what a person and two agents really asked of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from lamina.doors.cli.call import Call
from lamina.engine import Engine
from lamina.late import files
from lamina.operations.asking import request_of
from lamina.operations.catalogue import OPERATIONS
from lamina.scoped import ScopedMemory

_DECIDED = "memory/{day}.md"
_REVERSED = 5  #: days ago, when the second decision took the first one's place
_HOUR = timedelta(hours=9)


def live_a_fortnight(call: Call, root: Path, now: datetime) -> int:
    """Everything of `data/fortnight.json`, each on its day, day by day; how many things were asked."""
    steps = json.loads(_data("fortnight.json"))
    _write_decisions(root, now)
    for ago, some in groupby(steps, key=lambda step: int(step["ago"])):
        at = (now - timedelta(days=ago)).replace(hour=0, minute=0, second=0, microsecond=0) + _HOUR
        with replace(call, given=replace(call.given, at=at)).engine() as engine:
            for step in some:
                _carry_out(engine, step)
            if ago == _REVERSED:
                first, second = (_decision(now, days) for days in (12, _REVERSED))
                engine.scope(via="cli").supersede_decision(first, second, "three broken bowls in a week")
    return len(steps)


def _carry_out(engine: Engine, step: Mapping[str, Any]) -> None:
    role, _, agent = str(step["by"]).partition(":")
    memory = engine.scope(agent=agent, via="mcp") if role == "agent" else engine.scope(via="cli")
    values = dict(step["with"])
    if found := _BY_WORDS.get(step["do"]):
        found(memory, values)
        return
    operation = OPERATIONS[step["do"]]
    operation.run(memory, request_of(operation, values))


def _forget(memory: ScopedMemory, values: dict[str, Any]) -> None:
    memory.forget(_said(memory, values["query"]), reason=values["reason"])


def _revise(memory: ScopedMemory, values: dict[str, Any]) -> None:
    memory.revise(_said(memory, values["query"]), values["text"], reason=values["reason"])


#: What is done to a memory that is named by its words, for its id is not known beforehand.
_BY_WORDS: Mapping[str, Callable[[ScopedMemory, dict[str, Any]], None]] = {
    "forget_said": _forget,
    "revise_said": _revise,
}


def _said(memory: ScopedMemory, text: str) -> str:
    return next(one.id for one in memory.list(limit=500).items if one.text == text)


def _write_decisions(root: Path, now: datetime) -> None:
    """A file of the workspace with two decisions, as a person or a job would have written it."""
    days = {"first": now - timedelta(days=12), "second": now - timedelta(days=_REVERSED)}
    text = _data("decisions.md")
    for name, at in days.items():
        text = text.replace(f"{{{name}}}", f"{at:%Y%m%d}").replace(f"{{{name}_date}}", f"{at:%Y-%m-%d}")
    place = root / _DECIDED.format(day=f"{days['first']:%Y-%m-%d}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


def _decision(now: datetime, ago: int) -> str:
    slug = "ship-with-kerry" if ago != _REVERSED else "ship-with-flash"
    return f"DECISION-{now - timedelta(days=ago):%Y%m%d}-{slug}"


def _data(name: str) -> str:
    return (files(__package__) / "data" / name).read_text("utf-8")
