"""Fits the table: the sum of a text's rows shall point where the teacher's vector of its English points."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch.nn import functional as nn

from lamina.encoders.static import Pieces

SEED = 20261116


@dataclass(frozen=True)
class Settings:
    """What a run is made with."""

    dimension: int = 192
    shared: int = 8192
    epochs: float = 3.0
    batch: int = 1024
    group: int = 512  #: texts that are told apart from each other; divides the batch
    rate: float = 0.02
    contrast: float = 0.5
    temperature: float = 0.06


@dataclass(frozen=True)
class Lessons:
    """Texts as rows, and which target each has."""

    flat: np.ndarray  #: rows of all texts, one after the other
    starts: np.ndarray  #: where each text begins; one longer than the texts
    target: np.ndarray  #: number of the target
    weight: np.ndarray  #: how much a text counts when texts are drawn


def lessons(course: Iterable[tuple[str, int, float]], pieces: Pieces) -> Lessons:
    """The texts that have at least one row; each comes with its target's number and its weight."""
    flat: list[int] = []
    starts = [0]
    kept_targets, kept_weights = [], []
    for text, target, weight in course:
        spellings = [pieces.rows(text)]
        if text.isascii() and text.isalnum() and len(text) > 2:
            spellings.append(list(pieces.parts(text.lower())))  # as if the word were unknown
        for rows in filter(None, spellings):
            flat += rows
            starts.append(len(flat))
            kept_targets.append(target)
            kept_weights.append(weight)
    return Lessons(np.array(flat), np.array(starts), np.array(kept_targets), np.array(kept_weights))


def axes(vectors: np.ndarray, dimension: int) -> np.ndarray:
    """The directions that hold most of the teacher's vectors."""
    sample = vectors[:: max(1, len(vectors) // 100_000)].astype(np.float64)
    _, directions = np.linalg.eigh(sample.T @ sample)
    return np.ascontiguousarray(directions[:, ::-1][:, :dimension].astype(np.float32))


def train(course: Lessons, targets: np.ndarray, count: int, settings: Settings) -> np.ndarray:
    """The table, a row per piece. The same lessons give the same table on the same machine."""
    chance = np.random.default_rng(SEED)
    start = chance.standard_normal((count, settings.dimension), dtype=np.float32)
    table = Table(start * (0.3 / settings.dimension**0.5))
    cumulative = np.cumsum(course.weight / course.weight.sum())
    steps = int(settings.epochs * len(course.target) / settings.batch)
    goals = torch.from_numpy(targets)
    began, shown = time.monotonic(), 0.0
    for step in range(steps):
        chosen = np.searchsorted(cumulative, chance.random(settings.batch)).clip(max=len(cumulative) - 1)
        rows, offsets = _gathered(course, chosen)
        sums = torch.from_numpy(table.sums(rows, offsets)).requires_grad_()
        own = nn.normalize(sums, dim=1)
        numbers = torch.from_numpy(course.target[chosen])
        goal = nn.normalize(goals[numbers].float(), dim=1)
        near = (1 - (own * goal).sum(1)).mean()
        apart = _confusion(own, goal, numbers, settings)
        (near + settings.contrast * settings.temperature * apart).backward()
        table.learn(sums.grad.numpy(), settings.rate * (1 - step / steps))
        passed = time.monotonic() - began
        if passed - shown > 15 or step + 1 == steps:
            shown = passed
            figures = f"near {near.item():.4f}, apart {apart.item():.3f}"
            done = f"train: step {step + 1} of {steps}, {passed:.0f} s"
            print(f"{done}, {figures}", file=sys.stderr, flush=True)
    return table.values


class Table:
    """Rows and how they move: against their slope, by steps of even size, on the rows that a text touches."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self._force = np.zeros(len(values), dtype=np.float32)
        self._seen = np.zeros(len(values), dtype=np.float32)

    def sums(self, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The sum of each text's rows."""
        self._touched, self._place = np.unique(rows, return_inverse=True)
        starts = np.append(offsets, len(rows))
        shape = (len(offsets), len(self._touched))
        self._holds = csr_matrix((np.ones(len(rows), dtype=np.float32), self._place, starts), shape=shape)
        return self._holds @ self.values[self._touched]

    def learn(self, slopes: np.ndarray, rate: float) -> None:
        """Move every row of the texts that were summed last, by the slopes of their sums."""
        slope = self._holds.T.tocsr() @ slopes
        self._seen[self._touched] += 1
        square = np.einsum("ij,ij->i", slope, slope) * 0.01 / slope.shape[1]
        force = self._force[self._touched] * 0.99 + square
        self._force[self._touched] = force
        force /= 1 - 0.99 ** self._seen[self._touched]
        self.values[self._touched] -= slope * (rate / (np.sqrt(force) + 1e-8))[:, None]


def _confusion(
    own: torch.Tensor, goal: torch.Tensor, numbers: torch.Tensor, settings: Settings
) -> torch.Tensor:
    """How hard it is to tell a text's target from the others of its group."""
    size = settings.group
    groups = len(own) // size
    likeness = own.view(groups, size, -1) @ goal.view(groups, size, -1).transpose(1, 2) / settings.temperature
    numbers = numbers.view(groups, size)
    twice = (numbers[:, :, None] == numbers[:, None, :]) & ~torch.eye(size, dtype=torch.bool)
    likeness = likeness.masked_fill(twice, float("-inf"))
    return nn.cross_entropy(likeness.flatten(0, 1), torch.arange(size).repeat(groups))


def _gathered(course: Lessons, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = course.starts[chosen + 1] - course.starts[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    within = np.arange(lengths.sum()) - np.repeat(offsets, lengths)
    return course.flat[np.repeat(course.starts[chosen], lengths) + within], offsets
