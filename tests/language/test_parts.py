"""What a clause is in its message: cut, weighed among its neighbours, kept as short as it makes sense."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lamina.language.hearing import clauses_in, hear
from lamina.language.rulebook import rulebook
from lamina.language.sorts import LEFT, Sort, sorter
from lamina.language.understanding import LONGEST_PART, Act, Listener, understand


def cut(said: str) -> list[str]:
    hearing = hear(said, rulebook())
    spans = [span for one in hearing.sentences for span in clauses_in(hearing, one)]
    return [hearing.view.slice(*span).strip() for span in spans]


@pytest.mark.parametrize(
    ("said", "clauses"),
    [
        (
            "what do I cook for tonight because I can't have gluten",
            ["what do I cook for tonight", "because I can't have gluten"],
        ),
        ("I walk my dog at six", ["I walk my dog at six"]),
        ("ลูกค้าเหวี่ยงใส่ตั้งแต่เช้า ขับแกร็บมาหกปีละ", ["ลูกค้าเหวี่ยงใส่ตั้งแต่เช้า", "ขับแกร็บมาหกปีละ"]),
        (
            "腰都快折了,我这出租开了十九年,你说买哪种坐垫好",
            ["腰都快折了", "我这出租开了十九年", "你说买哪种坐垫好"],
        ),
    ],
)
def test_a_message_is_cut_where_a_clause_begins(said: str, clauses: list[str]) -> None:
    assert cut(said) == clauses


@pytest.mark.parametrize("said", ["", "…", "???", ", , ,", "(", "ก", "a " * 5000, "好，" * 3000])
def test_any_text_is_cut_into_stretches_in_order(said: str) -> None:
    hearing = hear(said, rulebook())
    for sentence in hearing.sentences:
        spans = clauses_in(hearing, sentence)
        assert all(low < high for low, high in spans)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Traffic was murder tonight. I'm allergic to shellfish, what can I order?",
            "I'm allergic to shellfish",
        ),
        ("今儿拉了一天活儿,腰都快折了,我这出租开了十九年,你说买哪种坐垫好", "我这出租开了十九年"),
    ],
)
def test_of_a_message_only_the_statement_is_kept(said: str, kept: str) -> None:
    heard = understand(Listener(hear(said, rulebook())))
    acts = [one for one in heard if one.act is Act.ACT]
    assert [one.text for one in acts] == [kept]
    assert all(one.sort in LEFT for one in heard if one not in acts)


def test_nothing_that_is_kept_is_a_whole_long_message() -> None:
    said = " ".join(f"ผมแพ้กุ้งตัวที่{number} ตั้งแต่เด็กแล้วครับ" for number in range(20))
    heard = understand(Listener(hear(said, rulebook())))
    assert all(len(one.text) <= LONGEST_PART for one in heard if one.sort is Sort.LASTING)


def test_the_shipped_model_reads_clauses_in_their_messages() -> None:
    beside = sorter().beside
    assert beside is not None
    assert set(beside.thresholds) >= {Sort.LASTING, Sort.REMEMBER, Sort.SET, Sort.TEMPORARY}
