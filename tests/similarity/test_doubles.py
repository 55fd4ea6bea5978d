"""One statement said twice is told from two that are nearly the same."""

from __future__ import annotations

import pytest

from lamina.similarity.merge_bands import said_twice


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana lives in Bangkok", "Ana lives in Bangkok now"),
        ("Ana likes tea", "ana likes  tea!"),
        ("The standup is at 9:30 every day", "Every day the standup is at 9:30"),
        ("ทีมประชุมทุกวันจันทร์", "ทีมประชุมทุกวันจันทร์นะคะ"),
        ("สมชายดื่มชาเขียวทุกเช้า", "ทุกเช้า สมชายดื่มชาเขียว"),
        ("每天早上十点团队开会", "每天早上十点团队都开会"),
        ("团队每天早上十点开会", "團隊每天早上十點開會"),
    ],
)
def test_words_that_say_nothing_and_one_moved_phrase_make_no_difference(one: str, other: str) -> None:
    assert said_twice(one, other)
    assert said_twice(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana lives in Bangkok", "Ana used to live in Bangkok"),
        ("Ana lives in Bangkok", "Ana lived in Bangkok"),
        ("Ana works at Acme", "Ana wants to work at Acme"),
        ("Ana eats fish", "Ana eats fish only on Fridays"),
        ("only Ana eats fish", "Ana eats only fish"),
        ("Ana eats fish", "Ana's sister eats fish"),
        ("Ana beats Bo", "Bo beats Ana"),
        ("The fee is 30 euros", "The fee is 45 euros"),
        ("It is -5 outside", "It is 5 outside"),
        ("The tool is in C++", "The tool is in C"),
        ("อานาอยู่กรุงเทพ", "อานาเคยอยู่กรุงเทพ"),
        ("อานาอยู่กรุงเทพ", "อานาอาจอยู่กรุงเทพ"),
        ("ห้องประชุมอยู่ชั้น 3", "ห้องประชุมอยู่ชั้น 5"),
        ("安娜住在曼谷", "安娜以前住在曼谷"),
        ("安娜吃鱼", "安娜很少吃鱼"),
        ("会议室在三楼", "会议室不在三楼"),
        ("小明比建国高", "建国比小明高"),
    ],
)
def test_a_limit_a_time_a_doubt_another_value_or_another_order_does(one: str, other: str) -> None:
    assert not said_twice(one, other)
    assert not said_twice(other, one)
