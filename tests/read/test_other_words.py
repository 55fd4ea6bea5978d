"""A question in other words, and in words without their accents, finds what is known (R-1, R-6)."""

from __future__ import annotations

import pytest

from lamina.engine import Engine

FACTS = (
    "Ana is lactose intolerant and drinks oat milk.",
    "The quarterly report is due on Friday.",
    "Ben works night shifts at the harbour.",
)


def test_what_shares_no_word_with_the_question_comes_back_as_a_guess(engine: Engine) -> None:
    ana = engine.scope()
    for fact in FACTS:
        ana.remember(fact)

    found = ana.recall("dairy allergy").hits

    assert found[0].text == FACTS[0]
    assert all(hit.confidence < found[0].confidence < 1 for hit in found[1:])
    assert all(hit.reasons[0].startswith("a guess") for hit in found if "lexical" not in hit.scores)


def test_what_says_the_whole_question_is_sure_and_first(engine: Engine) -> None:
    ana = engine.scope()
    for fact in FACTS:
        ana.remember(fact)

    best, *others = ana.recall("When is the quarterly report due?").hits

    assert best.text == FACTS[1]
    assert best.uncertainty == "low"
    assert all(hit.score < best.score for hit in others)


def test_one_common_word_does_not_outweigh_the_meaning_of_a_question(engine: Engine) -> None:
    """The best match of words counts by how much of the question it says."""
    ana = engine.scope()
    ana.remember("You need a ticket for the bus.")
    ana.remember("Ana takes ibuprofen against her headache.")
    assert ana.recall("medicine that I need against pain").hits[0].text.startswith("Ana takes ibuprofen")


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        (
            "What ship was I on in the service?",
            ["I was in the Navy, aboard the frigate Marigold.", "The early service is at eight.",
             "My cousin runs a body shop in Derby."],
        ),
        (
            "อาหารทะเลชนิดไหนที่ฉันแตะไม่ได้เลย",
            ["ฉันแพ้หอยนางรมมาตั้งแต่เด็ก กินทีไรคันไปทั้งตัวทุกที", "หลังไม่ดีมาหลายปีแล้ว ยกของหนักไม่ได้เลย หมอสั่งห้ามเด็ดขาด",
             "แม่ฉันแตะคอมพิวเตอร์ไม่เป็นเลย ต้องให้หลานมาช่วยทุกครั้ง"],
        ),
    ],
)  # fmt: skip
def test_words_that_meaning_does_not_bear_out_do_not_come_first(
    engine: Engine, question: str, facts: list[str]
) -> None:
    """In a short question one word that is also elsewhere is half of it, and says nothing."""
    ana = engine.scope()
    for fact in facts:
        ana.remember(fact)
    assert ana.recall(question).hits[0].text == facts[0]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Frau Müller ruft morgen an", "muller"),
        ("The office moved to Zürich", "zurich"),
        ("La réunion est à midi", "reunion"),
        ("Tatil için Çeşme seçildi", "cesme"),
        ("Mieszkamy w Łodzi od roku", "lodzi"),
        ("A autenticação falhou hoje", "autenticacao"),
        ("Cuộc họp ở Hà Nội", "ha noi"),
    ],
)
def test_accents_are_folded_like_case(engine: Engine, text: str, typed: str) -> None:
    ana = engine.scope()
    ana.remember("Something else altogether")
    ana.remember(text)
    hit = ana.recall(typed).hits[0]
    assert hit.text == text
    assert "lexical" in hit.scores


def test_marks_that_are_part_of_a_word_stay(engine: Engine) -> None:
    """Thai vowels and tones are combining characters, and never accents."""
    ana = engine.scope()
    ana.remember("ข่าวใหม่มาแล้ว")
    ana.remember("ข้าวใหม่มาแล้ว")
    assert ana.recall("ข้าว").hits[0].text == "ข้าวใหม่มาแล้ว"
