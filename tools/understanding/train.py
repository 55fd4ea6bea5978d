"""A softmax over hashed features, trained in floats and rounded to bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lamina.language.features import Hashes, features
from lamina.language.hearing import hear
from lamina.language.rulebook import rulebook
from lamina.language.sorts import UNIT, Sort, Sorter
from tools.understanding.rows import Row

EPOCHS, BATCH, RATE, DECAY, SEED = 14, 128, 0.02, 2e-6, 7
LEVELS = 127
#: In how many sentences a feature has to occur, and how many features are kept.
SEEN, MOST = 2, 160_000


def seen(rows: Sequence[Row]) -> list[Hashes]:
    """What the model sees of each row."""
    book = rulebook()
    found = []
    for row in rows:
        hearing = hear(row.text, book)
        found.append(features(hearing, 0, len(hearing.said)))
    return found


def fit(inputs: Sequence[Hashes], labels: Sequence[Sort], epochs: int = EPOCHS) -> Sorter:
    """The rounded model that fits some sentences; the same inputs give the same bytes on one machine."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    sorts = list(Sort)
    wanted = torch.tensor([sorts.index(one) for one in labels])
    lengths = [max(1, len(row)) ** -0.5 for row in inputs]
    used, places = _common(inputs)
    table = torch.nn.EmbeddingBag(len(used), len(sorts), mode="sum")
    torch.nn.init.zeros_(table.weight)
    bias = torch.nn.Parameter(torch.zeros(len(sorts)))
    optimiser = torch.optim.Adam([*table.parameters(), bias], lr=RATE)
    generator = torch.Generator().manual_seed(SEED)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, epochs * (len(inputs) // BATCH + 1))
    for _ in range(epochs):
        for batch in torch.randperm(len(inputs), generator=generator).split(BATCH):  # type: ignore[no-untyped-call]
            rows = [torch.from_numpy(places[at]) for at in batch.tolist()]
            sizes = torch.tensor([len(row) for row in rows])
            weights = torch.cat(
                [torch.full((len(row),), lengths[at]) for at, row in zip(batch.tolist(), rows, strict=True)]
            )
            starts = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)[:-1]])
            logits = table(torch.cat(rows), starts, per_sample_weights=weights) + bias
            loss = torch.nn.functional.cross_entropy(logits, wanted[batch], label_smoothing=0.03)
            loss = loss + DECAY * table.weight[torch.cat(rows)].square().sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return _rounded(used, table.weight.detach().numpy(), bias.detach().numpy())


def _common(inputs: Sequence[Hashes]) -> tuple[Hashes, list[NDArray[np.int64]]]:
    """The features that some sentences have, and the sentences by the places of those."""
    found, counts = np.unique(np.concatenate(inputs), return_counts=True)
    used = found[counts >= SEEN]
    rows = []
    for row in inputs:
        places = np.minimum(np.searchsorted(used, row), len(used) - 1)
        rows.append(places[used[places] == row].astype(np.int64))
    return used, rows


def _rounded(known: Hashes, weights: NDArray[np.float32], bias: NDArray[np.float32]) -> Sorter:
    weights = weights - weights.mean(axis=1, keepdims=True)  # only differences between sorts count
    step = float(np.quantile(np.abs(weights), 0.9995)) / LEVELS or 1.0
    rounded = np.clip(np.rint(weights / step), -LEVELS, LEVELS).astype(np.int8)
    strong = np.sort(np.argsort(-np.abs(rounded.astype(np.int64)).sum(axis=1), kind="stable")[:MOST])
    scale = round(UNIT * step * 4096)
    return Sorter(known[strong], rounded[strong], np.rint(bias * UNIT).astype(np.int64), scale, {})


def save(model: Sorter, path: Path, card: dict[str, object]) -> None:
    """One line of JSON, then the weights."""
    biases = {sort: int(value) for sort, value in zip(Sort, model.biases, strict=True)}
    head = {
        **card,
        "features": len(model.known),
        "scale": model.scale,
        "biases": biases,
        "thresholds": model.thresholds,
    }
    path.write_bytes(
        json.dumps(head, sort_keys=True).encode()
        + b"\n"
        + model.known.astype("<u4").tobytes()
        + model.weights.tobytes()
    )
