"""What a sentence does about matters that are settled or not, who is to do what, and what changes what."""

from __future__ import annotations

import json
from datetime import date
from hashlib import sha256
from importlib.resources import files

import pytest

from lamina.encoders.reading import ReadingEncoder
from lamina.language.message import Between, asks
from lamina.language.owners import owner_in
from lamina.language.recap import recap
from lamina.language.statements import KEPT, Said, agreed, headline, statements
from lamina.similarity.compare import StatementRelation, compare
from lamina.similarity.subjects import Like, Match, Matter, changed_by
from lamina.text.accounts import corrected, trusted
from lamina.text.memory_page import anchor_of

DAY = date(2026, 3, 4)

SETTLED = [
    "We landed on the walnut finish for both counters.",
    "The ferry office stays shut for the whole of January.",
    "Every delivery gets weighed twice from now on.",
    "เราเลือกโรงแรมริมแม่น้ำจัดงานสัมมนาลูกค้า",
    "ต่อไปนี้ใบเสนอราคาต้องให้หัวหน้าตรวจก่อนส่ง",
    "包裝紙我們選了牛皮紙的。",
    "仓库盘点以后一律在周一上午做。",
]
LEFT = [
    "My uncle has decided to sell his boat.",
    "The council voted to close the swimming pool.",
    "Maybe we could open a second till?",
    "I'm having the noodles tonight.",
    "If the bank agrees, we'll buy the van.",
    "คู่แข่งตัดสินใจปิดสาขาแล้ว",
    "คืนนี้กินก๋วยเตี๋ยวดีกว่า",
    "隔壁公司决定裁员了。",
    "我妈决定换个发型。",
    "要不要换一家印刷厂？",
]


@pytest.mark.parametrize("text", SETTLED)
def test_what_is_settled_in_natural_words_is_kept(text: str) -> None:
    assert [one.said for one in statements(text, DAY) if one.said in KEPT]


@pytest.mark.parametrize("text", LEFT)
def test_what_others_settle_and_what_is_private_or_open_is_left(text: str) -> None:
    assert not [one for one in statements(text, DAY) if one.said in KEPT]


def test_the_complaint_before_a_decision_is_its_reason() -> None:
    (one,) = statements("The courier lost four boxes. Everything goes out by post now.", DAY)
    assert (one.text, one.why) == ("Everything goes out by post now.", "The courier lost four boxes.")
    (one,) = statements("租金太贵，展厅改到城西。", DAY)
    assert (one.why, one.overrules) == ("租金太贵", True)


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Marta needs to ring the notary about the lease.", "Marta"),
        ("True. Olek must test the pump before the 13th.", "Olek"),
        ("I'll repaint the sign tomorrow.", "me"),
        ("พี่ก้อยจะส่งแบบให้ลูกค้าพรุ่งนี้", "พี่ก้อย"),
        ("老吴周五之前把发票寄出去。", "老吴"),
        ("淑芬負責跟房東談續約，月底前要有結果。", "淑芬"),
    ],
)
def test_a_task_has_its_owner(text: str, owner: str) -> None:
    (one,) = [each for each in statements(text, DAY) if each.said is Said.ACTION]
    assert one.owner == owner


def test_a_sentence_without_a_name_has_no_owner() -> None:
    assert owner_in("The roof leaks.") == ""


def test_a_headline_has_no_lead_in_and_no_reason_in_front() -> None:
    assert headline("OK, so we take the corner shop.") == "We take the corner shop."
    assert headline("Settled then: the sign is blue.") == "The sign is blue."
    told = headline(
        "The printer kept jamming, so we're moving the labels to Brightside.", "The printer kept jamming"
    )
    assert told == "We're moving the labels to Brightside."


def test_a_change_is_matched_by_its_subject_and_told_from_other_matters() -> None:
    earlier = [
        Matter(text="Quotes are valid for thirty days."),
        Matter(text="The workshop sign is painted dark blue."),
        Matter(text="仓库盘点固定在每月最后一个星期五。"),
    ]
    new = Matter(
        text="Quotes are valid for two weeks only.", around="Thirty days is too long.", overrules=True
    )
    found = changed_by(new, earlier)
    assert found is not None
    assert (found.at, found.is_sure) == (0, True)
    again = changed_by(Matter(text="盤點改成每兩週一次。", overrules=True), earlier)
    assert again is not None
    assert again.at == 2
    assert changed_by(Matter(text="We buy eggs from the two farms.", overrules=True), earlier) is None
    assert changed_by(Matter(text="Quotes are valid for thirty days."), earlier) is None


def test_the_weights_are_those_that_the_card_names() -> None:
    data = files("lamina.language").joinpath("data")
    card = json.loads(data.joinpath("decision_head.json").read_text("utf-8"))
    weights = data.joinpath("decision_head.bin").read_bytes()
    assert sha256(weights).hexdigest() == card["sha256"]
    assert len(weights) < 1_000_000


