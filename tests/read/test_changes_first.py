"""A new value of the same thing comes before the old one, and a hit says how sure it is (R-8, R-9)."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.layers.relations import Relations

OTHERS = ("The spare key is with Mr. Okafor.", "Wren is scared of balloons.", "I take the bus on Mondays.")


@pytest.mark.parametrize(
    ("old", "new", "question", "past"),
    [
        (
            "Our babysitter Priti charges 11 pounds an hour.",
            "Priti has put her rate up, it's 13 pounds an hour now.",
            "How much does the babysitter cost us an hour?",
            "How much did the babysitter charge before?",
        ),
        ("我用的手机是 Pixel 8。", "手机换成了 iPhone 17。", "我拿的是什么手机？", "我以前用什么手机？"),
        (
            "สระว่ายน้ำปิดสองทุ่ม",
            "เปลี่ยนเวลาปิดสระว่ายน้ำเป็นสามทุ่มครึ่งแล้ว",
            "สระว่ายน้ำปิดกี่โมง",
            "เมื่อก่อนสระว่ายน้ำปิดกี่โมง",
        ),
    ],
)
def test_a_change_comes_before_what_it_changes(
    engine: Engine, old: str, new: str, question: str, past: str
) -> None:
    ana = engine.scope()
    for text in (old, *OTHERS, new):
        ana.remember(text)

    found = [hit.text for hit in ana.recall(question).hits]
    assert found[0] == new
    assert old in found
    assert "+newer" not in {name for hit in ana.recall(past).hits for name in hit.adjustments}


@pytest.mark.parametrize(
    ("old", "beside", "new", "question", "past"),
    [
        (
            "My landlord is Mr Brandt.",
            "Ada's landlord is Mr Moss.",
            "My landlord is a woman called Osei.",
            "Who do I rent from?",
            "Who did I rent from before?",
        ),
        (
            "我的牙醫是陳醫師。",
            "姐姐的牙醫是高醫師。",
            "我的牙醫是林醫師。",
            "誰看我的牙齒？",
            "以前誰看我的牙齒？",
        ),
        (
            "หัวหน้าผมชื่อพี่ต้น",
            "หัวหน้าของแก้วชื่อพี่หนึ่ง",
            "หัวหน้าผมชื่อคุณรัชนี",
            "เจ้านายผมคือใคร",
            "เมื่อก่อนเจ้านายผมคือใคร",
        ),
    ],
)
def test_a_new_value_that_no_word_announces_comes_before_the_old_one(
    engine: Engine, old: str, beside: str, new: str, question: str, past: str
) -> None:
    ana = engine.scope()
    for text in (old, beside, *OTHERS, new):
        ana.remember(text)

    found = [hit.text for hit in ana.recall(question).hits]
    assert found.index(new) < found.index(old)
    assert found[0] == new
    assert "+newer" not in {name for hit in ana.recall(past).hits for name in hit.adjustments}


def test_a_new_value_is_linked_to_the_old_one_when_it_is_remembered(engine: Engine) -> None:
    ana = engine.scope()
    old = ana.remember("The gym costs 35 euros a month.").ids[0]
    pool = ana.remember("The pool costs 42 euros a month.").ids[0]
    new = ana.remember("The gym costs 45 euros a month.").ids[0]

    edges = {(edge.from_id, edge.to_id): edge.type for edge in Relations(ana).of(new).edges}
    assert edges[new, old] == "renews"
    assert edges.get((new, pool), "related_to") == "related_to"


def test_a_hit_says_how_sure_it_is_and_a_threshold_is_on_that_scale(engine: Engine) -> None:
    ana = engine.scope()
    for text in OTHERS:
        ana.remember(text)

    best = ana.recall("Who has the spare key?").hits[0]
    far = ana.recall("Which football team do I support?").hits[0]

    assert best.text == OTHERS[0]
    assert best.uncertainty == "low"
    assert far.confidence < best.confidence
    kept = ana.query("Who has the spare key?", threshold=round(best.confidence - 0.01, 4)).bullets
    assert [one.id for one in kept] == [best.id]
    assert kept[0].score == pytest.approx(best.confidence, abs=1e-3)
    assert ana.query("Which football team do I support?", threshold=best.confidence).bullets == ()
