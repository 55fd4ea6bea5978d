"""The encoder that reads: its pieces, its exact sums, what it does with bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lamina_encoder import quick
from lamina_encoder.pieces import LONGEST_TEXT, Pieces
from lamina_encoder.reading import BEND_REACH, BEND_STEPS, FORMAT, ModelError, Product, ReadingEncoder

from tools.encoder import graph

WIDTH, HEADS, WIDE, LAYERS, LONGEST, DIMENSION, SHARES = 24, 2, 48, 2, 32, 16, 64
WORDS = [
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "my",
    "cat",
    "is",
    "sick",
    "un",
    "##well",
    "##s",
    ",",
    "!",
    "£",
    "5",
    "cafe",
    ".",
]
COSTS = {"แมว": 10, "ป่วย": 10, "แ": 90, "ม": 90, "ว": 90, "猫": 30, "生病": 20, "生": 40, "病": 40, "了": 10}


@pytest.fixture
def pieces() -> Pieces:
    return Pieces(WORDS, lambda: (COSTS, {ord("貓"): "猫"}))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of small random weights, in the form of the one that ships."""
    chance = np.random.default_rng(1)
    count = len(WORDS) + len(COSTS)
    whole: list[np.ndarray] = []
    numbers = [
        np.full(count, 0.02),
        chance.normal(size=(LONGEST, WIDTH)) * 0.1,
        np.ones(WIDTH),
        np.zeros(WIDTH),
    ]
    for _ in range(LAYERS):
        for inner, outer, norm in (
            (WIDTH, 3 * WIDTH, False),
            (WIDTH, WIDTH, True),
            (WIDTH, WIDE, False),
            (WIDE, WIDTH, True),
        ):
            whole.append(chance.integers(-127, 128, inner * outer))
            numbers += [np.full(outer, 0.003), chance.normal(size=outer) * 0.1]
            numbers += [np.ones(WIDTH), np.zeros(WIDTH)] if norm else []
    numbers.append(np.rint(chance.normal(size=(WIDTH, DIMENSION)) * 1000))
    numbers += [np.rint(65536 * np.exp(-np.arange(SHARES) / 256)), np.zeros(2 * BEND_REACH * BEND_STEPS + 1)]
    np.save(tmp_path / "rows.npy", chance.integers(-127, 128, (count, WIDTH)).astype(np.int8))
    np.save(tmp_path / "matrices.npy", np.concatenate(whole).astype(np.int8))
    np.save(tmp_path / "numbers.npy", np.concatenate([part.ravel() for part in numbers]).astype(np.float32))
    lines = [*WORDS, *(f"{piece}\t{cost}" for piece, cost in COSTS.items())]
    (tmp_path / "pieces.txt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "simplified.txt").write_text("貓\n猫", "utf-8")
    header = {
        "format": FORMAT,
        "pieces_version": 1,
        "layers": LAYERS,
        "heads": HEADS,
        "width": WIDTH,
        "wide": WIDE,
        "longest": LONGEST,
        "dimension": DIMENSION,
        "narrow": 4,
        "pieces": count,
        "shares": SHARES,
        "largest": [500.0] * 4 * LAYERS,
        "hash": "0" * 64,
    }
    (tmp_path / "reading.json").write_text(json.dumps(header))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My cat is SICK!", "my cat is sick !"),
        ("unwell cats", "un ##well cat ##s"),
        ("£5, Café", "[UNK] , cafe"),
        ("my\x00\x07cat\u200b", "[UNK]"),
        ("my\tcat\r\nis", "my cat is"),
        ("แมวป่วย", "แมว ป่วย"),
        ("貓生病了。", "猫 生病 了 ."),
        ("แมว 5 猫 cat", "แมว 5 猫 cat"),
        ("ｃａｔ！", "cat !"),
        ("๕", "5"),
        ("", ""),
    ],
)
def test_how_a_text_is_cut(pieces: Pieces, text: str, expected: str) -> None:
    names = [*WORDS, *COSTS]
    assert [names[row] for row in pieces.rows(text, 64)] == ["[CLS]", *expected.split(), "[SEP]"]


