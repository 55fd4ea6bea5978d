"""A new value of the same thing is told from a value of another thing, though no word says "now"."""

from __future__ import annotations

import pytest

from lamina.similarity.renewal import renews

RENEWED = (
    ("The gym costs 35 euros a month.", "The gym costs 42 euros a month."),
    ("My landlord is Mr Brandt.", "My landlord is a woman called Osei."),
    ("I live in Ghent with two flatmates.", "I live in Leuven, alone."),
    ("My van is a yellow Citroen.", "The van is a white Renault with a sliding door."),
    ("Piano lessons are on Wednesday at four.", "Piano lessons are on Friday at half past three."),
    ("I take 20 mg of the pills every morning.", "I take 40 mg of the pills every morning."),
    ("我的牙醫是陳醫師。", "我的牙醫是林醫師。"),
    ("健身房每月两百块。", "健身房每月两百五十块。"),
    ("例会在周一上午十点。", "例会在周四上午九点。"),
    ("女儿在实验小学读书。", "女儿在育才小学读书。"),
    ("หัวหน้าผมชื่อพี่ต้น", "หัวหน้าผมชื่อคุณรัชนี"),
    ("ค่าฟิตเนสเดือนละ 900 บาท", "ค่าฟิตเนสเดือนละ 1,200 บาท"),
    ("ฉันอยู่ที่ขอนแก่น", "ฉันอยู่ที่อุดรธานี"),
)
#: Another person's, another thing's, another sort of value; and what may be so beside it.
BESIDE = (
    ("The gym costs 35 euros a month.", "The pool costs 42 euros a month."),
    ("My laptop is a ThinkPad.", "Ada's laptop is a MacBook."),
    ("My daughter's school is St Anne's.", "My son's school is Hillside Primary."),
    ("My birthday is on 3 May.", "Ada's birthday is on 9 May."),
    ("My sister is a nurse.", "My sister is a vegetarian."),
    ("My car is red.", "My car is in the garage till Friday."),
    ("My boss is strict about deadlines.", "My boss is on holiday until Monday."),
    ("I bought a kettle yesterday.", "I bought a lamp yesterday."),
    ("I owe Ada 20 euros.", "Ada owes me 30 euros."),
    ("I speak Dutch.", "I speak German."),
    ("The meeting with Ada is on Monday.", "The meeting with Bo is on Tuesday."),
    ("我妹妹住在成都。", "我住在重庆。"),
    ("我妹妹是护士。", "我妹妹是素食者。"),
    ("我的车是红色的。", "我的车在修理厂。"),
    ("女儿在实验小学读书。", "儿子在育才小学读书。"),
    ("每月最后一个周五发版。", "每月第一个周一开复盘会。"),
    ("น้องสาวฉันอยู่ที่ขอนแก่น", "ฉันอยู่ที่อุดรธานี"),
    ("ค่าฟิตเนสเดือนละ 900 บาท", "ค่าเน็ตเดือนละ 1,200 บาท"),
    ("วันเกิดผม 3 พฤษภาคม", "วันเกิดแก้ว 9 พฤษภาคม"),
    ("ฉันแพ้ถั่ว", "ฉันแพ้แมว"),
)


@pytest.mark.parametrize(("old", "new"), RENEWED)
def test_another_value_of_the_same_thing_renews_it(old: str, new: str) -> None:
    assert renews(new, old)
    assert not renews(old, old)


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_a_value_of_something_else_renews_nothing(old: str, new: str) -> None:
    assert not renews(new, old)
