"""A sentence encoder in ONNX format, small enough to be made here: a table of four words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from lamina.config import Config
from lamina.encoders.library import LibraryEncoder
from lamina.encoders.onnx import OnnxEncoder
from lamina.errors import ConfigError
from lamina.opening import open_embedder

WORDS = {"[UNK]": 0, "[PAD]": 1, "tea": 2, "coffee": 3, "hot": 4}
ROWS = np.array([[0, 0, 1], [9, 9, 9], [1, 0, 0], [0.8, 0.6, 0], [0, 1, 0]], dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Gives a row of the table per word; the padding's row would spoil a mean that holds it."""
    home = tmp_path / "tiny"
    home.mkdir()
    graph = helper.make_graph(
        [helper.make_node("Gather", ["rows", "input_ids"], ["states"])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "words"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["texts", "words", 3])],
        [numpy_helper.from_array(ROWS, "rows")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(home / "model.onnx"))
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(home / "tokenizer.json"))
    return home


def test_a_text_is_the_mean_of_its_words_without_padding(folder: Path):
    found = OnnxEncoder(folder).embed(["tea", "hot tea", "hot"])
    assert np.allclose(found, [[1, 0, 0], [0.5**0.5, 0.5**0.5, 0], [0, 1, 0]], atol=1e-6)


def test_the_first_word_stands_for_the_text_where_the_model_says_so(folder: Path):
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert np.allclose(OnnxEncoder(folder).embed(["hot tea"]), [[0, 1, 0]])


def test_what_the_tokenizer_does_not_know_has_no_vector_and_no_weight(folder: Path):
    encoder = OnnxEncoder(folder)
    texts = ["ชาร้อน", "热茶", "熱茶"]
    assert not encoder.embed(texts).any()
    assert [encoder.reach(text) for text in texts] == [0.0, 0.0, 0.0]
    assert encoder.reach("hot tea") == 1.0
    assert encoder.reach("") == 0.0


def test_a_known_word_in_a_language_the_encoder_is_not_for_has_no_weight(folder: Path):
    assert OnnxEncoder(folder, {"th": 1.0}).reach("tea") == 0.0


def test_the_id_changes_with_the_weights(folder: Path):
    before = OnnxEncoder(folder).embedder_id
    assert before.startswith("onnx-tiny-3-")
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\x32\x00")  # an empty metadata field more
    assert OnnxEncoder(folder).embedder_id != before


def test_a_folder_without_a_model_is_said_to_have_none(tmp_path: Path):
    with pytest.raises(ConfigError) as error:
        OnnxEncoder(tmp_path)
    assert error.value.code == "encoder_no_model"


def test_the_settings_name_the_folder(folder: Path):
    chosen = open_embedder(Config(embedder=f"onnx:{folder}"), {})
    assert chosen is not None
    assert chosen.dimension == 3


class Sentences:
    """Called as sentence-transformers is."""

    def encode(self, sentences: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in sentences]


class Documents:
    """Called as fastembed is, which gives its vectors one by one."""

    def embed(self, documents: list[str]):
        return (np.array([float(len(text)), 1.0]) for text in documents)


@pytest.mark.parametrize("model", [Sentences(), Documents()])
def test_a_model_that_the_program_loaded_itself_is_used_as_its_library_is(model: Sentences | Documents):
    encoder = LibraryEncoder(model, "mine-1")
    found = encoder.embed(["abc", "茶"])
    assert np.allclose(found[:, 0] / found[:, 1], [3, 1])
    assert encoder.embed([]).shape == (0, 2)
    assert encoder.embedder_id == "library-mine-1-2"
    assert encoder.reach("ชา") == encoder.reach("茶") == encoder.reach("tea") == 1.0
    assert LibraryEncoder(model, "english", {"en": 1.0}).reach("ชา") == 0.0