def test_a_long_text_is_read_by_its_beginning(pieces: Pieces) -> None:
    for text in ("cat " * 30_000, "แมว" * 40_000, "猫" * 100_000, "x" * 100_000, "\x00" * 100_000):
        rows = pieces.rows(text, 32)
        assert len(rows) <= 32
        assert rows == pieces.rows(text[:LONGEST_TEXT], 32)


def test_how_much_of_a_text_is_known(pieces: Pieces) -> None:
    assert pieces.known_share("my cat") == 1.0
    assert pieces.known_share("my кот") == 0.5
    assert pieces.known_share("") == 0.0


def test_a_text_has_one_vector_whatever_it_comes_with(model: Path) -> None:
    texts = ["my cat is sick", "แมวป่วย", "貓生病了", "my cat", "cat cat cat", "my dog is sick", "un un"]
    encoder = ReadingEncoder(model)
    together = encoder.embed(texts)
    alone = np.concatenate([ReadingEncoder(model).embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0)
    assert (together[0] != together[3]).any()


def test_what_finders_find_is_the_same_whatever_a_text_comes_with(model: Path) -> None:
    encoder = ReadingEncoder(model)
    width = int(encoder.header["width"])
    chance = np.random.default_rng(1)
    matrix = np.rint(chance.uniform(-9, 9, (3 * width, 5))).astype(np.float32)
    finders = Product(matrix, np.full(5, 0.01, np.float32), np.zeros(5, np.float32), 127.0)
    texts = ["my cat is sick", "แมวป่วย", "my cat", "cat cat cat", "my dog is sick", ""]
    vectors, together = encoder.read(texts, finders)
    alone = np.concatenate([ReadingEncoder(model).read([text], finders)[1] for text in texts])
    assert (together == alone).all()
    assert (together[:, :width] == encoder.read(texts)[1]).all()
    assert vectors.tobytes() == encoder.embed(texts).tobytes()
    assert together[:5, width:].any()
    assert not together[5].any()


def test_texts_without_a_piece_have_no_direction(model: Path) -> None:
    vectors = ReadingEncoder(model).embed(["", " \n\t", "\x00\x07", "\u200b"])
    assert not vectors.any()
    assert ReadingEncoder(model).embed([]).shape == (0, DIMENSION)


def test_both_scripts_of_chinese_are_one(model: Path) -> None:
    one, other = ReadingEncoder(model).embed(["貓生病了", "猫生病了"])
    assert (one == other).all()


@pytest.mark.parametrize("name", ["reading.json", "pieces.txt", "rows.npy", "matrices.npy", "numbers.npy"])
def test_damaged_files_are_named(model: Path, name: str) -> None:
    path = model / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if name.endswith("npy") else b"\xff")
    with pytest.raises(ModelError):
        ReadingEncoder(model).embed(["my cat"])


def test_a_model_of_another_version_is_refused(model: Path) -> None:
    path = model / "reading.json"
    path.write_text(path.read_text().replace(f'"format": {FORMAT}', '"format": 99'))
    with pytest.raises(ModelError):
        ReadingEncoder(model).embed(["my cat"])


def test_the_graph_of_a_model_computes_what_numpy_computes(model: Path) -> None:
    encoder = ReadingEncoder(model)
    assert quick.opened(model, encoder._model.run, WIDTH) is None, "there is no graph yet"
    graph.write(model, encoder.header)
    run = quick.opened(model, encoder._model.run, WIDTH)
    assert run is not None
    first = np.random.default_rng(4).normal(size=(5, 9, WIDTH)).astype(np.float32)
    for one, other in zip(run(first), encoder._model.run(first), strict=True):
        assert one.tobytes() == other.tobytes()
