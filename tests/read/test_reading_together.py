"""The best of what was found is read beside the question, on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from lamina.encoders.reading import ReadingEncoder
from lamina.errors import Damaged

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

FACTS = [
    "I'm allergic to mango.",
    "I sell mangoes at the market.",
    "My sister likes fruit salad.",
    "My brother cannot eat peanuts.",
    "The market opens at six.",
    "ฉันจอดรถหลังโบสถ์",
    "我妹妹住在奧斯陸",
    "My landlord is Mr Brandt.",
]
QUESTION = "Which fruit is bad for me?"


@pytest.fixture
def told(ana: ScopedMemory) -> ScopedMemory:
    for fact in FACTS:
        ana.remember(fact)
    return ana


def test_a_hit_says_what_reading_it_beside_the_question_was_worth(told: ScopedMemory) -> None:
    hits = told.recall(QUESTION, k=8).hits
    read = [hit for hit in hits if "read" in hit.scores]
    assert hits[0].text == FACTS[0]
    assert hits[0] in read
    assert "+read" in hits[0].adjustments
    assert 2 <= len(read) <= 5


def test_the_first_hits_do_not_depend_on_how_many_are_asked_for(told: ScopedMemory) -> None:
    all_ = [(hit.id, hit.score, hit.confidence) for hit in told.recall(QUESTION, k=8)]
    for k in (1, 2, 5):
        assert [(hit.id, hit.score, hit.confidence) for hit in told.recall(QUESTION, k=k)] == all_[:k]


def test_what_is_named_or_said_in_a_conversation_is_not_read(told: ScopedMemory) -> None:
    told.remember("We talked about fruit, and which of it is bad for me", layer="episodic")
    assert all("read" not in hit.scores for hit in told.recall('"fruit salad"', k=8))
    turns = [hit for hit in told.recall(QUESTION, k=9) if hit.text.startswith("We talked")]
    assert turns
    assert all("read" not in hit.scores for hit in turns)


def test_without_the_encoder_that_reads_nothing_is_read(place: Place) -> None:
    mind = place.open(embedder="static").scope()
    for fact in FACTS:
        mind.remember(fact)
    assert all("read" not in hit.scores for hit in mind.recall(QUESTION, k=8))


class Blind(ReadingEncoder):
    """An encoder whose reader is damaged."""

    def fits(self, question: str, texts: Sequence[str]) -> list[float]:
        raise Damaged(f"{question} {len(texts)}", code="encoder_damaged", hint="Install it again.")


def test_a_damaged_reader_leaves_the_order_as_it_was_found(told: ScopedMemory, engine: Engine) -> None:
    whole, engine.embedder = engine.embedder, Blind()
    hits = told.recall(QUESTION, k=8).hits
    engine.embedder = whole
    assert FACTS[0] in [hit.text for hit in hits[:3]]
    assert all("read" not in hit.scores for hit in hits)
