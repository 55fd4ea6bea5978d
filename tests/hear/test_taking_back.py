"""Whoever says that they misspoke takes it back: it goes with its turn, and nobody repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.model import Outcome, State
from tests.backends import Place, a_place

SISTER = "My sister Maria lives in Hanoi"
MALI = "น้องสาวของฉันชื่อมะลิอยู่ที่เชียงใหม่"
MARY = "我妹妹玛丽住在河内"
BROTHER = "我弟弟在高雄開了一家麵店"
#: What was said, and how somebody says that it never was so, without anything in its place.
BACK = [
    (SISTER, "I misspoke, I have no sister"),
    (SISTER, "I misspoke."),
    (SISTER, "Sorry, I take that back"),
    (SISTER, "That was not true."),
    (SISTER, "I misspoke earlier: Maria doesn't live in Hanoi"),
    (MALI, "ฉันพูดผิด ฉันไม่มีน้องสาว"),
    (MALI, "ขอถอนคำพูด"),
    (MARY, "我说错了，我没有妹妹"),
    (MARY, "抱歉，我刚才说错了"),
    (BROTHER, "我說錯了，我沒有弟弟"),
    (BROTHER, "我要收回剛才的話"),
]


@pytest.mark.parametrize(("said", "back"), BACK)
def test_what_is_taken_back_goes_and_stays_gone(
    said: str, back: str, tmp_path: Path, lamina_home: Path, request: pytest.FixtureRequest
) -> None:
    for place in a_place(request, tmp_path, lamina_home, "sqlite"):
        engine = place.open()
        ana, planner = (
            engine.scope(session="s1"),
            engine.scope(agent="planner", speaks_for=False, session="s1"),
        )
        ana.hear("The meeting is on Monday at nine")
        ana.hear(said)
        assert [one for one in ana.list(limit=50).items if one.text == said]
        ana.hear(back)
        assert [one.text for one in ana.list(limit=50).items] == ["The meeting is on Monday at nine"]
        assert "taken_back" in {one.cause for one in ana.noes()}
        assert planner.remember(said).code == "refused_stays"
        assert ana.remember(said).decision is Outcome.ADMITTED
        assert planner.remember(said).decision is Outcome.UNCHANGED


def test_another_value_takes_its_place_and_the_wrong_one_stays_gone(place: Place) -> None:
    engine = place.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", speaks_for=False, session="s1")
    ana.hear(SISTER)
    known = next(one.id for one in ana.list(limit=50).items if one.text == SISTER and one.space == "user")
    ana.hear("Sorry, I misspoke, my sister lives in Lisbon")
    assert "Lisbon" in ana.get(known).text
    assert [one.text for one in ana.list(limit=50).items if "Hanoi" in one.text] == []
    assert planner.remember("Ana's sister Maria lives in Hanoi").code == "refused_stays"
    assert planner.remember("Ana's sister Maria lives in Porto").decision is Outcome.ADMITTED
    assert engine.verify_audit().findings == ()


def test_a_change_of_the_world_takes_nothing_back(engine: Engine) -> None:
    ana = engine.scope(session="s1")
    ana.hear(SISTER)
    ana.hear("Actually, my sister lives in Lisbon now")
    assert ana.noes() == []


def test_being_wrong_about_something_else_takes_nothing_back(engine: Engine) -> None:
    ana = engine.scope(session="s1")
    ana.hear(SISTER)
    for said in ("I was wrong about the weather, it did not rain", "I made a mistake in the report"):
        ana.hear(said)
    known = [one for one in ana.list(limit=50).items if one.text == SISTER]
    assert {one.state for one in known} == {State.ACTIVE}
    assert ana.noes() == []


def test_what_was_said_about_something_is_taken_back_by_its_name(engine: Engine) -> None:
    ana, planner = engine.scope(session="s"), engine.scope(agent="planner")
    said = "My cousin Ferelith sold the orchard near Dunmore"
    one = ana.remember(said).ids[0]
    ana.remember("The kettle is on")
    assert [receipt.code for receipt in ana.hear("I take back what I said about Ferelith").receipts][:1] == [
        "forgotten"
    ]
    assert ana.get(one).state is State.SOFT_DELETED
    assert planner.remember(said).code == "refused_stays"
