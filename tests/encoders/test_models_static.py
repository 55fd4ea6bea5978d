"""The default encoder: on a table of a few words, and on the one that ships."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from lamina.config import Config
from lamina.encoders.static import (
    HEADER,
    PIECES,
    PIECES_VERSION,
    ROWS,
    SCALES,
    Pieces,
    StaticEncoder,
    longest_words,
    words,
)
from lamina.errors import Damaged, Unavailable
from lamina.opening import open_embedder

VOCABULARY = ["cat", "dog", "แมว", "หมา", "~แมว", "猫", "狗", "小猫", "run"]
AXES = {"cat": 0, "แมว": 0, "~แมว": 0, "猫": 0, "小猫": 0, "dog": 1, "หมา": 1, "狗": 1, "run": 2}
SHARED = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three directions: cats, dogs, running; two parts of unknown words share a fourth."""
    rows = np.zeros((len(VOCABULARY) + SHARED, 4), dtype=np.int8)
    for number, piece in enumerate(VOCABULARY):
        rows[number, AXES[piece]] = 100
    rows[len(VOCABULARY) :, 3] = range(1, SHARED + 1)
    header = {
        "pieces_version": PIECES_VERSION,
        "hash": "0123456789abcdef" * 4,
        "dimension": 4,
        "shared": SHARED,
        "weights": {"en": 0.5, "th": 0.25, "zh": 0.25},
        "calibration": {"en-th": [[0.0, 0.0], [0.5, 1.0]]},
    }
    (tmp_path / HEADER).write_text(json.dumps(header))
    (tmp_path / PIECES).write_text("\n".join(VOCABULARY), encoding="utf-8")
    np.save(tmp_path / ROWS, rows)
    np.save(tmp_path / SCALES, np.full(len(rows), 7, dtype=np.uint16))
    return tmp_path


def likeness(encoder: StaticEncoder, one: str, other: str) -> float:
    left, right = encoder.embed([one, other])
    return float(left @ right)


