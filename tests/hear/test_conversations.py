"""Ordinary conversations: a correction finds what is meant and destroys nothing, in three languages."""

from __future__ import annotations

import pytest

from lamina.language.joined import ARROW, becomes, clauses_of, put_together, without_part
from lamina.language.rulebook import rulebook
from lamina.scoped import ScopedMemory
from tests.backends import Place

BOOK = rulebook()


@pytest.fixture
def me(workspace: Place) -> ScopedMemory:
    return workspace.open().scope(session="one")


def known(mind: ScopedMemory) -> set[str]:
    return {one.text for one in mind.list(limit=100).items if one.space == "user" and not one.key}


#: What is said, one after the other, and all that is known then.
TALKS = [
    (["my rent is 850 a month", "oh wait, it went up, 920 now"], {"my rent is 920 a month"}),
    (
        ["ลูกสาวชื่อน้ำหวาน อายุ 6 ขวบ", "ไม่ใช่ 6 สิ 7 ขวบแล้ว"],
        {"ลูกสาวชื่อน้ำหวาน อายุ 7 ขวบ"},
    ),
    (
        ["我住在台北，養了一隻柴犬叫麻糬", "其實是兩隻，還有一隻叫豆腐"],
        {"我住在台北", "養了一隻柴犬叫麻糬 → 是兩隻，還有一隻叫豆腐"},
    ),
    (
        ["I've got a dentist appointment on the 12th at 9.", "actually it's at 10:30"],
        {"I've got a dentist appointment on the 12th at 10:30"},
    ),
    (["my boss is called Henrik", "no, Henning, sorry"], {"my boss is called Henning"}),
    (
        ["my favourite editor is vim", "switched to helix lol"],
        {"my favourite editor is vim → switched to helix"},
    ),
    (
        ["ผมชื่อเอก ทำงานเป็นช่างแอร์อยู่บางนา", "หมอนัดวันที่ 5 บ่ายสอง", "อ้อ เลื่อนเป็นวันที่ 8 นะ"],
        {"ผมชื่อเอก", "ทำงานเป็นช่างแอร์อยู่บางนา", "หมอนัดวันที่ 8 บ่ายสอง"},
    ),
    (["we have two kids, Leo and Mia", "Leo is 7"], {"we have two kids, Leo and Mia", "Leo is 7"}),
]


@pytest.mark.parametrize(("said", "now"), TALKS)
def test_a_conversation_leaves_what_its_person_would_say(
    me: ScopedMemory, said: list[str], now: set[str]
) -> None:
    for one in said:
        me.hear(one)
    assert known(me) == now


def test_a_note_that_was_asked_for_is_put_right_in_its_own_words(workspace: Place, me: ScopedMemory) -> None:
    me.hear("Remember: the spare key is with Mrs. Olsen next door")
    me.hear("wait no it's with the Petersens now")
    assert "value:the spare key is with the Petersens" in workspace.profile.read_text()


def test_what_was_only_said_is_put_right_for_the_session_and_nothing_else_changes(me: ScopedMemory) -> None:
    me.hear("ผมชื่อเอก ทำงานเป็นช่างแอร์อยู่บางนา")
    me.hear("หมอนัดวันที่ 5 บ่ายสอง")
    heard = me.hear("อ้อ เลื่อนเป็นวันที่ 8 นะ")
    assert "หมอนัดวันที่ 8 บ่ายสอง" in heard.acknowledgement
    assert me.recall("หมอนัดวันไหน").hits[0].text == "หมอนัดวันที่ 8 บ่ายสอง"


@pytest.mark.parametrize(
    ("said", "question", "first"),
    [
        (["my rent is 850 a month", "oh wait, it went up, 920 now"], "how much do I pay for my flat", "920"),
        (["ลูกสาวชื่อน้ำหวาน อายุ 6 ขวบ", "ไม่ใช่ 6 สิ 7 ขวบแล้ว"], "ลูกสาวอายุเท่าไหร่", "7"),
        (["我住在台北，養了一隻柴犬叫麻糬", "其實是兩隻，還有一隻叫豆腐"], "我養了幾隻狗", "兩隻"),
    ],
)
def test_the_same_session_hears_the_new_value_first(
    me: ScopedMemory, said: list[str], question: str, first: str
) -> None:
    for one in said:
        me.hear(one)
    hit = me.recall(question).hits[0]
    assert first in hit.text
    assert hit.layer != "working"
    assert said[0] in me.turns(5), "what was said stays as it was said"
    assert me.context(question).text.find(hit.text) >= 0


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        (["my rent is 850 a month", "oh wait, it went up, 920 now"], "Forget what I said about the rent"),
        (["ค่าเช่าห้องผมเดือนละ 8500 บาท", "เดี๋ยวนะ ขึ้นเป็น 9200 แล้ว"], "ลืมเรื่องค่าเช่าห้องไปเลย"),
        (["我的房租是每月8500元", "不对，现在涨到9200元了"], "忘掉我的房租"),
    ],
)
def test_what_was_put_right_is_forgotten_with_all_that_was_said_of_it(
    me: ScopedMemory, said: list[str], wish: str
) -> None:
    for one in said:
        me.hear(one)
    assert len(known(me)) == 1
    me.hear(wish)
    assert known(me) == set()
    assert me.turns(5) == []


