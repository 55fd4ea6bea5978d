"""The reader that ships: a question and a statement read together, the same on every machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from lamina_encoder import joint, quick
from lamina_encoder.joint import JointReader
from lamina_encoder.reading import MATRICES, NUMBERS, ModelError, ReadingEncoder

QUESTION = "Which fruit is bad for me?"
TEXTS = ["I'm allergic to mango.", "ฉันขายมะม่วงที่ตลาด", "我的姐姐住在奧斯陸", "The car is red. " * 40]


@pytest.fixture(scope="module")
def reader() -> JointReader:
    return JointReader(ReadingEncoder())


def test_the_sums_of_the_shipped_reader_are_exact_in_any_order(reader: JointReader) -> None:
    for layer in reader._reader.layers:
        for product in (layer.mix, layer.out, layer.up, layer.down):
            assert (product.matrix == np.rint(product.matrix)).all()
            assert np.abs(product.matrix).astype(np.float64).sum(axis=0).max() * product.largest <= 2**24


def test_the_shipped_reader_computes_here_what_it_computed_where_it_was_made(reader: JointReader) -> None:
    probe = reader.header["probe"]
    for way, numbers in probe["scores"].items():
        assert [[*one] for one in reader.beside(way, probe["question"], probe["texts"])] == numbers


def test_a_later_decision_changes_what_it_says_otherwise(reader: JointReader) -> None:
    pairs = [
        ("We bill by the project from now on.", "Work is billed by the hour.", "Staff get two mugs each."),
        ("ร้านเปิดเจ็ดโมงทุกวัน", "ร้านเปิดเก้าโมงทุกวัน", "หลังคาทาสีเขียว"),
        ("後端改用 Go 重寫", "後端用 Python 寫", "週會在星期二"),
    ]
    for later, changed, other in pairs:
        ((one,), (two,)) = reader.beside("changes", later, [changed, other])
        assert one > two


def test_a_message_puts_right_what_it_is_about_and_a_wish_forgets_it(reader: JointReader) -> None:
    known = ["My dentist is Dr Lim", "I play the cello"]
    (right, gone), (other, _) = reader.beside("amends", "Dr Lim retired, I see Dr Osei now", known)
    assert right > other
    assert right > gone
    (right, gone), (_, other) = reader.beside("amends", "forget what I said about my dentist", known)
    assert gone > other
    assert gone > right


def test_a_pair_has_one_score_whatever_it_is_read_with(reader: JointReader) -> None:
    together = reader.scores(QUESTION, TEXTS)
    assert together == [reader.scores(QUESTION, [text])[0] for text in TEXTS]
    assert together == reader.scores(QUESTION, [*TEXTS[::-1], *TEXTS])[4:]


def test_what_answers_a_question_fits_better_than_what_shares_its_topic(reader: JointReader) -> None:
    """All but one: at what time work begins it takes for said where only the place of work is."""
    pairs = [
        (QUESTION, "I'm allergic to mango.", "I sell mangoes at the market."),
        ("ฉันจอดรถที่ไหน", "ฉันจอดรถหลังโบสถ์", "รถของฉันสีแดง"),
        ("我幾點上班?", "我早上六點開始上班。", "我在醫院上班。"),
        ("Where does my sister live?", "My sister has a flat in Oslo.", "My sister is a nurse."),
        ("หมาฉันชื่ออะไร", "หมาของฉันชื่อมะลิ", "หมาฉันกลัวฟ้าร้อง"),
        ("我姐姐做什么工作?", "我姐姐是护士。", "我姐姐住在奥斯陆。"),
        ("What time do I start?", "ฉันเริ่มงานหกโมงเช้า", "ฉันทำงานที่โรงพยาบาล"),
        ("Who fixes my car?", "我的車都給阿明修。", "我的車是紅色的。"),
    ]
    scores = [reader.scores(question, [right, wrong]) for question, right, wrong in pairs]
    assert sum(one > other for one, other in scores) >= len(pairs) - 1


def test_both_scripts_of_chinese_are_read_alike(reader: JointReader) -> None:
    one, other = reader.scores("我妹妹住在哪里?", ["我妹妹住在奥斯陆", "我妹妹住在奧斯陸"])
    assert one == other


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\x00\x07", "word " * 20_000, "ไทย" * 33_000, "x" * 100_000, "🙂"]
)
def test_whatever_is_read_a_number_comes_back(reader: JointReader, text: str) -> None:
    as_statement, as_question = reader.scores(QUESTION, [text])[0], reader.scores(text, TEXTS[:1])[0]
    assert np.isfinite([as_statement, as_question]).all()
    if not text.strip(" \n\t\x00\x07"):
        assert as_statement == as_question == 0.0
    assert reader.scores(QUESTION, []) == []


def test_a_long_text_is_read_by_its_beginning(reader: JointReader) -> None:
    long = "I am allergic to mango and to nothing else. " * 50
    assert reader.scores(QUESTION, [long]) == reader.scores(QUESTION, [f"{long} My car is red."])


def test_onnxruntime_brings_the_reader_to_the_same_bits(reader: JointReader) -> None:
    fast = ReadingEncoder()
    fast._read = quick.AFTER + 1
    assert JointReader(fast).scores(QUESTION, TEXTS) == reader.scores(QUESTION, TEXTS)


@pytest.mark.parametrize("name", [joint.HEADER, MATRICES, NUMBERS])
def test_damaged_files_are_named(reader: JointReader, tmp_path: Path, name: str) -> None:
    shutil.copytree(reader.folder, folder := tmp_path / "joint")
    (folder / name).write_bytes((folder / name).read_bytes()[:-300])
    with pytest.raises(ModelError, match=r"joint"):
        JointReader(reader.encoder, folder).scores(QUESTION, TEXTS)


def test_a_reader_for_another_encoder_is_refused(reader: JointReader, tmp_path: Path) -> None:
    shutil.copytree(reader.folder, folder := tmp_path / "joint")
    own = reader.encoder.header["hash"]
    header = (folder / joint.HEADER).read_text("utf-8").replace(own, "0" * len(own))
    (folder / joint.HEADER).write_text(header, "utf-8")
    with pytest.raises(ModelError, match="another encoder"):
        JointReader(reader.encoder, folder).scores(QUESTION, TEXTS)
