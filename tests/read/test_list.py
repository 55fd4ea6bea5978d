"""A list has everything that its caller may read, once, page by page, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lamina
from lamina.model import State
from lamina.testing import ManualClock

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place


def texts(page: object) -> list[str]:
    return [one.text for one in page.items]  # type: ignore[attr-defined]


def test_pages_have_everything_once_newest_first(ana: ScopedMemory, clock: ManualClock) -> None:
    said = []
    for number in range(23):
        said.append(f"Bee number {number} is yellow")
        ana.remember(said[-1])
        if number % 3:
            clock.advance(minutes=1)  # others have the same time
    first = ana.list(limit=10)
    found, page = texts(first), first
    while page.cursor is not None:
        page = ana.list(limit=10, cursor=page.cursor)
        assert page.total is None
        found += texts(page)
    assert sorted(found) == sorted(said)
    assert len(found) == len(set(found)) == first.total == 23
    assert found[0] == said[-1]
    times = [one.created_at for one in ana.list(limit=100).items]
    assert times == sorted(times, reverse=True)


def test_what_comes_meanwhile_moves_no_page(ana: ScopedMemory, clock: ManualClock) -> None:
    for number in range(6):
        ana.remember(f"Pear number {number} is green")
        clock.advance(minutes=1)
    first = ana.list(limit=3)
    ana.remember("A plum is blue")
    rest = ana.list(limit=10, cursor=first.cursor or "")
    assert texts(first) + texts(rest) == [f"Pear number {number} is green" for number in range(5, -1, -1)]


def test_it_is_narrowed_and_counted(ana: ScopedMemory, engine: Engine, clock: ManualClock) -> None:
    ana.remember("Tea at four", kind="preference", category="food", tags=["drink", "daily"])
    clock.advance(days=1)
    noon = clock.now()
    ana.remember("Honey from Samui", kind="fact", category="food", tags=["sweet"])
    engine.scope(agent="planner").remember("The plan has three steps", category="work")
    gone = ana.remember("A mistake").ids[0]
    ana.forget(gone)
    whole = ana.list()
    assert whole.facets is not None
    assert whole.facets["category"] == {"food": 2, "work": 1}
    assert whole.facets["kind"]["preference"] == 1
    assert whole.facets["tag"] == {"daily": 1, "drink": 1, "sweet": 1}
    assert whole.facets["by"] == {"user:ana": 2, "agent:planner": 1}
    assert whole.facets["state"] == {"active": 3, "soft_deleted": 1}
    assert whole.total == 3
    assert texts(ana.list(categories=["food"], kinds=["fact"])) == ["Honey from Samui"]
    assert texts(ana.list(tags=["drink", "nothing"])) == ["Tea at four"]
    assert (
        texts(ana.list(by="planner")) == texts(ana.list(by="agent:planner")) == ["The plan has three steps"]
    )
    assert texts(ana.list(since=noon, by="user:ana")) == ["Honey from Samui"]
    assert texts(ana.list(until=noon)) == ["Tea at four"]
    assert [one.id for one in ana.list(states=["soft_deleted"]).items] == [gone]
    assert ana.list(states=list(State)).total == 4
    assert ana.list(spaces=["project"]).total == 0
    assert ana.list(layers=["episodic"]).items == ()


def test_nobody_lists_what_is_not_theirs(engine: Engine) -> None:
    engine.scope(user="bob").remember("Bob keeps bees", tags=["his"])
    mine = engine.scope(user="cho")
    cursor = engine.scope(user="bob").list(limit=1)
    assert (mine.list().items, mine.list().total, mine.list(tags=["his"]).total) == ((), 0, 0)
    assert cursor.cursor is None
    for number in range(3):
        engine.scope(user="bob").remember(f"Bee number {number}")
    borrowed = engine.scope(user="bob").list(limit=1).cursor or ""
    assert mine.list(cursor=borrowed).items == ()


def test_what_a_tool_said_is_marked_and_can_be_left_out(engine: Engine, ana: ScopedMemory) -> None:
    ana.remember("Ana said this")
    engine.scope(role="tool", agent="fetch").remember("A page said that")
    assert len(ana.list().items) == 2
    assert texts(ana.list(trusted_only=True)) == ["Ana said this"]


def test_an_allowlist_holds_for_a_list(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "categories.yaml"
    file.write_text("allowlists: {planner: [goals]}", encoding="utf-8")
    engine = place.open(categories=str(file))
    ana = engine.scope()
    ana.remember("Ship it in May", category="goals")
    ana.remember("Lactose is in milk", category="knowledge")
    planner = engine.scope(agent="planner")
    page = planner.list()
    assert texts(page) == ["Ship it in May"]
    assert page.total == 1
    assert page.facets is not None
    assert page.facets["category"] == {"goals": 1}
    with pytest.raises(lamina.Denied):
        planner.list(categories=["knowledge"])


def test_an_agent_sees_the_phase_it_may_recall(engine: Engine, ana: ScopedMemory) -> None:
    ana.remember("From before")
    ana.start_phase("user")
    ana.remember("From now on")
    assert sorted(texts(ana.list())) == ["From before", "From now on"]
    assert texts(engine.scope(agent="planner").list()) == ["From now on"]


def test_what_is_past_its_time_is_not_active(ana: ScopedMemory, clock: ManualClock) -> None:
    ana.remember("Milk until tomorrow", ttl="1d")
    clock.advance(days=2)
    assert ana.list().items == ()


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"cursor": "nonsense"}, "cursor_invalid"),
        ({"cursor": "ไม่"}, "cursor_invalid"),
        ({"limit": 0.5}, "limit_invalid"),
        ({"limit": 501}, "limit_invalid"),
        ({"states": ["lost"]}, "state_invalid"),
        ({"layers": ["cake"]}, "layer_invalid"),
        ({"colour": "red"}, "detail_unknown"),
        ({"since": "yesterday"}, "time_invalid"),
        ({"tags": ["x"] * 65}, "tags_invalid"),
    ],
)
def test_what_cannot_be_asked_is_said(ana: ScopedMemory, wanted: dict[str, object], code: str) -> None:
    with pytest.raises(lamina.InvalidInput) as error:
        ana.list(**wanted)  # type: ignore[arg-type]
    assert error.value.code == code


def test_time_stands_still_within_a_list(ana: ScopedMemory, clock: ManualClock) -> None:
    """What was remembered at one moment is told apart by its id."""
    for number in range(5):
        ana.remember(f"Cat number {number} is black")
    found: list[str] = []
    cursor = ""
    while True:
        page = ana.list(limit=2, **({"cursor": cursor} if cursor else {}))  # type: ignore[arg-type]
        found += texts(page)
        if page.cursor is None:
            break
        cursor = page.cursor
    assert len(found) == len(set(found)) == 5
    assert clock.now() - ana.list().items[0].created_at == timedelta(0)
