"""How sure a hit is: one probability of meaning and words, on one scale for every encoder."""

from __future__ import annotations

import numpy as np
import pytest

from lamina.encoders.reading import ReadingEncoder
from lamina.ranking.confidence import (
    DOUBTFUL,
    SURE,
    Evidence,
    Spread,
    confidence,
    evidence,
    said_elsewhere,
    uncertainty,
)
from lamina.ranking.timing import asks_before, says_changed

READING = ReadingEncoder().embedder_id
USUAL = Spread.of(())


def speaking(likeness: float | None, share: float = 0.0, **more: float) -> Evidence:
    """What speaks for one text."""
    told = evidence([likeness], [share])
    for name, value in more.items():
        setattr(told, name, value if name == "asked" else np.array([value]))
    return told


def sure(likeness: float | None, behind: float = 0.0, share: float = 0.0, encoder: str = READING) -> float:
    """How sure a text is beside another that is liker by so much."""
    beside = [] if likeness is None or not behind else [likeness + behind]
    return confidence(evidence([likeness, *beside], [share, *(0.0 for _ in beside)]), encoder, USUAL)[0]


def test_the_encoder_that_is_shipped_has_been_measured() -> None:
    """After new weights, run `python -m bench.confidence` and put its table into confidence.toml."""
    assert sure(0.7) != sure(0.7, encoder="another")


def test_the_reader_that_is_shipped_has_been_measured_and_counts() -> None:
    """After new weights of either, the same: what it says is read by a table of its own."""
    reader = ReadingEncoder().reader_id()
    told = [speaking(0.5, read=read) for read in (-6.0, 0.0, 6.0)]
    low, middle, high = (confidence(one, reader, USUAL)[0] for one in told)
    assert low < DOUBTFUL < high
    assert low < middle < high
    assert confidence(told[0], READING, USUAL) == confidence(told[2], READING, USUAL)


def test_what_is_liker_or_says_more_of_the_question_is_surer() -> None:
    assert sure(0.2) < sure(0.4) < sure(0.6) < sure(0.8)
    assert sure(0.5, behind=0.2) < sure(0.5)
    assert sure(0.5) < sure(0.5, share=0.85) < sure(0.5, share=1.0)


def test_who_only_repeats_a_name_is_answered_with_more_doubt() -> None:
    """ "Does Rosalind have children?" is nearer to any text about Rosalind than to what would answer it."""
    assert sure(0.5, share=0.5) < sure(0.5)
    assert sure(0.5, share=0.5, encoder="another") == sure(0.5, encoder="another")


def test_what_another_text_says_of_a_question_speaks_against_this_one() -> None:
    told = speaking(0.5, 0.2), speaking(0.5, 0.2, elsewhere=0.5)
    assert confidence(told[1], READING, USUAL) < confidence(told[0], READING, USUAL)
    has = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    assert said_elsewhere(has, np.array([0.2, 0.3, 0.1])) == [0.4, 0.2, 0.0]
    assert said_elsewhere(np.zeros((2, 0)), np.zeros(0)) == [0.0, 0.0]


def test_a_short_question_tells_less_of_what_it_is_about() -> None:
    short, long = (speaking(0.5, asked=length) for length in (1.6, 3.2))
    assert confidence(short, READING, USUAL) < confidence(long, READING, USUAL)


def test_a_time_that_is_asked_for_and_not_there_is_doubtful() -> None:
    assert confidence(speaking(0.5, fits=0.0), READING, USUAL)[0] < DOUBTFUL < sure(0.5)


def test_without_a_vector_the_words_decide() -> None:
    assert uncertainty(sure(None, share=0.3)) == "high"
    assert uncertainty(sure(None, share=1.0)) == "low"
    assert sure(0.9, encoder="") == sure(None)


def test_an_encoder_that_nobody_measured_is_read_by_how_far_a_likeness_stands_out() -> None:
    high = Spread.of([0.80, 0.81, 0.79, 0.82, 0.80, 0.81, 0.78, 0.80, 0.80] * 10)
    low = Spread.of([0.10, 0.11, 0.09, 0.12, 0.10, 0.11, 0.08, 0.10, 0.10] * 10)
    told = speaking(0.82)
    assert confidence(told, "another", high)[0] < DOUBTFUL
    assert confidence(told, "another", low)[0] > SURE


def test_evidence_is_beside_the_others() -> None:
    found = evidence([0.5, 0.25, None], [0.0, 0.5, 1.0])
    assert found.behind[:2].tolist() == [0.0, 0.25]
    alone = [confidence(evidence([None], [share]), READING, USUAL)[0] for share in (0.0, 0.5, 1.0)]
    assert confidence(found, READING, USUAL)[2] == alone[2]  # what has no vector is judged by its words
    assert confidence(found, "", USUAL) == alone


@pytest.mark.parametrize(
    "text",
    [
        "Priti has put her rate up, it's 13 pounds an hour now.",
        "手机换成了 iPhone 17。",
        "เปลี่ยนเวลาปิดสระว่ายน้ำเป็นสามทุ่มครึ่งแล้ว",
        "They reassigned me, it is Dr Lowe from here on.",
        "The deadline slipped to November.",
        "往後我們禮拜三休息。",
        "从下个月起房租是三千。",
        "น้ำหนักลดลงเหลือหกสิบ",
    ],
)
def test_a_change_is_heard(text: str) -> None:
    assert says_changed(text)


@pytest.mark.parametrize("text", ["My son is allergic to cashews.", "我对芒果过敏。", "ลูกสาวเรียนที่เชียงใหม่"])
def test_a_plain_statement_is_no_change(text: str) -> None:
    assert not says_changed(text)


@pytest.mark.parametrize(
    "text", ["Which phone did I use before?", "我以前用什么手机？", "เมื่อก่อนผมใช้มือถืออะไร"]
)
def test_who_asks_for_the_past_gets_it(text: str) -> None:
    assert asks_before(text)
