"""The model that ships with the encoder that reads."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
from lamina_encoder import quick
from lamina_encoder.reading import ReadingEncoder


def test_the_sums_of_the_shipped_model_are_exact_in_any_order() -> None:
    encoder = ReadingEncoder()
    products = [
        product for layer in encoder._model.opened for product in (layer.mix, layer.out, layer.up, layer.down)
    ]
    for product in products:
        assert (product.matrix == np.rint(product.matrix)).all()
        assert np.abs(product.matrix).astype(np.float64).sum(axis=0).max() * product.largest <= 2**24


def test_the_order_of_the_sums_does_not_show() -> None:
    layer = ReadingEncoder()._model.opened[2]
    chance = np.random.default_rng(3)
    for product in (layer.mix, layer.out, layer.up, layer.down):
        whole = np.rint(chance.uniform(-product.largest, product.largest, (9, len(product.matrix))))
        whole = whole.astype(np.float32)
        order = chance.permutation(len(product.matrix))
        assert (whole @ product.matrix == whole[:, order] @ product.matrix[order]).all()
        assert (whole @ product.matrix == whole.astype(np.float64) @ product.matrix.astype(np.float64)).all()


def test_the_shipped_model_computes_here_what_it_computed_where_it_was_made() -> None:
    encoder = ReadingEncoder()
    probe = encoder.header["probe"]
    found = encoder.embed(probe["texts"]).astype("<f4").tobytes()
    assert sha256(found).hexdigest() == probe["sha256"]


def test_a_question_finds_what_answers_it_in_other_words_and_other_languages() -> None:
    facts = [
        "I can't eat peanuts.",
        "I park behind the church.",
        "My sister lives in Oslo.",
        "I start work at six.",
    ]
    questions = [
        ("Which food is dangerous for me?", 0),
        ("รถของฉันจอดอยู่ที่ไหน", 1),
        ("我妹妹住在哪里?", 2),
        ("我几点上班?", 3),
    ]
    encoder = ReadingEncoder()
    likeness = encoder.embed([question for question, _ in questions]) @ encoder.embed(facts).T
    assert likeness.argmax(axis=1).tolist() == [fact for _, fact in questions]


def test_onnxruntime_computes_the_same_bits_and_takes_over_by_itself() -> None:
    texts = [
        "My cat is sick",
        "แมวของฉันป่วยตั้งแต่เมื่อวาน",
        "我的貓從昨天開始就不吃東西了",
        "GraphQL方案 ใช้ PostgreSQL 16 at 10:30",
        "word " * 300,
    ]
    slow, fast = ReadingEncoder(), ReadingEncoder()
    fast._read = quick.AFTER
    expected = slow.embed(texts)
    assert fast.embed(texts).tobytes() == expected.tobytes()
    assert fast._quick is not None, "the graph does not compute what numpy computes"
    assert "_quick" not in slow.__dict__, "a process that reads little does not open it"


def test_without_a_graph_or_with_another_model_s_numpy_goes_on_alone(tmp_path: Path) -> None:
    encoder = ReadingEncoder()
    width = encoder.header["width"]
    assert quick.opened(tmp_path, encoder._model.run, width) is None
    (tmp_path / quick.GRAPH).write_bytes(b"no graph")
    assert quick.opened(tmp_path, encoder._model.run, width) is None
    assert quick.opened(encoder.folder, lambda first: encoder._model.run(first)[::-1], width) is None
