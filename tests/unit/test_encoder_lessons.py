"""What the reading encoder learns from: our own lessons are whole, and none of them is a judge's."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tools.encoder.curriculum import curriculum
from tools.encoder.glossary import Vocabulary
from tools.encoder.lessons import Lesson, own_lessons

JUDGES = Path(__file__).parents[2] / "bench" / "data" / "questions.jsonl"


@pytest.fixture(scope="module")
def lessons() -> list[Lesson]:
    return own_lessons()


def grams(text: str) -> set[str]:
    low = text.lower()
    return {low[at : at + 4] for at in range(max(1, len(low) - 3))}


def test_every_lesson_is_there_in_three_languages(lessons: list[Lesson]) -> None:
    assert len(lessons) > 500
    for lesson in lessons:
        assert lesson.questions
        for side in (lesson.statement, *lesson.questions, *lesson.near):
            assert set(side) == {"en", "th", "zh"}
            assert all(text.strip() == text and text for text in side.values())
            assert any("\u0e01" <= char <= "\u0e4e" for char in side["th"]), side
            assert any("\u4e00" <= char <= "\u9fff" for char in side["zh"]), side


def test_lessons_have_keys_of_their_own(lessons: list[Lesson]) -> None:
    assert max(Counter(lesson.key for lesson in lessons).values()) == 1


def test_no_lesson_is_near_a_judge(lessons: list[Lesson]) -> None:
    judged = [
        grams(text)
        for line in JUDGES.read_text("utf-8").splitlines()
        for side in (json.loads(line)["fact"], json.loads(line).get("question", {}))
        for text in side.values()
    ]
    holding: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(judged):
        for gram in found:
            holding[gram].append(number)
    for lesson in lessons:
        for side in (lesson.statement, *lesson.questions):
            for text in side.values():
                own = grams(text)
                shared = Counter(number for gram in own for number in holding[gram])
                assert all(count / len(own | judged[at]) <= 0.6 for at, count in shared.items()), text


def test_the_curriculum_draws_sentences_and_words_apart() -> None:
    words = Vocabulary(["[UNK]", "แมว", "猫"], {"แมว": 1, "猫": 1}, {ord("貓"): "猫"}, 1)
    rows = [
        ("firefox", "th", "เปิดหน้าต่างใหม่", "Open a new window"),
        ("firefox", "th", "ตกลง", "OK"),
        ("firefox", "zh", "打开 %s", "Open a %s window now"),
        ("thai-wordnet", "th", "แมว", "cat"),
        ("cc-cedict", "zh", "貓", "cat"),
        ("cldr", "zh", "猫", "face"),
        ("books", "en", "It was a dark night", "It was a dark night"),
        ("books", "en", "Night", "Night"),
    ]
    found = curriculum(rows, words)
    assert found.kinds["th"] == [("เปิดหน้าต่างใหม่", "Open a new window")]
    assert found.kinds["zh"] == []
    assert found.kinds["th-word"] == [("แมว", "cat")]
    assert found.kinds["zh-word"] == [("貓", "cat")]
    assert found.kinds["english"] == [("It was a dark night", "It was a dark night")]
    assert [len(group) for group in found.english()] == [1, 1, 0, 1, 0]  # each English text once
