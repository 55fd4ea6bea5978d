"""Sentence encoders in ONNX format from a folder, all-MiniLM-L6-v2 among them, run by onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from lamina.encoders.port import UNCALIBRATED, Calibration, Vectors, unit
from lamina.errors import ConfigError
from lamina.text.normalise import language_of

_NAMES = ("model.onnx", "model_quantized.onnx", "model_optimized.onnx")
_WEIGHTS = (*_NAMES, *(f"onnx/{name}" for name in _NAMES))
_LONGEST = 256
_BATCH = 32

#: A text with a larger share that the tokenizer does not know is not embedded: all such texts look alike.
_MOST_UNKNOWN = 0.2

#: How much each language counts in a sum, of an encoder that is blind to all but one.
ENGLISH_ONLY: Mapping[str, float] = {"en": 1.0}


class OnnxEncoder:
    """A folder with `tokenizer.json` and ONNX weights, as sentence-transformers and fastembed keep them."""

    def __init__(self, folder: Path, weights: Mapping[str, float] = ENGLISH_ONLY) -> None:
        self._folder = folder
        self._languages = weights
        found = [folder / name for name in _WEIGHTS if (folder / name).is_file()]
        if not found or not (folder / "tokenizer.json").is_file():
            raise ConfigError(
                f"{folder} has no sentence encoder in ONNX format.",
                code="encoder_no_model",
                hint=f"It needs tokenizer.json and one of {', '.join(_WEIGHTS)}.",
            )
        self._model = found[0]

    @cached_property
    def embedder_id(self) -> str:
        digest = sha256(self._model.read_bytes() + (self._folder / "tokenizer.json").read_bytes())
        return f"onnx-{self._folder.name}-{self.dimension}-{digest.hexdigest()[:16]}"

    @cached_property
    def dimension(self) -> int:
        return int(self._run(["a"]).shape[1])

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    def embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        known = [number for number, text in enumerate(texts) if self._unknown_share(text) <= _MOST_UNKNOWN]
        known.sort(key=lambda number: len(texts[number]))  # a batch is as long as its longest text
        for at in range(0, len(known), _BATCH):
            batch = known[at : at + _BATCH]
            out[batch] = self._run([texts[number] for number in batch])
        return out

    def reach(self, text: str) -> float:
        unknown = self._unknown_share(text)
        weight = self._languages.get(language_of(text)[:2], 0.0)
        return 0.0 if unknown > _MOST_UNKNOWN else weight * (1.0 - unknown)

    def _unknown_share(self, text: str) -> float:
        pieces = self._tokenizer.encode(text, add_special_tokens=False).tokens
        return sum(piece in _UNKNOWN for piece in pieces) / len(pieces) if pieces else 1.0

    def _run(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        given = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        wanted = {entry.name for entry in self._session.get_inputs()}
        states = self._session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        return unit(self._pooled(np.asarray(states, dtype=np.float64), mask))

    def _pooled(self, states: NDArray[np.float64], mask: NDArray[np.int64]) -> NDArray[np.float64]:
        if states.ndim == 2:
            return states
        if self._settings("1_Pooling/config.json").get("pooling_mode_cls_token"):
            return states[:, 0]
        return np.asarray((states * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None])

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        longest = self._settings("sentence_bert_config.json").get("max_seq_length", _LONGEST)
        tokenizer.enable_truncation(int(longest))
        tokenizer.enable_padding()
        return tokenizer

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])

    def _settings(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


_UNKNOWN = frozenset({"[UNK]", "<unk>"})
