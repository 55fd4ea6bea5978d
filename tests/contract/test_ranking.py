"""What recall makes of a question beyond its words, on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Place
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The milestone is due on Friday", "milestnoe"),
        ("We deployed the cluster", "xdeployed"),
        ("GraphQL方案已放棄", "放棄"),
        ("GraphQL方案已放棄", "GraphQL"),
        ("การตั้งค่าเซิร์ฟเวอร์", "ตั้งค่า"),
        ("การตั้งค่าเซิร์ฟเวอร์", "เซิร์ฟเวอร์"),
    ],
)
def test_a_letter_wrong_or_words_without_blanks_find_it_first(
    ana: ScopedMemory, text: str, question: str
) -> None:
    ana.remember("Something about a river")
    wanted = ana.remember(text).ids[0]

    assert ana.recall(question).hits[0].id == wanted


def test_the_time_of_a_question_decides_among_equals(ana: ScopedMemory, place: Place) -> None:
    old = ana.remember("Lunch with Somchai at the pier").ids[0]
    place.clock.advance(days=40)
    new = ana.remember("Lunch with Somchai in the garden").ids[0]
    place.clock.advance(days=1)

    assert ana.recall("lunch with Somchai yesterday").hits[0].id == new
    hit = ana.recall("lunch with Somchai six weeks ago").hits[0]
    assert hit.id == old
    assert hit.adjustments["*period"] > 1


class Backwards:
    """A reranker that prefers what was said about the garden."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(question in texts or "garden" in text) for text in texts]


def test_a_programs_reranker_has_a_say(ana: ScopedMemory, engine: Engine) -> None:
    for place in ("pier", "market", "garden", "station", "temple"):
        ana.remember(f"The red bicycle stood at the {place}")
    before = [hit.text for hit in ana.recall("red bicycle")]
    engine.reranker = Backwards()

    hits = ana.recall("red bicycle").hits

    garden = "The red bicycle stood at the garden"
    assert [hit.text for hit in hits].index(garden) <= before.index(garden)
    assert all("=reranked" in hit.adjustments for hit in hits)
    engine.reranker = None


def test_the_form_of_the_documents_is_a_setting(place: Place) -> None:
    mind = place.open(recall_fusion="rrf", recall_decay="plain", embedder="none").scope()
    mind.remember("green tea in the morning")

    hit = mind.recall("green tea").hits[0]

    assert hit.ranks == {"lexical": 1}
    assert hit.score == pytest.approx(hit.adjustments["*decay"] / 61, abs=1e-6)


def test_why_a_memory_is_not_shown_says_its_number_and_its_score(ana: ScopedMemory) -> None:
    ids = [ana.remember(f"tea with milk number {number}").ids[0] for number in range(12)]
    shown = {hit.id for hit in ana.recall("tea with milk")}
    missing = next(one for one in ids if one not in shown)

    said = ana.why_not("tea with milk", missing).lines[0]

    assert "Its score is" in said
    assert "as number" in said
