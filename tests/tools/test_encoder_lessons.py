"""What the reading encoder learns from: our own lessons are whole, and none of them is a judge's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tools.encoder import attributes, beside
from tools.encoder.curriculum import curriculum
from tools.encoder.glossary import Vocabulary
from tools.encoder.lessons import FOLDER, Lesson, own_lessons, read_lessons, unanswerable
from tools.encoder.mentor import steps
from tools.encoder.phrases import phrases, sorts, word_lessons
from tools.encoder.talk import JUDGES, Pair, Spoken, Talk, near_judge, own_pairs, own_talk, pairs_in, spoken
from tools.understanding.rows import is_held


@pytest.fixture(scope="module")
def lessons() -> list[Lesson]:
    return own_lessons()


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


def test_files_that_are_held_back_are_not_learnt(lessons: list[Lesson]) -> None:
    held = {lesson.key for lesson in read_lessons(FOLDER / "lessons-61.jsonl.xz")}
    learnt = {lesson.key for lesson in own_lessons(held=["lessons-61"])}
    assert held
    assert learnt == {lesson.key for lesson in lessons} - held
    new = own_lessons(held=["lessons-61"], first="lessons-57")
    assert {lesson.key for lesson in read_lessons(FOLDER / "lessons-57.jsonl.xz")} < {one.key for one in new}
    assert {lesson.key for lesson in read_lessons(FOLDER / "lessons-56.jsonl.xz")}.isdisjoint(
        {one.key for one in new} | held
    )
    hundredth = own_lessons(first="lessons-100")
    assert {one.key for one in hundredth} < {one.key for one in new}
    assert {lesson.key for lesson in read_lessons(FOLDER / "lessons-99.jsonl.xz")} <= {one.key for one in new}
    assert {lesson.key for lesson in read_lessons(FOLDER / "lessons-99.jsonl.xz")}.isdisjoint(
        one.key for one in hundredth
    )
    with pytest.raises(SystemExit, match="lessons-9999"):
        own_lessons(held=["lessons-9999"])


def test_no_lesson_is_near_a_judge(lessons: list[Lesson]) -> None:
    for lesson in lessons:
        for side in (lesson.statement, *lesson.questions):
            assert not [text for text in side.values() if near_judge(text)]


def test_what_nobody_can_answer_is_asked_in_three_languages_about_people_who_are_known() -> None:
    found = 0
    for path in sorted(FOLDER.glob("*.jsonl.xz")):
        people = {lesson.person for lesson in read_lessons(path)}
        for person, _, side in unanswerable(path):
            found += 1
            assert person in people
            assert set(side) == {"en", "th", "zh"}
            assert not [text for text in side.values() if near_judge(text)]
    assert found > 200


def test_words_stand_in_every_sentence_of_their_sort() -> None:
    found = {side["en"]: side["th"] for side in phrases()}
    assert found["We bought two kilos of mangoes on the way home"] == "ขากลับเราซื้อมะม่วงมาสองกิโล"
    sides = [
        side
        for sort in sorts()
        for side in (*sort.words, *sort.passing, *(one for two in sort.said for one in two))
    ]
    assert all(set(side) == {"en", "th", "zh"} and all(side.values()) for side in sides)
    assert not [side for side in phrases() if "{}" in "".join(side.values())]


def test_a_word_is_asked_for_by_its_sort() -> None:
    taught = word_lessons()
    assert len(taught) > 700
    assert Counter(lesson.person for lesson in taught).most_common()[-1][1] > 10
    fruit = next(one for one in taught if one.statement["en"] == "I eat mangoes every morning")
    assert fruit.statement["zh"] == "我每天早上都吃芒果"
    assert fruit.questions[0]["th"] == "มื้อเช้าฉันกินผลไม้อะไร"


def test_what_is_asked_of_a_person_is_told_of_that_person_or_nothing_answers_it() -> None:
    people, sorts = attributes.read()
    me, mother = people[:2]
    sort = next(one for one in sorts if one.name == "age")
    said = attributes.told(sort.said[0], mother, sort.values[0])
    assert said == {"en": "My mother is 34 years old.", "th": "แม่ฉันอายุ 34 ปี", "zh": "我妈今年三十四岁。"}
    assert attributes.told(sort.asked[0], me)["en"] == "How old am I?"
    shelves = list(attributes.shelves())
    assert sum(len(known) for known, _ in shelves) > 1000
    for known, strange in shelves:
        assert strange
        assert {one.key for one in known}.isdisjoint(key for _, key, _ in strange)
        sides = [side for one in known for side in (one.statement, *one.questions)]
        for side in (*sides, *(side for _, _, side in strange)):
            assert not [text for text in side.values() if set(text) & set("{}[]|") or near_judge(text)]
            assert max(side["en"]) < "\u0e00"


def test_what_is_settled_later_stands_beside_what_was_settled_before() -> None:
    rows = beside.decisions()
    written = [one for one in rows if one.file.startswith("changes ")]
    assert Counter(one.file.split()[1] for one in written if one.target >= 0).keys() == {"en", "th", "zh"}
    assert sum(one.target >= 0 for one in written) > 400
    assert sum(one.target < 0 for one in written) > 200
    changed = next(one for one in written if one.text == "Doors shut at six from Monday to Friday")
    assert changed.known[changed.target] == "The shop closes at seven on weekdays"
    chance = np.random.default_rng(1)
    for one in rows:
        assert one.target < len(one.known)
        assert not near_judge(one.text)
        texts, goal = one.drawn(chance)
        assert goal == int(one.target >= 0)
        assert not goal or texts[0] == one.known[one.target]


def test_half_of_the_files_is_not_learnt_in_each_of_two_runs() -> None:
    rows = beside.messages()
    for file in {one.file for one in rows}:
        assert [is_held(file, fold) for fold in (0, 1, 2)].count(True) == 1
        assert not is_held(file, 0)
    gone = next(one for one in rows if one.does and one.target >= 0)
    texts, goal = gone.drawn(np.random.default_rng(1))
    assert goal == 1 + len(texts)


def test_what_a_judge_says_is_near_a_judge() -> None:
    for path in JUDGES:
        row = json.loads(path.read_text("utf-8").splitlines()[0])
        for text in row["fact"].values() if isinstance(row["fact"], dict) else [row["fact"]]:
            assert near_judge(text.upper())
    assert not near_judge("Penguins hold their breath for twenty minutes.")


@pytest.fixture(scope="module")
def talk() -> list[Spoken]:
    return own_talk()


def test_talk_has_questions_in_the_languages_that_they_are_in(talk: list[Spoken]) -> None:
    for language in ("th", "zh"):
        own = [one for one in talk if one.language == language]
        assert len({one.statement for one in own}) == len(own) > 700
    for one in talk:
        assert one.questions or one.english
        assert set(one.questions) <= {"en", "th", "zh"}
        assert all(text.strip() == text and text for text in one.questions.values())
        thai = one.questions.get("th", "ก")
        chinese = one.questions.get("zh", "一")
        assert any("\u0e01" <= char <= "\u0e4e" for char in thai), one
        assert any("\u4e00" <= char <= "\u9fff" for char in chinese), one
        assert max(one.questions.get("en", "a")) < "\u0e00", one


def test_no_talk_is_near_a_judge(talk: list[Spoken]) -> None:
    for one in talk:
        assert not [
            text for text in (one.statement, one.english, *one.questions.values()) if near_judge(text)
        ]


def test_what_is_kept_back_is_not_learnt(talk: list[Spoken]) -> None:
    held = {one.statement for one in talk if one.held}
    found, others = own_pairs()
    assert len(held) > len(talk) / 20
    assert not held & {pair.statement for pair in found}
    assert len(found) > 3000
    assert len(others) > 3000


def test_what_people_say_is_sifted() -> None:
    said = spoken("zh")
    assert len(said) > 5000
    assert {"lasting", "task", "third"} <= {sort for sort, _ in said}
    assert not [text for _, text in said if near_judge(text)]


def test_the_mentor_brings_together_what_it_finds_alike() -> None:
    angles = np.repeat(np.arange(30) * 0.2, 20)  # thirty heaps of twenty
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    chosen = next(steps(vectors, np.random.default_rng(1), 24))
    assert len(chosen) == len(set(chosen)) == 24
    heaps = Counter(number // 20 for number in chosen)
    assert len(heaps) <= 8
    assert max(heaps.values()) >= 3


def test_pairs_are_read_from_files_and_what_a_judge_asks_is_left_out(tmp_path: Path) -> None:
    judged = json.loads(JUDGES[0].read_text("utf-8").splitlines()[0])["question"]["en"]
    lines = [
        "remember\tpet\tOur parrot is called Kiwi\tWhat is the bird's name?\t",
        f"lasting\twork\tI count trains\t{judged}\t",
        "third\tpet\tHer parrot bites\t\t",
        "task\tpet\tBuy bird seed\t\t",
        "broken",
    ]
    (tmp_path / "one.tsv").write_text("\n".join(lines), "utf-8")
    found, others = pairs_in(tmp_path)
    assert found == [Pair("Our parrot is called Kiwi", "What is the bird's name?")]
    assert others == ["Her parrot bites"]


def test_a_step_has_what_is_alike_and_leaves_out_what_says_the_same() -> None:
    pairs = [Pair(f"{number}", f"{number}?") for number in range(40)]
    talk = Talk(pairs, ["90", "91"], lambda text: [int(text.strip("?"))], np.random.default_rng(1))

    def embed(texts: Sequence[list[int]]) -> np.ndarray:
        angles = np.array(
            [text[0] // 2 * 0.8 if text[0] < 90 else text[0] for text in texts], dtype=np.float64
        )
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)  # each two say the same

    talk.order(embed)
    questions, statements, same = next(talk.steps(12))
    assert statements[:12] == questions
    assert len(statements) >= len(questions) == 12
    assert same.shape == (12, len(statements))
    assert not same.diagonal().any()
    twins = [(one, other) for one in range(12) for other in range(12) if one != other]
    assert all(same[one, other] for one, other in twins if questions[one][0] // 2 == questions[other][0] // 2)


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
