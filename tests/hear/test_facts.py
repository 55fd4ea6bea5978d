"""Several lasting facts out of one long message: which, in what words, within which limits (IS-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.facts import figures, turns
from lamina.model import Layer, Outcome, Space

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False

if TYPE_CHECKING:
    from lamina.model import Heard
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

ENGLISH = (
    "Thanks for the help yesterday. I live in Chiang Mai with my wife. I work as a data engineer at a"
    " logistics company. If I moved to Berlin, I would need a visa. What is the weather like there tomorrow?"
)
THAI = (
    "สวัสดีครับ วันนี้เหนื่อยมากเลยครับ\nผมแพ้ถั่วลิสง\nหัวหน้าของผมคือคุณเฉิน\n"
    "ช่วยดูให้หน่อยได้ไหมว่าแบ็กอัปเมื่อคืนทำงานหรือเปล่า\nพรุ่งนี้ผมจะบินไปโตเกียวเพื่อประชุมกับลูกค้าสามวัน ช่วยร่างรายการของให้ที"
)
CHINESE = (
    "谢谢你昨天的帮助。我对花生过敏。我的经理是陈先生。"
    "如果我搬到柏林，就需要签证。你能看看昨晚的备份跑了没有吗？明天天气怎么样？"
)
MANY = (
    "I am allergic to peanuts. I live in Chiang Mai. I work as a nurse. I speak Thai and French. I never"
    " drink coffee. My daughter's name is Mia. I use a Mac with Apple silicon. Could you plan our meals?"
)


def open_(place: Place, **settings: object) -> ScopedMemory:
    return place.open(extract_facts=True, **settings).scope()


def lasting(mind: ScopedMemory, heard: Heard) -> list[str]:
    """What is kept of a message for the user."""
    ids = [one for receipt in heard.receipts for one in receipt.ids if one.startswith("user:ana:semantic:")]
    return sorted(one.text for one in mind.loaded(ids))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            ENGLISH,
            [
                "The user lives in Chiang Mai with the user's wife",
                "The user works as a data engineer at a logistics company",
            ],
        ),
        (THAI, ["ผู้ใช้แพ้ถั่วลิสง", "หัวหน้าของผู้ใช้คือคุณเฉิน"]),
        (CHINESE, ["用户对花生过敏", "用户的经理是陈先生"]),
    ],
)
def test_a_long_message_leaves_each_of_its_lasting_facts(place: Place, said: str, kept: list[str]) -> None:
    ana = open_(place)
    heard = ana.hear(said)
    assert lasting(ana, heard) == sorted(kept)
    turn = heard.receipts[0].ids[0]
    for one in ana.loaded([i for r in heard.receipts for i in r.ids if i.startswith("user:ana:semantic:")]):
        assert (one.space, one.layer, one.provenance.source_turn_ids) == (Space.USER, Layer.SEMANTIC, (turn,))
        assert one.authority == "user_asserted"
    assert [c.count for c in ana.stats().counts if c.op == "extract"] == [2]
    again = ana.hear(said)
    assert {one.code for one in again.receipts if one.ids and ":semantic:" in one.ids[0]} <= {"same"}


def test_a_fact_that_is_known_is_merged_and_another_value_takes_its_place(place: Place) -> None:
    ana = open_(place)
    old = ana.remember("The user lives in Bangkok with the user's wife").ids[0]
    twin = ana.remember("The user works as a data engineer").ids[0]
    codes = [one.code for one in ana.hear(ENGLISH).receipts]
    assert {"superseded", "merged"} <= set(codes)
    assert ana.get(old).superseded_by is not None
    assert ana.get(twin).superseded_by is not None


def test_at_most_three_a_message_and_so_many_a_day_even_after_a_restart(place: Place) -> None:
    ana = open_(place, extract_daily=4)
    first = ana.hear(MANY)
    assert len(lasting(ana, first)) == 3
    assert first.receipts[-1].code == "facts_dropped"
    assert first.receipts[-1].warnings[0].startswith("2 more lasting statements")
    place.close()
    ana = open_(place, extract_daily=4)
    second = ana.hear(ENGLISH)
    assert len(lasting(ana, second)) == 1
    assert second.receipts[-1].warnings[0].startswith("1 more")
    place.clock.advance(days=1)
    assert len(lasting(ana, ana.hear(CHINESE))) == 2


def test_nothing_is_taken_from_what_is_short_secret_commanded_or_not_a_persons(place: Place) -> None:
    ana = place.open().scope()
    assert lasting(ana, ana.hear(ENGLISH)) == []  # off unless it is set
    place.close()
    ana = open_(place)
    agent = place.engines[-1].scope(agent="planner", speaks_for=False)
    for mind, said in (
        (ana, "I live in Chiang Mai."),
        (ana, f"{MANY} My password is hunter2-Blue42."),
        (ana, f"Don't remember this: {MANY}"),
        (agent, MANY),
    ):
        assert lasting(ana, mind.hear(said)) == [], said
    assert ana.remember("dark", key="ui.theme").decision is Outcome.ADMITTED


def test_facts_are_found_as_well_as_we_say() -> None:
    before = [one for one in turns() if not one.after]
    precision, recall, _ = figures(before)
    assert len(before) >= 30
    assert precision >= 0.95
    assert recall >= 0.95
    precision, recall, _ = figures(one for one in turns() if one.after)
    assert precision >= 0.9
    assert recall >= 0.9