def test_a_text_points_where_its_words_point(folder: Path):
    found = StaticEncoder(folder).embed(["cat", "Dogs run", "แมว", "猫", ""])
    half = np.float32(0.5**0.5)
    expected = [[1, 0, 0, 0], [0, half, half, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert np.allclose(found, expected, atol=1e-7)


def test_traditional_and_simplified_chinese_have_the_same_vector(folder: Path):
    simplified, traditional = StaticEncoder(folder).embed(["小猫", "小貓"])
    assert simplified.tobytes() == traditional.tobytes()
    assert simplified.any()


def test_the_longest_known_thai_word_wins_and_the_rest_is_passed_over():
    known = {"แมว": 0, "แมวน้ำ": 1, "หมา": 2}
    assert words("แมวน้ำและหมา", known, longest_words(known), 2) == ["แมวน้ำ", "หมา"]
    assert words("", known, longest_words(known), 2) == []


def test_mixed_scripts_are_read_side_by_side(folder: Path):
    (found,) = StaticEncoder(folder).embed(["แมวdog猫"])
    assert found[0] > found[1] > 0


def test_a_word_it_does_not_know_still_is_like_itself(folder: Path):
    encoder = StaticEncoder(folder)
    assert likeness(encoder, "Kowalczyk", "kowalczyk") == pytest.approx(1.0)
    assert encoder.reach("Kowalczyk") == 0.0


def test_reach_is_the_language_s_weight_times_the_share_that_is_known(folder: Path):
    encoder = StaticEncoder(folder)
    assert encoder.reach("cat dog") == 0.5
    assert encoder.reach("cat Kowalczyk") == 0.25
    assert encoder.reach("猫") == 0.25
    assert encoder.reach("кошка") == 0.0
    assert encoder.reach("") == 0.0


def test_a_batch_gives_each_text_what_it_gets_alone(folder: Path):
    encoder = StaticEncoder(folder)
    texts = ["cat", "", "dog run run", "แมว หมา", "猫狗"] * 120
    together = encoder.embed(texts)
    assert together.tobytes() == np.concatenate([encoder.embed([text]) for text in texts]).tobytes()
    assert encoder.embed([]).shape == (0, 4)


def test_the_longest_text_overflows_nothing(folder: Path):
    encoder = StaticEncoder(folder)
    (found,) = encoder.embed(["cat " * 25_000])
    assert found.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_id_names_the_table(folder: Path):
    encoder = StaticEncoder(folder)
    assert encoder.embedder_id == "lamina-static-4-0123456789abcdef"
    assert encoder.calibration.likeness(0.25, "th", "en") == 0.5


@pytest.mark.parametrize("name", [HEADER, PIECES, ROWS, SCALES])
def test_a_table_with_a_broken_file_is_damaged(folder: Path, name: str):
    (folder / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Damaged) as error:
        StaticEncoder(folder).embed(["cat"])
    assert error.value.code == "encoder_damaged"
    (folder / name).unlink()
    with pytest.raises(Damaged):
        StaticEncoder(folder).embed(["cat"])


def test_a_table_of_another_size_than_its_pieces_is_damaged(folder: Path):
    (folder / PIECES).write_text("cat", encoding="utf-8")
    with pytest.raises(Damaged):
        StaticEncoder(folder).embed(["cat"])


def test_a_table_for_other_pieces_is_refused(folder: Path):
    header = json.loads((folder / HEADER).read_text())
    (folder / HEADER).write_text(json.dumps({**header, "pieces_version": PIECES_VERSION + 1}))
    with pytest.raises(Damaged) as error:
        StaticEncoder(folder).embed(["cat"])
    assert error.value.code == "encoder_version"


def test_pieces_without_shared_rows_leave_unknown_words_out():
    assert Pieces({"cat": 0}, 0).rows("cat Kowalczyk") == [0]


def test_a_table_that_is_not_installed_says_what_to_install():
    program = (
        "import sys; sys.modules['lamina_encoder'] = None\n"
        "from lamina.encoders.static import StaticEncoder\n"
        "StaticEncoder().embed(['x'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert Unavailable.__name__ in done.stderr
    assert "pip install ./packages/lamina-encoder" in done.stderr


@pytest.fixture(scope="module")
def shipped() -> StaticEncoder:
    chosen = open_embedder(Config(embedder="static"), {})
    assert isinstance(chosen, StaticEncoder)
    return chosen


def test_the_shipped_table_is_what_its_header_says(shipped: StaticEncoder):
    digest = sha256()
    for name in (PIECES, ROWS, SCALES):
        digest.update((shipped.folder / name).read_bytes())
    assert digest.hexdigest() == shipped.header["hash"]
    assert sum(file.stat().st_size for file in shipped.folder.iterdir()) <= 30_000_000


@pytest.mark.parametrize(
    ("anchor", "same", "other"),
    [
        ("My cat is sick", "แมวของฉันป่วย", "ราคาน้ำมันขึ้นอีกแล้ว"),
        ("ราคาทองคำวันนี้", "gold price today", "how to cook rice"),
        ("我想喝咖啡", "I want to drink coffee", "the server crashed"),
        ("the database was deleted", "資料庫被刪除了", "今天天氣很好"),
        ("โรงพยาบาล", "医院", "足球"),
        ("火車站在哪裡", "สถานีรถไฟอยู่ที่ไหน", "ฉันชอบกินผลไม้"),
        ("doctor", "physician", "bicycle"),
    ],
)
def test_the_shipped_table_knows_meaning(shipped: StaticEncoder, anchor: str, same: str, other: str):
    assert likeness(shipped, anchor, same) > likeness(shipped, anchor, other) + 0.1


def test_the_shipped_table_agrees_on_both_scripts_of_chinese(shipped: StaticEncoder):
    assert likeness(shipped, "我们已经放弃这个方案", "我們已經放棄這個方案") == pytest.approx(1.0)


def test_scores_of_the_shipped_table_mean_the_same_in_every_pair_of_languages(shipped: StaticEncoder):
    for pair, points in shipped.calibration.curves.items():
        one, other = pair.split("-")
        heights = [height for _, height in points]
        assert heights == sorted(heights)
        assert shipped.calibration.likeness(0.05, one, other) < 0.45
    assert set(shipped.calibration.curves) == {"en-en", "en-th", "en-zh", "th-th", "th-zh", "zh-zh"}


def test_vectors_are_the_same_to_the_bit_on_every_machine(shipped: StaticEncoder):
    """The digest was made with the table, on the machine of whoever made it."""
    probe = shipped.header["probe"]
    assert sha256(shipped.embed(probe["texts"]).astype("<f4").tobytes()).hexdigest() == probe["sha256"]
