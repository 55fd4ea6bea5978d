"""The student: some of the teacher's layers over rows for three languages, in torch, for training only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

#: Which of the teacher's six layers are kept.
LAYERS = (0, 1, 3, 4, 5)

WIDTH, HEADS, WIDE = 384, 12, 1536
LONGEST = 256


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.out_norm = nn.LayerNorm(WIDTH, 1e-12)
        self.up = nn.Linear(WIDTH, WIDE)
        self.down = nn.Linear(WIDE, WIDTH)
        self.down_norm = nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, state: torch.Tensor, hidden: torch.Tensor | None) -> torch.Tensor:
        count, length, _ = state.shape
        query, key, value = self.mix(state).view(count, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
        state = self.out_norm(self.out(mixed.transpose(1, 2).reshape(count, length, -1)) + state)
        return self.down_norm(self.down(functional.gelu(self.up(state))) + state)


class Student(nn.Module):
    """Layers without the rows: those are many, and a step touches few of them."""

    def __init__(self, count: int = len(LAYERS)) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.zeros(LONGEST, WIDTH))
        self.first_norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(count))

    def forward(self, embedded: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """The mean of the last states; `sizes` says how many pieces of each text are real."""
        return self.states(embedded, sizes).sum(1) / sizes[:, None]

    def states(self, embedded: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """What the last layer says of each piece; zeros where there is none."""
        count, length, _ = embedded.shape
        real = torch.arange(length)[None, :] < sizes[:, None]
        hidden = None if bool(real.all()) else real[:, None, None, :].expand(count, 1, length, length)
        state = self.first_norm(embedded + self.place[:length])
        for layer in self.layers:
            state = layer(state, hidden)
        return state.float() * real[:, :, None]


def from_teacher(weights: Mapping[str, torch.Tensor], kept: Sequence[int] = LAYERS) -> Student:
    """A student with the teacher's own layers."""
    student = Student(len(kept))
    with torch.no_grad():
        places = weights["embeddings.position_embeddings.weight"][:LONGEST]
        student.place.copy_(places + weights["embeddings.token_type_embeddings.weight"][0])
        _copy(student.first_norm, weights, "embeddings.LayerNorm")
        for layer, number in zip(student.layers, kept, strict=True):
            at = f"encoder.layer.{number}."
            parts = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
            layer.mix.weight.copy_(torch.cat([weights[f"{part}.weight"] for part in parts]))
            layer.mix.bias.copy_(torch.cat([weights[f"{part}.bias"] for part in parts]))
            _copy(layer.out, weights, f"{at}attention.output.dense")
            _copy(layer.out_norm, weights, f"{at}attention.output.LayerNorm")
            _copy(layer.up, weights, f"{at}intermediate.dense")
            _copy(layer.down, weights, f"{at}output.dense")
            _copy(layer.down_norm, weights, f"{at}output.LayerNorm")
    return student


def _copy(module: nn.Linear | nn.LayerNorm, weights: Mapping[str, torch.Tensor], name: str) -> None:
    module.weight.copy_(weights[f"{name}.weight"])
    module.bias.copy_(weights[f"{name}.bias"])


class Rows:
    """The rows of the pieces: a step moves those that its texts touch, each by a step of even size."""

    def __init__(
        self, values: np.ndarray, force: np.ndarray | None = None, seen: np.ndarray | None = None
    ) -> None:
        self.values = torch.from_numpy(values)
        self.force = torch.zeros(len(values)) if force is None else torch.from_numpy(force)
        self.seen = torch.zeros(len(values)) if seen is None else torch.from_numpy(seen)

    def gathered(self, texts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """The texts' rows, filled up to the longest, and their sizes."""
        place, sizes = self._places(texts)
        return self._leaf[place], sizes

    def read(
        self, student: Student, texts: Sequence[Sequence[int]], parts: int = 4
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """States of texts of any length, and their sizes; in parts of about equal length, to fill up less."""
        place, sizes = self._places(texts)
        order = sizes.argsort()
        out = []
        for part in order.chunk(parts):
            longest = int(sizes[part].max())
            states = student.states(self._leaf[place[part, :longest]], sizes[part])
            out.append(functional.pad(states, (0, 0, 0, place.shape[1] - longest)))
        return torch.cat(out)[order.argsort()], sizes

    def _places(self, texts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        sizes = torch.tensor([len(text) for text in texts])
        ids = torch.zeros(len(texts), int(sizes.max()), dtype=torch.long)
        for line, text in enumerate(texts):
            ids[line, : len(text)] = torch.tensor(text)
        self._touched, place = ids.unique(return_inverse=True)
        self._leaf = self.values[self._touched].requires_grad_()
        return place, sizes

    def learn(self, rate: float, moving: torch.Tensor) -> None:
        """Move the rows of the texts that were gathered last, against their slope, where they may move."""
        slope = self._leaf.grad
        if slope is None:
            return
        may = moving[self._touched]
        touched, slope = self._touched[may], slope[may]
        self.seen[touched] += 1
        force = self.force[touched] * 0.98 + slope.square().mean(1) * 0.02
        self.force[touched] = force
        force = force / (1 - 0.98 ** self.seen[touched])
        self.values[touched] -= slope * (rate / (force.sqrt() + 1e-9))[:, None]


def embed(student: Student, rows: Rows, texts: Sequence[Sequence[int]], tokens: int = 4096) -> np.ndarray:
    """Unit vectors of texts that are cut already, for judging while training."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    out = np.zeros((len(texts), WIDTH), dtype=np.float32)
    at = 0
    with torch.inference_mode():
        while at < len(order):
            most = max(1, tokens // max(1, len(texts[order[min(len(order) - 1, at + 31)]])))
            batch = order[at : at + min(most, 128)]
            ids, sizes = rows.gathered([texts[number] for number in batch])
            out[batch] = functional.normalize(student(ids, sizes).float(), dim=1).numpy()
            at += len(batch)
    return out
