"""Whose words a message holds: pasted, asked and played parts are told from what a person says."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from lamina.encoders.reading import ReadingEncoder
from lamina.language.clauses import UNSAID
from lamina.language.framing import is_asked, is_own, is_played, signs, without_pasted
from lamina.language.hearing import hear
from lamina.language.rulebook import rulebook
from lamina.language.slots import is_sensitive
from lamina.language.sorts import sorter
from lamina.language.view import view_of


def said(text: str) -> str:
    return hear(text, rulebook()).said.replace(UNSAID, "")


@pytest.mark.parametrize(
    "text",
    [
        "const tone = 'formal'; // always formal\nwhy does this not compile",
        "# app.yaml\ntone: formal\nlanguage: de\nis this valid",
        "แชต\nเมย์: ต่อไปเรียกเราว่า formal นะ\nบี: ได้เลย formal\nสรุปให้หน่อย",
        "帮我看看\n---\n以后都用 formal 的语气\n---",
        "<p>I'm formal and I live in Rome.</p> centre this",
        "Dear residents, please remember to be formal. Kind regards, the office. So what now",
    ],
)
def test_what_is_pasted_is_nobodys_word(text: str) -> None:
    assert "formal" not in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "tone: formal",
        "Name: Ana\nTone: formal",
        "remember tone=formal units=metric",
        "Dear assistant, please be formal.",
        "1. be formal\n2. be brief",
    ],
)
def test_what_a_person_writes_in_lines_and_labels_stays_theirs(text: str) -> None:
    assert "formal" in said(text)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("is it odd to live on a boat", True),
        ("how do vegans get iron", True),
        ("I live on a boat", False),
        ("can you keep it short from now on", False),
        ("住在船上会很冷吗", True),
        ("左撇子是不是比较聪明", True),
        ("我住在船上", False),
        ("อยู่บนเรือหนาวมั้ย", True),
        ("คนกินเจกินอะไรบ้าง", True),
        ("ผมอยู่บนเรือ", False),
    ],
)
def test_a_question_is_known_without_its_mark(text: str, asked: bool) -> None:
    assert is_asked(view_of(text).text) is asked


def test_a_game_and_a_story_are_no_statements() -> None:
    assert is_played("let's role play, i'm a knight")
    assert is_played(view_of("ในเกมผมเป็นนักธนู").text)
    assert is_played(view_of("你演客人我演店員").text)
    assert not is_played("i'm a knight of malta")


def test_signs_tell_who_is_spoken_of() -> None:
    assert "others early" in set(signs("my plumber collects stamps"))
    assert "others early" not in set(signs("i'm a plumber and collect stamps"))
    assert is_own("i collect stamps")
    assert not is_own("my neighbour collects stamps")


def test_pasting_takes_time_linear_in_the_text() -> None:
    """Lines, labels and brackets without end are looked at once each."""
    for piece in ("a: b\n", "{<", "x=", "ก: ", "各位家长", "dear all, ", "=" * 3 + "\n"):
        text = piece * (60_000 // len(piece))
        assert len(without_pasted(text)) == len(text)


def test_the_model_was_trained_with_the_encoder_that_comes_with_it() -> None:
    """Whoever trains the encoder trains this after it: `python -m tools.understanding train`."""
    read = sorter().read
    assert read is not None
    assert read.encoder == ReadingEncoder().embedder_id


def test_the_sums_of_the_finders_are_exact_in_any_order() -> None:
    read = sorter().read
    assert read is not None
    assert read.finders is not None
    assert np.abs(read.finders.matrix.astype(np.int64)).sum(axis=0).max() * read.finders.largest <= 2**24


def test_the_model_takes_at_most_four_megabytes() -> None:
    assert len(files("lamina.language").joinpath("data/sorts.bin").read_bytes()) <= 4_000_000


@pytest.mark.parametrize(
    ("text", "waits"),
    [("we keep bees, four hives of them", False), ("I have HIV", True), ("我有hiv", True)],
)
def test_beehives_are_nothing_sensitive(text: str, waits: bool) -> None:
    assert is_sensitive(text) is waits


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("btw", "btw"),
        ("so far I like it", "so far"),
        ("well water is hard", "well water"),
        ("還有兩個孩子", "还有"),
        ("Hi Claude, oh and we moved", "we moved"),
        ("อ้อ อีกอย่าง เราแพ้กุ้ง", "เรา"),
    ],
)
def test_a_sentence_begins_behind_what_only_leads_in(said: str, begins: str) -> None:
    hearing = hear(said, rulebook())
    assert hearing.said[hearing.sentences[0].start :].startswith(begins)
