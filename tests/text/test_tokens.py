"""Estimates of tokens against what current vocabularies count."""

from __future__ import annotations

import sys

import pytest

from lamina.text.tokens import count_tokens

# (text, tokens in o200k, tokens in tekken), counted once with those vocabularies.
COUNTED = [
    (
        "The team decided on Tuesday to move the billing service to the new database, because the old one "
        "could not keep up with the number of customers at the end of the month.",
        35,
        35,
    ),
    (
        "ทีมงานตัดสินใจเมื่อวันอังคารว่าจะย้ายระบบเรียกเก็บเงินไปยังฐานข้อมูลใหม่ เพราะของเดิมรองรับจำนวนลูกค้าในช่วงสิ้นเดือนไม่ไหว",
        44,
        62,
    ),
    ("团队星期二决定把计费服务迁移到新的数据库，因为旧的数据库在月底无法承受那么多客户的访问。", 28, 39),
    ("團隊星期二決定把計費服務遷移到新的資料庫，因為舊的資料庫在月底無法承受那麼多客戶的存取。", 40, 45),
]


@pytest.mark.parametrize(("text", "o200k", "tekken"), COUNTED)
def test_the_estimate_is_near_what_current_vocabularies_count(text: str, o200k: int, tekken: int) -> None:
    middle = (o200k + tekken) / 2
    assert middle * 0.8 <= count_tokens(text) <= middle * 1.2


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert count_tokens("") == 0
    assert all(count_tokens(char) >= 1 for char in ("a", " ", "ก", "水", "👍", "\u200b"))


@pytest.mark.parametrize("text", [text for text, _, _ in COUNTED] + ["mixed 混合 ผสม 👍🏽 = {x: 1}\n" * 3])
def test_a_longer_text_never_counts_less(text: str) -> None:
    counts = [count_tokens(text[:end]) for end in range(len(text) + 1)]
    assert counts == sorted(counts)


def test_every_character_adds_to_the_count() -> None:
    # Ten of a kind are at least two tokens, and as many whatever stands before them.
    for point in (*range(0x3100), *range(0x3100, sys.maxunicode + 1, 97)):
        ten = chr(point) * 10
        assert 2 <= count_tokens(ten) == count_tokens("aaaaa" + ten) - 1
