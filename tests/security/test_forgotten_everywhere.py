"""Every operation, with forgotten words in each of its fields: no agent gets them into a memory again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import lamina
from lamina.errors import LaminaError
from lamina.model import plain
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Operation
from lamina.policy.consent import same_value
from lamina.scoped import ScopedMemory

SAID = ("My brother Tomas was in prison in Riga", "ผมผ่อนบ้านที่ระยองกับวิชัย", "我弟弟在高雄開了一家麵店")
#: Who, where and when: none of them is kept as words of a memory.
_NOT_SAID = {"session", "run", "project", "user", "agent", "as_of", "since", "until", "name"}
_LEFT_OUT = {"run_job", "import_files", "export", "erase", "backup", "move", "create_token", "teach"}
_WHERE = {"space": "user", "to": "project", "origin": "correction", "outcome": "success", "ttl": "none"}


def _values(operation: Operation, field: str, said: str, known: str) -> Iterator[dict[str, Any]]:
    """Requests with the words in one field, and something harmless in the others that are needed."""
    hints = get_type_hints(operation.request)
    needed: dict[str, Any] = {}
    for one in dataclasses.fields(operation.request):
        bare = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if bare or one.name in _WHERE:
            needed[one.name] = _harmless(one.name, hints[one.name], known)
    kind = str(hints[field])
    for value in (said, [said], {"notes": [said]}, [{"text": said}]):
        if ("Sequence" in kind or "tuple" in kind or "list" in kind) and not isinstance(value, list):
            continue
        if "Mapping" in kind and not isinstance(value, dict | list):
            continue
        yield {**needed, field: value}


def _harmless(name: str, hint: Any, known: str) -> Any:
    if name in _WHERE:
        return _WHERE[name]
    if "id" in name or name in ("memory", "other"):
        return known
    if "int" in str(hint) or "float" in str(hint):
        return 1
    return ["the kettle"] if "Sequence" in str(hint) or "tuple" in str(hint) else "The kettle is on the stove"


def _readable(engine: lamina.Engine, planner: ScopedMemory) -> str:
    """What was written last, what waits, and what an agent reads of it beside."""
    ana = engine.scope(project="p")
    newest = planner.list(limit=12).items
    found = [*ana.list(limit=12).items, *newest, *ana.pending()]
    steps = [step for one in newest for step in planner.history(one.id)]
    told = [planner.phases(space) for space in ("session", "user")]
    graph = [planner.relations(one.id) for one in newest[:3]]
    return json.dumps([plain(one) for one in (found, steps, told, graph)], ensure_ascii=False, default=str)


@pytest.mark.parametrize("said", SAID)
def test_no_field_of_no_operation_brings_it_back(said: str, tmp_path: Path, lamina_home: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana", understanding=False) as engine:
        ana = engine.scope()
        ana.forget(ana.remember(said).ids[0])
        planner = engine.scope(agent="planner", speaks_for=False, session="s2", project="p")
        tried = 0
        for name, operation in OPERATIONS.items():
            if not operation.changes or name in _LEFT_OUT:
                continue
            for field in dataclasses.fields(operation.request):
                if field.name in _NOT_SAID:
                    continue
                known = planner.remember(f"Kettle number {tried} is on the stove").ids[0]
                for request in _values(operation, field.name, said, known):
                    tried += 1
                    with suppress(LaminaError, TypeError, ValueError, AttributeError):
                        operation.run(planner, operation.request(**request))
                    assert same_value(said) not in same_value(_readable(engine, planner)), (name, field.name)
        assert tried > 100
        assert engine.verify_audit().findings == ()
