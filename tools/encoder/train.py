"""Fits the table: the sum of a text's rows shall point where the teacher's vector of its English points."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as nn

from lamina.models.pieces import Pieces

SEED = 20261116


@dataclass(frozen=True)
class Settings:
    """What a run is made with."""

    dimension: int = 256
    shared: int = 8192
    epochs: float = 6.0
    batch: int = 2048
    rate: float = 0.02
    contrast: float = 0.5
    temperature: float = 0.06
    minutes: float = 25.0


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
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    chance = np.random.default_rng(SEED)
    bag = torch.nn.EmbeddingBag(count, settings.dimension, mode="sum", sparse=True)
    torch.nn.init.normal_(bag.weight, std=0.3 / settings.dimension**0.5)
    optimizer = torch.optim.SparseAdam(bag.parameters(), lr=settings.rate)
    share = course.weight / course.weight.sum()
    cumulative = np.cumsum(share)
    steps = int(settings.epochs * len(course.target) / settings.batch)
    goals = torch.from_numpy(targets)
    began, shown = time.monotonic(), 0.0
    for step in range(steps):
        chosen = np.searchsorted(cumulative, chance.random(settings.batch)).clip(max=len(share) - 1)
        chosen = np.sort(chosen)
        rows, offsets = _gathered(course, chosen)
        own = nn.normalize(bag(torch.from_numpy(rows), torch.from_numpy(offsets)), dim=1)
        goal = nn.normalize(goals[torch.from_numpy(course.target[chosen])].float(), dim=1)
        likeness = own @ goal.T / settings.temperature
        numbers = torch.from_numpy(course.target[chosen])
        same = (numbers[:, None] == numbers[None, :]) & ~torch.eye(len(numbers), dtype=torch.bool)
        likeness = likeness.masked_fill(same, float("-inf"))
        apart = nn.cross_entropy(likeness, torch.arange(len(chosen)))
        near = (1 - (own * goal).sum(1)).mean()
        loss = near + settings.contrast * apart * settings.temperature
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * (1 - step / steps)
        passed = time.monotonic() - began
        if passed - shown > 15 or step + 1 == steps:
            shown = passed
            figures = f"near {near.item():.4f}, apart {apart.item():.3f}"
            print(
                f"train: step {step + 1} of {steps}, {passed:.0f} s, {figures}", file=sys.stderr, flush=True
            )
    return bag.weight.detach().numpy()


def _gathered(course: Lessons, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = course.starts[chosen + 1] - course.starts[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    within = np.arange(lengths.sum()) - np.repeat(offsets, lengths)
    return course.flat[np.repeat(course.starts[chosen], lengths) + within], offsets