def test_a_correction_gives_the_new_order_and_a_failure_lowers_the_trust() -> None:
    assert corrected(["a", "b", "c"], ["c", "a"]) == ("c", "a")
    assert corrected(["a", "b"], ["x"]) == ("a", "b", "x")
    assert trusted(0.95, 5, 0) == 0.95
    assert trusted(0.95, 0, 10) < 0.3


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("The CEO of Acme is Ana", "The chief executive of Acme is Bob", StatementRelation.CHANGED),
        ("Ana is vegetarian", "Ana eats beef", StatementRelation.CONTRADICTION),
        ("她吃素", "她吃牛肉", StatementRelation.CONTRADICTION),
        ("เขาเป็นมังสวิรัติ", "เขากินเนื้อวัว", StatementRelation.CONTRADICTION),
        ("Logs are kept for 30 days", "Logs are retained for 30 days", StatementRelation.SAME),
    ],
)
def test_contradictions_in_other_words_are_seen(one: str, other: str, relation: StatementRelation) -> None:
    assert compare(one, other).relation is relation


def test_an_account_says_what_it_was_about_and_how_it_went() -> None:
    told = recap("We talked about the roof with Nadia. We decided to use slate. In the end it worked.")
    assert told.topics[0] == "roof"
    assert "Nadia" in told.topics
    assert told.decisions == ("We decided to use slate.",)
    assert told.outcome == "success"
    assert recap("讨论了屋顶，最后没成功。").outcome == "failed"


def test_an_anchor_is_what_viewers_make_of_a_heading() -> None:
    assert anchor_of("Decision: Let's use LanceDB, now!") == "decision-lets-use-lancedb-now"
    assert anchor_of("Decision: ใช้ AWS") == "decision-ใช้-aws"


def test_a_new_value_is_matched_by_meaning_and_by_what_was_wrong_before() -> None:
    earlier = [
        Matter(text="Surgery days are Tuesday and Thursday."),
        Matter(text="We lease a new one from Sirona, 340 a month."),
    ]
    new = Matter(text="Operations are on Wednesdays.", around="The anaesthetist can only come midweek.")
    assert changed_by(new, earlier) is None  # no word is shared
    assert changed_by(new, earlier, [Like(0.64, 0.73, 0.6, 0.64), Like(0.2, 0.3, 0.2, 0.2)]) == Match(
        0, is_sure=True
    )
    pointed = Matter(text="The X-ray comes from Carestream.", around="Sirona wants a deposit.")
    assert changed_by(pointed, earlier, [Like(0.25, 0.35, 0.3, 0.25), Like(0.3, 0.45, 0.5, 0.3)]) == Match(
        1, is_sure=False
    )
    other = Matter(text="One trainee a year, paid by us.")
    assert changed_by(other, earlier, [Like(0.2, 0.2), Like(0.3, 0.3)]) is None


def test_what_reads_both_together_tells_which_decision_is_changed() -> None:
    earlier = [Matter(text="Orders close on Fridays."), Matter(text="Suppliers are paid within thirty days.")]
    new = Matter(text="Sixty is kinder to us.", around="The bank account is empty in August.", overrules=True)
    alike = [Like(0.55, 0.68, 0.5, 0.55)] * 2
    assert changed_by(new, earlier, alike) is None
    beside = [like._replace(changes=said) for like, said in zip(alike, (-3.0, 9.0), strict=True)]
    assert changed_by(new, earlier, beside) == Match(1, is_sure=True)


def test_what_was_settled_long_ago_or_is_said_again_is_no_new_decision() -> None:
    for said in (
        "In 2019 we decided to close all of August.",
        "As agreed, the shop opens at nine from Monday.",
        "前年就决定过装滴灌，后来黄了。",
        "ปี 2562 เราเคยตกลงกันว่าจะไม่ทำกลางคืน",
    ):
        assert statements(said, date(2026, 6, 1), reader=ReadingEncoder()) == []


def test_what_answers_a_question_is_settled_sooner_than_what_is_asked_back() -> None:
    said, reader = "Delivery is four euros.", ReadingEncoder()
    answers = statements(said, date(2026, 6, 1), reader=reader, between=Between("And you?", "Good."))
    asked = statements(said, date(2026, 6, 1), reader=reader, between=Between("Fine.", "Is that new?"))
    assert answers
    assert not asked
    assert not asks("Fine, I noted it.")
    assert asks("แล้วเราล่ะครับ")


def test_a_yes_takes_what_the_agent_had_in_mind() -> None:
    offer = "You need a permit. The taxi firm's offer of 2,900 for both days is easier."
    found = agreed(offer, "Yes, take their offer.")
    assert found is not None
    assert "2,900" in found.text
    assert agreed(offer, "Yes, it rained all day.") is None