#: A memory, what is said of it, and what it says then.
JOINED = [
    (
        "my rent is 850 a month",
        "the landlord let us off this time",
        "my rent is 850 a month → the landlord let us off this time",
    ),
    ("the vet comes on Tuesday", "sorry, Friday", "the vet comes on Friday"),
    ("we have two kids, Leo and Mia", "Leo is 7", "we have two kids, Leo and Mia → Leo is 7"),
    ("The next meeting is on the 8th of May", "no, on the 15th", "The next meeting is on the 15th of May"),
    ("dinner on Saturday 7:30", "it's 8 not half seven", "dinner on Saturday 7:30 → it's 8 not half seven"),
    ("เปิดไลฟ์สองทุ่มทุกวัน", "ไลฟ์แค่ศุกร์เสาร์แล้วแม่ เหนื่อย", "เปิดไลฟ์สองทุ่มทุกวัน → ไลฟ์แค่ศุกร์เสาร์แล้วแม่ เหนื่อย"),
    ("บอสเกิดวันที่ 3 มีนา", "เอ๊ย 13 มีนา", "บอสเกิดวันที่ 13 มีนา"),
    ("ออฟฟิศให้ WFH วันพุธ", "ได้เพิ่มวันศุกร์ด้วยแล้วค่า", "ออฟฟิศให้ WFH วันพุธ → ได้เพิ่มวันศุกร์ด้วยแล้วค่า"),
    ("我在海关上班", "调岗了，现在在税务", "我在海关上班 → 调岗了，现在在税务"),
    ("心臟科是早上九點十五", "九點五十才對", "心臟科是早上九點五十"),
    ("成發在6月8號", "改到10號", "成發在6月10號"),
]


@pytest.mark.parametrize(("memory", "said", "now"), JOINED)
def test_nothing_of_a_memory_is_lost_when_it_is_put_right(memory: str, said: str, now: str) -> None:
    assert becomes(said, memory, BOOK) == now


@pytest.mark.parametrize(("memory", "said", "now"), [row for row in JOINED if ARROW in row[2]])
def test_what_was_joined_comes_apart_again(memory: str, said: str, now: str) -> None:
    clauses = clauses_of(now)
    assert put_together(clauses) == now
    assert next(one for one in clauses if one.newest).newest == now.split(ARROW)[1]


def test_a_later_correction_changes_the_newest_word() -> None:
    first = becomes("it went down a lot since the mould, 700 now they say", "my rent is 850 a month", BOOK)
    assert ARROW in first
    assert becomes("720, sorry", first, BOOK) == first.replace("700", "720")


@pytest.mark.parametrize(
    ("memory", "words", "rest"),
    [
        (
            "I live in Oslo, my rent is 850 → it went up a lot; I have a cat",
            {"rent"},
            "I live in Oslo; I have a cat",
        ),
        ("我住在台北，養了一隻柴犬叫麻糬", {"台北"}, "我養了一隻柴犬叫麻糬"),
        ("แม่อยู่โคราช พ่อเสียแล้ว", {"พ่อ"}, "แม่อยู่โคราช"),
        ("ลูกสาวชื่อน้ำหวาน อายุ 6 ขวบ", {"ลูกสาวชื่อ"[:3]}, ""),
    ],
)
def test_forgetting_takes_one_statement_of_several(memory: str, words: set[str], rest: str) -> None:
    assert without_part(memory, words, BOOK) == rest


# Times and circumstances


@pytest.mark.parametrize(
    "said",
    ["until friday I'm staying at my mum's", "ถึงวันศุกร์นี้พักอยู่บ้านแม่", "這兩週我在家隔離"],
)
def test_a_circumstance_for_a_time_is_a_note_and_no_way_to_answer(workspace: Place, said: str) -> None:
    workspace.open().scope().hear(said)
    line = next(one for one in workspace.profile.read_text().splitlines() if said in one)
    assert "key:note." in line
    assert "kind:fact" in line
    assert "ttl:none" not in line


def test_a_way_to_answer_for_a_time_stays_one(workspace: Place) -> None:
    workspace.open().scope().hear("till monday no jokes please")
    assert "key:response." in workspace.profile.read_text()


@pytest.mark.parametrize(
    "said",
    ["for the rest of the week answer in French", "สัปดาห์นี้ตอบเป็นภาษาอังกฤษ", "这周都用英文回答我"],
)
def test_the_rest_of_the_week_ends_with_the_week(workspace: Place, said: str) -> None:
    workspace.open().scope().hear(said)  # on a Thursday
    assert "ttl:2026-01-05T00:00:00Z" in workspace.profile.read_text()
