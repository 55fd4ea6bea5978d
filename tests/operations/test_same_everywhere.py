"""One scenario, four ways to ask, two databases: the same answers, the same errors, the same ids."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.doors.client.verbs import verb_of
from lamina.doors.http.answers import wire
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Right
from lamina.testing import ManualClock
from tests.operations.serving import serving

JANUARY = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass(frozen=True)
class Step:
    """One call of a verb."""

    verb: str
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)


def step(verb: str, *args: Any, **named: Any) -> Step:
    return Step(verb, args, named)


FIRST, SECOND, THIRD = "user:ana:semantic:1", "user:ana:semantic:2", "user:ana:semantic:3"
SCENARIO = (
    step("remember", "Ana is lactose intolerant", kind="constraint", tags=("food",)),
    step("remember", "Ana is lactose intolerant", kind="constraint", tags=("food",)),
    step("remember", "อนาชอบชาเขียว", importance=4, category="drinks", reason="she said so"),
    step("remember", "安娜住在台北", space=lamina.Space.USER, pin=True),
    step("remember", "Thai", key="response.language"),
    step("remember", "once", idempotency_key="k-1"),
    step("remember", "once", idempotency_key="k-1"),
    step("remember", "twice", idempotency_key="k-1"),
    step("remember", "my password is hunter2Xq9vLw7"),
    step("remember", "x", importance=9),
    step("remember", "x", kind="nonsense"),
    step("remember", "x", tags="food"),
    step("remember", "x", colour="red"),
    step("remember", ""),
    step("remember"),
    step("get", FIRST),
    step("get", "user:ana:semantic:99"),
    step("get", "user:bob:semantic:1"),
    step("get", memory="x"),
    step("revise", FIRST, "Ana is lactose intolerant; oat milk is fine", expect=1, reason="she said so"),
    step("revise", FIRST, "Ana drinks milk", expect=1),
    step("revise", FIRST, "Ana drinks milk", expect=0),
    step("advance", days=2),
    step("recall", "which milk?"),
    step("recall", question="Ana", k=1, kinds=["constraint"], trusted_only=True, budget_tokens=100),
    step("recall", "tea", since=JANUARY),
    step("recall", "milk", as_of=JANUARY),
    step("recall", "milk", spaces=["galaxy"]),
    step("recall", "milk", k=0),
    step("recall", "milk", as_off=JANUARY),
    step("recall", "milk", changes_since=""),
    step("search", "oat milk", citations="on"),
    step("context", "buy milk", budget_tokens=200),
    step("resolve"),
    step("resolve", ["response.language"]),
    step("resolve", "response.language"),
    step("list"),
    step("list", kinds=["constraint"], limit=1),
    step("list", kinds=["nonsense"]),
    step("read_document", "memory/none.md"),
    step("decisions"),
    step("decision", "none"),
    step("history", FIRST),
    step("explain", FIRST),
    step("why_not", "favourite colour", FIRST),
    step("trace", 2),
    step("trace", 0),
    step("explain_event", 1),
    step(
        "hear",
        "Remember this for me: I prefer dark mode.",
        reply="I will.",
        tools=[{"tool": "x", "result": 1}],
    ),
    step("hear", "briefly please"),
    step("proposals"),
    step("confirm", "response.verbosity"),
    step("proposals", decided=True),
    step("reject"),
    step("query", "lactose", top_k=2, returns="full"),
    step("query", "lactose", filters={"colour": 1}),
    step("changes"),
    step("stats", days=7),
    step("link", FIRST, SECOND, type="part_of", strength=0.5),
    step("relations", FIRST),
    step("unlink", FIRST, SECOND, type="part_of"),
    step("unlink", FIRST, SECOND, type="part_of"),
    step("start_phase", name="second week"),
    step("phases"),
    step("phase_diff", 1, 2),
    step("compact", "user"),
    step("pin", FIRST, reason="it matters"),
    step("unpin", FIRST),
    step("remember", "Ana is lactose intolerant; oat milk is always fine"),
    step("merge", [FIRST, SECOND]),
    step("merge", [FIRST]),
    step("forget", "response.language", reason="she said so"),
    step("restore", "user:ana:profile:1"),
    step("forget", "no.such.key"),
    step("forget", THIRD),
    step("forget", THIRD),
    step("start_session", "s2"),
    step("session"),
    step("end_session"),
    step("learn", "The standup is at 9:30", concepts=["team"]),
    step("update_user_model", {"expertise": {"docker": "expert"}}),
    step("user_model"),
    step("learn_procedure", "deploy Docker", ["Ask which environment", "Show the checklist"]),
    step("find_procedures", "deploy docker"),
    step("used_procedure", "user:ana:procedural:1", outcome="success"),
    step("record_episode", "Moved the site to Osaka", topics=["hosting"]),
    step("find_episodes"),
    step("remove_from_user_model", "expertise.docker"),
    step("reset_user_model"),
    step("jobs"),
    step("policy"),
    step("purge", THIRD),
    step("purge", THIRD, now=True),
    step("verify_purge", THIRD),
    step("verify_audit"),
)
#: What became of a step: the type and the JSON of its answer, or the error and its code.
Told = tuple[str, Any]
Verb = Callable[..., Any]


async def in_turn(verb: Callable[[str], Verb], clock: ManualClock) -> list[tuple[Step, Told]]:
    """The whole scenario, a step after the other, and what became of each."""
    found: list[tuple[Step, Told]] = []
    for one in SCENARIO:
        if one.verb == "advance":
            clock.advance(**one.named)
            continue
        try:
            answer = verb(one.verb)(*one.args, **one.named)
            if inspect.isawaitable(answer):
                answer = await answer
            found.append((one, (type(answer).__name__, wire(answer))))
        except (lamina.LaminaError, TypeError) as error:
            found.append((one, (type(error).__name__, getattr(error, "code", None))))
    return found


async def embedded(engine: Engine, clock: ManualClock, _: str) -> list[tuple[Step, Told]]:
    memory = engine.scope(session="s1", via="http")
    return await in_turn(lambda name: verb_of(memory, name), clock)


async def remote(engine: Engine, clock: ManualClock, token: str) -> list[tuple[Step, Told]]:
    with serving(engine) as url, lamina.connect(url, token) as there:
        memory = there.scope(session="s1")
        return await in_turn(lambda name: getattr(memory, name), clock)


async def awaited(engine: Engine, clock: ManualClock, _: str) -> list[tuple[Step, Told]]:
    """Its own engine on the same files, opened with `await`."""
    assert engine.root is not None
    settings = {"store": engine.config.store, "tenant": engine.config.tenant, "owner": "ana", "clock": clock}
    engine.close()
    async with lamina.aopen(engine.root, **settings) as opened:
        memory = opened.scope(session="s1", via="http")
        return await in_turn(lambda name: getattr(memory, name), clock)


async def awaited_remote(engine: Engine, clock: ManualClock, token: str) -> list[tuple[Step, Told]]:
    with serving(engine) as url:
        there = await lamina.aconnect(url, token)
        memory = there.scope(session="s1")
        found = await in_turn(lambda name: getattr(memory, name), clock)
        await there.close()
        return found


def asked(way: Any, folder: Path, **settings: Any) -> list[tuple[Step, Told]]:
    """What one way of asking says of a new memory."""
    clock = ManualClock()
    folder.mkdir(exist_ok=True)
    with lamina.open(folder / way.__name__, clock=clock, owner="ana", **settings) as engine:
        _, token = create_token(engine, "test", rights=tuple(Right))
        return asyncio.run(way(engine, clock, token))


@pytest.mark.parametrize("way", [remote, awaited, awaited_remote])
def test_every_way_of_asking_says_the_same(way: Any, tmp_path: Path) -> None:
    for expected, found in zip(asked(embedded, tmp_path), asked(way, tmp_path), strict=True):
        assert found == expected


@pytest.mark.parametrize("way", [embedded, remote])
def test_postgresql_says_what_sqlite_says(way: Any, tmp_path: Path, postgres_store: str) -> None:
    other = asked(way, tmp_path / "other", store=postgres_store)
    for expected, found in zip(asked(embedded, tmp_path), other, strict=True):
        # A database has places of its own where traces of a memory are looked for, and its own event 1.
        apart = ("purge", "verify_purge", "explain_event")
        assert unnumbered(found) == unnumbered(expected) or found[0].verb in apart


def unnumbered(told: Any) -> Any:
    """The same without the numbers of events, which count within a chain (decision 0027)."""
    if isinstance(told, dict):
        return {name: unnumbered(value) for name, value in told.items() if name != "seq"}
    return [unnumbered(one) for one in told] if isinstance(told, list | tuple) else told


def test_the_scenario_meets_every_kind_of_answer(tmp_path: Path) -> None:
    """A scenario in which everything failed alike would prove nothing."""
    found = [outcome for _, outcome in asked(embedded, tmp_path)]
    kinds = Counter(kind for kind, _ in found)
    errors = {"InvalidInput", "NotFound", "Conflict", "TypeError"}
    assert errors <= kinds.keys()
    assert sum(kinds[one] for one in errors) < len(SCENARIO) / 3
    assert {one["decision"] for kind, one in found if kind == "Receipt"} >= {
        "admitted",
        "unchanged",
        "denied",
    }
